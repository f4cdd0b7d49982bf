"""Arguments for the loops of native/logistic.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    codes, weight = rng.integers(2, size=N), np.where(rng.random(N) < 0.2, 0.0, rng.uniform(size=N))
    for scale in 1.0, 300.0:
        X = rng.normal(size=1 + N * D)[1:].reshape(N, D) * scale
        yield "binomial", (X, rng.normal(size=D + 1), codes, weight)
