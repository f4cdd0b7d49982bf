"""What robust regressions share: residuals of a line about the centre of the rows, and where to start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.model import Model
from ..core.partitions import Partitions
from ..fitting.linear_algebra import gram, solve_positive
from ..statistics import Moments
from .least_squares import LinearModel, must_have_one_target


@dataclass(frozen=True, eq=False)
class Line(Model):
    """y = (x - center) coef + intercept: far from the origin, only about a centre the two are told apart."""

    theta: np.ndarray  # coefficients; the intercept at the centre, if there is one; and what else there is
    center: np.ndarray  # (D,), zero without an intercept
    fit_intercept: bool

    @property
    def coef(self) -> np.ndarray:
        return self.theta[: len(self.center)]

    @property
    def intercept(self) -> float:
        """At the origin."""
        return float(self.theta[len(self.center)] - self.center @ self.coef) if self.fit_intercept else 0.0

    def residuals(self, block: Any) -> tuple[np.ndarray, Any]:
        """y minus what the line says; and the derivatives of the line, as columns."""
        columns = Columns.of(self, block.X)
        return block.y.astype(np.float64) - columns.times(self.theta), columns


@dataclass(frozen=True)
class Columns:
    """Rows less their centre, and ones for the intercept. Sparse rows are never centred: sums of them are."""

    X: Any  # (N, D + 1): dense about the centre, or CSR about the origin
    back: Any  # (D + 1, D + 1): what makes sums about the origin sums about the centre; None if they are

    @classmethod
    def of(cls, line: Line, X: Any) -> Columns:
        D = len(line.center)
        ones = np.ones((X.shape[0], int(line.fit_intercept)))
        if not sp.issparse(X):
            return cls(np.hstack([X - line.center, ones]), None)
        if not line.fit_intercept:
            return cls(X, None)
        back = np.eye(D + 1)
        back[D, :D] = -line.center
        return cls(sp.hstack([X, ones], format="csr"), back)

    def times(self, theta: np.ndarray) -> np.ndarray:
        """What the line says of each row."""
        theta = theta[: self.X.shape[1]]
        return np.asarray(self.X.dot(theta if self.back is None else self.back @ theta))

    def sums(self, weight: np.ndarray) -> np.ndarray:
        """Z' weight for the columns Z about the centre, with one or several weights of rows."""
        found = np.asarray(self.X.T.dot(weight))
        return found if self.back is None else self.back.T @ found

    def squares(self, weight: np.ndarray) -> np.ndarray:
        """Z' diag(weight) Z."""
        found = gram(self.X, weight)
        return found if self.back is None else self.back.T @ found @ self.back


def least_squares(data: Partitions, D: int, fit_intercept: bool) -> tuple[LinearModel, Moments]:
    """The line of least squares, and the moments of rows and targets: one pass."""
    start = LinearModel(np.zeros((1, D)), np.zeros(1), 0.0, fit_intercept)
    s = data.fold(LinearModel.summarize, start)
    must_have_one_target(start, s)
    return start.estimate(s), s


def root_mean_square(model: LinearModel, s: Moments) -> float:
    """Of the residuals; at least what rounding leaves of the targets."""
    D = model.coef.shape[1]
    square, direction = model.square(s) / s.weight, np.append(-model.coef[0], 1.0)
    least = 1e-10 * np.sqrt(square[D, D] + s.mean[D] ** 2)
    return float(max(np.sqrt(max(direction @ square @ direction, 0.0)), least)) or 1.0


def newton_step(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Minus the inverse Hessian times the gradient; what nothing depends on stays."""
    felt = np.diag(hessian) > 0
    step = np.zeros_like(gradient)
    if felt.any():
        step[felt] = -solve_positive(hessian[np.ix_(felt, felt)], gradient[felt])
    return step
