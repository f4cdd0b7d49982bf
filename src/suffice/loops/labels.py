"""Known paths: their scores, and their counts."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled()


@jit
def observe(codes, offset, weight, U, moves, states, pairs):
    """The weighted sum of the log scores of paths; and their weights are added to the places they go through.

    The places are those of `states` (N, K) and of `pairs`: (1, K, K), or into each step (N, K, K); U and
    moves are log potentials, of the same shapes.
    """
    total = 0.0
    each, apart = len(moves) > 1, len(pairs) > 1
    for s in range(len(offset) - 1):
        w = weight[s]
        for n in range(offset[s], offset[s + 1]):
            k = codes[n]
            states[n, k] += w
            total += w * U[n, k]
            if n > offset[s]:
                before = codes[n - 1]
                pairs[n if apart else 0, before, k] += w
                total += w * moves[n if each else 0, before, k]
    return total


@observe.small
def _(codes, offset, weight, U, moves, states, pairs):
    w = np.repeat(weight, np.diff(offset))
    n = np.arange(offset[0], offset[-1])
    np.add.at(states, (n, codes[n]), w)
    total = w @ U[n, codes[n]]
    later = np.ones(len(n), np.bool_)
    later[offset[:-1][offset[1:] > offset[:-1]] - offset[0]] = False
    n, w = n[later], w[later]
    np.add.at(pairs, (n * (len(pairs) > 1), codes[n - 1], codes[n]), w)
    return total + w @ moves[n * (len(moves) > 1), codes[n - 1], codes[n]]
