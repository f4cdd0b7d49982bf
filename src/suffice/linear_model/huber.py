"""Huber regression: squared loss for small residuals, absolute loss for large ones, with a joint scale.

Huber, "Robust estimation of a location parameter", 1964; Huber and Ronchetti, "Robust statistics", 2nd ed.,
2009, section 7.7: coefficients and scale have one convex objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np

from ..core.arguments import MaybePath
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, OwnRows, must_have_rows
from ..estimator.parameters import AT_LEAST_0, NON_NEGATIVE, Interval
from ..estimator.scores import Regressor
from ..estimator.tags import tags
from ..fitting import Problem, newton
from ..fitting.descent import Descent
from ..inputs import read_rows
from ..inputs.conversions import as_numbers
from ..statistics import Objective
from .residuals import (
    Line,
    are_apart,
    are_dependent,
    least_squares,
    newton_step,
    orthogonal,
    root_mean_square,
)

# Weight of the curvature of reweighted squares, which limits steps where few rows are within epsilon.
SOME = 1e-3
# Least scale, relative to the spread of targets: moments of a perfect fit leave a smaller residual.
LEAST = 1e-7


@dataclass(frozen=True, eq=False)
class HuberSums(Objective):
    """The loss with its derivatives; and the curvature of squares that touch the loss of rows beyond epsilon
    and lie above it, as in iteratively reweighted least squares."""

    beyond: Annotated[Any, "number or (P - 1, P - 1)"] = 0.0


@dataclass(frozen=True, eq=False)
class HuberLine(Line):
    """A line and a scale s, fitted by min sum s + s h(residual / s): h(z) = z^2 where abs(z) <= epsilon, and
    2 epsilon abs(z) - epsilon^2 beyond. The last of theta is log s."""

    epsilon: float
    least: float  # log s is not below: where all residuals vanish, so would s

    @property
    def scale(self) -> float:
        return float(np.exp(max(self.theta[-1], self.least)))

    def summarize(self, block: Rows) -> HuberSums:
        """The loss and its derivatives. Rows beyond epsilon have zero second derivatives."""
        (r, Z), w, s, e = self.residuals(block), block.weight, self.scale, self.epsilon
        size = np.abs(r)
        near = size <= e * s
        clipped = np.clip(r, -e * s, e * s)
        total, squares = float(w.sum()), float(w @ clipped**2)
        loss = s * total + float(w @ (clipped * (2.0 * r - clipped))) / s
        free = self.theta[-1] > self.least
        of_scale = (s * total - squares / s) * free  # by log s
        gradient = np.append(Z.sums(-2.0 / s * w * clipped), of_scale)
        inside = w * near
        hessian = np.empty((len(gradient), len(gradient)))
        hessian[:-1, :-1] = Z.squares(2.0 / s * inside)
        hessian[:-1, -1] = hessian[-1, :-1] = Z.sums(2.0 / s * inside * r) * free
        hessian[-1, -1] = 2.0 / s * float(inside @ r**2) * free + of_scale
        far = w * np.where(near, 0.0, e * s / np.maximum(size, e * s))
        return HuberSums(total, loss, gradient, hessian, Z.squares(2.0 / s * far))


def _step(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The Newton step, shortened so that log s changes by at most 3: where all residuals vanish, s goes to
    zero."""
    step = newton_step(hessian, gradient)
    return -step * min(1.0, 3.0 / max(abs(step[-1]), 1e-300))


