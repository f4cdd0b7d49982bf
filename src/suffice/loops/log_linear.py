"""Rows of log-linear models: their errors from their scores, and a walk by the gradients of single rows."""

from __future__ import annotations

import numpy as np
from numba import njit

jit = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")


@jit
def errors(scores, intercept, codes, weight):
    """Scores (N, K) without the intercepts become weight times probability less one for the class that was
    seen; returned is the sum of weight times -log probability of that class."""
    N, K = scores.shape
    loss = 0.0
    for n in range(N):
        top = scores[n, 0] + intercept[0]
        for k in range(K):
            scores[n, k] += intercept[k]
            top = max(top, scores[n, k])
        own, total = scores[n, codes[n]] - top, 0.0
        for k in range(K):
            scores[n, k] = np.exp(scores[n, k] - top)
            total += scores[n, k]
        w = weight[n]
        loss += w * (np.log(total) - own)
        share = w / total
        for k in range(K):
            scores[n, k] *= share
        scores[n, codes[n]] -= w
    return loss


@jit
def walk(data, indices, indptr, order, weight, before, start, drift, shrink, length, every, intercept):
    """Where steps lead from `start` (D + 1, K), whose last row is the intercepts, over CSR rows in an order.

    Each row adds its weight times the change of its probabilities since `start`, where they are `before` (N,
    K), times the row; the whole gradient at the start, `drift`, and `shrink` times the way since are added
    after each so many rows as `every` says, as often. One column is the log odds of the second of two
    classes.
    """
    D, K = start.shape[0] - 1, start.shape[1]
    W, p = start.copy(), np.empty(K)
    for t in range(len(order)):
        n = order[t]
        for k in range(K):
            p[k] = W[D, k]
        for at in range(indptr[n], indptr[n + 1]):
            x, d = data[at], indices[at]
            for k in range(K):
                p[k] += x * W[d, k]
        if K == 1:
            p[0] = 1.0 / (1.0 + np.exp(-p[0]))
        else:
            top, total = p[0], 0.0
            for k in range(1, K):
                top = max(top, p[k])
            for k in range(K):
                p[k] = np.exp(p[k] - top)
                total += p[k]
            for k in range(K):
                p[k] /= total
        for k in range(K):
            p[k] = length * weight[n] * (p[k] - before[n, k])
        for at in range(indptr[n], indptr[n + 1]):
            x, d = data[at], indices[at]
            for k in range(K):
                W[d, k] -= x * p[k]
        if intercept:
            for k in range(K):
                W[D, k] -= p[k]
        if (t + 1) % every == 0 or t + 1 == len(order):
            times = length * ((t % every) + 1)
            for d in range(D + 1):
                pull = times * shrink if d < D else 0.0
                for k in range(K):
                    W[d, k] -= times * drift[d, k] + pull * (W[d, k] - start[d, k])
    return W
