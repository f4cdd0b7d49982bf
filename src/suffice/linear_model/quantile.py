"""Quantile regression. For the median, it minimizes absolute errors.

Koenker and Bassett, "Regression quantiles", 1978. The loss is smoothed, with a decreasing width, and each
smoothed loss is minimized by Newton's method with one fold per step. No state is kept per row between steps;
interior point methods keep two numbers per row. Chen and Mangasarian, "A class of smoothing functions for
nonlinear and mixed complementarity problems", 1996.

Near the optimum, the residuals of most rows have their final signs. What remains is a linear program of the
few rows near the line. It ends at a vertex, and its dual bounds the minimum loss of all rows from below.
Portnoy and Koenker, "The Gaussian hare and the Laplacian tortoise", 1997. If there are few distinct rows, the
linear program has all of them, and nothing is smoothed.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit, ndtri

from ..core.arguments import MaybePath
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.hashing import example_hashes
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.parameters import NON_NEGATIVE, Interval, StrOptions
from ..estimator.scores import Regressor
from ..estimator.tags import tags
from ..fitting.descent import ROUNDING, absolute, proximal
from ..fitting.seeding import Sample, smallest
from ..inputs import read_rows
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

SHRINK = 0.35  # factor of the width of the smoothing, from one smoothed loss to the next
ROUNDED = 1e-14  # rounding error of the targets, relative to their size
# Weight of the curvature of reweighted squares, which limits steps where few rows are near the line.
SOME = 1e-3
SMOOTHED = 1e-4  # smoothing error, relative to the objective, at which the linear program is tried
PATIENCE = 50  # iterations with smoothing after which the linear program is tried in any case
NEAREST = 1000  # minimum number of rows of the linear program
ROWS_EACH = 20  # rows of the linear program for each coefficient


@dataclass(frozen=True, eq=False)
class QuantileSums(Objective):
    """The smoothed loss with its derivatives; the loss itself; and its distance from the dual objective."""

    curvature: Annotated[Any, "number or (P, P)"] = 0.0  # a little more than the second derivatives
    pinball: float = 0.0
    gap: float = 0.0


@dataclass(frozen=True, eq=False)
class NearestRows(Statistics):
    """The rows nearest to the line, and the sums over all rows of the dual variables by the signs of
    residuals."""

    nearest: Sample  # of columns and residuals
    slope: Annotated[np.ndarray, "(D + 1,)"]  # the sum of dual variables times columns
    loss: float  # the sum of dual variables times residuals


@dataclass(frozen=True, eq=False)
class QuantileLine(Line):
    """A line fitted by min sum q(residual): q(r) = quantile r where r > 0, and (quantile - 1) r elsewhere.
    Smoothed, it is quantile r + width log(1 + exp(-r / width))."""

    quantile: float
    width: float

    def summarize(self, block: Rows) -> QuantileSums:
        (r, Z), w, t = self.residuals(block), block.weight, self.quantile
        smooth, below, curve, gap = smoothed(r, self.width)
        pinball = np.where(r > 0, t * r, (t - 1.0) * r)
        gradient = Z.sums(w * (below - t))
        curvature = Z.squares(w * (curve + SOME / (2.0 * (np.abs(r) + self.width))))
        sums = float(w @ (t * r + smooth)), gradient, 0.0, curvature, float(w @ pinball), float(w @ gap)
        return QuantileSums(float(w.sum()), *sums)

    def signs(self, r: np.ndarray) -> np.ndarray:
        """The dual variables of rows that are not on the line: the slopes of their losses."""
        return np.where(r > 0, self.quantile, self.quantile - 1.0)

    def nearest_rows(self, size: int, unit: float, block: Rows) -> NearestRows:
        """The nearest rows, this many distinct ones. Distances that differ by less than 1e-7 of `unit` are
        equal."""
        r, Z = self.residuals(block)
        dual = block.weight * self.signs(r)
        distance = (np.abs(r) / unit).astype(np.float32) + np.float32(1.0)
        rows = np.column_stack([Z.dense(), r])
        nearest = smallest(
            size, distance.astype(np.float64), example_hashes(block, Purpose.IDENTITY), rows, block.weight
        )
        return NearestRows(nearest, Z.sums(dual), float(dual @ r))


def smoothed(r: np.ndarray, width: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """max(-r, 0), smoothed: the value, minus its first derivative, its second derivative; and the duality
    gap, if the derivatives of all rows add up to zero, as they do at the minimum."""
    z = r / width
    below = expit(-z)
    return width * np.logaddexp(0.0, -z), below, below * expit(z) / width, np.abs(r) * expit(-np.abs(z))


@dataclass(frozen=True, eq=False)
class Vertex(Progress):
    """State of the fit: a line (`model`), its sums, means with the penalty, and the next step; the best
    vertex so far, and the bound from its linear program."""

    means: Any = None  # QuantileSums; the gradient is without the penalty
    step: Annotated[Any, "(P,) or None"] = None
    penalty_change: float = 0.0  # of the penalty, with that step
    promised: float = np.inf  # what the step gains, to first order
    best: Any = None  # QuantileLine
    best_sums: Any = None
    objective: float = np.inf  # there
    bound: float = -np.inf  # of the least objective, from below
    allowed: float = SMOOTHED  # of the objective, what smoothing leaves to the next linear program
    size: int = 0  # rows of that

    def at(self, evaluated: tuple[QuantileSums, QuantileSums], l1: np.ndarray, **changes: Any) -> Vertex:
        state, (s, means) = self.replace(**changes), evaluated
        theta, A, g = state.model.theta, means.curvature, means.gradient
        step = proximal(A, A @ theta - g, theta, l1) - theta if l1.any() else newton_step(A, g)
        penalty_change = absolute(l1, theta + step) - absolute(l1, theta)
        promised = -float(g @ step) - penalty_change
        return state.replace(
            statistics=s, means=means, step=step, penalty_change=penalty_change, promised=promised
        )

    def with_line(self, model: QuantileLine, evaluated: tuple[QuantileSums, QuantileSums]) -> Vertex:
        """The state with the better of two lines."""
        s, means = evaluated
        if not means.pinball < self.objective:
            return self
        return self.replace(best=model, best_sums=s, objective=means.pinball)

    def ended(self, reason: str) -> Vertex:
        """The state at the end: callbacks of the last iteration see the best line."""
        return self.replace(model=self.best, statistics=self.best_sums, stopped_because=reason)

    def traced(self, value: float) -> tuple[float, ...]:
        return (*self.trace, min((value, *self.trace[-1:])))

    @property
    def off(self) -> float:
        """Bound on the smoothing error of the objective, to first order."""
        return float(self.means.gap + self.promised)

    @property
    def gap(self) -> float:
        return max(self.objective - self.bound, 0.0)


@dataclass(frozen=True)
class Search:
    """Constants of all iterations."""

    data: Partitions
    l1: np.ndarray  # (D + 1,)
    tol: float
    rounding: float  # of targets
    unit: float  # of residuals
    most: int  # rows of a linear program

    def at(self, model: QuantileLine) -> tuple[QuantileSums, QuantileSums]:
        """The sums over the rows, and means with the penalty."""
        s = self.data.fold(QuantileLine.summarize, model)
        means, penalty = s * (1.0 / s.weight), absolute(self.l1, model.theta)
        return s, means.replace(loss=means.loss + penalty, pinball=means.pinball + penalty)

    def step(self, state: Vertex) -> Vertex:
        if state.means is None:
            evaluated = s, means = self.at(state.model)
            if s.weight <= self.most:
                near = self.data.fold(QuantileLine.nearest_rows, state.model, state.size, self.unit)
                if len(near.nearest.key) < state.size:  # all rows: there is nothing to approximate
                    state = self.programmed(state.replace(statistics=s, means=means), near)
                    return state if state.stopped_because else state.at(evaluated, self.l1)
            state = state.at(evaluated, self.l1)
        is_near = state.off <= state.allowed * state.means.pinball + self.rounding
        if is_near or state.n_iter >= PATIENCE:
            return self.programmed(state)
        return self.improved(state)

    def improved(self, state: Vertex) -> Vertex:
        """One Newton step. If the smoothing error exceeds the gain of the step, the width is reduced as
        well."""
        model, means = state.model, state.means
        narrow = state.promised <= 0.5 * means.gap and model.width > 0.1 * self.rounding
        width, length = model.width * (SHRINK if narrow else 1.0), 1.0
        while True:
            new = model.replace(theta=model.theta + length * state.step, width=width)
            evaluated = self.at(new)
            if np.isnan(evaluated[1].loss):
                return state.replace(trace=(*state.trace, np.nan))  # with which the iterations end
            if evaluated[1].loss <= means.loss - 1e-4 * length * state.promised + ROUNDING * abs(means.loss):
                break
            slope = (
                float(evaluated[1].gradient @ state.step) + state.penalty_change
            )  # at the start, -promised
            length *= min(
                max(state.promised / max(state.promised + slope, state.promised, 1e-300), 0.02), 0.5
            )
            if length < 1e-10:
                return self.programmed(state)
        return state.at(evaluated, self.l1, model=new, trace=state.traced(evaluated[1].loss))

    def programmed(self, state: Vertex, near: NearestRows | None = None) -> Vertex:
        """The vertex of the linear program of the nearest rows, and its bound."""
        state = state.with_line(state.model, (state.statistics, state.means))
        line, before = state.best, state.gap
        if near is None:
            near = self.data.fold(QuantileLine.nearest_rows, line, state.size, self.unit)
        theta, bound = solved(line, near, self.l1, float(state.statistics.weight))
        state = state.replace(bound=max(state.bound, bound))
        if np.isfinite(bound):
            new = line.replace(theta=theta)
            evaluated = self.at(new)
            if np.isnan(evaluated[1].loss):
                return state.replace(trace=(*state.trace, np.nan))
            state = state.with_line(new, evaluated)
        state = state.replace(trace=state.traced(state.objective))
        if state.gap <= self.tol * state.objective + self.rounding:
            return state.ended("tolerance")
        if state.gap < 0.5 * before:
            return state
        if state.allowed > self.tol:  # smoothing goes on
            return state.replace(allowed=max(1e-2 * state.allowed, self.tol))
        if len(near.nearest.key) < state.size or state.size >= self.most:  # all rows, or too many
            return state.ended("the duality gap")
        return state.replace(size=4 * state.size)


def solved(line: QuantileLine, near: NearestRows, l1: np.ndarray, total: float) -> tuple[np.ndarray, float]:
    """Solve the linear program of the nearest rows, with the others fixed on their sides of the line.
    Returns the best line, and a lower bound on the mean objective of all rows, which is minus infinity if
    the nearest rows do not determine the line.

    It is the dual for the step from theta: with a between quantile - 1 and quantile for each row, and
    abs(s) <= l1, max sum w a r + s'theta subject to sum w a z = s, of residuals r, columns z and weights w.
    """
    Z, r, w = near.nearest.row[:, :-1], near.nearest.row[:, -1], near.nearest.weight
    if line.fit_intercept:
        Z = np.column_stack([Z, np.ones(len(Z))])
    heavy, unit, size = w.mean(), np.abs(r).mean() or 1.0, np.sqrt(w @ Z**2 / w.sum())
    size = np.where(size > 0, size, 1.0)
    Z, r, w = Z / size, r / unit, w / heavy
    sides = w * line.signs(r)
    slope = near.slope / heavy / size - Z.T @ sides  # of all other rows
    rest = near.loss / heavy / unit - float(sides @ r)
    bent = np.flatnonzero(l1 > 0)
    low, high, box = line.quantile - 1.0, line.quantile, l1[bent] * total / heavy / size[bent]
    A = np.column_stack([(Z * w[:, None]).T, -np.eye(len(size))[:, bent]])
    evaluated = linprog(
        np.concatenate([-w * r, -line.theta[bent] * size[bent] / unit]),
        A_eq=A,
        b_eq=-slope,
        bounds=np.concatenate([np.tile([low, high], (len(r), 1)), np.column_stack([-box, box])]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if evaluated.x is None or evaluated.status != 0:
        return line.theta, -np.inf
    dual, penalty, step = evaluated.x[: len(r)], evaluated.x[len(r) :], -evaluated.eqlin.marginals
    zero = np.zeros(len(step), bool)
    zero[bent] = np.abs(penalty) < (1.0 - 1e-9) * box
    step[zero] = -(line.theta * size / unit)[zero]
    on = (dual > low + 1e-9) & (dual < high - 1e-9)  # the line goes through these rows, and exactly so
    step[~zero] += np.linalg.lstsq(Z[on][:, ~zero], r[on] - Z[on] @ step, rcond=None)[0]
    left = np.abs(A @ evaluated.x + slope) @ np.abs(step)  # of equations that hold to rounding only
    theta = np.where(zero, 0.0, line.theta + step * unit / size)
    return theta, (rest - evaluated.fun - left) * heavy * unit / total


class QuantileRegressor(Regressor, Iterative):
    """Linear quantile regression. By default it predicts the median, and minimizes absolute errors.

    Minimizes ``mean(q(y - X coef - intercept)) + alpha * |coef|_1``, with ``q(r) = quantile * r`` above the
    line and ``(quantile - 1) * r`` below it. Newton's method on a smoothed loss comes near the optimum. A
    linear program of the rows nearest to the line then gives it to rounding, with a duality gap. Up to about
    a thousand distinct rows are one linear program from the start. If several lines are optimal, one of them
    is returned.

    Parameters
    ----------
    quantile : float, default=0.5
        The quantile to predict, strictly between 0 and 1.
    alpha : float, default=1.0
        Strength of the l1 penalty. The intercept is not penalized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : str, default='highs'
        Ignored: HiGHS solves the linear programs, which use few of the rows. 'interior-point' and
        'revised simplex' raise an error, as with SciPy 1.11 and later.
    solver_options : dict, default=None
        Ignored.
    tol : float, default=1e-7
        Tolerance of the duality gap, relative to the objective.
    max_iter : int, default=200
        Maximum number of iterations.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    dual_gap_ : float
        Duality gap of the last linear program: an upper bound on the distance of the objective from its
        minimum. Infinite if the iterations stopped before one was solved.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        The objective by iteration, smoothed until a linear program is solved.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : QuantileLine
        The fitted model.
    statistics_ : QuantileSums
        The sums at the solution.

    See Also
    --------
    HuberRegressor : Squared loss for small errors, absolute loss for large ones.

    Notes
    -----
    With q = `quantile`, the line minimizes the mean pinball loss and the penalty:

    .. math::

        \\frac{1}{n} ∑_n \\max(q r_n, (q - 1) r_n) + α ‖w‖_1, \\qquad r_n = y_n - x_n^T w - b.

    References
    ----------
    * Koenker and Bassett (1978), "Regression quantiles", Econometrica 46.
    * Portnoy and Koenker (1997), "The Gaussian hare and the Laplacian tortoise", Statistical Science 12.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import QuantileRegressor
    >>> X = np.arange(6.0)[:, None]
    >>> model = QuantileRegressor(alpha=0.0).fit(X, [1.0, 2.0, 3.0, 4.0, 5.0, 100.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1.]), 1.0)
    """

    model_: Annotated[QuantileLine, "D"]
    coef_: Annotated[np.ndarray, "(D,)"]
    intercept_: float
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "alpha": [NON_NEGATIVE],
        "solver": [StrOptions({"highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex"})],
        "solver_options": [dict, None],
    }
    __sklearn_tags__ = tags(sparse=True, target_tags__required=True)

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: Any = None,
        tol: float = 1e-7,
        max_iter: int = 200,
        checkpoint: MaybePath = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def _check_options(self) -> None:
        if not self.solver.startswith("highs"):
            raise ValueError(
                f"Solver {self.solver} is not anymore available in SciPy >= 1.11.0: use solver='highs'."
            )

    def _solve(self, data: Partitions) -> Progress:
        start, rounding = self._start(data)
        p = len(start.theta)
        l1 = np.where(np.arange(p) < p - start.fit_intercept, float(self.alpha), 0.0)
        size = max(NEAREST, ROWS_EACH * p)
        search = Search(data, l1, max(self.tol, ROUNDING), rounding, start.width, 16 * size)
        watch = Watch(self, self.checkpoint, data)
        progress = watch.limited(self.max_iter).loop(search.step, Vertex(start, size=size))
        if progress.means is not None:
            progress = progress.with_line(progress.model, (progress.statistics, progress.means))
            progress = progress.replace(model=progress.best, statistics=progress.best_sums)
        return progress

    def _start(self, data: Partitions) -> tuple[QuantileLine, float]:
        """The least squares line, and the rounding error of the targets."""
        D = self.n_features_in_
        afford(D**2, f"the second derivatives by {D} features", "use fewer.")
        line, s = least_squares(data, D, self.fit_intercept)
        must_have_rows(s.weight)
        # With a penalty the line may end far from the rows, even if it can reach them.
        width = root_mean_square(line.replace(coef=0.0 * line.coef) if self.alpha else line, s)
        center = s.mean[:D] if self.fit_intercept else np.zeros(D)
        of_center = s.mean[D:] + width * ndtri(self.quantile) if self.fit_intercept else np.zeros(0)
        size = float(np.sqrt(line.square(s)[D, D] / s.weight + s.mean[D] ** 2))
        theta, basis = line.coef[0], None
        if not self.alpha and are_dependent(line.square(s)[:D, :D]):
            basis, theta, spread = orthogonal(data, D, self.fit_intercept)
            width = max(spread, 1e-10 * size) or 1.0
        settings = self.fit_intercept, self.fit_intercept and are_apart(s, D), self.quantile, width
        start = QuantileLine(np.append(theta, of_center), center, *settings, basis=basis)
        return start, ROUNDED * size

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: QuantileLine = progress.model
        gap = progress.gap  # type: ignore[attr-defined]
        return {"coef_": np.array(model.coef), "intercept_": model.intercept, "dual_gap_": gap}

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the quantile of the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.asarray(read_rows(self, X) @ self.coef_) + self.intercept_
