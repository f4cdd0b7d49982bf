"""Arguments for the loops of native/neighbors.hpp."""

import numpy as np

from suffice.loops.neighbors import build_tree


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    weight = rng.integers(0, 3, N) + rng.choice([0.0, 0.5], N)
    for ties in (False, True):
        X = np.round(rng.normal(size=(N, D)), 0 if ties else 15)
        queries = np.concatenate([rng.normal(size=(5, D)), X[:3]])
        Q = len(queries)
        found = np.full((Q, K), np.inf), np.full((Q, K), -1), np.zeros((Q, K))
        for p in (1.0, 2.0, np.inf, 2.5):
            yield "distances_of", (X, queries, p)
            if not ties or p != 2.5:  # powers with errors have other ties
                yield "nearest_of_all", (X, 100, weight, queries, p, *found)
        products, half = np.zeros((Q + 2, N + 3)), 0.5 * (X * X).sum(axis=1)
        products[:Q, :N] = queries @ X.T
        norm, slack = (queries * queries).sum(axis=1), np.full(Q, 1e-9)
        yield "nearest_of_products", (products, half, X, 100, weight, queries, norm, slack, *found)
        for leaf_size in (0, 1, 30):
            yield "build_tree", (X, leaf_size)
        for leaf_size, p in ((0, 2.0), (1, 1.0), (5, np.inf), (30, 2.0), (30, 2.5)):
            order, axis = build_tree(X, leaf_size)
            tree = np.ascontiguousarray(X[order].T), order, axis, leaf_size, weight[order]
            visited = np.zeros(N if p == 2.0 else 0, np.int64)
            if not ties or p != 2.5:
                yield "nearest_in_tree", (*tree, queries, p, *found, visited)
