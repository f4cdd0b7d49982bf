"""Coordinate descent for least squares with an l1 penalty, from the Gram matrix."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})

MOST_PYTHON = 16  # features whose sweeps are short enough for Python


@jit
def duality_gap(b, yy, l1, l2, positive, w, q):
    """The duality gap, with q = A w. Kim et al. 2007."""
    residual, fitted, absolute, squares, slope = yy, 0.0, 0.0, 0.0, 0.0
    for j in range(len(b)):
        residual += w[j] * (q[j] - 2.0 * b[j])
        fitted += w[j] * b[j]
        absolute += abs(w[j])
        squares += w[j] * w[j]
        g = b[j] - q[j] - l2 * w[j]
        if positive and w[j] == 0.0:
            g = max(g, 0.0)
        slope = max(slope, g if positive else abs(g))
    share = min(1.0, l1 / slope) if slope > 0.0 else 1.0
    squares = 0.5 * (1.0 + share * share) * (max(residual, 0.0) + l2 * squares)
    return max(0.0, squares + l1 * absolute - share * (yy - fitted))


@jit
def descend(A, b, yy, l1, l2, positive, tol, max_iter, w, q):
    """Minimize |y - X w|^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2 in place, given A = X'X, b = X'y and yy = y'y.

    It stops when the duality gap is at most tol, which may be before the first sweep. `q` is scratch. Returns
    the gap and the number of sweeps. Friedman, Hastie and Tibshirani 2010.
    """
    D = len(b)
    for i in range(D):
        q[i] = 0.0
    for j in range(D):
        if w[j] != 0.0:
            for i in range(D):
                q[i] += w[j] * A[j, i]
    gap, n = duality_gap(b, yy, l1, l2, positive, w, q), 0
    if gap <= tol:
        return gap, n
    for n in range(1, max_iter + 1):
        largest, change = 0.0, 0.0
        for j in range(D):
            if A[j, j] == 0.0:
                continue
            rest = b[j] - q[j] + A[j, j] * w[j]
            new = 0.0
            if rest > l1:
                new = (rest - l1) / (A[j, j] + l2)
            elif rest < -l1 and not positive:
                new = (rest + l1) / (A[j, j] + l2)
            step = new - w[j]
            if step != 0.0:
                w[j] = new
                for i in range(D):
                    q[i] += step * A[j, i]
            largest, change = max(largest, abs(new)), max(change, abs(step))
        if n == max_iter or change <= 1e-4 * largest:  # the gap is as costly as a sweep
            gap = duality_gap(b, yy, l1, l2, positive, w, q)
            if gap <= tol or change == 0.0:
                break
    return gap, n


@descend.small
def _(A, b, yy, l1, l2, positive, tol, max_iter, w, q):
    if len(b) > MOST_PYTHON:
        return NotImplemented
    np.dot(w, A, out=q)
    gap, n, curve = duality_gap.python(b, yy, l1, l2, positive, w, q), 0, A.diagonal().tolist()
    if gap <= tol:
        return gap, n
    for n in range(1, max_iter + 1):
        largest, change = 0.0, 0.0
        for j, a in enumerate(curve):
            if a == 0.0:
                continue
            old = w[j]
            rest = b[j] - q[j] + a * old
            new = 0.0
            if rest > l1:
                new = (rest - l1) / (a + l2)
            elif rest < -l1 and not positive:
                new = (rest + l1) / (a + l2)
            if new != old:
                w[j] = new
                q += (new - old) * A[j]
            largest, change = max(largest, abs(new)), max(change, abs(new - old))
        if n == max_iter or change <= 1e-4 * largest:
            gap = duality_gap.python(b, yy, l1, l2, positive, w, q)
            if gap <= tol or change == 0.0:
                break
    return gap, n


@jit
def joint_gap(B, yy, l1, l2, W, Q):
    """The duality gap of several targets with a penalty on the norms of rows of W, with Q = A W."""
    residual, fitted, norms, squares, slope = yy, 0.0, 0.0, 0.0, 0.0
    for j in range(len(B)):
        size, steep = 0.0, 0.0
        for t in range(B.shape[1]):
            residual += W[j, t] * (Q[j, t] - 2.0 * B[j, t])
            fitted += W[j, t] * B[j, t]
            size += W[j, t] * W[j, t]
            g = B[j, t] - Q[j, t] - l2 * W[j, t]
            steep += g * g
        norms += np.sqrt(size)
        squares += size
        slope = max(slope, np.sqrt(steep))
    share = min(1.0, l1 / slope) if slope > 0.0 else 1.0
    squares = 0.5 * (1.0 + share * share) * (max(residual, 0.0) + l2 * squares)
    return max(0.0, squares + l1 * norms - share * (yy - fitted))


@jit
def descend_jointly(A, B, yy, l1, l2, tol, max_iter, W, Q):
    """Minimize |Y - X W|^2 / 2 + l1 sum_j |W_j| + l2 |W|^2 / 2 in place, with the norms of the rows of W,
    given A = X'X, B = X'Y and yy = |Y|^2. All targets use the same features. Otherwise as `descend`."""
    D, T = B.shape
    for i in range(D):
        for t in range(T):
            Q[i, t] = 0.0
            for j in range(D):
                Q[i, t] += A[i, j] * W[j, t]
    gap, n = joint_gap(B, yy, l1, l2, W, Q), 0
    if gap <= tol:
        return gap, n
    rest = np.empty(T)
    for n in range(1, max_iter + 1):
        largest, change = 0.0, 0.0
        for j in range(D):
            if A[j, j] == 0.0:
                continue
            size = 0.0
            for t in range(T):
                rest[t] = B[j, t] - Q[j, t] + A[j, j] * W[j, t]
                size += rest[t] * rest[t]
            size = np.sqrt(size)
            share = (1.0 - l1 / size) / (A[j, j] + l2) if size > l1 else 0.0
            for t in range(T):
                new = share * rest[t]
                step = new - W[j, t]
                if step != 0.0:
                    W[j, t] = new
                    for i in range(D):
                        Q[i, t] += step * A[j, i]
                largest, change = max(largest, abs(new)), max(change, abs(step))
        if n == max_iter or change <= 1e-4 * largest:
            gap = joint_gap(B, yy, l1, l2, W, Q)
            if gap <= tol or change == 0.0:
                break
    return gap, n
