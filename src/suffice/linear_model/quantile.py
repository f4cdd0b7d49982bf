"""Quantile regression: the line below which a share of targets lies; of the median, least absolute errors.

Koenker and Bassett, "Regression quantiles", 1978. The kink of the loss is rounded, less and less, and each
rounded loss is minimised by Newton's method: a fold a step, and nothing is kept of rows between them, where
methods of interior points keep two numbers for each. Chen and Mangasarian, "A class of smoothing functions
for nonlinear and mixed complementarity problems", 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import expit, ndtri
from sklearn.callback import with_callbacks

from ..core.cost import afford
from ..core.door import open_rows, read_rows
from ..core.estimator import Iterative, must_have_rows
from ..core.loop import Progress, Watch
from ..core.parameters import AT_LEAST_1, CHECKPOINT, NON_NEGATIVE, Interval, StrOptions
from ..core.partitions import Partitions
from ..fitting.descent import ROUNDING, absolute, proximal
from ..fitting.scores import Regressor
from ..statistics import Objective
from .residuals import Line, are_apart, least_squares, newton_step, root_mean_square

SHRINK = 0.35  # of the width of the rounding, from one loss to the next
ROUNDED = 1e-14  # of the targets, below which nothing is told apart
SOME = 1e-3  # of the curvature of reweighted squares, so that steps are not too long where few rows are near
NEAR = 30.0  # widths within which a row is on the line


@dataclass(frozen=True, eq=False)
class QuantileSums(Objective):
    """The rounded loss with its derivatives; the loss itself; and how much less the least loss can be."""

    curvature: Annotated[Any, "number or (P, P)"] = 0.0  # a little more than the second derivatives
    pinball: float = 0.0
    gap: float = 0.0


@dataclass(frozen=True, eq=False)
class QuantileLine(Line):
    """A line fitted by min sum q(residual): q(r) = quantile r where r > 0, and (quantile - 1) r elsewhere.
    Rounded, it is quantile r + width log(1 + exp(-r / width))."""

    quantile: float
    width: float

    def summarize(self, block: Any) -> QuantileSums:
        (r, Z), w, t = self.residuals(block), block.weight, self.quantile
        bend, below, curve, gap = rounded(r, self.width)
        pinball = np.where(r > 0, t * r, (t - 1.0) * r)
        gradient = Z.sums(w * (below - t))
        curvature = Z.squares(w * (curve + SOME / (2.0 * (np.abs(r) + self.width))))
        sums = float(w @ (t * r + bend)), gradient, 0.0, curvature, float(w @ pinball), float(w @ gap)
        return QuantileSums(float(w.sum()), *sums)

    def estimate(self, s: QuantileSums) -> Self:
        """One Newton step, without penalty: for the study of a single step."""
        return self.replace(theta=self.theta + newton_step(s.curvature, s.gradient))

    def on_the_line(self, block: Any) -> np.ndarray:
        """Of rows on the line, or nearly: squares of their columns, and their columns times residuals."""
        r, Z = self.residuals(block)
        near = block.weight * (np.abs(r) <= NEAR * self.width)
        return np.column_stack([Z.squares(near), Z.sums(near * r)])


def rounded(r: np.ndarray, width: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """max(-r, 0) without its kink: the value, minus its slope, its curvature; and how much less the least can
    be, if the slopes of all rows add up to zero, since they solve the dual problem then."""
    z = r / width
    below = expit(-z)
    return width * np.logaddexp(0.0, -z), below, below * expit(z) / width, np.abs(r) * expit(-np.abs(z))


@dataclass(frozen=True, eq=False)
class Rounding(Progress):
    """Where a fit stands: a line (`model`), the sums there, means with the penalty, and the next step."""

    means: Any = None  # QuantileSums; the gradient is without the penalty
    step: Annotated[Any, "(P,) or None"] = None
    bend: float = 0.0  # by which the penalty changes with that step
    promised: float = np.inf  # what the step gains, to first order

    def at(self, found: tuple[QuantileSums, QuantileSums], l1: np.ndarray, **changes: Any) -> Rounding:
        here, (s, means) = self.replace(**changes), found
        theta, A, g = here.model.theta, means.curvature, means.gradient
        step = proximal(A, A @ theta - g, theta, l1) - theta if l1.any() else newton_step(A, g)
        bend = absolute(l1, theta + step) - absolute(l1, theta)
        promised = -float(g @ step) - bend
        return here.replace(statistics=s, means=means, step=step, bend=bend, promised=promised)

    @property
    def off(self) -> float:
        """How far the objective can be above its least value: because of the rounding, and of what is left of
        minimising what is rounded."""
        return float(self.means.gap + self.promised)


def improved(here: Rounding, at: Any, l1: np.ndarray, tol: float, rounding: float) -> Rounding:
    """One Newton step; and where the rounding matters more than the step, it is made narrower with it."""
    model, means = here.model, here.means
    narrow = here.promised <= 0.5 * means.gap and model.width > 0.1 * rounding
    width, length = model.width * (SHRINK if narrow else 1.0), 1.0
    while True:
        new = model.replace(theta=model.theta + length * here.step, width=width)
        found = at(new)
        if found[1].loss <= means.loss - 1e-4 * length * here.promised + ROUNDING * abs(means.loss):
            break
        slope = float(found[1].gradient @ here.step) + here.bend  # here it is minus what is promised
        length *= min(max(here.promised / max(here.promised + slope, here.promised, 1e-300), 0.02), 0.5)
        if length < 1e-10:
            at_rest = here.promised <= 1e3 * ROUNDING * abs(means.loss) + rounding
            why = "tolerance" if at_rest else "line search"
            return here.replace(trace=(*here.trace, means.loss), stopped_because=why)
    there = here.at(found, l1, model=new, trace=(*here.trace, found[1].loss))
    close = there.off <= tol * there.means.pinball + rounding
    return there.replace(stopped_because="tolerance" if close else "")


class QuantileRegressor(Regressor, Iterative):
    """Linear regression to a quantile of the target, by default the median: least absolute errors.

    Minimises ``mean(q(y - X coef - intercept)) + alpha * |coef|_1``, with ``q(r) = quantile * r`` above the
    line and ``(quantile - 1) * r`` below it. Where several lines are the best, one of them is found.

    Parameters
    ----------
    quantile : float, default=0.5
        The share of the targets below the line, between 0 and 1.
    alpha : float, default=1.0
        Strength of the absolute penalty; the intercept is not penalised.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    solver : str, default='highs'
        Ignored: no linear program is built, which would have a column for each row.
    solver_options : dict, default=None
        Ignored.
    tol : float, default=1e-7
        Converged when the objective is at most so much, relative to itself, above the least there is.
    max_iter : int, default=200
        Iterations at most.
    checkpoint : str or path, default=None
        File in which progress is kept while the fit runs; a fit that was killed goes on from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    dual_gap_ : float
        The objective is at most so much above its least value.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        The rounded objective by iteration.
    converged_ : bool
        Whether it converged.
    stopped_because_ : str
        Why the iterations ended.
    model_ : QuantileLine
        The fitted model.
    statistics_ : QuantileSums
        The sums at the solution.

    See Also
    --------
    HuberRegressor : Squares for small errors, absolute values for large ones.

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
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "alpha": [NON_NEGATIVE],
        "fit_intercept": ["boolean"],
        "solver": [StrOptions({"highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex"})],
        "solver_options": [dict, None],
        "tol": [NON_NEGATIVE],
        "max_iter": [AT_LEAST_1],
        "checkpoint": CHECKPOINT,
    }

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
        checkpoint: Any = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows and targets.

        Parameters
        ----------
        X : array, CSR matrix, table, Parquet scan or distributed data set
            The rows. See `suffice.rows` for tables that hold their target and weight.
        y : array of shape (n_samples,), optional
            Targets, if they are not a column of the table.
        sample_weight : array, optional
            Weights of the rows: two is the row twice, zero is its absence.

        Returns
        -------
        self
        """
        data = open_rows(self, X, y, sample_weight)
        start, rounding = self._start(data)
        D = self.n_features_in_
        l1 = np.where(np.arange(len(start.theta)) < D, float(self.alpha), 0.0)

        def at(model: QuantileLine) -> tuple[QuantileSums, QuantileSums]:
            """The sums over the rows, and means with the penalty."""
            s = data.fold(QuantileLine.summarize, model)
            return s, _penalised(s * (1.0 / s.weight), model.theta, l1)

        def step(here: Rounding) -> Rounding:
            here = here if here.means is not None else here.at(at(here.model), l1)
            return improved(here, at, l1, self.tol, rounding)

        watch = Watch(self, self.checkpoint, data)
        progress = watch.limited(self.max_iter).loop(step, Rounding(start))
        if progress.converged:
            near = data.fold(QuantileLine.on_the_line, progress.model)
            progress = _on_a_corner(progress, at, near, l1)
        self._publish(progress)
        self.dual_gap_ = max(progress.off, 0.0)
        return self

    def _start(self, data: Partitions) -> tuple[QuantileLine, float]:
        """The line of least squares, and the rounding of targets."""
        D = self.n_features_in_
        afford(D**2, f"the second derivatives by {D} features", "use fewer.")
        line, s = least_squares(data, D, self.fit_intercept)
        must_have_rows(s.weight)
        # With a penalty the line may end far from the rows, even if it can reach them.
        width = root_mean_square(line.replace(coef=0.0 * line.coef) if self.alpha else line, s)
        center = s.mean[:D] if self.fit_intercept else np.zeros(D)
        of_center = s.mean[D:] + width * ndtri(self.quantile) if self.fit_intercept else np.zeros(0)
        theta, how = (
            np.append(line.coef[0], of_center),
            (self.fit_intercept, self.fit_intercept and are_apart(s, D)),
        )
        size = np.sqrt(line.square(s)[D, D] / s.weight + s.mean[D] ** 2)
        return QuantileLine(theta, center, *how, self.quantile, width), ROUNDED * float(size)

    def _fitted(self, model: QuantileLine) -> dict[str, Any]:
        return {"coef_": model.coef.copy(), "intercept_": model.intercept}

    def predict(self, X: Any) -> np.ndarray:
        """The quantile of the target of each row."""
        return np.asarray(read_rows(self, X) @ self.coef_) + self.intercept_


def _penalised(means: QuantileSums, theta: np.ndarray, l1: np.ndarray) -> QuantileSums:
    penalty = absolute(l1, theta)
    return means.replace(loss=means.loss + penalty, pinball=means.pinball + penalty)


def _on_a_corner(here: Rounding, at: Any, near: np.ndarray, l1: np.ndarray) -> Rounding:
    """A best line goes through as many rows as it has numbers that are not zero: exactly so, if that is not
    worse."""
    kept = (here.model.theta != 0) | (l1 == 0)
    theta = here.model.theta.copy()
    theta[kept] -= newton_step(near[:, :-1][np.ix_(kept, kept)], near[kept, -1])
    new = here.model.replace(theta=theta)
    s, means = at(new)
    gained = here.means.pinball - means.pinball
    if not gained >= -ROUNDING * abs(means.pinball):
        return here
    return here.replace(model=new, statistics=s, means=means.replace(gap=here.means.gap - gained))
