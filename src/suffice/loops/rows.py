"""Rows one at a time: their products with weights, and additions to weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .compiled import compiled

jit = compiled(fastmath={"contract", "reassoc"})


class Rows(NamedTuple):
    """CSR rows. Dense rows have no indices."""

    data: Any
    indices: Any
    indptr: Any

    @classmethod
    def of(cls, X: Any) -> Rows:
        if sp.issparse(X):
            return cls(X.data, X.indices, X.indptr.astype(np.int64))
        N, D = X.shape
        return cls(X.ravel(), np.empty(0, np.int32), (np.arange(N + 1) * D).astype(np.int64))


@jit
def dot_row(data, indices, begin, end, w):
    """The product of a row with weights (D,)."""
    total = 0.0
    if len(indices) > 0:
        for p in range(begin, end):
            total += data[p] * w[indices[p]]
    else:
        for p in range(end - begin):
            total += data[begin + p] * w[p]
    return total


@dot_row.small
def _(data, indices, begin, end, w):
    return data[begin:end] @ (w[indices[begin:end]] if len(indices) else w)


@jit
def add_row(data, indices, begin, end, factor, w):
    """Add a row times a factor to weights (D,)."""
    if len(indices) > 0:
        for p in range(begin, end):
            w[indices[p]] += factor * data[p]
    else:
        for p in range(end - begin):
            w[p] += factor * data[begin + p]


@add_row.small
def _(data, indices, begin, end, factor, w):
    if len(indices):
        w[indices[begin:end]] += factor * data[begin:end]
    else:
        w += factor * data[begin:end]
