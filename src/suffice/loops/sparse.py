"""Products of CSR rows with dense matrices of few columns; they let other threads run, as SciPy's may not."""

from __future__ import annotations

import numpy as np
from numba import njit

jit = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")


@jit
def times(data, indices, indptr, W):
    """X W, (N, K), for X of N rows and W (D, K)."""
    N, K = len(indptr) - 1, W.shape[1]
    out = np.zeros((N, K))
    for n in range(N):
        here = out[n]
        for p in range(indptr[n], indptr[n + 1]):
            x, row = data[p], W[indices[p]]
            for k in range(K):
                here[k] += x * row[k]
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
