"""The loops of native/splines.hpp in NumPy."""

import numpy as np


def design(X, knots, first, scale, pieces, place, columns, derivative, out):
    for d, x in enumerate(X.T):
        own = knots[first[d] : first[d + 1]]
        start, stop = columns[d], columns[d + 1]
        low = np.searchsorted(own, x, side="right")
        shape = len(own) + 1, 4, stop - start
        a, b, c, e = pieces[place[d] : place[d + 1]].reshape(shape)[low].transpose(1, 0, 2)
        t = ((x - own[np.maximum(low - 1, 0)]) / scale[d])[:, None]
        if derivative == 0:
            out[:, start:stop] = a + t * (b + t * (c + t * e))
        elif derivative == 1:
            out[:, start:stop] = b + t * (2.0 * c + 3.0 * t * e)
        else:
            out[:, start:stop] = 2.0 * c + 6.0 * t * e


def triangles(A):
    for n, equations in enumerate(A):
        for k in range(4):
            for row in range(k + 1, 5):
                a, b = equations[k, k], equations[row, k]
                if b != 0.0:
                    turn = np.array([[a, b], [-b, a]]) / np.hypot(a, b)
                    equations[[k, row], k:] = turn @ equations[[k, row], k:]
        if n + 1 < len(A):
            A[n + 1, :2, [0, 1, 4]] = equations[2:4, [2, 3, 4]].T


def substitute(A):
    """Backwards: R s = b - N s' for the state s of a knot and s' of the next, which has the covariance P."""
    state, P, states, variance = np.zeros(2), np.zeros((2, 2)), np.empty((len(A), 2)), np.empty(len(A))
    for n in range(len(A) - 1, -1, -1):
        R, N, b = np.triu(A[n, :2, :2]), A[n, :2, 2:4], A[n, :2, 4]
        inverse = np.linalg.inv(R)
        state, P = inverse @ (b - N @ state), inverse @ (np.eye(2) + N @ P @ N.T) @ inverse.T
        states[n], variance[n] = state, P[0, 0]
    return states[:, 0], states[:, 1], variance
