"""Arguments for the loops of native/medians.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    value = np.sort(rng.integers(-1000, 1000, K))
    yield "median_errors", (rng.integers(K, size=N), rng.integers(5, size=N), value)
