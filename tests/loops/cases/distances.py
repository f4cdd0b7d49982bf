"""Arguments for the loops of native/distances.hpp."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X = rng.normal(size=1 + N * D)[1:].reshape(N, D)  # at no multiple of the width of a register
    points, scales = rng.normal(size=(2, K, D))
    holes = np.where(rng.random((N, D)) < 0.2, np.nan, X)
    weight, labels = rng.uniform(size=N), rng.integers(K, size=N)
    R, U = rng.uniform(size=(K, N)), rng.normal(size=(K, D, D))
    yield "weighted_sum", (X, weight)
    yield "nearest", (X, points)
    yield "nearest_of_many", (X, points)
    yield "sums_by_label", (X, weight, labels, points)
    for rows in (1 + N, 1 + N // 3):
        yield "nearest_sums", (X, weight, points, rows)
    for rows in (X, holes):
        yield "weighted_distances", (rows, points, scales)
        yield "squares_about", (rows, R, points)
    yield "mahalanobis", (X, points, U)
    yield "scatters_about", (X, R, points)
    S = sp.random_array((N, D), density=0.3, rng=rng, format="csr")
    for index in (np.int32, np.int64):
        entries = S.data, S.indices.astype(index), S.indptr.astype(index)
        out = np.empty((N, K))
        yield "sparse_distances", (*entries, np.ascontiguousarray(points.T), out)
        yield "sparse_sums_by_label", (*entries, weight, labels, points)
