"""Log-linear models: errors of rows from their scores, and an epoch of SVRG."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})


@jit
def below_largest(scores, intercept, codes, own):
    """Scores (N, K), with the intercepts, less the largest of the row, in their place; `own` is that of the
    class that was seen."""
    N, K = scores.shape
    for n in range(N):
        top = scores[n, 0] + intercept[0]
        for k in range(K):
            s = scores[n, k] + intercept[k]
            scores[n, k] = s
            top = max(top, s)
        for k in range(K):
            scores[n, k] -= top
        own[n] = scores[n, codes[n]]


@below_largest.small
def _(scores, intercept, codes, own):
    scores += intercept
    scores -= scores.max(axis=1, keepdims=True, initial=-np.inf)
    own[:] = scores[np.arange(len(codes)), codes]


@jit
def to_errors(odds, codes, weight, total):
    """Odds (N, K) become weight times probability, less the weight for the class that was seen; `total` is
    the sum of the odds of a row."""
    N, K = odds.shape
    for n in range(N):
        t = 0.0
        for k in range(K):
            t += odds[n, k]
        total[n] = t
        share = weight[n] / t
        for k in range(K):
            odds[n, k] *= share
        odds[n, codes[n]] -= weight[n]


@to_errors.small
def _(odds, codes, weight, total):
    odds.sum(axis=1, out=total)
    odds *= (weight / total)[:, None]
    odds[np.arange(len(codes)), codes] -= weight


def errors(scores, intercept, codes, weight):
    """Scores (N, K) without the intercepts become weight times probability, less the weight for the class
    that was seen; returned is the sum of weight times -log probability of that class.

    Between the loops is NumPy's exponential, which takes many numbers at once.
    """
    own, total = np.empty(len(scores)), np.empty(len(scores))
    below_largest(scores, intercept, codes, own)
    np.exp(scores, out=scores)
    to_errors(scores, codes, weight, total)
    np.log(total, out=total)
    return float(weight.dot(total) - weight.dot(own))


@jit
def svrg_epoch(data, indices, indptr, order, weight, before, start, drift, shrink, length, every, intercept):
    """The end of an epoch of SVRG over CSR rows in an order, from `start` (D + 1, K), whose last row is the
    intercepts.

    The step of a row is its weight times the change of its probabilities since `start`, where they are
    `before` (N, K), times the row. The gradient over all rows at the start, `drift`, and `shrink` (D + 1,)
    times the move since then are applied after every `every` rows, as many times. One column is the log odds
    of the second of two classes.
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
                pull = times * shrink[d]
                for k in range(K):
                    W[d, k] -= times * drift[d, k] + pull * (W[d, k] - start[d, k])
    return W
