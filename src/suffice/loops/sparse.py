"""Products of CSR rows with dense matrices of few columns; they let other threads run, as SciPy's may not."""

from __future__ import annotations

import numpy as np
from numba import njit

jit = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")


@jit
def times_rows(data, indices, indptr, W, first, end, out):
    """out[n] = x W of the rows x from first to end."""
    K = W.shape[1]
    for n in range(first, end):
        here = out[n - first]
        here[:] = 0.0
        for p in range(indptr[n], indptr[n + 1]):
            x, row = data[p], W[indices[p]]
            for k in range(K):
                here[k] += x * row[k]


@jit
def times(data, indices, indptr, W):
    """X W, (N, K), for X of N rows and W (D, K)."""
    N = len(indptr) - 1
    out = np.empty((N, W.shape[1]))
    times_rows(data, indices, indptr, W, 0, N, out)
    return out


@jit
def add_transposed_times(data, indices, indptr, G, out):
    """Add X' G to `out` (D, K), for X of N rows and G (N, K)."""
    K = G.shape[1]
    for n in range(len(indptr) - 1):
        here = G[n]
        for p in range(indptr[n], indptr[n + 1]):
            x, row = data[p], out[indices[p]]
            for k in range(K):
                row[k] += x * here[k]
