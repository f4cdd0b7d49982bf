"""Arguments for the loops of native/counts.hpp."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X, weight, labels = rng.normal(size=(N, D)), rng.uniform(size=N), rng.integers(K, size=N)
    points, out = rng.normal(size=(2, K, D))
    holes = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
    for rows in (X, holes):
        yield "add_by_label", (rows, weight, labels, out)
        yield "add_above_by_label", (rows, 0.3, weight, labels, out)
        yield "add_squares_by_label", (rows, weight, labels, points, out)
    S = sp.random_array((N, D), density=0.6, rng=rng, format="csr")
    for index in (np.int32, np.int64):
        entries = S.data, S.indices.astype(index), S.indptr.astype(index)
        yield "add_sparse_by_label", (*entries, weight, labels, rng.permutation(N), out)
    size = rng.integers(4, size=D)  # some columns have no category
    start = np.concatenate([[0], np.cumsum(size)])
    codes = rng.poisson(1.0, size=(N, D)).astype(float)
    strange = codes.copy()
    strange[rng.uniform(size=X.shape) < 0.3] = rng.choice([np.nan, -1.0, 0.5, np.inf, -np.inf, 1e30])
    for rows in (codes, np.where(np.isnan(holes), np.nan, codes), strange):
        yield "largest", (rows,)
        yield "add_categories_by_label", (rows, weight, labels, start, rng.uniform(size=(K, start[-1])))
        yield "look_up", (rows, start, rng.normal(size=(start[-1], K)))