class HuberRegressor(Regressor, Iterative):
    """Linear regression that is robust to outliers: Huber's loss is squared for residuals within `epsilon`
    scales, and linear beyond.

    Minimizes ``sum(s + s * h((y - X coef - intercept) / s)) + alpha * |coef|^2`` jointly over the
    coefficients and the scale s. Newton's method starts from least squares and takes about ten passes over
    the data.

    Parameters
    ----------
    epsilon : float, default=1.35
        Residuals within this many scales have a squared loss. Must be at least 1. At 1.35 and with normal
        errors, the estimator is 95% as efficient as least squares.
    max_iter : int, default=100
        Maximum number of iterations.
    alpha : float, default=0.0001
        Strength of the l2 penalty.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    tol : float, default=1e-5
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss. The fit
        also stops when the loss no longer decreases.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    scale_ : float
        The scale s: the scale of residuals without outliers.
    outliers_ : ndarray of shape (n_samples,)
        Mask of the rows whose residual is beyond `epsilon` scales. Only for rows in memory.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        Penalized mean loss by iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : HuberLine
        The fitted model.
    statistics_ : HuberSums
        The sums at the solution.

    See Also
    --------
    QuantileRegressor : Regression to the median, or another quantile.

    Notes
    -----
    With residuals r_n and scale s, the objective is

    .. math::

        ∑_n \\left( s + s\\, h(r_n / s) \\right) + α ‖w‖^2, \\qquad h(z) = z^2 \\ \\mathrm{if}\\ |z| < ε,\\
        \\mathrm{else}\\ 2 ε |z| - ε^2.

    References
    ----------
    * Huber (1964), "Robust estimation of a location parameter", Annals of Mathematical Statistics 35.
    * Huber and Ronchetti (2009), Robust Statistics, 2nd edition, Wiley, section 7.7.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import HuberRegressor, LinearRegression
    >>> X = np.arange(20.0)[:, None]
    >>> y = 2.0 * X[:, 0] + np.tile([0.1, -0.1], 10)
    >>> y[17:] += 100.0
    >>> HuberRegressor().fit(X, y).coef_.round(2), LinearRegression().fit(X, y).coef_.round(2)
    (array([2.01]), array([5.83]))
    """

    model_: Annotated[HuberLine, "D"]
    coef_: Annotated[np.ndarray, "(D,)"]
    intercept_: float
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epsilon": [Interval(Real, 1.0, None, closed="left")],
        "max_iter": [AT_LEAST_0],
        "alpha": [NON_NEGATIVE],
    }
    __sklearn_tags__ = tags(sparse=True, target_tags__required=True)

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-5,
        checkpoint: MaybePath = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        model = self._start(data)
        problem = Problem(data, model, partial(self._penalised, model))
        watch = Watch(self, self.checkpoint, data, as_model=problem.solution)
        start = Descent(problem.start)
        if self.warm_start and np.abs(problem.gradient(problem.start)).max() <= self.tol:
            start = start.replace(stopped_because="tolerance")  # the optimum of the fit before
        progress = newton(problem, start, solve=_step, tol=self.tol, max_iter=self.max_iter, watch=watch)
        at, s = problem.solution(progress.model), problem.statistics(progress.model)
        return progress.replace(model=at, statistics=s)

    def _label(self, rows: OwnRows | None, data: Partitions) -> None:
        if rows is not None and rows.y is not None:  # in a table, the target is a column
            residual = np.abs(as_numbers(rows.y, "y", "HuberRegressor").reshape(-1) - self.predict(rows.X))
            self.outliers_ = residual > self.epsilon * self.scale_

    def _start(self, data: Partitions) -> HuberLine:
        D = self.n_features_in_
        afford(D**2, f"the second derivatives by {D} features", "use fewer.")
        line, s = least_squares(data, D, self.fit_intercept)
        must_have_rows(s.weight)
        center = s.mean[:D] if self.fit_intercept else np.zeros(D)
        of_center = s.mean[D:] if self.fit_intercept else np.zeros(0)
        least = np.log(LEAST * root_mean_square(line.replace(coef=0.0 * line.coef), s))
        coef, spread, basis = line.coef[0], root_mean_square(line, s), None
        if are_dependent(line.square(s)[:D, :D]):
            basis, coef, spread = orthogonal(data, D, self.fit_intercept)
        of_scale = np.log(max(spread, np.exp(least)))
        theta = np.concatenate([coef, of_center, [of_scale]])
        if self.warm_start and hasattr(self, "model_") and len(self.model_.center) == D:
            theta, center, basis = self.model_.theta, self.model_.center, self.model_.basis
        options = self.fit_intercept, self.fit_intercept and are_apart(s, D)
        return HuberLine(theta, center, *options, self.epsilon, float(least), basis=basis)

    def _penalised(
        self, model: HuberLine, theta: np.ndarray, s: HuberSums
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Mean loss plus penalty, with its derivatives."""
        D, coef = model.n_columns, model.at(theta).coef
        basis = np.eye(D) if model.basis is None else model.basis
        value = s.loss + self.alpha * float(coef @ coef)
        gradient, hessian = np.array(s.gradient), np.array(s.hessian)
        gradient[:D] += 2.0 * self.alpha * (basis.T @ coef)
        hessian[:-1, :-1] += SOME * s.beyond
        hessian[:D, :D] += 2.0 * self.alpha * (basis.T @ basis)
        # By log s it is not convex where s is too small; without that part it is, and the same at the optimum
        hessian[-1, -1] -= min(float(s.gradient[-1]), 0.0)
        return value / s.weight, gradient / s.weight, hessian / s.weight

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: HuberLine = progress.model
        return {"coef_": model.coef.copy(), "intercept_": model.intercept, "scale_": model.scale}

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.asarray(read_rows(self, X) @ self.coef_) + self.intercept_
