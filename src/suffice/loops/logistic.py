"""The binomial log loss of rows and its gradient, in one pass over them."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

TILE = 128  # rows; sixteen features of them are 16 KiB

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
def binomial(X, theta, codes, weight):
    """Sums over rows of weight times log(1 + exp(z)) - code z, with z = X theta[:-1] + theta[-1], and of its
    derivatives by theta."""
    N, D = X.shape
    tile, z, error = np.zeros((D, TILE)), np.empty(TILE), np.zeros(TILE)
    loss, gradient = 0.0, np.zeros(D + 1)
    for start in range(0, N, TILE):
        count = _tile(X, start, tile)
        z[:] = theta[D]
        for d in range(D):
            x, t = tile[d], theta[d]
            for i in range(TILE):
                z[i] += x[i] * t
        error[count:] = 0.0
        for i in range(count):
            w, c = weight[start + i], codes[start + i]
            e = np.exp(-abs(z[i]))
            loss += w * (max(z[i], 0.0) - c * z[i] + np.log1p(e))
            error[i] = w * ((1.0 if z[i] >= 0.0 else e) / (1.0 + e) - c)
        for d in range(D):
            x, total = tile[d], 0.0
            for i in range(TILE):
                total += x[i] * error[i]
            gradient[d] += total
        gradient[D] += error.sum()
    return loss, gradient


@binomial.small
def _(X, theta, codes, weight):
    z = X @ theta[:-1] + theta[-1]
    e = np.exp(-np.abs(z))
    loss = weight @ (np.maximum(z, 0.0) - codes * z + np.log1p(e))
    error = weight * (np.where(z >= 0.0, 1.0, e) / (1.0 + e) - codes)
    return loss, np.append(error @ X, error.sum())
