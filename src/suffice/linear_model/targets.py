"""Features and targets of a block of a linear regression, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Rows


def columns_of(block: Rows) -> Any:
    """Features and targets side by side, (N, D + T), dense or CSR: a copy."""
    X, y = block.X, targets_of(block)
    if not sp.issparse(X):
        return np.hstack([X, y])
    (N, D), T = X.shape, y.shape[1]
    indptr = X.indptr + T * np.arange(N + 1)
    at = indptr[1:, None] - np.arange(T, 0, -1)  # of the targets, at the ends of the rows
    of_X = np.full(X.nnz + N * T, True)
    of_X[at] = False
    data, indices = np.empty(len(of_X)), np.empty(len(of_X), X.indices.dtype)
    data[at], indices[at] = y, np.arange(D, D + T)
    data[of_X], indices[of_X] = X.data, X.indices
    return sp.csr_array((data, indices, indptr), (N, D + T))


def targets_of(block: Rows) -> np.ndarray:
    """The targets of a block as a matrix (N, T), also for one target."""
    return block.y if block.y.ndim == 2 else block.y[:, None]


def penalties(model: Any, T: int) -> np.ndarray:
    """The penalty of each target, (T,)."""
    if np.shape(model.alpha) not in ((), (1,), (T,)):
        raise ValueError(
            f"Number of targets and number of penalties do not correspond: {np.size(model.alpha)} != {T}. "
            f"Pass alpha as a number, or one per target."
        )
    return np.broadcast_to(model.alpha, T)
