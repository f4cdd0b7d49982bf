"""Test of whether a kernel is positive definite. A sample can refute it, but not prove it. Li theorem 7.5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.cost import afford
from ..core.values import Value
from .base import must_be_finite, n_rows
from .vectors import Precomputed, as_kernel


@dataclass(frozen=True)
class Definiteness(Value):
    """Whether a Gram matrix is symmetric without negative eigenvalues, up to rounding. True if both hold."""

    symmetric: bool
    least_eigenvalue: float
    positive_definite: bool  # if True, other rows may still refute the kernel

    def __bool__(self) -> bool:
        return self.positive_definite


def is_positive_definite(kernel: Any, X: Any = None, *, tol: float | None = None) -> Definiteness:
    """Test with a sample whether a kernel is positive definite.

    A kernel is positive definite if and only if each of its Gram matrices is symmetric and has no negative
    eigenvalue. One sample can only refute it.

    Parameters
    ----------
    kernel : Kernel, str, callable or array of shape (n_samples, n_samples)
        A kernel as estimators take it, or a Gram matrix.
    X : array of shape (n_samples, n_features), optional
        The sample. Leave out for a Gram matrix.
    tol : float, optional
        Tolerance for negative eigenvalues and for differences of k(x, z) and k(z, x), relative to the largest
        magnitude of an eigenvalue. The default is their rounding error, n_samples times 2.2e-16.

    Returns
    -------
    Definiteness
        With `symmetric`, `least_eigenvalue` (of the symmetric part of the matrix) and `positive_definite`,
        which is also its truth value.

    Examples
    --------
    >>> from suffice.kernels import Sigmoid, is_positive_definite
    >>> is_positive_definite([[1, 2], [2, 1]])
    Definiteness(symmetric=True, least_eigenvalue=-1.0, positive_definite=False)
    >>> bool(is_positive_definite("rbf", [[0.0], [1.0], [5.0]]))
    True
    >>> bool(is_positive_definite(Sigmoid(coef0=-1), [[0.0], [1.0], [5.0]]))
    False
    """
    if X is None and not (isinstance(kernel, str) or callable(kernel)):
        kernel, X = Precomputed(), kernel
    if X is None:
        raise ValueError("X is missing: a kernel is tested by a sample, is_positive_definite(kernel, X).")
    N = n_rows(X)
    afford(3.0 * N**2, f"the eigenvalues of the Gram matrix of {N} rows", "take a sample of the rows.")
    K = as_kernel(kernel)(X)
    must_be_finite(K)
    values = np.linalg.eigvalsh(0.5 * (K + K.T))
    slack = (N * np.finfo(np.float64).eps if tol is None else tol) * np.abs(values).max(initial=0.0)
    symmetric, least = bool((np.abs(K - K.T) <= slack).all()), float(values.min(initial=np.inf))
    return Definiteness(symmetric, least, symmetric and bool(least >= -slack))
