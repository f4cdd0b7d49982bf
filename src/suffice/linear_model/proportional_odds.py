"""Proportional odds: ordinal logistic regression. STATS601 section 5.9.

McCullagh, "Regression models for ordinal data", 1980. The loss is convex in coefficients and thresholds
together (Pratt, "Concavity of the log likelihood", 1981), so Newton's method needs no other parameters; steps
that would put the thresholds out of order are halved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit, logit

from ..core.arguments import MaybePath
from ..core.blocks import Matrix, Rows
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Iterative
from ..estimator.guarantees import FROM_ZERO
from ..estimator.parameters import AT_LEAST_0, INF, POSITIVE, StrOptions
from ..estimator.scores import Classifier
from ..estimator.tags import tags
from ..fitting import LossModel, Problem, find_solver
from ..fitting.linear_algebra import gram, times, transposed_times
from ..fitting.separation import without_maximum
from ..fitting.standardize import ColumnSizes, Standardization, classes_and_sizes
from ..inputs import read_rows
from ..statistics import Objective, class_codes, class_weights


@dataclass(frozen=True, eq=False)
class CumulativeLogits(LossModel):
    """logit p(y <= k given x) = threshold_k - coef x: a change of x multiplies the odds of all k by one
    factor."""

    theta: Annotated[np.ndarray, "(D + K - 1,)"]  # coefficients, then thresholds, which rise
    classes: Annotated[np.ndarray, "labels (K,)"]
    class_weight: Annotated[np.ndarray, "(K,)"]
    curvature: bool = False  # whether to sum the Hessian

    @property
    def coef(self) -> np.ndarray:
        return self.theta[: 1 - len(self.classes)]

    @property
    def thresholds(self) -> np.ndarray:
        return self.theta[1 - len(self.classes) :]

    @property
    def rises(self) -> bool:
        """Whether the thresholds are in order."""
        return bool((np.diff(self.thresholds) > 0).all())

    def cumulative(self, X: Matrix) -> np.ndarray:
        """p(y <= k given x) of all classes but the last, (N, K - 1)."""
        return expit(self.thresholds - times(X, self.coef[:, None]))

    def log_proba(self, X: Matrix) -> np.ndarray:
        """log p(y = k given x), (N, K): log s(u) + log s(-l) + log(1 - exp(l - u)), with s the sigmoid and
        l, u the logits of the thresholds around the class."""
        ends = np.full((X.shape[0], 1), np.inf)
        logits = np.hstack([-ends, self.thresholds - times(X, self.coef[:, None]), ends])
        return log_expit(logits[:, 1:]) + log_expit(-logits[:, :-1]) + np.log(-np.expm1(-self._gaps))

    @property
    def _gaps(self) -> np.ndarray:
        """The gap from each threshold to the next, infinite beyond the first and the last, (K,)."""
        return np.concatenate([[np.inf], np.diff(self.thresholds), [np.inf]])

    @property
    def _odds_of_gaps(self) -> np.ndarray:
        """1 / (exp(gap) - 1), without overflow."""
        return np.exp(-self._gaps) / -np.expm1(-self._gaps)

    def summarize(self, block: Rows) -> Objective:
        X, c, K = block.X, class_codes(self.classes, block.y), len(self.classes)
        weight = block.weight * self.class_weight[c]
        ends = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        score = times(X, self.coef[:, None])[:, 0]
        u, lower = ends[c + 1] - score, ends[c] - score
        log_gap = np.log(-np.expm1(-self._gaps))
        loss = -weight.dot(log_expit(u) + log_expit(-lower) + log_gap[c])
        up, down = weight * expit(-u), weight * expit(lower)  # minus the slope at u, the slope at l
        count = np.bincount(c, weight, K)
        pull = count * self._odds_of_gaps  # of the two thresholds of a class, apart
        at_upper = np.bincount(c, up, K) + pull
        at_lower = np.bincount(c, down, K) + pull
        gradient = np.concatenate(
            [transposed_times(X, (up - down)[:, None])[:, 0], at_lower[1:] - at_upper[:-1]]
        )
        hessian = self._hessian(X, c, up * expit(u), down * expit(-lower), pull) if self.curvature else 0.0
        return Objective(float(weight.sum()), float(loss), gradient, hessian)

    def _hessian(
        self, X: Matrix, c: np.ndarray, up: np.ndarray, down: np.ndarray, pull: np.ndarray
    ) -> np.ndarray:
        """The Hessian, from the curvatures of each row at its two thresholds, and of the gap between them."""
        D, K = X.shape[1], len(self.classes)
        out = np.zeros((D + K - 1, D + K - 1))
        out[:D, :D] = gram(X, up + down)
        by_class = np.zeros((len(c), 2 * K))
        by_class[np.arange(len(c)), c], by_class[np.arange(len(c)), K + c] = up, down
        cross = transposed_times(X, by_class)
        out[:D, D:] = -(cross[:, : K - 1] + cross[:, K + 1 :])
        out[D:, :D] = out[:D, D:].T
        apart = pull * (1.0 + self._odds_of_gaps)
        upper, lower = np.bincount(c, up, K) + apart, np.bincount(c, down, K) + apart
        out[D:, D:] = np.diag(upper[:-1] + lower[1:]) - np.diag(apart[1:-1], 1) - np.diag(apart[1:-1], -1)
        return out

    def margins(self, block: Rows) -> np.ndarray:
        """Margin of each row: its distance from the thresholds of its class, (N,)."""
        ends = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        c, score = class_codes(self.classes, block.y), times(block.X, self.coef[:, None])[:, 0]
        return np.minimum(ends[c + 1] - score, score - ends[c])


SOLVERS = ("newton", "lbfgs")


class ProportionalOdds(Classifier, Iterative):
    """Ordinal logistic regression (the proportional odds model), for classes that have an order.

    ``logit p(y <= k given x) = thresholds_[k] - x coef_``: as x changes, the odds of being at most k change
    by the same factor for all k. The order of the classes is that of sorting: use numbers (see the example).

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the strength of the l2 penalty on the coefficients. ``np.inf`` means no penalty: maximum
        likelihood.
    solver : {'newton', 'lbfgs'}, default='newton'
        Newton's method, or limited-memory BFGS for many features. Both reach the same optimum.
    tol : float, default=1e-6
        Tolerance of the stopping criterion: the largest component of the gradient of the mean loss, with
        respect to the coefficients of standardized columns, as in `LogisticRegression`.
    max_iter : int, default=100
        Maximum number of iterations.
    class_weight : dict or 'balanced', default=None
        Weights of the classes. 'balanced' gives every class the same total weight.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    coef_ : ndarray of shape (n_features,)
        Coefficients. A positive coefficient makes higher classes more probable.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Thresholds between consecutive classes.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray
        Penalized mean loss by iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    model_ : CumulativeLogits
        The fitted model. Its `summarize` returns the loss and the gradient of a block.
    statistics_ : Objective
        The sums at the solution.

    See Also
    --------
    LogisticRegression : Classes without an order.

    Notes
    -----
    With thresholds θ_1 < θ_2 < ... the model is

    .. math::

        \\log \\frac{P(y ≤ k | x)}{P(y > k | x)} = θ_k - x^T w.

    References
    ----------
    * McCullagh (1980), "Regression models for ordinal data", Journal of the Royal Statistical Society B 42.
    * Pratt (1981), "Concavity of the log likelihood", Journal of the American Statistical Association 76.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import ProportionalOdds
    >>> words = np.array(["bad", "fair", "good"])
    >>> model = ProportionalOdds().fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 2, 2])
    >>> words[model.predict([[0.0], [2.5], [5.0]])]
    array(['bad', 'fair', 'good'], dtype='<U4')
    """

    exempt = (FROM_ZERO,)

    model_: Annotated[CumulativeLogits, "K, D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [POSITIVE, INF],
        "solver": [StrOptions(set(SOLVERS))],
        "max_iter": [AT_LEAST_0],
    }
    # The score is poor for classes that have no order.
    __sklearn_tags__ = tags(sparse=True, classifier_tags__poor_score=True)

    def __init__(
        self,
        *,
        C: float = 1.0,
        solver: str = "newton",
        tol: float = 1e-6,
        max_iter: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.checkpoint = checkpoint

    def _solve(self, data: Partitions) -> Progress:
        solver = find_solver(self.solver, SOLVERS)
        model, sizes = self._start(data, solver.hessian)
        standard = Standardization.of(
            sizes, 1.0 / (self.C * sizes.weight), n_constants=len(model.thresholds), sign=-1.0
        )
        problem = Problem(
            data,
            model,
            partial(self._penalised, standard),
            standard=standard,
            feasible=lambda at: at.rises,
        )
        watch = Watch(self, self.checkpoint, data, as_model=problem.solution)
        progress = solver(problem, tol=self.tol, max_iter=self.max_iter, watch=watch)
        at, s = problem.solution(progress.model), problem.statistics(progress.model)
        progress = progress.replace(model=at.replace(curvature=False), statistics=s)
        return without_maximum(progress, data, 1.0 / self.C)

    def _start(self, data: Partitions, curvature: bool) -> tuple[CumulativeLogits, ColumnSizes]:
        classes, sizes = classes_and_sizes(data)
        K, D = len(classes), self.n_features_in_
        if curvature:
            afford((D + K) ** 2, f"the Hessian of {D + K - 1} parameters", "use solver='lbfgs'.")
        theta = np.concatenate([np.zeros(D), logit(np.arange(1, K) / K)])
        weights = class_weights(self.class_weight, data, classes)
        return CumulativeLogits(theta, classes, weights, curvature), sizes

    def _penalised(self, standard: Standardization, theta: np.ndarray, s: Objective) -> tuple[Any, ...]:
        """Mean loss plus penalty, with derivatives with respect to the parameters of standardized columns."""
        ridge = standard.by_parameter(1.0 / (self.C * s.weight * standard.scale**2), len(theta))
        value = s.loss / s.weight + 0.5 * float(ridge.dot(theta**2))
        gradient = s.gradient / s.weight + ridge * theta
        if np.ndim(s.hessian) == 0:
            return value, gradient
        return value, gradient, s.hessian / s.weight + np.diag(ridge)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: CumulativeLogits = progress.model
        return {
            "classes_": model.classes,
            "coef_": model.coef.copy(),
            "thresholds_": model.thresholds.copy(),
        }

    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log posterior probability log p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return self.model_.log_proba(X)

    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probability p(c given x) of each row and class.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.exp(self.predict_log_proba(X))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        log_p = self.predict_log_proba(X)
        return self.classes_[log_p.argmax(axis=1)]
