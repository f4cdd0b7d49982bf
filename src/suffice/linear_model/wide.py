"""Least squares with many features, whose moments would be too large: no matrix of features is formed.

A dense matrix of the features takes a time that grows with their cube. For wide data, such as texts,

* the dual solves a system of the size of the rows, if these are few;
* conjugate gradients solve the normal equations of more rows. Each product with X'X is a fold. Without a
  penalty, or with a small one, they may not converge: then the dual takes more rows.

Saunders, Gammerman and Vovk, "Ridge regression learning algorithm in dual variables", 1998; Hestenes and
Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.linalg.lapack import dpotrs

from ..core.blocks import Matrix, Rows
from ..core.partitions import Partitions
from ..core.statistics import Parts
from ..estimator.base import must_have_rows
from ..fitting.conjugate import conjugate_solve
from ..fitting.linear_algebra import times, transposed_times
from ..statistics import Moments
from ..statistics.moments import describe
from .normal_equations import CONSTANT, EPS, Inverse, Solution, cholesky, solve_each
from .targets import columns_of, penalties, targets_of

# Number of features up to which moments are summed; LinearSVC sums its Hessian for as many.
FEW_FEATURES = 1024
FEW_ROWS = 512  # rows whose Gram matrix is factorized in milliseconds
MORE_ROWS = 4096  # rows whose Gram matrix is factorized in a minute
SPARSE = 0.1  # fraction of stored entries below which products with the rows cost less than moments
PRODUCTS = 1000  # maximum number of products of conjugate gradients
TOL = 1e-11  # relative residual of conjugate gradients


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The singular values of the centred rows, (min(N, D),); None if they are not known."""

    singular: Any


def solve_wide(start: Any, data: Partitions) -> tuple[Moments, Solution, Spectrum] | None:
    """The moments of each column and the solution, without those of all pairs of features; or None.

    None means that moments of all pairs are faster: for dense data with more rows than features, and for
    more than `MORE_ROWS` rows if conjugate gradients do not converge.
    """
    D = start.coef.shape[1]
    columns, stored = data.fold(_extent, start).parts
    must_have_rows(columns.weight)
    if columns.rows >= D and stored > SPARSE * columns.rows * D:
        return None
    s = columns.features
    s = s.replace(weight=np.float64(columns.weight))
    if columns.rows > FEW_ROWS and np.all(start.alpha):
        solution = _by_products(start, s, data)
        if solution is not None:
            return s, solution, Spectrum(None)
    if columns.rows > min(MORE_ROWS, D):
        return None
    return s, *_by_rows(start, s, data.gather("use fewer features."))


def _extent(start: Any, block: Rows) -> Parts:
    """Rows, weight and moments of the columns; and the number of stored entries."""
    block = start.coded(block)
    stored = np.float64(block.X.nnz if sp.issparse(block.X) else block.X.size)
    return Parts((describe(block.replace(X=columns_of(block))), stored))


@dataclass(frozen=True, eq=False)
class _Centred:
    """Rows about the mean of all, times the roots of their weights: Z. CSR rows are not filled."""

    X: Any  # dense rows are centred here
    root: np.ndarray  # (N, 1), of the weights
    mean: np.ndarray  # (D,), of CSR rows

    @classmethod
    def of(cls, X: Matrix, weight: np.ndarray, mean: np.ndarray) -> Self:
        if not sp.issparse(X):
            X, mean = X - mean, np.zeros_like(mean)
        return cls(X, np.sqrt(weight)[:, None], mean)

    def times(self, V: np.ndarray) -> np.ndarray:
        """Z V."""
        return self.root * (times(self.X, V) - self.mean @ V)

    def transposed_times(self, G: np.ndarray) -> np.ndarray:
        """Z' G."""
        G = self.root * G
        return transposed_times(self.X, G) - np.multiply.outer(self.mean, G.sum(axis=0))

    def gram(self) -> np.ndarray:
        """Z Z'."""
        if not sp.issparse(self.X):
            Z = self.root * self.X
            return Z.dot(Z.T)
        cross = self.X @ self.mean
        about = (self.X @ self.X.T).toarray() - cross - cross[:, None] + self.mean @ self.mean
        return self.root * about * self.root.T


