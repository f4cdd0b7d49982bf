"""Sums of products in double-double precision: see `double_double`."""

from __future__ import annotations

import numpy as np

from . import double_double as twofold
from .compiled import compiled

# Without fast mathematics, which would simplify to zero the rounding errors that are computed here.
jit = compiled()

two_sum, two_product = jit(twofold.two_sum), jit(twofold.two_product)

TILE = 64  # rows whose residuals are computed side by side


@jit
def add_normal_residual(X, y, weight, theta, out, size):
    """Add X' diag(weight) (y - X coef' - intercept) to `out`, and the absolute values of its terms to `size`.

    `theta` (2, T, D + 1) holds the high and the low parts of the coefficients and, last, of the intercept.
    `out` is alike, and has the sum of the residuals in its last column; `size` (T, D + 1).
    """
    N, D = X.shape
    tile, high, low = np.zeros((D, TILE)), np.empty(TILE), np.empty(TILE)
    for start in range(0, N, TILE):
        count = min(TILE, N - start)
        for i in range(count):
            for d in range(D):
                tile[d, i] = X[start + i, d]
        for t in range(theta.shape[1]):
            for i in range(count):
                high[i], low[i] = two_sum(y[start + i, t], -theta[0, t, D])
                low[i] -= theta[1, t, D]
            for d in range(D):
                b, rest, x = theta[0, t, d], theta[1, t, d], tile[d]
                for i in range(TILE):
                    product, error = two_product(x[i], b)
                    high[i], of_sum = two_sum(high[i], -product)
                    low[i] += (of_sum - error) - x[i] * rest
            for i in range(count):
                high[i], low[i] = two_sum(high[i], low[i])
                high[i], rest = two_product(weight[start + i], high[i])
                low[i] = rest + weight[start + i] * low[i]
                row, r, rest = X[start + i], high[i], low[i]
                sums, errors, absolute = out[0, t], out[1, t], size[t]
                for d in range(D):
                    product, error = two_product(row[d], r)
                    sums[d], of_sum = two_sum(sums[d], product)
                    errors[d] += (of_sum + error) + row[d] * rest
                    absolute[d] += abs(product)
                sums[D], of_sum = two_sum(sums[D], r)
                errors[D] += of_sum + rest
                absolute[D] += abs(r)


@jit
def add_sparse_normal_residual(data, indices, indptr, y, weight, theta, out, size):
    """The same of CSR rows."""
    D = theta.shape[2] - 1
    for n in range(len(indptr) - 1):
        for t in range(theta.shape[1]):
            high, low = two_sum(y[n, t], -theta[0, t, D])
            low -= theta[1, t, D]
            for p in range(indptr[n], indptr[n + 1]):
                product, error = two_product(data[p], theta[0, t, indices[p]])
                high, of_sum = two_sum(high, -product)
                low += (of_sum - error) - data[p] * theta[1, t, indices[p]]
            high, low = two_sum(high, low)
            r, rest = two_product(weight[n], high)
            rest += weight[n] * low
            for p in range(indptr[n], indptr[n + 1]):
                d = indices[p]
                product, error = two_product(data[p], r)
                out[0, t, d], of_sum = two_sum(out[0, t, d], product)
                out[1, t, d] += (of_sum + error) + data[p] * rest
                size[t, d] += abs(product)
            out[0, t, D], of_sum = two_sum(out[0, t, D], r)
            out[1, t, D] += of_sum + rest
            size[t, D] += abs(r)
