"""Distances from rows to K points, and moments of rows about K points.

Rows are taken in tiles of which each feature is contiguous, so that the innermost loop runs over rows and is
vectorized for any K and D. Responsibilities are (K, N). NaN entries are left out of sums.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .prefetch import prefetch

TILE = 128  # rows; sixteen features of them are 16 KiB
WIDE = 256  # rows in a tile of float32
LINE = 8  # numbers that come from memory together

# Products may be fused with sums, and sums over rows taken in lanes. Neither changes what NaN does, and the
# order is fixed by the compiled code.
jit = compiled(fastmath={"contract", "reassoc"})
# Where the arrays are allocated, the compiler knows that none overlaps another.
inlined = compiled(fastmath={"contract", "reassoc"}, inline="always")


@jit
def _tile(X, start, tile):
    """Features of the rows from `start` on, contiguous; what is beyond the last row is left as it was."""
    count = min(tile.shape[1], len(X) - start)
    for i in range(count):
        for d in range(X.shape[1]):
            tile[d, i] = X[start + i, d]
    return count


@jit
def weighted_sum(X, weight):
    """out[d] = sum_i weight[i] X[i, d]: what BLAS does too, but NumPy holds the interpreter meanwhile."""
    N, D = X.shape
    out = np.zeros(D)
    for i in range(0, N - N % 4, 4):
        wa, wb, wc, we = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
        for d in range(D):
            out[d] += (wa * X[i, d] + wb * X[i + 1, d]) + (wc * X[i + 2, d] + we * X[i + 3, d])
    for i in range(N - N % 4, N):
        for d in range(D):
            out[d] += weight[i] * X[i, d]
    return out


@weighted_sum.small
def _(X, weight):
    return weight @ X


@jit
def nearest(X, points):
    """The nearest point of each row, and its squared distance."""
    N, K, D = len(X), len(points), X.shape[1]
    labels, best = np.empty(N, np.int64), np.empty(N)
    tile, distance = np.zeros((D, TILE)), np.empty(TILE)
    least, label = np.empty(TILE), np.empty(TILE, np.int64)
    for start in range(0, N, TILE):
        count = _tile(X, start, tile)
        least[:] = np.inf
        label[:] = 0
        for k in range(K):
            distance[:] = 0.0
            for d in range(0, D - D % 4, 4):  # four features at a time touch `distance` less often
                x0, x1, x2, x3 = tile[d], tile[d + 1], tile[d + 2], tile[d + 3]
                p0, p1, p2, p3 = points[k, d], points[k, d + 1], points[k, d + 2], points[k, d + 3]
                for i in range(TILE):
                    y0, y1, y2, y3 = x0[i] - p0, x1[i] - p1, x2[i] - p2, x3[i] - p3
                    distance[i] += (y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3)
            for d in range(D - D % 4, D):
                x, p = tile[d], points[k, d]
                for i in range(TILE):
                    distance[i] += (x[i] - p) * (x[i] - p)
            for i in range(TILE):
                closer = distance[i] < least[i]
                least[i] = distance[i] if closer else least[i]
                label[i] = k if closer else label[i]
        for i in range(count):
            labels[start + i] = label[i]
            best[start + i] = least[i]
    return labels, best


@nearest.small
def _(X, points):
    labels, best = np.zeros(len(X), np.int64), np.full(len(X), np.inf)
    features = np.ascontiguousarray(X.T)
    Y, distance = np.empty_like(features), np.empty(len(X))
    for k, p in enumerate(points):
        np.subtract(features, p[:, None], out=Y)
        np.einsum("dn,dn->n", Y, Y, out=distance)
        closer = distance < best
        np.copyto(labels, k, where=closer)
        np.copyto(best, distance, where=closer)
    return labels, best


@jit
def _nearest_of_row(x, points):
    """The point nearest to a row, by differences; of several, the first."""
    label, least = 0, np.inf
    for k in range(len(points)):
        distance = 0.0
        for d in range(len(x)):
            distance += (x[d] - points[k, d]) * (x[d] - points[k, d])
        if distance < least:
            label, least = k, distance
    return label


@jit
def _scaled(points):
    """Points about their mean, in units of the largest of their distances from it, as float32: the mean, the
    inverse of the unit, -c and |c|^2 / 2, with points and features up to multiples of four."""
    K, D = points.shape
    middle, unit = np.zeros(D), 0.0
    for k in range(K):
        for d in range(D):
            middle[d] += points[k, d] / K
    for k in range(K):
        square = 0.0
        for d in range(D):
            square += (points[k, d] - middle[d]) * (points[k, d] - middle[d])
        unit = max(unit, np.sqrt(square))
    scale = 1.0 / unit if unit > 0.0 else 1.0
    C = np.zeros(((K + 3) // 4 * 4, (D + 3) // 4 * 4), np.float32)
    half = np.full(len(C), np.inf, np.float32)
    for k in range(K):
        square = 0.0
        for d in range(D):
            c = (points[k, d] - middle[d]) * scale
            C[k, d] = -c
            square += c * c
        half[k] = 0.5 * square
    return middle, scale, C, half


@inlined
def _room(D):
    """Arrays for a tile of rows in float32, by row and by feature, and for scores of four points."""
    rows, tile = np.zeros((WIDE, D), np.float32), np.zeros(((D + 3) // 4 * 4, WIDE), np.float32)
    scores, best = np.empty((4, WIDE), np.float32), np.empty((3, WIDE), np.float32)
    return rows, tile, scores, best, np.empty(WIDE, np.int32)


@inlined
def _nearest_of_tile(X, start, points, scaled, room):
    """The number of the nearest point of each row of a tile: of the least score |c|^2 / 2 - x'c, in float32.

    A score has a rounding error of at most (1.1 D + 4) 2^-24 (|x| + 1), in the units of `_scaled`, and half a
    squared distance by differences in float64 one of (D + 3) 2^-54 (|x| + 1)^2. Rows whose two least scores
    are closer than these bounds are compared by differences: so the points found are those of differences.
    """
    middle, scale, C, half = scaled
    rows, tile, scores, best, label = room
    D, count = X.shape[1], min(WIDE, len(X) - start)
    s0, s1, s2, s3 = scores[0], scores[1], scores[2], scores[3]
    least, second, size = best[0], best[1], best[2]
    for i in range(count):
        square = np.float32(0.0)
        for d in range(D):
            x = np.float32((X[start + i, d] - middle[d]) * scale)
            rows[i, d] = x
            square += x * x
        size[i] = square
    for d in range(D):
        x0 = tile[d]
        for i in range(WIDE):
            x0[i] = rows[i, d]
    least[:] = np.inf
    second[:] = np.inf
    label[:] = 0
    for k in range(0, len(C), 4):  # four points by four features at a time, in registers
        s0[:], s1[:], s2[:], s3[:] = half[k], half[k + 1], half[k + 2], half[k + 3]
        for d in range(0, len(tile), 4):
            x0, x1, x2, x3 = tile[d], tile[d + 1], tile[d + 2], tile[d + 3]
            a0, a1, a2, a3 = C[k, d], C[k, d + 1], C[k, d + 2], C[k, d + 3]
            b0, b1, b2, b3 = C[k + 1, d], C[k + 1, d + 1], C[k + 1, d + 2], C[k + 1, d + 3]
            c0, c1, c2, c3 = C[k + 2, d], C[k + 2, d + 1], C[k + 2, d + 2], C[k + 2, d + 3]
            e0, e1, e2, e3 = C[k + 3, d], C[k + 3, d + 1], C[k + 3, d + 2], C[k + 3, d + 3]
            for i in range(WIDE):
                y0, y1, y2, y3 = x0[i], x1[i], x2[i], x3[i]
                s0[i] = s0[i] + a0 * y0 + a1 * y1 + a2 * y2 + a3 * y3
                s1[i] = s1[i] + b0 * y0 + b1 * y1 + b2 * y2 + b3 * y3
                s2[i] = s2[i] + c0 * y0 + c1 * y1 + c2 * y2 + c3 * y3
                s3[i] = s3[i] + e0 * y0 + e1 * y1 + e2 * y2 + e3 * y3
        k0, k1, k2, k3 = np.int32(k), np.int32(k + 1), np.int32(k + 2), np.int32(k + 3)
        for i in range(WIDE):
            low, low2 = min(s0[i], s1[i]), min(s2[i], s3[i])
            high = min(min(max(s0[i], s1[i]), max(s2[i], s3[i])), max(low, low2))
            number, number2 = k0 if s0[i] < s1[i] else k1, k2 if s2[i] < s3[i] else k3
            number, low = number if low < low2 else number2, min(low, low2)
            second[i] = min(min(second[i], high), max(least[i], low))
            label[i] = number if low < least[i] else label[i]
            least[i] = min(least[i], low)
    bound, of_differences = 2.0 * (1.1 * D + 4.0) * 2.0**-24, (D + 3.0) * 2.0**-53
    last = X.size - 1
    for i in range(count):
        for d in range(0, D, LINE):  # of the next tile
            prefetch(X, min((start + WIDE + i) * D + d, last))
        reach = 1.0 + np.sqrt(size[i]) * (1.0 + (D + 2.0) * 2.0**-24)
        if not second[i] - least[i] > reach * (bound + of_differences * reach):  # as if one is NaN
            label[i] = _nearest_of_row(X[start + i], points)
    return count


@jit
def nearest_of_many(X, points):
    """`nearest` for many points: see `_nearest_of_tile`."""
    labels, best = np.empty(len(X), np.int64), np.empty(len(X))
    scaled, room = _scaled(points), _room(X.shape[1])
    label = room[-1]
    for start in range(0, len(X), WIDE):
        count = _nearest_of_tile(X, start, points, scaled, room)
        for i in range(count):
            k, distance = label[i], 0.0
            for d in range(X.shape[1]):
                distance += (X[start + i, d] - points[k, d]) * (X[start + i, d] - points[k, d])
            labels[start + i], best[start + i] = k, distance
    return labels, best


nearest_of_many.small(nearest.numpy)


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


@sums_by_label.small
def _(X, weight, labels, points):
    K, D = points.shape
    cell = labels[:, None] * D + np.arange(D)
    offset = np.bincount(cell.ravel(), (weight[:, None] * (X - points[labels])).ravel(), K * D)
    return np.bincount(labels, weight, K), offset.reshape(K, D)


@jit
def nearest_sums(X, weight, points):
    """`nearest_of_many` and `sums_by_label` while a tile of rows is in the cache: the labels, the weighted
    sum of squared distances, and by label the sums of weights and offsets."""
    K, D = points.shape
    labels, squares = np.empty(len(X), np.int64), np.zeros(D)
    total, offset = np.zeros(K), np.zeros((K, D))
    scaled, room = _scaled(points), _room(D)
    label = room[-1]
    for start in range(0, len(X), WIDE):
        count = _nearest_of_tile(X, start, points, scaled, room)
        for i in range(count):
            k, w = label[i], weight[start + i]
            labels[start + i] = k
            total[k] += w
            x, point, sums = X[start + i], points[k], offset[k]
            for d in range(D):
                y = x[d] - point[d]
                sums[d] += w * y
                squares[d] += w * y * y
    return labels, squares.sum(), total, offset


@nearest_sums.small
def _(X, weight, points):
    labels, distance = nearest.numpy(X, points)
    return labels, weight @ distance, *sums_by_label.numpy(X, weight, labels, points)


@jit
def weighted_distances(X, points, scales):
    """out[k, i] = sum_d scales[k, d] (X[i, d] - points[k, d])^2"""
    N, K, D = len(X), len(points), X.shape[1]
    out = np.empty((K, N))
    tile, distance = np.zeros((D, TILE)), np.empty(TILE)
    for start in range(0, N, TILE):
        count = _tile(X, start, tile)
        for k in range(K):
            distance[:] = 0.0
            for d in range(D):
                x, p, a = tile[d], points[k, d], scales[k, d]
                for i in range(TILE):
                    square = a * (x[i] - p) * (x[i] - p)
                    distance[i] += square if square == square else 0.0
            for i in range(count):
                out[k, start + i] = distance[i]
    return out


@weighted_distances.small
def _(X, points, scales):
    out = np.empty((len(points), len(X)))
    features = np.ascontiguousarray(X.T)
    for k, p in enumerate(points):
        Y = features - p[:, None]
        out[k] = _sum(np.multiply(scales[k][:, None], np.square(Y, out=Y), out=Y))
    return out


def _sum(terms):
    """Sums over the first axis; NaN adds nothing."""
    total = terms.sum(axis=0)
    return np.where(np.isnan(terms), 0.0, terms).sum(axis=0) if np.isnan(total).any() else total


@jit
def squares_about(X, R, points):
    """out[k, d] = sum_i R[k, i] (X[i, d] - points[k, d])^2"""
    K, D = points.shape
    out = np.zeros((K, D))
    tile, r = np.zeros((D, TILE)), np.zeros(TILE)
    for start in range(0, len(X), TILE):
        count = _tile(X, start, tile)
        r[count:] = 0.0
        for k in range(K):
            for i in range(count):
                r[i] = R[k, start + i]
            for d in range(D):
                x, p, total = tile[d], points[k, d], 0.0
                for i in range(TILE):
                    square = r[i] * (x[i] - p) * (x[i] - p)
                    total += square if square == square else 0.0
                out[k, d] += total
    return out


@squares_about.small
def _(X, R, points):
    out = np.empty(points.shape)
    for k, p in enumerate(points):
        out[k] = _sum(R[k][:, None] * (X - p) ** 2)
    return out


@jit
def mahalanobis(X, points, U):
    """out[k, i] = |(X[i] - points[k]) U[k]|^2, with U[k] upper triangular."""
    N, K, D = len(X), len(points), X.shape[1]
    wide = (D + 3) // 4 * 4  # features are taken by four; those beyond D are zero
    out = np.empty((K, N))
    tile, Y = np.zeros((D, TILE)), np.zeros((wide, TILE))
    z, distance, column = np.empty(TILE), np.empty(TILE), np.zeros(wide)
    for start in range(0, N, TILE):
        count = _tile(X, start, tile)
        for k in range(K):
            for d in range(D):
                x, y, p = tile[d], Y[d], points[k, d]
                for i in range(TILE):
                    y[i] = x[i] - p
            distance[:] = 0.0
            for e in range(D):
                for d in range(D):
                    column[d] = U[k, d, e] if d <= e else 0.0
                z[:] = 0.0
                for d in range(0, e + 1, 4):
                    y0, y1, y2, y3 = Y[d], Y[d + 1], Y[d + 2], Y[d + 3]
                    u0, u1, u2, u3 = column[d], column[d + 1], column[d + 2], column[d + 3]
                    for i in range(TILE):
                        z[i] += (y0[i] * u0 + y1[i] * u1) + (y2[i] * u2 + y3[i] * u3)
                for i in range(TILE):
                    distance[i] += z[i] * z[i]
            for i in range(count):
                out[k, start + i] = distance[i]
    return out


@mahalanobis.small
def _(X, points, U):
    Y = (X - points[:, None]) @ np.triu(U)
    return np.einsum("kne,kne->kn", Y, Y)


@jit
def scatters_about(X, R, points):
    """out[k] = sum_i R[k, i] (X[i] - points[k]) (X[i] - points[k])'"""
    K, D = points.shape
    wide = (D + 3) // 4 * 4
    out = np.zeros((K, wide, wide))
    tile, Y = np.zeros((D, TILE)), np.zeros((wide, TILE))
    ry = np.empty(TILE)
    r = np.zeros(TILE)
    for start in range(0, len(X), TILE):
        count = _tile(X, start, tile)
        r[count:] = 0.0
        for k in range(K):
            for i in range(count):
                r[i] = R[k, start + i]
            for d in range(D):
                x, y, p = tile[d], Y[d], points[k, d]
                for i in range(TILE):
                    y[i] = x[i] - p
            for d in range(D):
                y = Y[d]
                for i in range(TILE):
                    ry[i] = r[i] * y[i]
                for e in range(0, d + 1, 4):
                    y0, y1, y2, y3 = Y[e], Y[e + 1], Y[e + 2], Y[e + 3]
                    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                    for i in range(TILE):
                        s0 += ry[i] * y0[i]
                        s1 += ry[i] * y1[i]
                        s2 += ry[i] * y2[i]
                        s3 += ry[i] * y3[i]
                    out[k, d, e] += s0
                    out[k, d, e + 1] += s1
                    out[k, d, e + 2] += s2
                    out[k, d, e + 3] += s3
    for k in range(K):
        for d in range(D):
            for e in range(d):
                out[k, e, d] = out[k, d, e]
    return out[:, :D, :D].copy()


