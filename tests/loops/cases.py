"""Arguments for every compiled loop, of sizes about those of lanes, tiles and blocks of points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

SIZES = [(0, 3, 2), (1, 1, 1), (7, 2, 3), (8, 4, 8), (9, 5, 9), (127, 3, 4), (129, 9, 17), (300, 20, 33)]


def distances(N, D, K):
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
    yield "nearest_sums", (X, weight, points)
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


def coordinates(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X, Y = rng.normal(size=(N + D, D)), rng.normal(size=(N + D, K))
    w = rng.normal(size=D)
    for a in (X.T, w):
        a[D // 2] *= D % 2  # a feature without a spread
    A, B = X.T @ X, X.T @ Y
    b, yy, l1 = B[:, 0].copy(), Y[:, 0] @ Y[:, 0], 0.3 * np.abs(B).max()
    for positive in (False, True):
        start = np.abs(w) if positive else w
        yield "duality_gap", (b, yy, l1, 0.5, positive, start, A @ start)
        for most in (2, 1000):
            yield "descend", (A, b, yy, l1, 0.5, positive, 1e-6 * yy, most, start.copy(), np.empty(D))
    W = w[:, None] * np.ones(K)
    yield "descend_jointly", (A, B, (Y * Y).sum(), l1, 0.5, 1e-6 * yy, 1000, W, np.empty((D, K)))


def dual(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X = rng.normal(size=(N, D + N))
    lower, upper = np.zeros(N), rng.choice([0.0, 1.0, 2.0], N)  # some are fixed
    beta, group = upper * rng.choice([0.0, 0.5, 1.0], N), rng.integers(2, size=N)
    kernel = X @ X.T / (D + N)
    slope, box = kernel @ beta + rng.normal(size=N), (lower, upper, group, 2)
    yield "worst_pair", (slope, beta, *box)
    for most in (0, 3, 10_000):
        yield "minimize_pairs", (kernel, slope.copy(), beta.copy(), *box, 1e-3, most)
    for kind in (np.float32, np.float64):
        columns, out = rng.normal(size=(K, 7 * N)).astype(kind), rng.normal(size=7 * N)
        yield "add_columns", (columns, rng.permutation(K)[: D + 1], rng.normal(size=min(D + 1, K)), out)


def sparse(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X = sp.random_array((N, D), density=0.6, rng=rng, format="csr")
    W, G, out = rng.normal(size=(D, K)), rng.normal(size=(N, K)), rng.normal(size=(D, K))
    for index in (np.int32, np.int64):
        entries = X.data, X.indices.astype(index), X.indptr.astype(index)
        yield "times", (*entries, W)
        yield "add_transposed_times", (*entries, G, out)


TOPICS = {"distances": distances, "coordinates": coordinates, "dual": dual, "sparse": sparse}


def cases():
    """The topic, the name, the sizes and the arguments of calls that try every loop."""
    for topic, of in TOPICS.items():
        for size in SIZES:
            for name, arguments in of(*size):
                yield topic, name, size, arguments
