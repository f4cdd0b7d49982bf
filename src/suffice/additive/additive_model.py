"""Generalized additive models (GAM): the target depends on a sum of smooth functions of single features.

Hastie and Tibshirani, "Generalized additive models", 1986 (backfitting, local scoring); Wood, Goude and Shaw,
"Generalized additive models for large data sets", 2015 (one penalized fold of moments); STATS601 4.4.3, 5.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from scipy.special import expit, log_expit, xlogy
from scipy.stats import chi2, f, norm
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from ..core.arguments import MaybeArray, MaybePath
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch, one_task
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Parts, Statistics, tree_sum
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_2, INF, NON_NEGATIVE, Numbers, StrOptions
from ..estimator.scores import Classifier, Regressor
from ..estimator.tags import tags
from ..fitting.smoothing import CRITERIA, Fit, Smoothing, backfitting
from ..fitting.splines import NaturalSplines
from ..inputs import TargetDomain, read_rows
from ..inputs.checks import places_of
from ..losses import LogLoss, Loss, Poisson, SquaredError
from ..statistics import Moments, class_codes, class_counts, moments
from ..statistics.quantiles import sample

FAMILIES = ("gaussian", "binomial", "poisson")
COUNTS = TargetDomain(Poisson.domain, "family='poisson' takes counts: y must be non-negative.")
SOLVERS = ("penalized", "backfitting")
ROWS = 1024  # rows whose functions are computed at a time, which stay near the cache
CHOICES = 30  # choices of penalties before they are fixed, as choosing and fitting may alternate forever
ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Working(Statistics):
    """Weighted least squares problem of a scoring step: working targets and weights of the current fit."""

    weight: float  # of rows
    loss: float  # the deviance of the current fit
    total: Annotated[np.ndarray, "(p,)"]  # sums of the functions
    moments: Moments  # of the functions and the working target, by working weights


@dataclass(frozen=True, eq=False)
class Additive(Model):
    """g(E y) = intercept + sum_d f_d(x_d), each f_d a natural spline with mean zero.

    It minimizes the deviance plus sum_d alpha_d times the integral of f_d''^2. Gaussian targets need one fold
    of moments; others need one fold per step of Newton's method.
    """

    basis: Annotated[NaturalSplines, "D, p"]
    coef: Annotated[np.ndarray, "(p,)"]
    intercept: float
    center: Annotated[np.ndarray, "(p,)"]  # means of the functions
    alpha: Annotated[np.ndarray, "(D,)"]  # penalties with features in units of their range
    family: str = "gaussian"
    solver: str = "penalized"
    criterion: str = "reml"
    choices: int = 0  # how many times the penalties will still be chosen
    classes: Annotated[Any, "labels (2,) or None"] = None  # of labels
    # Uncertainty.
    covariance: Annotated[Any, "(p, p) or None"] = None  # of the coefficients
    pivot: Annotated[Any, "(p,) or None"] = None  # where the level and the coefficients are independent
    level: float = 0.0  # variance of the level there
    freedom: Annotated[Any, "(D,) or None"] = None  # effective degrees of freedom
    p_values: Annotated[Any, "(D,) or None"] = None
    scale: float = 1.0  # variance of Gaussian targets about their mean

    def score(self, X: np.ndarray) -> np.ndarray:
        """g(E y) of each row."""
        return self.basis(X).dot(self.coef) + (self.intercept - self.center.dot(self.coef))

    @property
    def loss(self) -> Loss:
        """Half the deviance of a target and its score, but for a number that depends on the target alone."""
        families = {"gaussian": SquaredError(), "binomial": LogLoss(np.ones(2)), "poisson": Poisson()}
        return families[self.family]

    def mean(self, score: np.ndarray) -> np.ndarray:
        """E y, of scores: of classes, the probability of the second."""
        mean = self.loss.predicted(score[:, None])
        return mean[:, 1] if self.family == "binomial" else mean

    def summarize(self, block: Rows) -> Any:
        y = block.y if self.classes is None else class_codes(self.classes, block.y)
        parts = (slice(start, start + ROWS) for start in range(0, max(len(block), 1), ROWS))
        y = y.astype(np.float64) if self.classes is None else y
        return tree_sum(self._summarize(block.X[p], y[p], block.weight[p]) for p in parts)

    def _summarize(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Any:
        Z = np.empty((len(X), len(self.basis) + 1))
        self.basis(X, out=Z)
        if self.family == "gaussian":
            Z[:, -1] = y
            return moments(Z, weight)
        functions = Z[:, :-1]
        score = functions.dot(self.coef) + (self.intercept - self.center.dot(self.coef))
        half, g, h = self.loss.evaluated(y, score[:, None])
        deviance = 2.0 * (half if self.family == "binomial" else half + xlogy(y, y) - y)
        curve = np.maximum(h[:, 0], 1e-10)
        Z[:, -1] = score - g[:, 0] / curve
        total = weight.dot(functions)
        return Working(float(weight.sum()), float(weight.dot(deviance)), total, moments(Z, weight * curve))

    def estimate(self, s: Any) -> Self:
        m, p = (s if isinstance(s, Moments) else s.moments), len(self.basis)
        problem = self._problem(s)
        chosen = self.choices > 0
        begun = self.covariance is not None
        alpha = problem.choose(self.criterion, self.alpha if begun else None) if chosen else self.alpha
        fit = problem.solve(alpha)
        coef = fit.coef if self.solver == "penalized" else self._backfitted(problem, alpha)
        center = m.mean[:p] if s is m else s.total / s.weight
        scale = problem.scale(fit)
        return self.replace(
            coef=coef,
            intercept=float(m.mean[p] + (center - m.mean[:p]).dot(coef)),
            center=center,
            alpha=alpha,
            choices=max(self.choices - 1, 0) if s is not m else 0,
            covariance=scale * fit.inverse,
            pivot=m.mean[:p],
            level=scale / float(m.weight) if m.weight > 0 else 0.0,
            freedom=self._by_feature(fit.freedom),
            p_values=self._p_values(problem, fit, scale),
            scale=scale,
        )

    def _problem(self, s: Any) -> Smoothing:
        m, p = (s if isinstance(s, Moments) else s.moments), len(self.basis)
        known, A = self.family != "gaussian", m.scatter
        columns = self.basis.feature, self.basis.penalized
        return Smoothing(A[:p, :p], A[:p, p], float(A[p, p]), float(s.weight), *columns, known)

    def _backfitted(self, problem: Smoothing, alpha: np.ndarray) -> np.ndarray:
        """One backfitting cycle for Gaussian targets; for others, whose next step needs the data, cycles to
        convergence."""
        cycle, coef = self._cycle(problem, alpha), self.coef
        for _ in range(1 if self.family == "gaussian" else 1000):
            last, coef = coef, cycle(coef)
            if np.abs(coef - last).max(initial=0.0) <= 1e-13 * np.abs(coef).max(initial=0.0):
                break
        return coef

    def _cycle(self, problem: Smoothing, alpha: np.ndarray) -> Any:
        return backfitting(problem.A, problem.b, problem.penalty(alpha) + problem.held, self.basis.columns)

    def _by_feature(self, values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, self.basis.columns[:-1])

    def _p_values(self, problem: Smoothing, fit: Fit, scale: float) -> np.ndarray:
        """P-value of each function, under the hypothesis that it is zero.

        A Wald test of f_d at the rows, in as many directions as there are degrees of freedom: Wood, "On
        p-values for smooth components of an extended generalized additive model", 2013, with whole ranks.
        """
        out = np.ones(len(self.alpha))
        rest = problem.weight - 1.0 - fit.freedom.sum()
        counts = self._by_feature(fit.freedom_of_tests)
        for d, (a, b) in enumerate(pairwise(self.basis.columns)):
            values, axes = eigh(problem.A[a:b, a:b])
            root = np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T
            spread, axes = eigh(root @ (scale * fit.inverse[a:b, a:b]) @ root.T)
            rank = int(np.clip(np.round(counts[d]), 1, b - a))
            spread, along = spread[-rank:], axes[:, -rank:].T @ (root @ fit.coef[a:b])
            if spread[-1] <= 0.0 or rest <= 0.0:
                continue
            wald = float((along**2 / np.maximum(spread, 1e-12 * spread[-1])).sum())
            known = problem.known_scale
            out[d] = chi2.sf(wald, rank) if known else f.sf(wald / rank, rank, rest)
        return out

    def penalty(self, alpha: Any = None) -> float:
        """The penalty matrix of the functions, with these strengths or its own."""
        strength = (self.alpha if alpha is None else alpha)[self.basis.feature]
        bent = self.basis.penalized & np.isfinite(strength)
        return float(strength[bent].dot(self.coef[bent] ** 2))

    def objective(self, s: Any) -> float:
        """Mean penalized deviance."""
        if not isinstance(s, Moments):
            return (s.loss + self.penalty()) / s.weight
        problem = self._problem(s)
        squares = problem.square - 2.0 * problem.b.dot(self.coef) + self.coef.dot(problem.A.dot(self.coef))
        return (float(squares) + self.penalty()) / problem.weight

    def effects(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f_d(x_d) of each row and feature, and their standard errors; (N, D) both."""
        Z = self.basis(X) - self.center
        value, error = np.zeros((2, len(X), len(self.alpha)))
        for d, (a, b) in enumerate(pairwise(self.basis.columns)):
            value[:, d] = Z[:, a:b].dot(self.coef[a:b])
            error[:, d] = np.einsum("ni,ij,nj->n", Z[:, a:b], self.covariance[a:b, a:b], Z[:, a:b])
        return value, np.sqrt(np.maximum(error, 0.0))

    def errors(self, X: np.ndarray) -> np.ndarray:
        """Standard errors of the scores, (N,)."""
        Z = self.basis(X) - self.pivot
        return np.sqrt(np.maximum((Z.dot(self.covariance) * Z).sum(axis=1), 0.0) + self.level)