@scatters_about.small
def _(X, R, points):
    Y = X - points[:, None]
    return (R[:, :, None] * Y).transpose(0, 2, 1) @ Y


# No sum is reordered here: the squares of a point and of an equal row are then the same number.
in_order = compiled()


@in_order
def sparse_distances(data, indices, indptr, points, out):
    """out[n, k] = |x_n - points[:, k]|^2 of CSR rows, for points (D, K); zero for a row that is the point."""
    D, K = points.shape
    square, near, seen = np.zeros(K), np.empty(K), np.empty(K)
    for d in range(D):
        for k in range(K):
            square[k] += points[d, k] * points[d, k]
    for n in range(len(indptr) - 1):
        near[:] = 0.0
        seen[:] = 0.0
        for p in range(indptr[n], indptr[n + 1]):
            x, point = data[p], points[indices[p]]
            for k in range(K):
                y = x - point[k]
                near[k] += y * y
                seen[k] += point[k] * point[k]
        for k in range(K):
            out[n, k] = near[k] + max(square[k] - seen[k], 0.0)


@in_order
def sparse_sums_by_label(data, indices, indptr, weight, labels, points):
    """`sums_by_label` of CSR rows."""
    total, offset = np.zeros(len(points)), np.zeros(points.shape)
    for n in range(len(indptr) - 1):
        k, w = labels[n], weight[n]
        total[k] += w
        for p in range(indptr[n], indptr[n + 1]):
            offset[k, indices[p]] += w * data[p]
    for k in range(len(points)):
        for d in range(points.shape[1]):
            offset[k, d] -= total[k] * points[k, d]
    return total, offset
