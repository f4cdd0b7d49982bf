"""Merges of hierarchical clustering: of points in memory linear in their number, or of a distance matrix.

Each loop returns the merges in the order in which it finds them, as a leaf of each of the two clusters and
the squared height; those of a distance matrix, the height itself.

Murtagh, "Multidimensional Clustering Algorithms", 1985 (the nearest-neighbour chain); Müllner, "Modern
hierarchical, agglomerative clustering algorithms", 2011; Prim, "Shortest connection networks", 1957.
"""

from __future__ import annotations

import numpy as np

from .compiled import MOST_VISITS, compiled

TILE = 256  # points; eight features of them are 16 KiB

jit = compiled(fastmath={"contract"})


@jit
def _squares(C, i, start, out):
    """Squared distances of a tile of points from `start` on to point i, for features (D, N)."""
    out[:] = 0.0
    for d in range(len(C)):
        c, row = C[d, i], C[d, start : start + TILE]
        for j in range(TILE):
            out[j] += (row[j] - c) * (row[j] - c)


@jit
def _by_feature(X):
    """The features of the points, contiguous, with room for a tile beyond the last."""
    C = np.zeros((X.shape[1], len(X) + TILE))
    for i in range(len(X)):
        for d in range(X.shape[1]):
            C[d, i] = X[i, d]
    return C


@jit
def ward_chain(X, weight):
    """Ward's merges by chains of nearest neighbours: 2 w_a w_b / (w_a + w_b) |a - b|^2 for centroids a, b."""
    N, D = X.shape
    C, w, leaf = _by_feature(X), np.zeros(N + TILE), np.arange(N + TILE)
    w[:N] = weight
    left, right = np.empty(N - 1, np.int64), np.empty(N - 1, np.int64)
    height, square = np.empty(N - 1), np.empty(TILE)
    chain, link, length = np.empty(N + 1, np.int64), np.empty(N + 1), 0
    n = N  # clusters are in the first n places
    while n > 1:
        if length == 0:
            chain[0], link[0], length = 0, np.inf, 1
        x, best = chain[length - 1], link[length - 1]
        y = chain[length - 2] if length > 1 else 0
        a = w[x]
        for start in range(0, n, TILE):
            _squares(C, x, start, square)
            for j in range(TILE):
                square[j] *= 2.0 * (a * w[start + j]) / (a + w[start + j])
            if start <= x < start + TILE:
                square[x - start] = np.inf
            for j in range(min(TILE, n - start)):
                if square[j] < best:
                    best, y = square[j], start + j
        if length == 1 or y != chain[length - 2]:
            chain[length], link[length] = y, best
            length += 1
            continue
        length -= 2
        m = N - n
        left[m], right[m], height[m] = leaf[x], leaf[y], best
        share = w[y] / (w[x] + w[y])
        keep, free, last = min(x, y), max(x, y), n - 1
        for d in range(D):
            C[d, keep] = C[d, x] + share * (C[d, y] - C[d, x])
            C[d, free] = C[d, last]
        w[keep] = w[x] + w[y]
        w[free], leaf[free] = w[last], leaf[last]
        for i in range(length):
            if chain[i] == last:
                chain[i] = free
        n = last
    return left, right, height


@ward_chain.small
def _(X, weight):
    if len(X) > MOST_VISITS:
        return NotImplemented
    C, w = X.copy(), weight.astype(np.float64)
    leaf, merges = np.arange(len(X)), []
    chain: list = []
    while len(C) > 1:
        if not chain:
            chain = [(0, np.inf)]
        x, best = chain[-1]
        Y = C - C[x]
        square = np.einsum("nd,nd->n", Y, Y) * (2.0 * (w[x] * w) / (w[x] + w))
        square[x] = np.inf
        y = int(square.argmin())
        if not square[y] < best:
            y = chain[-2][0] if len(chain) > 1 else y
        if len(chain) == 1 or y != chain[-2][0]:
            chain.append((y, min(square[y], best)))
            continue
        merges.append((leaf[x], leaf[y], min(square[y], best)))
        keep, free = min(x, y), max(x, y)
        C[keep] = C[x] + (C[y] - C[x]) * (w[y] / (w[x] + w[y]))
        w[keep] = w[x] + w[y]
        last = len(C) - 1
        C[free], w[free], leaf[free] = C[last], w[last], leaf[last]
        C, w, leaf = C[:last], w[:last], leaf[:last]
        chain = [(free if place == last else place, value) for place, value in chain[:-2]]
    return _as_arrays(merges)


