"""Splines: rows of natural cubic bases, and the smoothing spline from knot to knot."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})


@jit
def design(X, knots, first, scale, pieces, place, columns, derivative, out):
    """out[i, c]: function c of its feature at row i, or its derivative in units of `scale`.

    Feature d has the knots from first[d] to first[d + 1], and between them cubics in the distance from the
    knot before, in units of scale[d]. The coefficients of piece j of K + 1 start at place[d] + 4 j q, those
    of each power after the other. Before the first knot and after the last the functions are lines.
    """
    for i in range(len(X)):
        for d in range(X.shape[1]):
            a, K = first[d], first[d + 1] - first[d]
            x = X[i, d]
            low, high = 0, K  # the number of knots that are not above x
            while low < high:
                middle = (low + high) // 2
                if knots[a + middle] <= x:
                    low = middle + 1
                else:
                    high = middle
            t = (x - knots[a + max(low - 1, 0)]) / scale[d]
            start, q = columns[d], columns[d + 1] - columns[d]
            at = place[d] + 4 * low * q
            if derivative == 0:
                for c in range(q):
                    high_powers = pieces[at + 2 * q + c] + t * pieces[at + 3 * q + c]
                    out[i, start + c] = pieces[at + c] + t * (pieces[at + q + c] + t * high_powers)
            elif derivative == 1:
                for c in range(q):
                    curve = 2.0 * pieces[at + 2 * q + c] + 3.0 * t * pieces[at + 3 * q + c]
                    out[i, start + c] = pieces[at + q + c] + t * curve
            else:
                for c in range(q):
                    out[i, start + c] = 2.0 * pieces[at + 2 * q + c] + 6.0 * t * pieces[at + 3 * q + c]


@design.small
def _(X, knots, first, scale, pieces, place, columns, derivative, out):
    for d, x in enumerate(X.T):
        own = knots[first[d] : first[d + 1]]
        start, stop = columns[d], columns[d + 1]
        of_piece = pieces[place[d] : place[d] + 4 * (len(own) + 1) * (stop - start)]
        low = np.searchsorted(own, x, side="right")
        a, b, c, e = of_piece.reshape(len(own) + 1, 4, -1)[low].transpose(1, 0, 2)
        t = ((x - own[np.maximum(low - 1, 0)]) / scale[d])[:, None]
        if derivative == 0:
            out[:, start:stop] = a + t * (b + t * (c + t * e))
        elif derivative == 1:
            out[:, start:stop] = b + t * (2.0 * c + 3.0 * t * e)
        else:
            out[:, start:stop] = 2.0 * c + 6.0 * t * e


@jit
def _rotate(A, row, pivot, column, stop):
    """A Givens rotation of two rows that makes the entry of `row` in the column zero."""
    a, b = A[pivot, column], A[row, column]
    if b == 0.0:
        return
    r = np.hypot(a, b)
    c, s = a / r, b / r
    for j in range(column, stop):
        upper, lower = A[pivot, j], A[row, j]
        A[pivot, j] = c * upper + s * lower
        A[row, j] = c * lower - s * upper


@jit
def smooth(h, weight, y, strength):
    """The smoothing spline in its values and slopes at the knots: sum w (y - f)^2 + strength int f''^2.

    Between two knots the least integral of f''^2 is |G (s' - T s)|^2, with s the value and slope at one, s'
    at the other: least squares with bands, solved by rotations from knot to knot. Out come the values, the
    slopes and the leverages, of which the sum is the effective degrees of freedom.
    """
    K = len(y)
    kept = np.zeros((K, 2, 5))  # rows of the triangle: own state, next state, right-hand side
    A = np.zeros((4, 5))
    root = np.sqrt(strength)
    for i in range(K):
        # Rows 0 and 1 hold what the knots before say of this state, in columns 0, 1 and 4.
        A[2, 0], A[2, 1], A[2, 2], A[2, 3] = np.sqrt(weight[i]), 0.0, 0.0, 0.0
        A[2, 4] = A[2, 0] * y[i]
        _rotate(A, 2, 0, 0, 5)
        _rotate(A, 2, 1, 1, 5)
        if i < K - 1:
            third, single = root * h[i] ** -1.5, root * h[i] ** -0.5
            three = np.sqrt(3.0) * third
            A[2, 0], A[2, 1], A[2, 2], A[2, 3], A[2, 4] = -three, -three * h[i], three, 0.0, 0.0
            A[3, 0], A[3, 1] = 3.0 * third, 3.0 * third * h[i] - 2.0 * single
            A[3, 2], A[3, 3], A[3, 4] = -3.0 * third, 2.0 * single, 0.0
            for column in range(2):
                for row in range(column + 1, 4):
                    _rotate(A, row, column, column, 5)
            _rotate(A, 3, 2, 2, 5)
        for row in range(2):
            for j in range(5):
                kept[i, row, j] = A[row, j]
        for row in range(2):  # of the next state
            A[row, 0], A[row, 1], A[row, 4] = A[row + 2, 2], A[row + 2, 3], A[row + 2, 4]
            A[row, 2], A[row, 3] = 0.0, 0.0
    value, slope, leverage = np.empty(K), np.empty(K), np.empty(K)
    f, g = 0.0, 0.0
    p, q, r = 0.0, 0.0, 0.0  # the covariance of the next state: f with f, f with g, g with g
    for i in range(K - 1, -1, -1):
        R = kept[i]
        a, b, c = R[0, 0], R[0, 1], R[1, 1]
        top = R[0, 4] - R[0, 2] * f - R[0, 3] * g
        low = R[1, 4] - R[1, 2] * f - R[1, 3] * g
        g = low / c
        f = (top - b * g) / a
        # I + N P N' for N the columns of the next state, then the inverse of the triangle on both sides.
        n0, n1, m0, m1 = R[0, 2], R[0, 3], R[1, 2], R[1, 3]
        s00 = 1.0 + n0 * n0 * p + 2.0 * n0 * n1 * q + n1 * n1 * r
        s01 = n0 * m0 * p + (n0 * m1 + n1 * m0) * q + n1 * m1 * r
        s11 = 1.0 + m0 * m0 * p + 2.0 * m0 * m1 * q + m1 * m1 * r
        t = b / c
        r = s11 / (c * c)
        q = (s01 - t * s11) / (a * c)
        p = (s00 - 2.0 * t * s01 + t * t * s11) / (a * a)
        value[i], slope[i], leverage[i] = f, g, weight[i] * p
    return value, slope, leverage
