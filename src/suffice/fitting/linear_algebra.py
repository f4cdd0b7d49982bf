"""Symmetric linear systems that may be singular, and products with rows that may be sparse."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh, solve_triangular

from ..core.blocks import Matrix, entries_of

# Number of columns computed at a time in products with CSR rows.
COLUMNS = 64
FELT = 0.8  # rows of weight zero are left out if less than this fraction of the rows has a weight


def solve_positive(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the minimum norm solution of A x = B, for A symmetric positive semidefinite."""
    # After scaling to unit diagonal, A is nearly singular only if columns are collinear. Cholesky factors
    # with a smaller pivot than 1e-5 lose too many digits; then the pseudo-inverse is used.
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


def gauss_seidel_sweep(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return x after one Gauss-Seidel sweep for A x = b from zero: each coordinate solves its own equation.

    This is coordinate descent on the quadratic with Hessian A.
    """
    flat = np.diag(A) <= 0
    lower = A + np.diag(flat.astype(np.float64))
    return np.where(flat, 0.0, solve_triangular(lower, np.where(flat, 0.0, b), lower=True))


def roots(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R with R'R = A, and S with S S' the pseudo-inverse of A."""
    values, vectors = eigh(A)
    keep = values > len(A) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    values, vectors = np.sqrt(values[keep]), vectors[:, keep]
    return (vectors * values).T, vectors / values


def signs(axes: np.ndarray) -> np.ndarray:
    """Return signs that make the entry of largest magnitude of each axis (row) positive.

    Otherwise rounding errors would choose the signs of singular vectors.
    """
    largest = np.abs(axes).argmax(axis=1)
    return np.where(axes[np.arange(len(axes)), largest] < 0, -1.0, 1.0)


def times(X: Matrix, W: np.ndarray) -> np.ndarray:
    """Return X W for dense or CSR rows X and few columns W, without the GIL."""
    if not sp.issparse(X):
        return X.dot(W)
    from ..loops.sparse import times

    return times(*entries_of(X), np.ascontiguousarray(W, np.float64))


def columns_apart(X: Matrix, W: np.ndarray) -> tuple[np.ndarray, ...]:
    """Divide W into groups of columns.

    CSR rows are multiplied with one group after the other, or with several in threads.
    """
    if not sp.issparse(X):
        return (W,)
    starts = range(0, W.shape[1], COLUMNS)
    return tuple(np.ascontiguousarray(W[:, a : a + COLUMNS]) for a in starts)


def columns_together(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Concatenate the results for the groups of columns."""
    arrays = list(parts)
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=1)


def gram(X: Matrix, weight: np.ndarray) -> np.ndarray:
    """Return X' diag(weight) X, (D, D), for dense or CSR rows."""
    if sp.issparse(X):
        return (X.T @ (sp.diags_array(weight) @ X)).toarray()
    Y = X if (weight == 1.0).all() else X * np.sqrt(weight)[:, None]
    return Y.T.dot(Y)


def gram_with_ones(X: Matrix, weight: np.ndarray) -> np.ndarray:
    """Return Z' diag(weight) Z for the rows Z = (X, 1), (D + 1, D + 1)."""
    felt = np.flatnonzero(weight)
    if len(felt) < FELT * len(weight):
        X, weight = X[felt], weight[felt]
    M = X.shape[1] + 1
    out = np.empty((M, M))
    out[:-1, :-1] = gram(X, weight)
    out[-1, :-1] = out[:-1, -1] = transposed_times(X, weight[:, None])[:, 0]
    out[-1, -1] = weight.sum()
    return out


def gram_times(X: Matrix, weight: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return X' diag(weight) X W for dense or CSR rows, without forming X'X."""
    G = times(X, W)
    G *= weight[:, None]
    return transposed_times(X, G)


def transposed_times(X: Matrix, G: np.ndarray) -> np.ndarray:
    """Return X' G for dense or CSR rows."""
    if not sp.issparse(X):
        return np.ascontiguousarray(G.T.dot(X).T)  # faster in BLAS than X.T.dot(G)
    out = np.zeros((X.shape[1], G.shape[1]))
    add_transposed_times(X, G, out)
    return out


def add_transposed_times(X: Matrix, G: np.ndarray, out: np.ndarray) -> None:
    """Add X' G to `out`, for dense or CSR rows."""
    if not sp.issparse(X):
        out += X.T.dot(G)
        return
    from ..loops.sparse import add_transposed_times

    add_transposed_times(*entries_of(X), np.ascontiguousarray(G, np.float64), out)
