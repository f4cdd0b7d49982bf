"""The loops of native/linkage.hpp in NumPy."""

import numpy as np


def _as_arrays(merges):
    left, right, height = zip(*merges, strict=True) if merges else ((), (), ())
    return np.array(left, np.int64), np.array(right, np.int64), np.array(height, np.float64)


def _squares(C, x):
    """Squared distances from C[x]; infinite of itself."""
    Y = C - C[x]
    out = np.zeros(len(C))
    for y in Y.T:
        out += y * y
    out[x] = np.inf
    return out


def _by_chains(N, distances, merge):
    """Merges of clusters, of which distances(x) are those from cluster x, and merge(x, y) joins two."""
    leaf, merges, n = np.arange(N), [], N
    chain = []
    while n > 1:
        if not chain:
            chain = [(0, np.inf)]
        x, best = chain[-1]
        distance = distances(x)
        y = int(distance.argmin())
        if not distance[y] < best:
            y = chain[-2][0] if len(chain) > 1 else int(x == 0)
        if len(chain) == 1 or y != chain[-2][0]:
            chain.append((y, min(distance[y], best)))
            continue
        merges.append((leaf[x], leaf[y], min(distance[y], best)))
        merge(x, y)
        n -= 1
        leaf[max(x, y)] = leaf[n]
        chain = [(max(x, y) if place == n else place, value) for place, value in chain[:-2]]
    return _as_arrays(merges)


def ward_chain(X, weight):
    C, w = X.copy(), weight.copy()

    def distances(x):
        return _squares(C, x) * (2.0 * (w[x] * w) / (w[x] + w))

    def merge(x, y):
        nonlocal C, w
        keep, free = min(x, y), max(x, y)
        C[keep] = C[x] + w[y] / (w[x] + w[y]) * (C[y] - C[x])
        w[keep] = w[x] + w[y]
        C[free], w[free] = C[-1], w[-1]
        C, w = C[:-1], w[:-1]

    return _by_chains(len(X), distances, merge)


def matrix_chain(D, weight, average):
    w = weight.copy()

    def distances(x):
        row = D[x, : len(w)].copy()
        row[x] = np.inf
        return row

    def merge(x, y):
        nonlocal w
        keep, free, n = min(x, y), max(x, y), len(w)
        total = w[x] + w[y]
        rows = D[x, :n], D[y, :n]
        D[keep, :n] = w[x] / total * rows[0] + w[y] / total * rows[1] if average else np.maximum(*rows)
        D[:n, keep] = D[keep, :n]
        D[free, :n] = D[n - 1, :n]
        D[:n, free] = D[free, :n]
        w[keep] = total
        w[free] = w[-1]
        w = w[:-1]

    return _by_chains(len(D), distances, merge)


def centroid_merges(X, weight):
    C, w = X.copy(), weight.copy()
    leaf, merges = np.arange(len(X)), []
    near, least = np.full(len(X), -1), np.zeros(len(X))
    while len(C) > 1:
        x = int(least.argmin())
        while near[x] < 0:
            square = _squares(C, x)
            near[x] = square.argmin()
            least[x] = square[near[x]]
            x = int(least.argmin())
        y = int(near[x])
        merges.append((leaf[x], leaf[y], least[x]))
        keep, free, last = min(x, y), max(x, y), len(C) - 1
        C[keep] = C[x] + w[y] / (w[x] + w[y]) * (C[y] - C[x])
        w[keep] = w[x] + w[y]
        for values in (C, w, leaf, near, least):
            values[free] = values[last]
        C, w, leaf = C[:last], w[:last], leaf[:last]
        near, least = near[:last], least[:last]
        near[(near == keep) | (near == free)] = -1
        near[near == last] = free
        square = _squares(C, keep)
        near[keep] = square.argmin()
        least[keep] = square[near[keep]]
        closer = square < least
        near[closer], least[closer] = keep, square[closer]
    return _as_arrays(merges)


def spanning_tree(X):
    merges, outside = [], np.arange(len(X))
    least, near, x = np.full(len(X), np.inf), np.zeros(len(X), np.int64), 0
    while len(outside) > 1:
        inside = outside[x]
        for values in (outside, least, near):
            values[x] = values[-1]
        outside, least, near = outside[:-1], least[:-1], near[:-1]
        square = np.zeros(len(outside))
        for column, c in zip(X[outside].T, X[inside], strict=True):
            square += (column - c) * (column - c)
        closer = square < least
        least[closer], near[closer] = square[closer], inside
        x = int(least.argmin())
        merges.append((near[x], outside[x], least[x]))
    return _as_arrays(merges)
