"""Arguments for the loops of native/labels.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    offset = np.sort(np.append(rng.integers(N + 1, size=D), [0, N]))  # some are empty
    codes, weight = rng.integers(K, size=N), rng.uniform(size=D + 1)
    U, states = rng.normal(size=(2, N, K))
    for each, apart in ((1, 1), (N, 1), (1, N), (N, N)):
        moves, pairs = rng.normal(size=(each, K, K)), rng.normal(size=(apart, K, K))
        if each and apart:
            yield "observe", (codes, offset, weight, U, moves, states, pairs)
