"""Arguments for the loops of native/dual.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X = rng.normal(size=(N, D + N))
    lower, upper = np.zeros(N), rng.choice([0.0, 1.0, 2.0], N)  # some are fixed
    beta, group = upper * rng.choice([0.0, 0.5, 1.0], N), rng.integers(2, size=N)
    kernel = X @ X.T / (D + N)
    slope, box = kernel @ beta + rng.normal(size=N), (lower, upper, group, 2)
    yield "worst_pair", (slope, beta, *box)
    for most in (0, 3, 10_000):
        yield "minimize_pairs", (kernel, slope.copy(), beta.copy(), *box, 1e-3, most)
    infinite = np.full((N, N), np.inf)  # which callers refuse: no partner has a gain
    yield "minimize_pairs", (infinite, slope.copy(), beta.copy(), *box, 1e-3, 5)
    for kind in (np.float32, np.float64):
        columns, out = rng.normal(size=(K, 7 * N)).astype(kind), rng.normal(size=7 * N)
        yield "add_columns", (columns, rng.permutation(K)[: D + 1], rng.normal(size=min(D + 1, K)), out)
