"""Distances from rows to K points, and moments of rows about K points.

Rows are taken in tiles of which each feature is contiguous, so that the innermost loop runs over rows and is
vectorized for any K and D. Responsibilities are (K, N). NaN entries are left out of sums.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled

TILE = 128  # rows; sixteen features of them are 16 KiB
ROWS = 512  # of a product of matrices

# Products may be fused with sums, and sums over rows taken in lanes. Neither changes what NaN does, and the
# order is fixed by the compiled code.
jit = compiled(fastmath={"contract", "reassoc"})


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
    for k, p in enumerate(points):
        Y = X - p
        distance = np.einsum("nd,nd->n", Y, Y)
        closer = distance < best
        labels[closer] = k
        best[closer] = distance[closer]
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
def nearest_of_many(X, points):
    """`nearest` for many points: |c|^2 / 2 - x'c in float32, about the mean of the points and in units of the
    largest of their distances from it.

    A score has a rounding error of at most (1.1 D + 4) 2^-24 (|x| + 1), in these units, and half a squared
    distance by differences in float64 one of (D + 3) 2^-54 (|x| + 1)^2. Rows whose two least scores are
    closer than these bounds are compared by differences: so the points found are those of differences.
    """
    N, K, D = len(X), len(points), X.shape[1]
    labels, best, middle, unit = np.empty(N, np.int64), np.empty(N), np.zeros(D), 0.0
    for k in range(K):
        for d in range(D):
            middle[d] += points[k, d] / K
    for k in range(K):
        square = 0.0
        for d in range(D):
            square += (points[k, d] - middle[d]) * (points[k, d] - middle[d])
        unit = max(unit, np.sqrt(square))
    scale = 1.0 / unit if unit > 0.0 else 1.0
    C, half = np.empty((K, D), np.float32), np.empty(K, np.float32)
    for k in range(K):
        square = 0.0
        for d in range(D):
            c = (points[k, d] - middle[d]) * scale
            C[k, d] = -c
            square += c * c
        half[k] = 0.5 * square
    bound, of_differences = 2.0 * (1.1 * D + 4.0) * 2.0**-24, (D + 3.0) * 2.0**-53
    tile, scores = np.zeros((ROWS, D), np.float32), np.empty((K, ROWS), np.float32)
    least, second, label = np.empty(ROWS, np.float32), np.empty(ROWS, np.float32), np.empty(ROWS, np.int32)
    size = np.empty(ROWS)
    for start in range(0, N, ROWS):
        count = min(ROWS, N - start)
        for i in range(count):
            square = 0.0
            for d in range(D):
                x = (X[start + i, d] - middle[d]) * scale
                tile[i, d] = x
                square += x * x
            size[i] = np.sqrt(square)
        np.dot(C, tile.T, scores)
        least[:] = np.inf
        second[:] = np.inf
        label[:] = 0
        for k in range(K):
            product, of_point, number = scores[k], half[k], np.int32(k)
            for i in range(ROWS):
                score = product[i] + of_point
                closer = score < least[i]
                second[i] = min(second[i], least[i] if closer else score)
                least[i] = score if closer else least[i]
                label[i] = number if closer else label[i]
        for i in range(count):
            reach = size[i] + 1.0
            apart = second[i] - least[i] > reach * (bound + of_differences * reach)  # not if one is NaN
            labels[start + i] = label[i] if apart else _nearest_of_row(X[start + i], points)
        for i in range(start, start + count):  # one loop for all rows, whichever way their point was found
            k, distance = labels[i], 0.0
            for d in range(D):
                distance += (X[i, d] - points[k, d]) * (X[i, d] - points[k, d])
            best[i] = distance
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
    offset = np.zeros((K, D))
    np.add.at(offset, labels, weight[:, None] * (X - points[labels]))
    return np.bincount(labels, weight, K), offset


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
    for k, p in enumerate(points):
        out[k] = _sum(scales[k] * (X - p) ** 2)
    return out


def _sum(terms):
    """Sums of rows; NaN adds nothing."""
    total = terms.sum(axis=1)
    return np.where(np.isnan(terms), 0.0, terms).sum(axis=1) if np.isnan(total).any() else total


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
        out[k] = _sum((R[k][:, None] * (X - p) ** 2).T)
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
