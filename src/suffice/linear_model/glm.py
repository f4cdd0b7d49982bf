"""Generalized linear models: regression to the mean of Poisson, gamma and Tweedie distributions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.metrics import mean_tweedie_deviance

from ..core.arguments import MaybeArray, MaybePath
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..core.shapes import must
from ..core.statistics import Parts
from ..estimator.answers import nameless, row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import FROM_ZERO
from ..estimator.parameters import FINITE, NON_NEGATIVE, StrOptions
from ..estimator.scores import Regressor, check_some_weight
from ..fitting import ColumnRidgePenalty, LinearScore, Problem, find_solver
from ..fitting.descent import Descent
from ..fitting.sample import optimum_of_few
from ..fitting.standardize import Standardization, column_sizes
from ..inputs import TargetDomain, open_rows, read_rows
from ..losses import Loss, tweedie
from ..statistics import Moments, moments
from .precision import line

SOLVERS = ("lbfgs", "newton-cholesky")


@dataclass(frozen=True, eq=False)
class GeneralizedLinear(LinearScore):
    """The link of the mean of y given x is coef x + intercept."""

    theta: Annotated[np.ndarray, "(1, M)"]  # the intercept last
    loss: Loss
    fit_intercept: bool = True
    curvature: bool = False  # whether to sum the Hessian

    def check_loaded(self, sizes: dict[str, int]) -> None:
        sizes["D"] = sizes["M"] - 1
        must(self.loss.n_outputs == 1, "The loss must be of one score.")

    def targets(self, block: Rows) -> tuple[np.ndarray, np.ndarray]:
        return block.y.astype(np.float64), block.weight


def _targets(block: Rows) -> Moments:
    return moments(block.y.astype(np.float64)[:, None], block.weight, "diagonal")


def _targets_and_sizes(block: Rows) -> Parts:
    return Parts((_targets(block), column_sizes(block)))


def _has_link(loss: Loss, mean: np.ndarray) -> bool:
    """Whether the link of a mean, and the loss there, are finite."""
    with np.errstate(all="ignore"):
        f = loss.baseline(mean)
        return bool(np.isfinite(f).all() and np.isfinite(loss.value(mean, f[:, None])).all())


def _deviances(estimator: GeneralizedLinearRegressor, mean: float, rows: Rows) -> np.ndarray:
    """Sums over rows of the deviance of the predictions, and of the mean."""
    rows = rows[np.flatnonzero(rows.weight)]
    if not len(rows):
        return np.zeros(2)
    y, total = rows.y.astype(np.float64), rows.weight.sum()
    options = {"sample_weight": rows.weight, "power": estimator._power()}
    predictions = estimator.predict(rows.X), np.full(len(y), mean)
    return total * np.array([mean_tweedie_deviance(y, p, **options) for p in predictions])


class GeneralizedLinearRegressor(Regressor, Iterative):
    """Base class: the mean of y is the inverse link of a linear score."""

    model_: Annotated[GeneralizedLinear, "D"]
    coef_: Annotated[np.ndarray, "real (D,)"]
    intercept_: float
    preserves_dtype = ("coef_", "intercept_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE],
        "solver": [StrOptions(set(SOLVERS))],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        checkpoint: MaybePath = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.checkpoint = checkpoint

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        with suppress(TypeError, ValueError):  # a power that is not a number, which `fit` refuses
            tags.target_tags.positive_only = self._loss().domain is not None
        return tags

    def _power(self) -> float:
        """The power of the mean that the variance is proportional to."""
        raise NotImplementedError

    def _loss(self) -> Loss:
        return tweedie(self._power(), "log")

    @property
    def target_domain(self) -> TargetDomain | None:
        """The numbers that the distribution allows in y."""
        domain = self._loss().domain
        if domain is None:
            return None
        sign = ">" if domain.above else ">="
        return TargetDomain(
            domain,
            f"Some value(s) of y are out of the valid range of the loss: {type(self).__name__} expects y "
            f"{sign} {domain.low:g}.",
        )

    def _solve(self, data: Partitions) -> Progress:
        loss, D = self._loss(), self.n_features_in_
        solver = find_solver(self.solver, SOLVERS)
        if solver.hessian:
            afford((D + 1) ** 2, f"the Hessian of {D + 1} parameters", "use solver='lbfgs'.")
        target, sizes = data.fold(_targets_and_sizes).parts
        must_have_rows(sizes.weight)
        mean = target.mean
        if self.fit_intercept and loss.domain is not None and mean[0] == 0:
            raise ValueError(
                f"All targets are zero: {type(self).__name__} requires sum(y) > 0. Else the likelihood has "
                "no maximum, unless you set fit_intercept=False."
            )
        start = loss.baseline(mean) if self.fit_intercept and _has_link(loss, mean) else np.zeros(1)
        theta = np.append(np.zeros(D), start)[None]
        if self.warm_start and hasattr(self, "model_") and self.model_.theta.shape == theta.shape:
            theta = np.append(self.coef_, self.intercept_)[None].astype(np.float64)
        model = GeneralizedLinear(theta, loss, self.fit_intercept, solver.hessian)
        bend = 1.0 if loss.constant else float(np.sum(loss.derivatives(mean, start[:, None])[1]))  # type: ignore[arg-type]
        strength = self.alpha / (4.0 * bend)  # as if the curvature was that of two equally probable classes
        standard = Standardization.of(sizes, strength, n_constants=1, shift=self.fit_intercept)
        ridge = self.alpha * np.append(1.0 / standard.scale, 0.0) ** 2
        problem = Problem(data, model, ColumnRidgePenalty(ridge, theta.shape), standard=standard)
        state = Descent(problem.start)
        if self.solver == "lbfgs":
            columns = sizes.columns
            squares = (columns.variance + (columns.mean - standard.center) ** 2) / standard.scale**2
            units = model.units(squares, ridge[:-1], bend)
            state = state.replace(inverse=np.full(theta.size, 1.0 / bend) if units is None else units)
            if not theta[:, :-1].any():
                limits: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
                state = optimum_of_few(problem, solver, state, sizes.weight, **limits)
        watch = Watch(self, self.checkpoint, data, as_model=problem.solution)
        progress = solver(problem, state, tol=self.tol, max_iter=self.max_iter, watch=watch)
        at, s = problem.solution(progress.model), problem.statistics(progress.model)
        return progress.replace(model=at.replace(curvature=False), statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {
            "coef_": progress.model.theta[0, :-1].copy(),
            "intercept_": float(progress.model.theta[0, -1]),
        }

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the mean of the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return self._loss().predicted(line(self, read_rows(self, X), X)[:, None])

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """D^2: the fraction of the deviance that the model explains, 1 at best.

        It is R^2 with deviances in place of squares: one minus the deviance of the predictions, divided by
        that of the mean of the targets.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Targets. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Weights of the rows.
        """
        data = open_rows(self, X, y, sample_weight, reset=False)
        target = data.fold(_targets)
        check_some_weight(target.weight)
        of_model, of_mean = data.fold(_deviances, nameless(self), float(target.mean[0]))
        return float(1.0 - of_model / of_mean)


class PoissonRegressor(GeneralizedLinearRegressor):
    """Regression to counts and rates: a generalized linear model of Poisson distributions and the log link.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the l2 penalty. The intercept is not penalized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : {'lbfgs', 'newton-cholesky'}, default='lbfgs'
        Optimization algorithm. Both reach the same optimum. 'newton-cholesky' is Newton's method, i.e.
        iteratively reweighted least squares: it takes the fewest passes, and each sums the Hessian.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss, with
        respect to the coefficients of standardized columns. Columns whose standard deviation is between 1/16
        and 16, and whose mean is within 16 deviations of zero, are not standardized.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
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
    model_ : GeneralizedLinear
        The fitted model. Its `summarize` returns the loss and the gradient of a block.
    statistics_ : Objective
        The sums at the solution.

    See Also
    --------
    GammaRegressor : Positive amounts whose spread grows with their mean.
    TweedieRegressor : Amounts, many of which are zero.
    suffice.ensemble.HistGradientBoostingRegressor : Trees with the same loss.

    Notes
    -----
    With row weights s_n and means :math:`μ_n = \\exp(w^T x_n + b)`, the coefficients minimize half the mean
    deviance and the penalty,

    .. math::

        \\frac{1}{∑_n s_n} ∑_n s_n \\left( μ_n - y_n \\log μ_n \\right) + \\frac{α}{2} ‖w‖^2.

    For rates, divide the counts by their exposure, and pass the exposure as `sample_weight`.

    References
    ----------
    * Nelder and Wedderburn (1972), "Generalized linear models", Journal of the Royal Statistical Society A
      135.
    * McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition, Chapman and Hall.

    Examples
    --------
    >>> from suffice.linear_model import PoissonRegressor
    >>> model = PoissonRegressor(alpha=0.0).fit([[0.0], [1.0], [2.0], [3.0]], [1, 2, 4, 8])
    >>> model.coef_.round(3), model.predict([[4.0]]).round(2)
    (array([0.693]), array([16.]))
    """

    exempt = (FROM_ZERO,)

    def _power(self) -> float:
        return 1.0


class GammaRegressor(GeneralizedLinearRegressor):
    """Regression to positive amounts: a generalized linear model with a gamma distribution and the log link.

    The standard deviation of a target is proportional to its mean.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the l2 penalty. The intercept is not penalized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : {'lbfgs', 'newton-cholesky'}, default='lbfgs'
        Optimization algorithm. Both reach the same optimum: see :class:`PoissonRegressor`.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss, with
        respect to the coefficients of standardized columns: see :class:`PoissonRegressor`.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
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
    model_ : GeneralizedLinear
        The fitted model. Its `summarize` returns the loss and the gradient of a block.
    statistics_ : Objective
        The sums at the solution.

    See Also
    --------
    PoissonRegressor : Counts and rates.
    TweedieRegressor : Other powers of the mean.

    Notes
    -----
    With row weights s_n and means :math:`μ_n = \\exp(w^T x_n + b)`, the coefficients minimize half the mean
    deviance and the penalty,

    .. math::

        \\frac{1}{∑_n s_n} ∑_n s_n \\left( \\frac{y_n}{μ_n} + \\log μ_n \\right) + \\frac{α}{2} ‖w‖^2.

    References
    ----------
    * McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition, Chapman and Hall.

    Examples
    --------
    >>> from suffice.linear_model import GammaRegressor
    >>> model = GammaRegressor(alpha=0.0).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 8.0])
    >>> model.coef_.round(3), model.predict([[4.0]]).round(2)
    (array([0.693]), array([16.]))
    """

    exempt = (FROM_ZERO,)

    def _power(self) -> float:
        return 2.0


class TweedieRegressor(GeneralizedLinearRegressor):
    """Regression with a Tweedie distribution, whose variance is proportional to a power of its mean.

    Parameters
    ----------
    power : float, default=0
        The power. 0 is the normal distribution, 1 Poisson, 2 gamma and 3 inverse Gaussian; between 1 and 2,
        targets are sums of a random number of gamma amounts, many of which are zero. There is no distribution
        with a power between 0 and 1.
    alpha : float, default=1.0
        Strength of the l2 penalty. The intercept is not penalized.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    link : {'auto', 'identity', 'log'}, default='auto'
        Link between the mean and the score: the mean is the score, or its exponential. 'auto' is 'identity'
        for powers up to 0, and 'log' beyond.
    solver : {'lbfgs', 'newton-cholesky'}, default='lbfgs'
        Optimization algorithm. Both reach the same optimum: see :class:`PoissonRegressor`. Where the deviance
        is not convex, 'newton-cholesky' takes the expected Hessian (Fisher scoring).
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss, with
        respect to the coefficients of standardized columns: see :class:`PoissonRegressor`.
    warm_start : bool, default=False
        Whether `fit` starts from the solution of the previous call.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
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
    model_ : GeneralizedLinear
        The fitted model. Its `summarize` returns the loss and the gradient of a block.
    statistics_ : Objective
        The sums at the solution.

    See Also
    --------
    PoissonRegressor : Counts and rates.
    GammaRegressor : Positive amounts.

    Notes
    -----
    With the mean μ of a row and the power p, half the deviance is, but for a constant of the row,

    .. math::

        \\frac{μ^{2 - p}}{2 - p} - y \\frac{μ^{1 - p}}{1 - p}.

    The coefficients minimize its mean plus α ‖w‖² / 2.

    References
    ----------
    * Jørgensen (1987), "Exponential dispersion models", Journal of the Royal Statistical Society B 49.

    Examples
    --------
    >>> from suffice.linear_model import TweedieRegressor
    >>> model = TweedieRegressor(power=1.5, alpha=0.0).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 8.0])
    >>> model.coef_.round(3), model.predict([[4.0]]).round(2)
    (array([0.693]), array([16.]))
    """

    exempt = (FROM_ZERO,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GeneralizedLinearRegressor._parameter_constraints,
        "power": [FINITE],
        "link": [StrOptions({"auto", "identity", "log"})],
    }

    def __init__(
        self,
        *,
        power: float = 0.0,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        link: str = "auto",
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        checkpoint: MaybePath = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            verbose=verbose,
            checkpoint=checkpoint,
        )
        self.power = power
        self.link = link

    def _power(self) -> float:
        return self.power

    def _loss(self) -> Loss:
        return tweedie(self.power, self.link)
