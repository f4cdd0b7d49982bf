"""Shared by robust regressions: residuals of a line about the centre of the rows, and the start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import svd

from ..core.blocks import Rows
from ..core.partitions import Partitions
from ..core.shapes import must
from ..fitting import LossModel
from ..fitting.linear_algebra import gram_with_ones, solve_positive
from ..statistics import Factor, Moments, factor
from .least_squares import LinearModel, must_have_one_target
from .targets import columns_of

FAR = 30.0  # distance of the mean from the origin, in spreads, beyond which `are_apart` is true
DEPENDENT = 1e-3  # least length of the part of a unit column that is orthogonal to the earlier ones


@dataclass(frozen=True, eq=False)
class Line(LossModel):
    """y = (x - center) coef + intercept. Centring separates coefficients from intercept far from the
    origin."""

    theta: Annotated[np.ndarray, "(P,)"]  # coefficients, the intercept, what else there is
    center: Annotated[np.ndarray, "(D,)"]  # zero without an intercept
    fit_intercept: bool
    apart: bool  # whether rows are so far from the origin that they are centred, and not only their sums
    # (D, rank) for columns that are nearly collinear: theta refers to rows times this basis
    basis: Any = field(default=None, kw_only=True)

    @property
    def n_columns(self) -> int:
        return len(self.center) if self.basis is None else self.basis.shape[1]

    def check_loaded(self, sizes: dict[str, int]) -> None:
        more = sizes["P"] - sizes["D"] - self.fit_intercept
        must(more in (0, 1), f"There are {sizes['P']} parameters of a line in {sizes['D']} features.")

    @property
    def coef(self) -> np.ndarray:
        theta = self.theta[: self.n_columns]
        return theta if self.basis is None else self.basis @ theta

    @property
    def intercept(self) -> float:
        """The prediction at the origin."""
        return float(self.theta[self.n_columns] - self.center @ self.coef) if self.fit_intercept else 0.0

    def residuals(self, block: Rows) -> tuple[np.ndarray, Any]:
        """Residuals of the line, and its derivatives as columns."""
        columns = Columns.of(self, block.X)
        return block.y.astype(np.float64) - columns.times(self.theta), columns


@dataclass(frozen=True)
class Columns:
    """Rows minus their centre, and ones for the intercept. If possible, sums are centred and not the rows."""

    X: Any  # (N, D): about the origin, or about the centre
    center: Any  # (D,), of sums that are still about the origin; None if they are not
    ones: bool

    @classmethod
    def of(cls, line: Line, X: Any) -> Columns:
        if line.basis is not None:
            X = X.toarray() if sp.issparse(X) else X
            return cls((X - line.center).dot(line.basis), None, line.fit_intercept)
        if line.apart and not sp.issparse(X):
            return cls(X - line.center, None, line.fit_intercept)
        return cls(X, line.center if line.center.any() else None, line.fit_intercept)

    def times(self, theta: np.ndarray) -> np.ndarray:
        """Predictions of the line."""
        D = self.X.shape[1]
        at = (theta[D] if self.ones else 0.0) - (0.0 if self.center is None else self.center @ theta[:D])
        return np.asarray(self.X.dot(theta[:D])) + at

    def dense(self) -> np.ndarray:
        """The columns about the centre, without ones."""
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        return X if self.center is None else X - self.center

    def sums(self, weight: np.ndarray) -> np.ndarray:
        """Z' weight for the columns Z about the centre."""
        product, total = np.asarray(self.X.T.dot(weight)), weight.sum()
        if self.center is not None:
            product = product - total * self.center
        return np.append(product, total) if self.ones else product

    def squares(self, weight: np.ndarray) -> np.ndarray:
        """Z' diag(weight) Z."""
        out = gram_with_ones(self.X, weight)
        if not self.ones:
            return out[:-1, :-1]
        if self.center is not None:
            product, total = out[:-1, :-1], out[-1, -1]
            edge = out[-1, :-1] - total * self.center
            cross = np.outer(edge, self.center)
            out[:-1, :-1] = product - cross - cross.T - total * np.outer(self.center, self.center)
            out[-1, :-1] = out[:-1, -1] = edge
        return out


def least_squares(data: Partitions, D: int, fit_intercept: bool) -> tuple[LinearModel, Moments]:
    """The least squares line and the moments of rows and targets, in one pass."""
    start = LinearModel(np.zeros((1, D)), np.zeros(1), 0.0, fit_intercept)
    s = data.fold(LinearModel.summarize, start)
    must_have_one_target(start, s)
    return start.estimate(s), s


def are_dependent(square: np.ndarray) -> bool:
    """Whether a column is nearly a linear combination of earlier ones, by the Gram matrix."""
    felt = np.flatnonzero(np.diag(square) > 0)
    square = square[np.ix_(felt, felt)]
    size = np.sqrt(np.diag(square))
    try:
        return bool(np.diag(np.linalg.cholesky(square / np.outer(size, size))).min(initial=1.0) < DEPENDENT)
    except np.linalg.LinAlgError:
        return DEPENDENT > 0


def orthogonal(data: Partitions, D: int, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Orthogonal linear combinations of the columns, (D, rank), each of mean square one; the least squares
    coefficients in this basis, and the root mean square of the residuals.

    By a QR factorization: for columns that differ by 1e-7, the Gram matrix has lost the difference.
    """
    s = data.fold(_factor)
    R = s.R if fit_intercept else np.concatenate([s.R, np.sqrt(s.weight) * s.mean[None]])
    R, target = R[:, :D], R[:, D]
    size = np.sqrt((R**2).sum(axis=0))
    size = np.where(size > 0, size, 1.0)
    U, value, axes = svd(R / size, full_matrices=False)
    keep = value > D * np.finfo(np.float64).eps * value[0]
    basis = np.sqrt(s.weight) * axes[keep].T / value[keep] / size[:, None]
    theta = U[:, keep].T @ target
    rest = target - U[:, keep] @ theta
    return basis, theta / np.sqrt(s.weight), float(np.sqrt(rest @ rest / s.weight))


def _factor(block: Rows) -> Factor:
    Z = columns_of(block)
    return factor(Z.toarray() if sp.issparse(Z) else Z, block.weight)


def are_apart(s: Moments, D: int) -> bool:
    """Whether rows are far from the origin, compared with their spread."""
    spread = np.sqrt(np.diag(s.scatter)[:D] / s.weight)
    return bool((np.abs(s.mean[:D]) > FAR * spread).any())


def root_mean_square(model: LinearModel, s: Moments) -> float:
    """Root mean square of the residuals, at least the rounding error of the targets."""
    D = model.coef.shape[1]
    square, direction = model.square(s) / s.weight, np.append(-model.coef[0], 1.0)
    least = 1e-10 * np.sqrt(square[D, D] + s.mean[D] ** 2)
    return float(max(np.sqrt(max(direction @ square @ direction, 0.0)), least)) or 1.0


def newton_step(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Minus the inverse Hessian times the gradient. Parameters without curvature do not move."""
    felt = np.diag(hessian) > 0
    step = np.zeros_like(gradient)
    if felt.any():
        step[felt] = -solve_positive(hessian[np.ix_(felt, felt)], gradient[felt])
    return step
