"""Arguments for the loops of native/linkage.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    ties = rng.integers(0, 3, (N, D)).astype(np.float64)
    for X, weight in ((rng.normal(size=(N, D)), rng.integers(1, 9, N) / 2), (ties, np.ones(N))):
        yield "ward_chain", (X, weight)
        yield "centroid_merges", (X, weight)
        yield "spanning_tree", (X,)
        far = np.abs(X[:, None] - X).sum(axis=2)
        for average in (False, True):
            yield "matrix_chain", (far, weight, average)