def _by_rows(start: Any, s: Moments, block: Rows) -> tuple[Solution, Spectrum]:
    """The dual: coefficients Z' a with (Z Z' + alpha) a = y."""
    block = start.coded(block)
    block = block[np.flatnonzero(block.weight)]
    mean, size, rounding = _scales(start, s)
    D = len(size)
    Z = _Centred.of(block.X, block.weight, mean[:D])
    Y, G = Z.root * (targets_of(block) - mean[D:]), Z.gram()
    values = None

    def factorized(alpha: float) -> tuple[Inverse, float]:
        """(G + alpha)^-1, and an estimate of the condition number."""
        nonlocal values
        largest = float(G.diagonal().max(initial=0.0)) + alpha
        if alpha > 0.0:
            root, condition = cholesky((G + alpha * np.eye(len(G))) / largest)
            if root is not None:
                return lambda b: dpotrs(root, b, lower=1)[0] / largest, condition
        values, axes = eigh(G)
        keep = values > 100.0 * len(values) * rounding * values[-1:]  # of sums over many features
        if alpha > 0.0:
            keep[:] = True
        values = np.where(keep, np.maximum(values, 0.0), 0.0)
        axes, scale = axes[:, keep], values[keep, None] + alpha
        condition = float(scale.max(initial=1.0) / scale.min(initial=1.0))
        return lambda b: axes @ (axes.T @ b / scale), condition

    def solve(alpha: float, which: np.ndarray) -> Solution:
        of_rows, condition = factorized(alpha)

        def inverse(b: np.ndarray) -> np.ndarray:
            """(Z'Z + alpha)^-1 b. Without a penalty, b is first projected on the span of the rows."""
            if alpha == 0.0:
                return Z.transposed_times(of_rows(of_rows(Z.times(b))))
            return (b - Z.transposed_times(of_rows(Z.times(b)))) / alpha

        x = Z.transposed_times(of_rows(Y[:, which]))
        return Solution(x, rounding * condition, size[:, None], inverse)

    solution = solve_each(penalties(start, Y.shape[1]), solve)
    return solution, Spectrum(None if values is None else np.sqrt(values[::-1]))


def _scales(start: Any, s: Moments) -> tuple[np.ndarray, np.ndarray, float]:
    """Means of features and targets, or zeros; lengths of the columns of features, with one for constant
    columns; and the relative rounding error of the entries."""
    D = start.coef.shape[1]
    if not start.fit_intercept:
        size = np.sqrt(s.scatter + s.weight * s.mean**2)[:D]
        return np.zeros_like(s.mean), np.where(size > 0.0, size, 1.0), EPS
    size, offset = np.sqrt(s.scatter[:D]), np.sqrt(s.weight) * np.abs(s.mean[:D])
    size = np.where(size > CONSTANT * offset, size, 1.0)
    return s.mean, size, EPS * max(1.0, float(np.max(offset / size)))


def _by_products(start: Any, s: Moments, data: Partitions) -> Solution | None:
    """Conjugate gradients on the normal equations, (Z'Z + alpha) x = Z'y; None if they do not converge."""
    mean, size, rounding = _scales(start, s)
    D = len(size)
    alpha = penalties(start, len(s.mean) - D)
    squares = s.scatter[:D] if start.fit_intercept else s.scatter[:D] + s.weight * s.mean[:D] ** 2
    # Features that no row has, as most words of a vocabulary in a few texts, have coefficients of zero.
    felt = np.isclose(squares, size**2) & (squares > 0)
    preconditioner = 1.0 / (squares[felt, None] + alpha)
    data = data.prepared(type(start).coded, start)

    def solve(B: np.ndarray) -> tuple[np.ndarray, bool]:
        direction, out = np.zeros_like(B), np.zeros_like(B)

        def product(V: np.ndarray) -> np.ndarray:
            direction[felt] = V
            return data.fold(_product, mean[:D], direction)[felt] + alpha * V

        out[felt], _, converged = conjugate_solve(
            product, B[felt], preconditioner, tol=TOL, max_iter=PRODUCTS
        )
        return out, converged

    x, converged = solve(data.fold(_right, mean))
    return Solution(x, rounding, size[:, None], lambda b: solve(b)[0]) if converged else None


def _product(mean: np.ndarray, V: np.ndarray, block: Rows) -> np.ndarray:
    """The sum of Z'Z V over a block with coded targets."""
    Z = _Centred.of(block.X, block.weight, mean)
    return Z.transposed_times(Z.times(V))


def _right(mean: np.ndarray, block: Rows) -> np.ndarray:
    """The sum of Z'y over a block with coded targets."""
    D = block.X.shape[1]
    Z = _Centred.of(block.X, block.weight, mean[:D])
    return Z.transposed_times(Z.root * (targets_of(block) - mean[D:]))
