"""Least squares from the Gram matrix X'X, or from rows that have it: a solution, and how to correct it.

Golub and Van Loan, "Matrix computations", 4th edition, 2013, sections 5.3 and 5.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular, svd
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs
from scipy.optimize import nnls

EPS = float(np.finfo(np.float64).eps)
# Ratio of spread to mean below which a column is constant: the mean of many equal numbers is off by as
# much.
CONSTANT = 1e4 * EPS
# Least pivot of the Cholesky factor of unit columns. Its square is the part of a column that the earlier
# columns do not explain.
LEAST_PIVOT = 1e-5

Inverse = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Solution:
    """x with A x = B: the minimum norm solution."""

    x: np.ndarray  # (D, T)
    error: float  # of x, relative to its length: an estimate; infinite if columns depend on each other
    size: np.ndarray  # (D, 1 or T), lengths of the columns: one over the units of x
    inverse: Inverse  # of A, approximately: what corrects x


def solve_square(A: np.ndarray, B: np.ndarray, offset: Any, positive: bool = False) -> Solution:
    """Solve with A = X'X and B = X'y. If X is centred, `offset` has the lengths of the columns of means."""
    units = _Units.of(np.diag(A), offset)
    C, targets = units.scaled(units.scaled(A).T), units.scaled(B)
    root, condition = cholesky(C)
    if root is not None and not positive:
        return units.solution(None, targets, condition, lambda b: dpotrs(root, b, lower=1)[0])
    values, axes = eigh(C)
    keep = values > 100.0 * len(C) * units.rounding * values[-1:]  # of sums over many rows
    values, axes = values[keep], axes[:, keep]
    x = None
    if positive:
        lengths = np.sqrt(values)[:, None]
        x = _non_negative(lengths * axes.T, axes.T @ targets / lengths)
    left, right = units.shortest(axes), axes / values
    return units.solution(x, targets, condition, lambda b: left @ (right.T @ b))


def solve_rows(M: np.ndarray, targets: np.ndarray, offset: Any, positive: bool = False) -> Solution:
    """Solve with A = M'M and B = M' targets. Neither is formed: the products lose half of the digits."""
    units = _Units.of((M**2).sum(axis=0), offset)
    rows = units.scaled(M.T).T
    basis, values, axes = svd(rows, full_matrices=False)
    keep = values > max(rows.shape) * units.rounding * values[:1]
    basis, values, axes = basis[:, keep], values[keep], axes[keep].T
    left, right = units.shortest(axes), axes / values**2
    x = _non_negative(rows, targets) if positive else left @ ((basis / values).T @ targets)
    condition = float(values.max(initial=1.0) / values.min(initial=1.0))
    return units.solution(x, targets, condition, lambda b: left @ (right.T @ b))


@dataclass(frozen=True)
class _Units:
    """Columns scaled to unit length (diagonal preconditioning): then only collinearity makes the matrix
    singular."""

    size: np.ndarray  # (D,)
    free: np.ndarray  # (D,), which columns are not constant; the coefficients of the others are zero
    rounding: float  # of the entries, relative

    @classmethod
    def of(cls, squares: np.ndarray, offset: Any) -> _Units:
        size = np.sqrt(np.maximum(squares, 0.0))
        free = size > CONSTANT * offset
        size = np.where(free, size, 1.0)
        # About means, entries have the rounding of the means.
        return cls(size, free, EPS * max(1.0, float(np.max(free * offset / size))))

    def scaled(self, b: np.ndarray) -> np.ndarray:
        """The rows of free columns, over their lengths."""
        if not self.free.all():
            b = b[self.free]
        return (b.T / self.size[self.free]).T

    def expanded(self, x: np.ndarray) -> np.ndarray:
        """Coefficients of all columns, from the scaled coefficients of the free ones."""
        out = np.zeros((len(self.size), *x.shape[1:]))
        out[self.free] = (x.T / self.size[self.free]).T
        return out

    def shortest(self, axes: np.ndarray) -> np.ndarray:
        """P such that P z is the x with axes' x = z whose expansion has minimum norm."""
        if axes.shape[0] == axes.shape[1]:
            return axes
        unit = self.size[self.free][:, None]
        basis, triangle = qr(unit * axes, mode="economic")
        return unit * solve_triangular(triangle, basis.T).T

    def solution(self, x: Any, b: np.ndarray, condition: float, inverse: Inverse) -> Solution:
        x = inverse(b) if x is None else x
        error, size = self.rounding * condition, self.size[:, None]
        return Solution(self.expanded(x), error, size, lambda b: self.expanded(inverse(self.scaled(b))))


def cholesky(C: np.ndarray) -> tuple[Any, float]:
    """Cholesky factor, and an estimate of the condition number of C; None if columns are collinear."""
    if not len(C):  # LAPACK takes no empty matrix, and NumPy solves it
        return None, 1.0
    root, failed = dpotrf(C, lower=1)
    if failed or not root.diagonal().min() > LEAST_PIVOT:
        return None, np.inf
    reciprocal, _ = dpocon(root, np.abs(C).sum(axis=0).max(), uplo="L")
    # The norm of the largest column is up to the root of their number larger than what rounding is scaled by.
    return root, 1.0 / max(float(reciprocal) * np.sqrt(len(C)), EPS)


def _non_negative(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    if not rows.size:
        return np.zeros((rows.shape[1], targets.shape[1]))
    return np.stack([nnls(rows, target)[0] for target in targets.T], axis=1)


def solve_each(alpha: np.ndarray, solve: Callable[[float, np.ndarray], Solution]) -> Solution:
    """The solutions of targets that have the same alpha, `solve(alpha, which)`, put together."""
    if (alpha == alpha[0]).all():
        return solve(float(alpha[0]), np.full(len(alpha), True))
    groups = [(alpha == value, solve(float(value), alpha == value)) for value in np.unique(alpha)]

    def together(parts: list[np.ndarray]) -> np.ndarray:
        out = np.empty((len(parts[0]), len(alpha)))
        for (targets, _), part in zip(groups, parts, strict=True):
            out[:, targets] = part
        return out

    return Solution(
        together([solution.x for _, solution in groups]),
        max(solution.error for _, solution in groups),
        together([solution.size for _, solution in groups]),
        lambda b: together([solution.inverse(b[:, targets]) for targets, solution in groups]),
    )