@dataclass(frozen=True, eq=False)
class Scoring(Progress):
    """State between two passes: `model` is a step from `before`, whose deviance is known."""

    before: Any = None
    deviance: float = np.inf


def local_scoring(start: Additive, data: Partitions, *, tol: float, max_iter: int, watch: Watch) -> Scoring:
    """Fit by iteratively reweighted least squares: one pass per iteration, and one for each halved step.

    It has converged when the mean penalized deviance and the penalties no longer change.
    """

    def step(state: Scoring) -> Scoring:
        model, before = state.model, state.before
        s = data.fold(Additive.summarize, model)
        must_have_rows(s.weight)
        value = model.objective(s)
        last = np.inf if before is None else (state.deviance + before.penalty(model.alpha)) / s.weight
        for _ in range(30):
            if not value > last + ROUNDING * abs(last):
                break
            halfway = {k: (getattr(model, k) + getattr(before, k)) / 2.0 for k in ("coef", "center")}
            level = (model.intercept - model.center.dot(model.coef)) / 2.0
            level += (before.intercept - before.center.dot(before.coef)) / 2.0
            intercept = level + halfway["center"].dot(halfway["coef"])
            model = model.replace(intercept=intercept, **halfway)
            s = data.fold(Additive.summarize, model)
            value = model.objective(s)
        new = model.estimate(s)
        bent = np.isfinite(new.alpha) & np.isfinite(model.alpha) & (new.alpha > 0) & (model.alpha > 0)
        moved = np.abs(np.log(new.alpha[bent]) - np.log(model.alpha[bent])).max(initial=0.0)
        still = before is not None and abs(last - value) <= tol * max(1.0, abs(value))
        settled = still and (not model.choices or moved <= np.sqrt(tol))
        reason = "tolerance" if settled and tol > 0 else ""
        return Scoring(new, (*state.trace, value), s, reason, before=model, deviance=s.loss)

    return watch.limited(max_iter).loop(step, Scoring(start))


