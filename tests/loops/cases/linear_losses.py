"""Arguments for the loops of native/linear_losses.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    codes, weight = rng.integers(2, size=N), np.where(rng.random(N) < 0.2, 0.0, rng.uniform(size=N))
    for scale in 1.0, 300.0:
        X = rng.normal(size=1 + N * D)[1:].reshape(N, D) * scale
        theta, y = rng.normal(size=D + 1), rng.normal(size=N)
        yield "binomial", (X, theta, codes, weight)
        yield "squared_hinge", (X, theta, 2.0 * codes - 1.0, weight)
        yield "squared_insensitive", (X, theta, y, weight, 0.3)
