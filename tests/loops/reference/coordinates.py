"""The loops of native/coordinates.hpp in NumPy."""

import numpy as np


def gap_of(yy, l1, l2, residual, fitted, norm, squares, slope):
    share = min(1.0, l1 / slope) if slope > 0.0 else 1.0
    squares = 0.5 * (1.0 + share * share) * (max(residual, 0.0) + l2 * squares)
    return max(0.0, squares + l1 * norm - share * (yy - fitted))


def duality_gap(b, yy, l1, l2, positive, w, q):
    g = b - q - l2 * w
    slope = np.where(w == 0.0, np.maximum(g, 0.0), g) if positive else np.abs(g)
    residual = yy + w @ (q - 2.0 * b)
    return gap_of(yy, l1, l2, residual, w @ b, np.abs(w).sum(), w @ w, slope.max(initial=0.0))


def joint_gap(B, yy, l1, l2, W, Q):
    residual, slope = yy + (W * (Q - 2.0 * B)).sum(), np.linalg.norm(B - Q - l2 * W, axis=1)
    norms = np.linalg.norm(W, axis=1)
    return gap_of(yy, l1, l2, residual, (W * B).sum(), norms.sum(), (W * W).sum(), slope.max(initial=0.0))


def descend(A, b, yy, l1, l2, positive, tol, max_iter, w, q):
    W, Q = w[:, None], q[:, None]
    return _descend(A, b[:, None], lambda: duality_gap(b, yy, l1, l2, positive, w, q), l1, l2, positive, tol,
                    max_iter, W, Q)  # fmt: skip


def descend_jointly(A, B, yy, l1, l2, tol, max_iter, W, Q):
    return _descend(A, B, lambda: joint_gap(B, yy, l1, l2, W, Q), l1, l2, False, tol, max_iter, W, Q)


def _descend(A, B, gap_now, l1, l2, positive, tol, max_iter, W, Q):
    Q[:] = A @ W
    gap = gap_now()
    if gap <= tol:
        return gap, 0
    moving = np.flatnonzero(A.diagonal())
    for n in range(1, max_iter + 1):
        before = W.copy()
        for j in moving:
            rest = B[j] - Q[j] + A[j, j] * W[j]
            size = rest[0] if positive else np.linalg.norm(rest)
            new = (1.0 - l1 / size) / (A[j, j] + l2) * rest if size > l1 else 0.0 * rest
            Q += np.outer(A[j], new - W[j])
            W[j] = new
        largest, change = np.abs(W[moving]).max(initial=0.0), np.abs(W - before).max(initial=0.0)
        if n == max_iter or change <= 1e-4 * largest:
            gap = gap_now()
            if gap <= tol or change == 0.0:
                break
    return gap, n
