"""Squared distances from rows, dense or CSR, to K points, and sums of the rows nearest to each point.

Distances of dense rows are sums of squared differences. Those of CSR rows are the same sums over the entries
of a row, plus the squares of the point elsewhere. A row that equals a point is at distance zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import entries_of

MANY = 8  # number of points from which products take less time than differences


def squared_distances(X: Any, points: np.ndarray) -> np.ndarray:
    """Squared distances of the rows to the points, (N, K)."""
    from ..loops.distances import sparse_distances, weighted_distances

    if not sp.issparse(X):
        points = np.ascontiguousarray(points)
        return weighted_distances(np.ascontiguousarray(X), points, np.ones_like(points)).T
    out = np.empty((X.shape[0], len(points)))
    sparse_distances(*entries_of(X), np.ascontiguousarray(points.T), out)
    return out


def nearest(X: Any, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest point of each row, and its squared distance.

    Results do not depend on blocks or order.
    """
    from ..loops.distances import nearest, nearest_of_many

    if not sp.issparse(X):
        find = nearest_of_many if len(points) >= MANY else nearest
        return find(np.ascontiguousarray(X), np.ascontiguousarray(points))
    distance = squared_distances(X, points)
    labels = distance.argmin(axis=1)
    return labels, distance[np.arange(len(labels)), labels]


def sums_pieces(X: Any, points: np.ndarray) -> bool:
    """Whether `nearest_sums` can sum pieces of rows. It adds them in the order of `tree_sum`."""
    return len(points) >= MANY and not sp.issparse(X)


def nearest_sums(
    X: Any, weight: np.ndarray, points: np.ndarray, rows: int = 0
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """The nearest point of each row, the weighted sum of squared distances from it, and by point the sums of
    weights, (K,), and of weight times the offset from the point, (K, D).

    If `rows` is not zero, sums of pieces of as many rows are added: see `sums_pieces`.
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