def _as_arrays(merges):
    left, right, height = zip(*merges, strict=True) if merges else ((), (), ())
    return np.array(left, np.int64), np.array(right, np.int64), np.array(height, np.float64)


@jit
def centroid_merges(X, weight):
    """Merges of the two nearest centroids, each time. A merge may be lower than the one before.

    `near` is the nearest other cluster of each, or -1 if that is merged; `least` is then a lower bound: the
    distances to other clusters did not change, and a nearer one that came was written down.
    """
    N, D = X.shape
    C, w, leaf = _by_feature(X), weight.astype(np.float64), np.arange(N)
    left, right = np.empty(N - 1, np.int64), np.empty(N - 1, np.int64)
    height, square = np.empty(N - 1), np.empty(TILE)
    near, least = np.full(N, -1), np.zeros(N)
    n = N
    while n > 1:
        while True:
            x, best = 0, least[0]
            for i in range(1, n):
                if least[i] < best:
                    x, best = i, least[i]
            if near[x] >= 0:
                break
            y, best = -1, np.inf
            for start in range(0, n, TILE):
                _squares(C, x, start, square)
                if start <= x < start + TILE:
                    square[x - start] = np.inf
                for j in range(min(TILE, n - start)):
                    if square[j] < best or (y < 0 and start + j != x):
                        best, y = square[j], start + j
            near[x], least[x] = y, best
        y = near[x]
        m = N - n
        left[m], right[m], height[m] = leaf[x], leaf[y], least[x]
        share = w[y] / (w[x] + w[y])
        keep, free, last = min(x, y), max(x, y), n - 1
        for d in range(D):
            C[d, keep] = C[d, x] + share * (C[d, y] - C[d, x])
            C[d, free] = C[d, last]
        w[keep] = w[x] + w[y]
        w[free], leaf[free], near[free], least[free] = w[last], leaf[last], near[last], least[last]
        for i in range(last):
            if near[i] == keep or near[i] == free:
                near[i] = -1
            elif near[i] == last:
                near[i] = free
        n = last
        near[keep], least[keep] = -1, np.inf
        for start in range(0, n, TILE):
            _squares(C, keep, start, square)
            for j in range(min(TILE, n - start)):
                i = start + j
                if i != keep and square[j] < least[keep]:
                    near[keep], least[keep] = i, square[j]
                if i != keep and square[j] < least[i]:
                    near[i], least[i] = keep, square[j]
    return left, right, height


@centroid_merges.small
def _(X, weight):
    if len(X) > MOST_VISITS:
        return NotImplemented
    C, w = X.copy(), weight.astype(np.float64)
    leaf, merges = np.arange(len(X)), []
    near, least = np.full(len(X), -1), np.zeros(len(X))

    def squares(x):
        Y = C - C[x]
        out = np.einsum("nd,nd->n", Y, Y)
        out[x] = np.inf
        return out

    while len(C) > 1:
        x = int(least.argmin())
        while near[x] < 0:
            square = squares(x)
            near[x] = square.argmin()
            least[x] = square[near[x]]
            x = int(least.argmin())
        y = int(near[x])
        merges.append((leaf[x], leaf[y], least[x]))
        keep, free, last = min(x, y), max(x, y), len(C) - 1
        C[keep] = C[x] + (C[y] - C[x]) * (w[y] / (w[x] + w[y]))
        w[keep] = w[x] + w[y]
        for values in (C, w, leaf, near, least):
            values[free] = values[last]
        C, w, leaf = C[:last], w[:last], leaf[:last]
        near, least = near[:last], least[:last]
        near[(near == keep) | (near == free)] = -1
        near[near == last] = free
        square = squares(keep)
        near[keep] = square.argmin()
        least[keep] = square[near[keep]]
        closer = square < least
        near[closer], least[closer] = keep, square[closer]
    return _as_arrays(merges)


