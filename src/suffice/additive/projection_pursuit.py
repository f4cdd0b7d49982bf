"""Projection pursuit: smooth functions of learned projections.

Friedman and Stuetzle, "Projection pursuit regression", 1981; Li, "On principal Hessian directions", 1992
(where to begin); STATS601 5.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from scipy.special import expit, log_expit
from sklearn.utils import check_random_state

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Parts, Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Iterative, must_have_rows
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Whole
from ..estimator.scores import Classifier, Regressor
from ..estimator.tags import tags
from ..fitting.linear_algebra import roots, signs
from ..fitting.smoothing import Smoothing
from ..fitting.splines import NaturalSplines
from ..inputs import read_rows
from ..losses import LogLoss
from ..statistics import class_codes, class_counts, moments
from .additive_model import ROUNDING, Working, level_of

REACH = 3.0  # projections have mean zero and variance one: beyond, functions are lines
DIRECTIONS = 16  # drawn at random beside those that the rows suggest
STEPS = 15  # of all terms together, before the next is added
EXACT = 1e-20  # of the variance of the target: squares of residuals that are rounding
RIDGE = 1e-6  # on functions that are log-odds, which would else grow for ever where classes are separable


@dataclass(frozen=True, eq=False)
class Hints(Statistics):
    """Sums of residuals times rows, and times products of their features."""

    weight: float
    slope: Annotated[np.ndarray, "(R,)"]
    curve: Annotated[np.ndarray, "(R, R)"]


@dataclass(frozen=True, eq=False)
class ProjectionPursuit(Model):
    """g(E y) = intercept + sum_m f_m(w_m' u), with u the rows in units of their covariance and |w_m| = 1.

    The deviance plus sum_m alpha_m times the integral of f_m''^2 is made small by steps of Gauss and Newton:
    least squares in the functions and in turns of the directions, by one fold of moments.
    """

    mean: Annotated[np.ndarray, "(D,)"]
    units: Annotated[np.ndarray, "(D, R)"]  # u = (x - mean) units
    space: Annotated[np.ndarray, "(R, R)"]  # projects on the directions in which rows differ
    basis: Annotated[NaturalSplines, "D = 1, p = q"]  # of one projection, q functions
    w: Annotated[np.ndarray, "(M, R)"]
    coef: Annotated[np.ndarray, "(M, q)"]
    intercept: float
    alpha: Annotated[np.ndarray, "(M,)"]  # with projections in units of their range
    damping: float = 1e-3  # of turns
    choices: int = 0  # how many times the penalties will still be chosen
    classes: Annotated[Any, "labels (2,) or None"] = None  # of labels

    def rows(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean).dot(self.units)

    def terms(self, X: np.ndarray) -> np.ndarray:
        """f_m of each row, (N, M)."""
        T = self.rows(X).dot(self.w.T)
        parts = [self.basis(t[:, None]).dot(c) for t, c in zip(T.T, self.coef, strict=True)]
        return np.stack(parts, axis=1) if parts else np.zeros((len(X), 0))

    def score(self, X: np.ndarray) -> np.ndarray:
        return self.intercept + self.terms(X).sum(axis=1)

    def _targets(self, score: np.ndarray, block: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residuals, curvatures and deviances of rows."""
        if self.classes is None:
            rest = block.y.astype(np.float64) - score
            return rest, np.ones(len(rest)), rest**2
        half, g, h = LogLoss(np.ones(2)).evaluated(class_codes(self.classes, block.y), score[:, None])
        return -g[:, 0], np.maximum(h[:, 0], 1e-10), 2.0 * half

    def summarize(self, block: Rows) -> Working:
        U = self.rows(block.X)
        functions, turns, score = [], [], np.full(len(U), self.intercept)
        for w, c in zip(self.w, self.coef, strict=True):
            t = U.dot(w)[:, None]
            functions.append(self.basis(t))
            score += functions[-1].dot(c)
            turns.append(self.basis(t, 1).dot(c)[:, None] * (U - t * w))
        rest, curve, deviance = self._targets(score, block)
        Z = np.hstack([*functions, *turns, (score + rest / curve)[:, None]])
        total = np.zeros(0)
        weight = float(block.weight.sum())
        return Working(weight, float(block.weight.dot(deviance)), total, moments(Z, block.weight * curve))

    def hints(self, block: Rows) -> Hints:
        U = self.rows(block.X)
        rest = block.weight * self._targets(self.score(block.X), block)[0]
        return Hints(float(block.weight.sum()), U.T.dot(rest), (U * rest[:, None]).T.dot(U))

    def tries(self, directions: np.ndarray, block: Rows) -> Parts:
        """The moments of the functions of each direction and of the residuals."""
        T = self.rows(block.X).dot(directions.T)
        rest, curve, _ = self._targets(self.score(block.X), block)
        target, weight = (rest / curve)[:, None], block.weight * curve
        return Parts(tuple(moments(np.hstack([self.basis(t[:, None]), target]), weight) for t in T.T))

    def estimate(self, s: Working) -> Self:
        """One step of all functions and directions."""
        M, R = self.w.shape
        m, q = s.moments, len(self.basis)
        p, at = M * (q + R), M * q
        feature = np.concatenate([np.repeat(np.arange(M), q), np.full(M * R, M)])
        penalized = np.concatenate([np.tile(self.basis.penalized, M), np.zeros(M * R, bool)])
        A = m.scatter[:p, :p] + np.diag(np.repeat([self.ridge, 0.0], [at, p - at]))
        turns, squares = np.arange(at, p), np.diag(A)
        if M:  # where rows differ in one direction only, there is none to turn to
            size = max(squares[at:].mean(), 1e-12 * squares[:at].mean(), 1e-300)
            A[turns, turns] += self.damping * size
        square = float(m.scatter[p, p])
        known = self.classes is not None
        problem = Smoothing(A, m.scatter[:p, p], square, float(s.weight), feature, penalized, known)
        alpha = np.append(self.alpha, 0.0)
        if self.choices and M:
            alpha = problem.choose("reml")
        solution = problem.solve(alpha).coef if M else np.zeros(0)
        turn = solution[at:].reshape(M, R).dot(self.space)
        w = self.w + turn - (turn * self.w).sum(axis=1, keepdims=True) * self.w
        size_of = np.linalg.norm(w, axis=1, keepdims=True)
        coef = solution[:at].reshape(M, q)
        return self.replace(
            w=w / np.where(size_of > 0, size_of, 1.0),
            coef=coef,
            intercept=float(m.mean[p] - m.mean[:at].dot(solution[:at]) - m.mean[at:p].dot(solution[at:])),
            alpha=np.where(np.isfinite(alpha[:M]), alpha[:M], 1e15),
            damping=self.damping / 4.0,
            choices=max(self.choices - 1, 0),
        )

    @property
    def ridge(self) -> float:
        return 0.0 if self.classes is None else RIDGE

    def between(self, before: Self, share: float) -> Self:
        """A damped step from the previous model to this one."""
        w = before.w + share * (self.w - before.w)
        return self.replace(
            w=w / np.linalg.norm(w, axis=1, keepdims=True),
            coef=before.coef + share * (self.coef - before.coef),
            intercept=before.intercept + share * (self.intercept - before.intercept),
        )

    def with_term(self, w: np.ndarray, coef: np.ndarray, alpha: float, choices: int) -> Self:
        return self.replace(
            w=np.vstack([self.w, w]),
            coef=np.vstack([self.coef, coef]),
            alpha=np.append(self.alpha, alpha),
            damping=1e-3,
            choices=choices,
        )

    def penalty(self, alpha: Any = None) -> float:
        strength = self.alpha if alpha is None else alpha
        bends = strength.dot((self.coef[:, self.basis.penalized] ** 2).sum(axis=1))
        return float(bends) + self.ridge * float((self.coef**2).sum())

    def objective(self, s: Working) -> float:
        """Mean penalized deviance."""
        return (s.loss + self.penalty()) / s.weight


@dataclass(frozen=True, eq=False)
class Pursuit(Progress):
    """State between two passes: `model` is a step from `before`, whose deviance is known."""

    before: Any = None
    at: Any = None  # the sums there; None if the step was a new term
    deviance: float = np.inf
    steps: int = 0  # since the last term was added


class _ProjectionPursuit(Iterative):
    """Base class of regression and classification by projection pursuit."""

    model_: Annotated[ProjectionPursuit, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_terms": [AT_LEAST_1],
        "n_knots": [Whole(3)],
        "alpha": [NON_NEGATIVE, None],
    }
    __sklearn_tags__ = tags(target_tags__required=True)

    def __init__(
        self,
        n_terms: int = 2,
        *,
        n_knots: int = 10,
        alpha: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
        random_state: Seed = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_terms = n_terms
        self.n_knots = n_knots
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        _, start = self._grown(self._start(data), data)

        def step(state: Pursuit) -> Pursuit:
            model, before, share = state.model, state.before, 1.0
            s = data.fold(ProjectionPursuit.summarize, model)
            value, last = model.objective(s), np.inf
            if before is not None:
                last = (state.deviance + before.penalty(model.alpha)) / s.weight
            while value > last + ROUNDING * abs(last) and share > 1e-6:
                # Not so far: a part of the way, and, of the same sums, with turns that are dearer.
                share /= 2.0
                full_step = state.model
                if state.at is not None:
                    dearer = min(8.0 * max(before.damping, 1e-4), 1e6)
                    before = before.replace(damping=dearer, alpha=model.alpha, choices=0)
                    full_step = before.estimate(state.at)
                model = full_step.between(before, share)
                s = data.fold(ProjectionPursuit.summarize, model)
                value = model.objective(s)
            least = self.tol * abs(value) + EXACT * s.moments.scatter[-1, -1] / s.weight
            rests = self.tol > 0 and last - value <= least and not model.choices
            return self._next(model, s, (*state.trace, value), state.steps + 1, data, rests or share <= 1e-6)

        loop = Watch(self, self.checkpoint, data, self.max_iter).loop
        return loop(step, Pursuit(start))

    def _next(
        self,
        model: ProjectionPursuit,
        s: Working,
        trace: tuple[float, ...],
        steps: int,
        data: Partitions,
        rests: bool,
    ) -> Pursuit:
        """The state after a pass: another step, another term, or the end."""
        if len(model.w) < self._most(model) and (rests or steps >= STEPS):
            before, grown = self._grown(model, data)
            return Pursuit(grown, trace, s, before=before, deviance=s.loss)
        if rests or not len(model.w):
            return Pursuit(model, trace, s, "tolerance")
        return Pursuit(model.estimate(s), trace, s, "", model, s, s.loss, steps)

    def _most(self, model: ProjectionPursuit) -> int:
        return self.n_terms if model.units.any() else 0

    def _start(self, data: Partitions) -> ProjectionPursuit:
        """The initial model, without terms, and the whitening of the rows."""
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use fewer.")
        seen = data.fold(_look, isinstance(self, Classifier))
        m = seen.parts[0]
        must_have_rows(m.weight)
        size = np.sqrt(np.maximum(np.diag(m.scatter) / m.weight, 0.0))
        flat = size <= 1e-12 * np.abs(m.mean)
        inverse = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, size))
        R = m.scatter / m.weight * inverse[:, None] * inverse
        # The symmetric root: of all that make units of the covariance, the one that rounding does not turn.
        root = roots(R)[1] if R.any() else np.zeros((D, 0))
        axes = root / np.maximum(np.linalg.norm(root, axis=0), 1e-300)
        units = np.ascontiguousarray(inverse[:, None] * root.dot(axes.T))
        intercept, classes = level_of("binomial" if isinstance(self, Classifier) else "mean", seen.parts[1])
        basis = NaturalSplines.at([np.linspace(-REACH, REACH, self.n_knots)])
        none = np.zeros((0, D))
        return ProjectionPursuit(
            m.mean,
            units,
            axes.dot(axes.T),
            basis,
            none,
            np.zeros((0, len(basis))),
            intercept,
            np.zeros(0),
            classes=classes,
        )

    def _grown(
        self, model: ProjectionPursuit, data: Partitions
    ) -> tuple[ProjectionPursuit, ProjectionPursuit]:
        """The model with one more term, of no effect yet, in the direction that explains most of the
        residuals."""
        R = model.w.shape[1]
        if not self._most(model):
            return model, model
        hint = data.fold(ProjectionPursuit.hints, model)
        values, axes = eigh(hint.curve)
        bent = axes[:, np.argsort(-np.abs(values))[: min(R, 4)]].T
        seed = check_random_state(self.random_state).randint(2**31) if self.random_state is not None else 0
        random = generator(Purpose.START, seed, len(model.w)).normal(size=(DIRECTIONS, R))
        slope = hint.slope[None] if np.any(hint.slope) else np.zeros((0, R))
        tried = np.vstack([slope, bent, random]).dot(model.space)
        tried = tried[np.linalg.norm(tried, axis=1) > 1e-8]
        tried /= np.linalg.norm(tried, axis=1, keepdims=True)
        tried *= signs(tried)[:, None]
        unit, p = (2.0 * REACH) ** 3, len(model.basis)
        candidates = []
        for m in data.fold(ProjectionPursuit.tries, model, tried).parts:
            A, square = m.scatter[:p, :p] + model.ridge * np.eye(p), float(m.scatter[p, p])
            columns = model.basis.feature, model.basis.penalized
            known = model.classes is not None
            problem = Smoothing(A, m.scatter[:p, p], square, float(m.weight), *columns, known)
            # With one penalty for all that are tried; it is chosen when the term is there.
            strength = np.exp(problem.balance - 8.0) if self.alpha is None else np.array([self.alpha / unit])
            fit = problem.solve(strength)
            bends = fit.coef[model.basis.penalized]
            candidates.append(
                (fit.squares + float(strength[0]) * bends.dot(bends), fit, float(strength[0]), m)
            )
        losses = np.array([loss for loss, *_ in candidates])
        best = int(np.argmax(losses <= losses.min() + 1e-10 * abs(losses.min())))
        _, fit, alpha, m = candidates[best]
        level = model.intercept + float(m.mean[p] - m.mean[:p].dot(fit.coef))
        choices = 2 if self.alpha is None else 0
        before = model.with_term(tried[best], np.zeros(p), alpha, choices)
        return before, model.replace(intercept=level).with_term(tried[best], fit.coef, alpha, choices)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: ProjectionPursuit = progress.model
        directions = model.w @ model.units.T
        size = np.linalg.norm(directions, axis=1, keepdims=True)
        unit = (2.0 * REACH) ** 3
        out = {
            "directions_": directions / np.where(size > 0, size, 1.0),
            "intercept_": model.intercept,
            "alpha_": model.alpha * unit,
        }
        return out if model.classes is None else {"classes_": model.classes, **out}

    def ridge_functions(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Projections of each row, and the contribution of each term to its score.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        tuple of two ndarrays of shape (n_samples, n_terms)
            Projections, each with mean zero and variance one over the training rows; and the smooth functions
            of them.
        """
        X = read_rows(self, X)
        return self.model_.rows(X).dot(self.model_.w.T), self.model_.terms(X)


def _look(of_classes: bool, block: Rows) -> Parts:
    """The moments of the rows; and the classes, or the mean of the target."""
    if of_classes:
        return Parts((moments(block.X, block.weight), class_counts(block)))
    y = block.y.astype(np.float64)[:, None]
    return Parts((moments(block.X, block.weight), moments(y, block.weight, "diagonal")))


class ProjectionPursuitRegressor(Regressor, _ProjectionPursuit):
    """Projection pursuit regression: y = intercept + f_1(w_1' x) + ... + f_M(w_M' x), with smooth functions
    f_m.

    Functions and directions are learned jointly. One term is the single-index model. Terms are added one
    after the other, each in the direction that explains most of the residuals. Then all are improved by
    damped Gauss-Newton steps. The optimum is local, and the sign of a direction is not determined.

    Parameters
    ----------
    n_terms : int, default=2
        Number of functions.
    n_knots : int, default=10
        Number of knots of each function, from -3 to 3 standard deviations of its projection. It is linear
        beyond.
    alpha : float, default=None
        Strength of the penalty ``alpha * integral(f''**2)``, of projections with variance one. If None,
        restricted maximum likelihood (REML) chooses it for each function as terms are added.
    tol : float, default=1e-6
        Tolerance of the stopping criterion: the relative decrease of the objective.
    max_iter : int, default=200
        Maximum number of iterations.
    random_state : int, default=None
        Seed for the random directions that are tried for a new term.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    directions_ : ndarray of shape (n_terms, n_features)
        Directions, of length one.
    intercept_ : float
        Intercept.
    alpha_ : ndarray of shape (n_terms,)
        Strengths of the penalties.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        Mean penalized squared error by iteration. It may rise while penalties are chosen.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : ProjectionPursuit
        The fitted model.
    statistics_ : Working
        The sums of the last iteration.

    See Also
    --------
    ProjectionPursuitClassifier : Two classes.
    AdditiveModel : Functions of single features.

    Notes
    -----
    The functions and the directions minimize

    .. math::

        ∑_n w_n (y_n - b - ∑_m f_m(w_m^T x_n))^2, \\qquad ‖w_m‖ = 1,

    plus a penalty on the curvature of each function.

    References
    ----------
    * Friedman and Stuetzle (1981), "Projection pursuit regression", Journal of the American Statistical
      Association 76.
    * Li (1992), "On principal Hessian directions for data visualization and dimension reduction: another
      application of Stein's lemma", Journal of the American Statistical Association 87.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.additive import ProjectionPursuitRegressor
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = (0.6 * X[:, 0] + 0.8 * X[:, 1]) ** 2
    >>> np.abs(ProjectionPursuitRegressor(n_terms=1).fit(X, y).directions_).round(2)
    array([[0.6, 0.8]])
    """

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return self.model_.score(X)


class ProjectionPursuitClassifier(Classifier, _ProjectionPursuit):
    """Projection pursuit classifier: a sum of smooth functions of projections is the log-odds of the second
    class.

    As `ProjectionPursuitRegressor`, with the likelihood of the classes: each step is one of iteratively
    reweighted least squares, jointly in functions and directions.

    Parameters
    ----------
    n_terms : int, default=2
        Number of functions.
    n_knots : int, default=10
        Number of knots of each function, from -3 to 3 standard deviations of its projection. It is linear
        beyond.
    alpha : float, default=None
        Strength of the penalty ``alpha * integral(f''**2)``, of projections with variance one. If None,
        restricted maximum likelihood (REML) chooses it for each function as terms are added. Large values
        give straight lines, i.e. logistic regression.
    tol : float, default=1e-6
        Tolerance of the stopping criterion: the relative decrease of the objective.
    max_iter : int, default=200
        Maximum number of iterations.
    random_state : int, default=None
        Seed for the random directions that are tried for a new term.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes, in order.
    directions_ : ndarray of shape (n_terms, n_features)
        Directions, of length one.
    intercept_ : float
        Intercept.
    alpha_ : ndarray of shape (n_terms,)
        Strengths of the penalties.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        Mean penalized deviance by iteration. It may rise while penalties are chosen.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : ProjectionPursuit
        The fitted model.
    statistics_ : Working
        The sums of the last iteration.

    See Also
    --------
    ProjectionPursuitRegressor : Numbers instead of classes.
    GeneralizedAdditiveModel : Functions of single features.

    Notes
    -----
    The log-odds of the second class are a sum of ridge functions:

    .. math::

        \\log \\frac{p(x)}{1 - p(x)} = b + ∑_m f_m(w_m^T x), \\qquad ‖w_m‖ = 1.

    References
    ----------
    * Friedman and Stuetzle (1981), "Projection pursuit regression", Journal of the American Statistical
      Association 76.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.additive import ProjectionPursuitClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = 3.0 * (0.6 * X[:, 0] + 0.8 * X[:, 1]) ** 2 + rng.logistic(size=1000) > 2.0
    >>> model = ProjectionPursuitClassifier(n_terms=1).fit(X, y)
    >>> bool(abs(model.directions_ @ [0.6, 0.8]).item() > 0.99)
    True
    """

    __sklearn_tags__ = tags(classifier_tags__multi_class=False)

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
        score = self.decision_function(X)
        return np.stack([expit(-score), expit(score)], axis=1)

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log posterior probability log p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        score = self.decision_function(X)
        return np.stack([log_expit(-score), log_expit(score)], axis=1)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the more probable class of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        score = self.decision_function(X)
        return self.classes_[(score > 0).astype(int)]
