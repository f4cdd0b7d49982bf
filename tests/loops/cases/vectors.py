"""Arguments for the loops of native/vectors.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    for one in (np.float32, np.float64):
        a = rng.normal(size=N * D).astype(one)
        for two in (np.float32, np.float64):
            yield "dot", (a, rng.normal(size=N * D).astype(two))
        yield "add_scaled", (rng.normal(size=N * D), 0.3, a)
