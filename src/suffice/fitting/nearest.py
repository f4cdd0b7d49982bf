"""Squared distances from rows, dense or CSR, to K points, and sums of the rows nearest to each point.

Distances of dense rows are sums of squared differences. For CSR rows these sums are over the entries of the
row, plus the squares of the other coordinates of the point. A row that equals a point has distance zero.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Matrix, entries_of

MANY = 8  # number of points from which matrix products take less time than differences


def squared_distances(X: Matrix, points: np.ndarray) -> np.ndarray:
    """Return the squared distances of the rows to the points, (N, K)."""
    from ..loops.distances import sparse_distances, weighted_distances

    if not sp.issparse(X):
        points = np.ascontiguousarray(points)
        return weighted_distances(np.ascontiguousarray(X), points, np.ones_like(points)).T
    out = np.empty((X.shape[0], len(points)))
    sparse_distances(*entries_of(X), np.ascontiguousarray(points.T), out)
    return out


def nearest(X: Matrix, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest point of each row, and the squared distance.

    Results do not depend on blocks or order.
    """
    from ..loops.distances import nearest, nearest_of_many

    if not sp.issparse(X):
        find = nearest_of_many if len(points) >= MANY else nearest
        return find(np.ascontiguousarray(X), np.ascontiguousarray(points))
    distance = squared_distances(X, points)
    labels = distance.argmin(axis=1)
    return labels, distance[np.arange(len(labels)), labels]


def sums_pieces(X: Matrix, points: np.ndarray) -> bool:
    """Whether `nearest_sums` can sum pieces of these rows, in the order of `tree_sum`."""
    return len(points) >= MANY and not sp.issparse(X)


def nearest_sums(
    X: Matrix, weight: np.ndarray, points: np.ndarray, rows: int = 0
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Return the nearest point of each row, and sums over the rows.

    The sums are the weighted sum of squared distances, and by point the sum of weights, (K,), and the sum of
    weight times the difference from the point, (K, D). If `rows` is not zero, the sums of pieces of that many
    rows are added (see `sums_pieces`).
    """
    from ..loops.distances import nearest_sums, sparse_sums_by_label, sums_by_label

    if not sp.issparse(X):
        X, points = np.ascontiguousarray(X), np.ascontiguousarray(points)
    if sums_pieces(X, points):
        return nearest_sums(X, weight, points, rows or max(1, len(X)))
    labels, distance = nearest(X, points)
    if sp.issparse(X):
        sums = sparse_sums_by_label(*entries_of(X), weight, labels, points)
    else:
        sums = sums_by_label(X, weight, labels, points)
    return labels, weight @ distance, *sums
