"""Products of CSR rows with dense matrices of few columns, without the GIL."""

from __future__ import annotations

import numpy as np

from ..core.blocks import csr_of
from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})


@jit
def times_rows(data, indices, indptr, W, first, end, out):
    """out[n] = x W of the rows x from first to end; four entries at a time touch `out` less often."""
    K = W.shape[1]
    for n in range(first, end):
        at, begin, stop = n - first, indptr[n], indptr[n + 1]
        for k in range(K):
            out[at, k] = 0.0
        fours = stop - (stop - begin) % 4
        for p in range(begin, fours, 4):
            x0, x1, x2, x3 = data[p], data[p + 1], data[p + 2], data[p + 3]
            d0, d1, d2, d3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
            for k in range(K):
                out[at, k] += (x0 * W[d0, k] + x1 * W[d1, k]) + (x2 * W[d2, k] + x3 * W[d3, k])
        for p in range(fours, stop):
            x, d = data[p], indices[p]
            for k in range(K):
                out[at, k] += x * W[d, k]


@times_rows.small
def _(data, indices, indptr, W, first, end, out):
    part = slice(indptr[first], indptr[end])
    rows = csr_of(data[part], indices[part], indptr[first : end + 1] - indptr[first], (end - first, len(W)))
    out[: end - first] = rows @ W


@jit
def times(data, indices, indptr, W):
    """X W, (N, K), for X of N rows and W (D, K)."""
    N = len(indptr) - 1
    out = np.empty((N, W.shape[1]))
    times_rows(data, indices, indptr, W, 0, N, out)
    return out


@times.small
def _(data, indices, indptr, W):
    return csr_of(data, indices, indptr, (len(indptr) - 1, len(W))) @ W


@jit
def add_transposed_times(data, indices, indptr, G, out):
    """Add X' G to `out` (D, K), for X of N rows and G (N, K)."""
    K = G.shape[1]
    for n in range(len(indptr) - 1):
        for p in range(indptr[n], indptr[n + 1]):
            x, d = data[p], indices[p]
            for k in range(K):
                out[d, k] += x * G[n, k]


@add_transposed_times.small
def _(data, indices, indptr, G, out):
    out += csr_of(data, indices, indptr, (len(indptr) - 1, len(out))).T @ G
