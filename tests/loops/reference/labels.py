"""The loops of native/labels.hpp in NumPy."""

import numpy as np


def observe(codes, offset, weight, U, moves, states, pairs):
    w = np.repeat(weight, np.diff(offset))
    n = np.arange(len(codes))
    np.add.at(states, (n, codes), w)
    total = w @ U[n, codes]
    later = np.setdiff1d(n, offset)
    before, w = codes[later - 1], w[later]
    np.add.at(pairs, (later * (len(pairs) > 1), before, codes[later]), w)
    return total + w @ moves[later * (len(moves) > 1), before, codes[later]]