class _Additive(Iterative):
    """Base class of additive models."""

    has_target = True
    model_: Annotated[Additive, "D"]
    family: str
    n_knots: Any
    alpha: Any
    criterion: str
    solver: str
    knots: Any
    linear_features: Any
    tol: float
    max_iter: int
    checkpoint: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_knots": [AT_LEAST_2, Numbers(2)],
        "alpha": [NON_NEGATIVE, INF, Numbers(0, np.inf), None],
        "criterion": [StrOptions(set(CRITERIA))],
        "solver": [StrOptions(set(SOLVERS))],
        "knots": ["array-like", None],
        "linear_features": ["array-like", None],
        "max_iter": [AT_LEAST_0],
    }
    __sklearn_tags__ = tags(target_tags__required=True)

    def _solve(self, data: Partitions) -> Progress:
        start = self._start(data)
        if start.family != "gaussian":
            watch = Watch(self, self.checkpoint, data)
            return local_scoring(start, data, tol=self.tol, max_iter=self.max_iter, watch=watch)
        if self.solver == "backfitting":
            return self._backfitted(start, data)
        with one_task(self):
            s = data.fold(Additive.summarize, start)
            must_have_rows(s.weight)
            return Progress(start.estimate(s), statistics=s)

    def _backfitted(self, start: Additive, data: Partitions) -> Progress:
        """Gaussian targets: the data is read once, and the cycles are on the driver."""
        s = data.fold(Additive.summarize, start)
        must_have_rows(s.weight)
        first = start.estimate(s)
        cycle = first._cycle(first._problem(s), first.alpha)

        def step(state: Progress) -> Progress:
            model = first
            if state.trace:  # nothing else changes from cycle to cycle
                model = state.model.replace(coef=cycle(state.model.coef))
            move, p = model.coef - state.model.coef, len(model.coef)
            moved = np.sqrt(max(float(move.dot(s.scatter[:p, :p].dot(move))), 0.0) / (s.scatter[p, p] or 1.0))
            done = self.tol > 0 and moved <= self.tol
            return Progress(model, (*state.trace, model.objective(s)), s, "tolerance" if done else "")

        return Watch(self, None, data, self.max_iter).loop(step, Progress(start, statistics=s))

    def _start(self, data: Partitions) -> Additive:
        """The initial model, in which no feature has an effect."""
        D, names = self.n_features_in_, list(getattr(self, "feature_names_in_", ()))
        bends = np.ones(D, bool)
        bends[places_of(() if self.linear_features is None else self.linear_features, names, D)] = False
        look = _Look(self.family, self.knots is None)
        seen = data.fold(_Look.summarize, look) if look.any else None
        basis = NaturalSplines.at(self._knots(seen), bends)
        p = len(basis)
        afford(p**2, f"the moments of {p} functions", "use fewer knots or features.")
        intercept, classes = look.level(seen)
        alpha = self._alpha(basis)
        zero = np.zeros(p)
        options = (self.family, self.solver, self.criterion, CHOICES if self.alpha is None else 0, classes)
        return Additive(basis, zero, intercept, zero, alpha, *options)

    def _knots(self, seen: Any) -> list[np.ndarray]:
        D = self.n_features_in_
        if self.knots is not None:
            if np.ndim(self.knots) == 0 or len(self.knots) != D:
                raise ValueError(
                    f"knots={self.knots!r} is invalid: expected {D} lists of knots, one for each "
                    f"feature. To set their number, use n_knots."
                )
            return [np.unique(np.asarray(k, dtype=np.float64)) for k in self.knots]
        count = [self.n_knots] * D if np.ndim(self.n_knots) == 0 else list(self.n_knots)
        if len(count) != D:
            raise ValueError(f"n_knots has {len(count)} entries, and X has {D} features.")
        return [seen.parts[0].knots(d, int(n)) for d, n in enumerate(count)]

    def _alpha(self, basis: NaturalSplines) -> np.ndarray:
        """The penalties of the user, for features in units of their range."""
        D = len(basis.scale)
        if self.alpha is None:
            return np.ones(D)
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.shape not in ((), (D,)):
            raise ValueError(
                f"alpha={self.alpha!r} is invalid: expected a non-negative number, or {D} of them, one "
                f"for each feature."
            )
        with np.errstate(over="ignore"):
            return np.broadcast_to(alpha, (D,)) / basis.scale / basis.scale / basis.scale

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: Additive = progress.model
        scale = model.basis.scale
        with np.errstate(over="ignore"):
            alpha = model.alpha * scale * scale * scale
        out = {"intercept_": model.intercept, "alpha_": alpha}
        if not progress.stopped_because:
            out["n_iter_"] = max(1, progress.n_iter)
        if model.covariance is not None:
            out |= {"edf_": model.freedom, "p_values_": model.p_values, "scale_": model.scale}
        return out

    def partial_effects(self, X: Any, *, return_std: bool = False) -> Any:
        """Partial effect of each feature on the score of each row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to also return standard errors.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or two of them
            The smooth functions. Each has mean zero over the training rows. With the intercept they sum to
            the mean of Gaussian targets, the log of the mean for counts, or the log-odds for classes.
        """
        X = read_rows(self, X)
        value, error = self.model_.effects(X)
        return (value, error) if return_std else value

    def predict_interval(self, X: Any, *, level: float = 0.95) -> np.ndarray:
        """Pointwise confidence interval of the expected target of each row.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.
        level : float, default=0.95
            Confidence level, given the penalties.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends. For classes, of the probability of the second.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1, e.g. 0.95; got {level}.")
        X = read_rows(self, X)
        score, error = self.model_.score(X), norm.ppf(0.5 + level / 2.0) * self.model_.errors(X)
        return np.stack([self.model_.mean(score - error), self.model_.mean(score + error)], axis=1)


@dataclass(frozen=True, eq=False)
class _Look(Model):
    """First pass over the rows: quantiles for the knots, and the level of the target."""

    family: str
    knots: bool = True  # whether they are looked for

    @property
    def any(self) -> bool:
        return self.knots or self.family != "gaussian"

    def summarize(self, block: Rows) -> Parts:
        X = block.X if self.knots else block.X[:, :0]
        if self.family == "gaussian":
            return Parts((sample(X),))
        if self.family == "binomial":
            return Parts((sample(X), class_counts(block)))
        return Parts((sample(X), moments(block.y.astype(np.float64)[:, None], block.weight, "diagonal")))

    def estimate(self, s: Any) -> Self:
        return self

    def level(self, seen: Any) -> tuple[float, Any]:
        return (0.0, None) if self.family == "gaussian" else level_of(self.family, seen.parts[1])


def level_of(family: str, target: Any) -> tuple[float, Any]:
    """The score if no feature has an effect; and the classes, for a classifier."""
    if family != "binomial":
        mean = float(target.mean[0])
        if family == "poisson" and not mean > 0:
            raise ValueError("All counts of the target are zero: there is nothing to fit.")
        return float(np.log(mean)) if family == "poisson" else mean, None
    (classes,), (count,) = target.values, target.count
    if len(classes) < 2:
        raise ValueError(
            "A classifier needs examples of 2 classes in the data, but the data contains only one class: "
            f"{classes.tolist()}."
        )
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: it has the "
            f"classes {classes.tolist()}."
        )
    return float(np.log(count[0, 1] / count[0, 0])), classes


class AdditiveModel(Regressor, _Additive):
    """Additive model: least squares of y = intercept + f_1(x_1) + ... + f_D(x_D), with smooth functions f_d.

    The functions are natural cubic splines, and the smoothness of each is chosen from the data. The data is
    read twice: once for the knots, once for the moments of the spline functions. The fit, the penalties and
    the intervals follow from the moments. Memory does not grow with the number of rows.

    Parameters
    ----------
    n_knots : int or list of int, default=10
        Number of knots of each feature, at its quantiles. Features with fewer distinct values have fewer
        knots. Features with two values have a straight line.
    alpha : float or list of float, default=None
        Strength of the penalty ``alpha * integral(f''**2)``, for all features or for each. ``np.inf`` gives a
        straight line. If None, `criterion` chooses the strengths.
    criterion : {'reml', 'gcv'}, default='reml'
        Criterion that chooses the penalties: restricted maximum likelihood (REML) or generalized
        cross-validation (GCV). Both follow from the moments, without another pass.
    solver : {'penalized', 'backfitting'}, default='penalized'
        'penalized' solves for all functions jointly. 'backfitting' cycles over the functions, and fits each
        to the partial residuals of the others. The solution is the same.
    knots : list of arrays, default=None
        The knots of each feature. If given, the pass that finds them is saved.
    linear_features : list of int or str, default=None
        Features, by index or by name, whose functions are straight lines.
    tol : float, default=1e-8
        Tolerance of backfitting: the change of the fit in a cycle, relative to the spread of the target.
    max_iter : int, default=1000
        Maximum number of backfitting cycles.

    Attributes
    ----------
    intercept_ : float
        The mean of the target.
    alpha_ : ndarray of shape (n_features,)
        Strengths of the penalties.
    edf_ : ndarray of shape (n_features,)
        Effective degrees of freedom of the functions. 1 is a straight line.
    p_values_ : ndarray of shape (n_features,)
        P-value of each function, under the hypothesis that it is zero. Approximate, and given the penalties.
    scale_ : float
        Residual variance of the target.
    model_ : Additive
        The fitted model.
    statistics_ : Moments
        The moments of the spline functions and the target.
    n_iter_ : int
        Number of backfitting cycles, else 1.
    trace_ : ndarray
        Mean penalized squared error by backfitting cycle. Backfitting also sets `converged_` and
        `stopped_because_`.

    See Also
    --------
    SmoothingSpline : One feature.
    GeneralizedAdditiveModel : Classes and counts.
    suffice.preprocessing.BasisFunctions : Splines as features of a linear model.

    Notes
    -----
    The functions minimize the penalised sum of squares

    .. math::

        ∑_n w_n (y_n - b - ∑_j f_j(x_{nj}))^2 + ∑_j α_j ∫ f_j''(t)^2 dt.

    References
    ----------
    * Hastie and Tibshirani (1986), "Generalized additive models", Statistical Science 1.
    * Wood, Goude and Shaw (2015), "Generalized additive models for large data sets", Journal of the Royal
      Statistical Society C 64.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.additive import AdditiveModel
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=500)
    >>> model = AdditiveModel().fit(X, y)
    >>> model.edf_.round(1)
    array([8.8, 3.3])
    >>> bool(model.score(X, y) > 0.97)
    True
    """

    family = "gaussian"
    checkpoint = None

    def __init__(
        self,
        n_knots: Any = 10,
        *,
        alpha: Any = None,
        criterion: str = "reml",
        solver: str = "penalized",
        knots: Any = None,
        linear_features: Sequence[Any] | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.n_knots = n_knots
        self.alpha = alpha
        self.criterion = criterion
        self.solver = solver
        self.knots = knots
        self.linear_features = linear_features
        self.tol = tol
        self.max_iter = max_iter

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return self.model_.score(X)


def _of_classes(estimator: BaseEstimator) -> bool:
    if estimator.family != "binomial":
        raise AttributeError(f"family={estimator.family!r} has no classes.")
    return True


class GeneralizedAdditiveModel(_Additive):
    """Generalized additive model (GAM): a sum of smooth functions of features is the log-odds or the log mean
    count.

    It maximizes the penalized likelihood by iteratively reweighted least squares. Each pass over the data
    sums the moments of one least-squares problem, from which the penalties are updated, until both converge.
    With ``family="binomial"`` it is a classifier of two classes, else a regressor.

    Parameters
    ----------
    family : str, default='binomial'
        'binomial' for two classes, 'poisson' for counts, 'gaussian' as in `AdditiveModel`.
    n_knots : int or list of int, default=10
        Number of knots of each feature, at its quantiles. Features with fewer distinct values have fewer
        knots. Features with two values have a straight line.
    alpha : float or list of float, default=None
        Strength of the penalty ``alpha * integral(f''**2)``, for all features or for each. ``np.inf`` gives a
        straight line. If None, `criterion` chooses the strengths.
    criterion : {'reml', 'gcv'}, default='reml'
        Criterion that chooses the penalties: restricted maximum likelihood (REML), or generalized
        cross-validation (GCV), which is Mallows' C_p where the variance is known. Both follow from the
        moments, without another pass.
    solver : {'penalized', 'backfitting'}, default='penalized'
        'penalized' solves for all functions jointly. 'backfitting' cycles over the functions, and fits each
        to the partial residuals of the others. The solution is the same.
    knots : list of arrays, default=None
        The knots of each feature. If given, they are not searched for.
    linear_features : list of int or str, default=None
        Features, by index or by name, whose functions are straight lines.
    tol : float, default=1e-7
        Tolerance of the stopping criterion: the change of the mean penalized deviance.
    max_iter : int, default=100
        Maximum number of iterations.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, in order. Only for 'binomial'.
    intercept_ : float
        The score where all functions are zero.
    alpha_ : ndarray of shape (n_features,)
        Strengths of the penalties.
    edf_ : ndarray of shape (n_features,)
        Effective degrees of freedom of the functions. 1 is a straight line.
    p_values_ : ndarray of shape (n_features,)
        P-value of each function, under the hypothesis that it is zero. Approximate, and given the penalties.
    scale_ : float
        Residual variance of the target for 'gaussian', else 1.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        Mean penalized deviance by iteration. It may rise while the penalties are chosen.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : Additive
        The fitted model.
    statistics_ : Working
        The sums of the last iteration.

    See Also
    --------
    AdditiveModel : Least squares.
    suffice.linear_model.LogisticRegression : A linear log-odds.

    Notes
    -----
    With the link g, the logit for 'binomial' and the log for 'poisson', the model is

    .. math::

        g(E[y]) = b + ∑_j f_j(x_j),

    and the penalty is the one of :class:`AdditiveModel`.

    References
    ----------
    * Hastie and Tibshirani (1986), "Generalized additive models", Statistical Science 1.
    * Wood, Goude and Shaw (2015), "Generalized additive models for large data sets", Journal of the Royal
      Statistical Society C 64.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.additive import GeneralizedAdditiveModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2.0, 2.0, size=(1000, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] + rng.logistic(size=1000) > 1.0
    >>> model = GeneralizedAdditiveModel().fit(X, y)
    >>> model.predict_proba([[0.0, 0.0], [2.0, 1.0]]).round(1)
    array([[0.7, 0.3],
           [0. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Additive._parameter_constraints,
        "family": [StrOptions(set(FAMILIES))],
    }

    def __init__(
        self,
        family: str = "binomial",
        *,
        n_knots: Any = 10,
        alpha: Any = None,
        criterion: str = "reml",
        solver: str = "penalized",
        knots: Any = None,
        linear_features: Sequence[Any] | None = None,
        tol: float = 1e-7,
        max_iter: int = 100,
        checkpoint: MaybePath = None,
    ) -> None:
        self.family = family
        self.n_knots = n_knots
        self.alpha = alpha
        self.criterion = criterion
        self.solver = solver
        self.knots = knots
        self.linear_features = linear_features
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint

    @property
    def target_domain(self) -> TargetDomain | None:
        """The numbers that the family allows in y."""
        return COUNTS if self.family == "poisson" else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.family == "binomial":
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(multi_class=False)
        else:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags()
        return tags

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        out = super()._fitted(progress)
        return out if progress.model.classes is None else {"classes_": progress.model.classes, **out}

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of the second class against the first.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return self.model_.score(X)

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probability p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        score = self.model_.score(X)
        return np.stack([expit(-score), expit(score)], axis=1)

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log posterior probability log p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        score = self.model_.score(X)
        return np.stack([log_expit(-score), log_expit(score)], axis=1)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the expected target of each row, or the more probable class for 'binomial'.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        score = self.model_.score(X)
        if self.model_.classes is None:
            return self.model_.mean(score)
        return self.model_.classes[(score > 0).astype(int)]

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Accuracy for classes, or the coefficient of determination for other targets.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Targets. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Weights of the rows.
        """
        scored: Any = Classifier if self.family == "binomial" else Regressor
        return scored.score(self, X, y, sample_weight)


for _name in ("decision_function", "predict_proba", "predict_log_proba"):
    _method = vars(GeneralizedAdditiveModel)[_name]
    setattr(GeneralizedAdditiveModel, _name, available_if(_of_classes)(_method))
