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


def smooth(h, weight, y, strength):
    """The smoothing spline in its values and slopes at the knots: sum w (y - f)^2 + strength int f''^2.

    Between two knots the least integral of f''^2 is |G (s' - T s)|^2, with s the value and slope at one, s'
    at the other: least squares with bands, solved by rotations from knot to knot. Out come the values, the
    slopes and the leverages, of which the sum is the effective degrees of freedom.
    """
    # Equations at each knot: own state, next state, right-hand side. Rows 0 and 1 are for those that the
    # knots before leave, row 2 is the target, rows 3 and 4 are the penalty up to the next knot.
    A = np.zeros((len(y), 5, 5))
    A[:, 2, 0] = np.sqrt(weight)
    A[:, 2, 4] = A[:, 2, 0] * y
    third, single = np.sqrt(strength) * h**-1.5, np.sqrt(strength) * h**-0.5
    three = np.sqrt(3.0) * third
    A[:-1, 3, :3] = np.stack([-three, -three * h, three], axis=1)
    A[:-1, 4, :2] = np.stack([3.0 * third, 3.0 * third * h - 2.0 * single], axis=1)
    A[:-1, 4, 2:4] = np.stack([-3.0 * third, 2.0 * single], axis=1)
    value, slope, variance = np.empty((3, len(y)))
    _triangles(A)
    _substitute(A, value, slope, variance)
    return value, slope, weight * variance


# Two small loops, with one place for all rotations: Numba compiles them in a third of the time that it takes
# for one function with a call for each rotation.


@jit
def _triangles(A):
    """Triangles in place, by Givens rotations; what a knot tells of the next state goes to that."""
    for i in range(len(A)):
        for k in range(4):
            for row in range(k + 1, 5):
                a, b = A[i, k, k], A[i, row, k]
                if b != 0.0:
                    r = np.hypot(a, b)
                    c, s = a / r, b / r
                    for j in range(k, 5):
                        upper, lower = A[i, k, j], A[i, row, j]
                        A[i, k, j] = c * upper + s * lower
                        A[i, row, j] = c * lower - s * upper
        if i + 1 < len(A):
            for row in range(2):
                for j in range(2):
                    A[i + 1, row, j] = A[i, row + 2, j + 2]
                A[i + 1, row, 4] = A[i, row + 2, 4]


@jit
def _substitute(A, value, slope, variance):
    """The value, the slope and the variance of the value at each knot, from the last to the first."""
    f, g = 0.0, 0.0
    p, q, r = 0.0, 0.0, 0.0  # the covariance of the next state: f with f, f with g, g with g
    for i in range(len(A) - 1, -1, -1):
        a, b, c = A[i, 0, 0], A[i, 0, 1], A[i, 1, 1]
        n0, n1, m0, m1 = A[i, 0, 2], A[i, 0, 3], A[i, 1, 2], A[i, 1, 3]
        top = A[i, 0, 4] - n0 * f - n1 * g
        low = A[i, 1, 4] - m0 * f - m1 * g
        g = low / c
        f = (top - b * g) / a
        # I + N P N' for N the columns of the next state, then the inverse of the triangle on both sides.
        s00 = 1.0 + n0 * n0 * p + 2.0 * n0 * n1 * q + n1 * n1 * r
        s01 = n0 * m0 * p + (n0 * m1 + n1 * m0) * q + n1 * m1 * r
        s11 = 1.0 + m0 * m0 * p + 2.0 * m0 * m1 * q + m1 * m1 * r
        t = b / c
        r = s11 / (c * c)
        q = (s01 - t * s11) / (a * c)
        p = (s00 - 2.0 * t * s01 + t * t * s11) / (a * a)
        value[i], slope[i], variance[i] = f, g, p
