"""Weighted squared distances from rows to K points, and sums of them.

Rows are taken in tiles of which each feature is contiguous, so that the innermost loop runs over rows
and the compiler vectorises it without reordering any sum. A NaN entry counts in no sum.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TILE = 128

jit = njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")


@jit
def _tile(X, start, tile):
    """Features of the rows from `start` on, contiguous; what is beyond the last row stays as it was."""
    stop = min(start + tile.shape[1], len(X))
    for i in range(start, stop):
        for d in range(X.shape[1]):
            tile[d, i - start] = X[i, d]
    return stop - start


@jit
def _distances(tile, point, scale, out):
    """out[i] = sum_d scale[d] (tile[d, i] - point[d])^2"""
    out[:] = 0.0
    for d in range(len(point)):
        x, p, a = tile[d], point[d], scale[d]
        for i in range(len(out)):
            y = x[i] - p
            square = a * y * y
            out[i] += square if square == square else 0.0


@jit
def weighted_distances(X, points, scales):
    """out[i, k] = sum_d scales[k, d] (X[i, d] - points[k, d])^2"""
    N, K = len(X), len(points)
    out = np.empty((N, K))
    tile, distance = np.zeros((X.shape[1], TILE)), np.empty(TILE)
    for start in range(0, N, TILE):
        count = _tile(X, start, tile)
        for k in range(K):
            _distances(tile, points[k], scales[k], distance)
            for i in range(count):
                out[start + i, k] = distance[i]
    return out


@jit
def squares_about(X, R, points):
    """out[k, d] = sum_i R[i, k] (X[i, d] - points[k, d])^2"""
    K, D = points.shape
    out = np.zeros((K, D))
    for i in range(len(X)):
        for k in range(K):
            r = R[i, k]
            if r > 0.0:
                for d in range(D):
                    y = X[i, d] - points[k, d]
                    square = r * y * y
                    out[k, d] += square if square == square else 0.0
    return out


@jit
def _plain_distances(tile, point, out):
    """out[i] = sum_d (tile[d, i] - point[d])^2, four features at a time to touch `out` less often."""
    out[:] = 0.0
    D = len(point)
    for d in range(0, D - D % 4, 4):
        x0, x1, x2, x3 = tile[d], tile[d + 1], tile[d + 2], tile[d + 3]
        p0, p1, p2, p3 = point[d], point[d + 1], point[d + 2], point[d + 3]
        for i in range(len(out)):
            y0, y1, y2, y3 = x0[i] - p0, x1[i] - p1, x2[i] - p2, x3[i] - p3
            out[i] += (y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3)
    for d in range(D - D % 4, D):
        x, p = tile[d], point[d]
        for i in range(len(out)):
            y = x[i] - p
            out[i] += y * y


@jit
def nearest(X, points):
    """The nearest point of each row, and its squared distance."""
    N, K = len(X), len(points)
    labels, best = np.zeros(N, np.int64), np.empty(N)
    tile, distance = np.zeros((X.shape[1], TILE)), np.empty(TILE)
    least, label = np.empty(TILE), np.empty(TILE, np.int64)
    for start in range(0, N, TILE):
        count = _tile(X, start, tile)
        least[:] = np.inf
        label[:] = 0
        for k in range(K):
            _plain_distances(tile, points[k], distance)
            for i in range(TILE):
                closer = distance[i] < least[i]
                least[i] = distance[i] if closer else least[i]
                label[i] = k if closer else label[i]
        for i in range(count):
            labels[start + i] = label[i]
            best[start + i] = least[i]
    return labels, best


@jit
def sums_by_label(X, weight, labels, points):
    """By label: the sum of weights, and of weight times the offset from the point of that label."""
    K, D = points.shape
    total, offset = np.zeros(K), np.zeros((K, D))
    for i in range(len(X)):
        k, w = labels[i], weight[i]
        total[k] += w
        for d in range(D):
            offset[k, d] += w * (X[i, d] - points[k, d])
    return total, offset