@jit
def spanning_tree(X):
    """The links of a minimum spanning tree, with squared lengths, by Prim's algorithm."""
    N, D = X.shape
    C, leaf = _by_feature(X), np.arange(N)
    left, right = np.empty(N - 1, np.int64), np.empty(N - 1, np.int64)
    height, square = np.empty(N - 1), np.empty(TILE)
    least, near = np.full(N, np.inf), np.zeros(N, np.int64)
    point = np.empty(D)
    x, n = 0, N  # the points that are not in the tree are in the first n places
    while n > 1:
        inside, last = leaf[x], n - 1
        for d in range(D):
            point[d] = C[d, x]
            C[d, x] = C[d, last]
        leaf[x], least[x], near[x] = leaf[last], least[last], near[last]
        n = last
        best, x = np.inf, 0
        for start in range(0, n, TILE):
            square[:] = 0.0
            for d in range(D):
                c, row = point[d], C[d, start : start + TILE]
                for j in range(TILE):
                    square[j] += (row[j] - c) * (row[j] - c)
            for j in range(min(TILE, n - start)):
                i = start + j
                if square[j] < least[i]:
                    least[i], near[i] = square[j], inside
                if least[i] < best:
                    best, x = least[i], i
        m = N - n - 1
        left[m], right[m], height[m] = near[x], leaf[x], least[x]
    return left, right, height


@spanning_tree.small
def _(X):
    if len(X) > MOST_VISITS:
        return NotImplemented
    merges, outside = [], np.arange(1, len(X))
    least, near, x = np.full(len(outside), np.inf), np.zeros(len(outside), np.int64), 0
    while len(outside):
        Y = X[outside] - X[x]
        square = np.einsum("nd,nd->n", Y, Y)
        closer = square < least
        least[closer], near[closer] = square[closer], x
        i = int(least.argmin())
        x = outside[i]
        merges.append((near[i], x, least[i]))
        outside, least, near = (np.delete(values, i) for values in (outside, least, near))
    return _as_arrays(merges)


@jit
def matrix_chain(D, weight, average):
    """Merges of a distance matrix, which is overwritten, by chains of nearest neighbours: the mean distance
    of pairs, or the largest."""
    N = len(D)
    w, leaf = weight.astype(np.float64), np.arange(N)
    left, right, height = np.empty(N - 1, np.int64), np.empty(N - 1, np.int64), np.empty(N - 1)
    chain, link, length = np.empty(N + 1, np.int64), np.empty(N + 1), 0
    n = N
    while n > 1:
        if length == 0:
            chain[0], link[0], length = 0, np.inf, 1
        x, best = chain[length - 1], link[length - 1]
        y = chain[length - 2] if length > 1 else 0
        for j in range(n):
            if D[x, j] < best and j != x:
                best, y = D[x, j], j
        if length == 1 or y != chain[length - 2]:
            chain[length], link[length] = y, best
            length += 1
            continue
        length -= 2
        m = N - n
        left[m], right[m], height[m] = leaf[x], leaf[y], best
        a, b = w[x] / (w[x] + w[y]), w[y] / (w[x] + w[y])
        keep, free, last = min(x, y), max(x, y), n - 1
        for j in range(n):
            D[keep, j] = a * D[x, j] + b * D[y, j] if average else max(D[x, j], D[y, j])
        for j in range(n):
            D[j, keep] = D[keep, j]
        for j in range(n):
            D[free, j] = D[last, j]
        for j in range(n):
            D[j, free] = D[free, j]
        w[keep] = w[x] + w[y]
        w[free], leaf[free] = w[last], leaf[last]
        n = last
        for i in range(length):
            if chain[i] == last:
                chain[i] = free
    return left, right, height


@matrix_chain.small
def _(D, weight, average):
    if len(D) > MOST_VISITS:
        return NotImplemented
    w, leaf, merges = weight.astype(np.float64), np.arange(len(D)), []
    chain: list = []
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    while len(w) > 1:
        if not chain:
            chain = [(0, np.inf)]
        x, best = chain[-1]
        y = int(D[x].argmin())
        if not D[x, y] < best:
            y = chain[-2][0] if len(chain) > 1 else y
        if len(chain) == 1 or y != chain[-2][0]:
            chain.append((y, min(D[x, y], best)))
            continue
        merges.append((leaf[x], leaf[y], min(D[x, y], best)))
        keep, free, last = min(x, y), max(x, y), len(w) - 1
        total = w[x] + w[y]
        row = D[x] * (w[x] / total) + D[y] * (w[y] / total) if average else np.maximum(D[x], D[y])
        D[keep] = D[:, keep] = row
        D[free] = D[last]
        D[:, free] = D[:, last]
        w[keep] = total
        w[free], leaf[free] = w[last], leaf[last]
        D, w, leaf = D[:last, :last], w[:last], leaf[:last]
        np.fill_diagonal(D, np.inf)
        chain = [(free if place == last else place, value) for place, value in chain[:-2]]
    return _as_arrays(merges)
