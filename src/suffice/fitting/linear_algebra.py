"""Symmetric systems that may have flat directions; products with rows that may be sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh


def solve_positive(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A solution of A x = B for A symmetric and not negative; of several the shortest."""
    # In units of their own size, only dependence is left to make columns singular.
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    if (size > 0).all():
        try:
            root = cholesky(A / np.outer(size, size), lower=True)
            if np.diag(root).min() > 1e-5:
                return (cho_solve((root, True), (B.T / size).T).T / size).T
        except LinAlgError:
            pass
    _, inverse = roots(A)
    return inverse @ (inverse.T @ B)


def roots(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R with R'R = A, and S with S S' the pseudo-inverse of A."""
    values, vectors = eigh(A)
    kept = values > len(A) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    values, vectors = np.sqrt(values[kept]), vectors[:, kept]
    return (vectors * values).T, vectors / values


def signs(axes: np.ndarray) -> np.ndarray:
    """Signs that make the largest entry of each axis (row) positive: rounding shall not choose them."""
    largest = np.abs(axes).argmax(axis=1)
    return np.where(axes[np.arange(len(axes)), largest] < 0, -1.0, 1.0)


def times(X: Any, W: np.ndarray) -> np.ndarray:
    """X W for rows that are dense or CSR, and W of few columns; other threads run meanwhile."""
    if not sp.issparse(X):
        return X.dot(W)
    from ..loops.sparse import times

    return times(X.data, X.indices, X.indptr, W)


def add_transposed_times(X: Any, G: np.ndarray, out: np.ndarray) -> None:
    """Add X' G to `out`, likewise."""
    if not sp.issparse(X):
        out += X.T.dot(G)
        return
    from ..loops.sparse import add_transposed_times

    add_transposed_times(X.data, X.indices, X.indptr, G, out)
