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


def elementary(N, D, K):
    rng = np.random.default_rng((N, D, K))
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 2e-308, 1e308, -1.0, -2.0, 1.0, 710.0, -745.0]
    x = np.concatenate([np.resize(ends, N), rng.normal(size=N) * np.exp(rng.uniform(-700, 700, N))])[1:]
    yield "exp", (x,)
    yield "exp", (rng.uniform(-745.2, 709.8, N),)
    for name in "log", "log1p":
        yield name, (x,)
        yield name, (rng.uniform(0, 3, N),)


def chains(N, D, K):
    """K states; D sequences are empty, and as many have no path."""
    rng = np.random.default_rng((N, D, K))
    cuts = np.concatenate([rng.integers(0, N + 1, max(1, N // 5)), rng.integers(0, N + 1, 1).repeat(D)])
    offset = np.concatenate([[0], np.sort(cuts), [N]])
    S = len(offset) - 1
    weight = np.where(rng.random(S) < 0.2, 0.0, rng.uniform(size=S))
    for kind in "plain", "forbidden", "ties":
        U, start = rng.normal(size=(N, K)), rng.normal(size=K)
        for each in False, True:
            moves = rng.normal(size=(N if each else 1, K, K))
            if kind == "forbidden":
                U = np.where(rng.random(U.shape) < 0.1, -np.inf, U)
                moves = np.where(rng.random(moves.shape) < 0.1, -np.inf, moves)
            elif kind == "ties":
                U, start, moves = (np.floor(a) for a in (U, start, moves))
            E, turned = np.exp(U - 1.0), np.ascontiguousarray(np.exp(moves - 1.0).transpose(0, 2, 1))
            products = E, np.exp(start), np.exp(moves - 1.0)
            yield "exp_below_largest", (U,)
            yield "forward", (*products, offset)
            yield "smooth", (*products, turned, offset, weight)
            yield "best_paths", (U, start, moves, offset)
            if kind == "plain":
                few = slice(0, min(N, 12))
                yield "k_best_paths", (U[few], start, moves[few], 3)
            yield "log_forward", (U, start, moves, offset)
            yield "log_backward", (U, moves, offset)
            before, after = rng.normal(size=(2, N, K))
            yield "add_log_pairs", (before, U, after, moves, 2.0, 0.5, rng.uniform(size=moves.shape))


def logistic(N, D, K):
    rng = np.random.default_rng((N, D, K))
    codes, weight = rng.integers(2, size=N), np.where(rng.random(N) < 0.2, 0.0, rng.uniform(size=N))
    for scale in 1.0, 300.0:
        X = rng.normal(size=1 + N * D)[1:].reshape(N, D) * scale
        yield "binomial", (X, rng.normal(size=D + 1), codes, weight)


def log_linear(N, D, K):
    rng = np.random.default_rng((N, D, K))
    codes, weight = rng.integers(K, size=N), np.where(rng.random(N) < 0.2, 0.0, rng.uniform(size=N))
    for scale in 1.0, 300.0:
        yield "errors", (scale * rng.normal(size=(N, K)), rng.normal(size=K), codes, weight)
    S = sp.random_array((N, D), density=0.3, rng=rng, format="csr")
    order, shrink = rng.integers(N, size=2 * N) if N else codes, rng.uniform(size=D + 1)
    for columns in {1, K}:
        before, (start, drift) = rng.uniform(size=(N, columns)), rng.normal(size=(2, D + 1, columns))
        for index, every, intercept in (np.int32, 1, True), (np.int64, 7, False):
            entries = S.data, S.indices.astype(index), S.indptr.astype(index)
            rows = order, weight, before
            yield "svrg_epoch", (*entries, *rows, start, drift, shrink, 0.01, every, intercept)


TOPICS = {
    "chains": chains,
    "distances": distances,
    "elementary": elementary,
    "log_linear": log_linear,
    "logistic": logistic,
}


def cases():
    """The topic, the name, the sizes and the arguments of calls that try every loop."""
    for topic, of in TOPICS.items():
        for size in SIZES:
            for name, arguments in of(*size):
                yield topic, name, size, arguments
