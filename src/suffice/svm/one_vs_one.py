"""Classifiers of the pairs of classes, one against one, each through its dual."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from ..core.callers import warn
from ..core.partitions import Partitions
from ..core.shapes import must
from ..estimator.answers import row_wise
from ..estimator.parameters import StrOptions
from ..estimator.scores import Classifier
from ..fitting.dual import Duals, Record
from ..inputs import read_rows
from ..statistics import class_codes, class_counts, weights_of_classes
from ..statistics.sums import at_least_two
from .base import Problem, Result, SupportFit, SupportVectorMachine, SupportVectors, Task
from .platt import FOLDS, coupled, sigmoid_of


def _has_probabilities(estimator: BaseEstimator) -> bool:
    if estimator.probability is not True:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class OneVsOne(Classifier, SupportVectorMachine):
    """Base class of the classifiers: one function for each pair of classes, and votes."""

    model_: Annotated[SupportVectors, "D"]
    probability: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SupportVectorMachine._parameter_constraints,
        "probability": ["boolean", StrOptions({"deprecated"})],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
    }

    def _classes_of_model(self) -> int:
        pairs = len(self.model_.intercept)
        K = round(0.5 + (0.25 + 2.0 * pairs) ** 0.5)
        must(pairs == K * (K - 1) // 2, f"There are {pairs} functions, which is not one for each pair.")
        return K

    def _sigmoid(self, task: Task, problem: Problem, rng: Any) -> np.ndarray:
        """Platt's sigmoid of the scores of two classes, each from a fit without the fold of the row."""
        (rows, y, weight), kernel, X = problem, task.kernel, task.block.X
        score, fold = np.zeros(len(rows)), rng.permutation(len(rows)) % FOLDS
        for f in np.unique(fold):
            out, rest = fold == f, np.flatnonzero(fold != f)
            if len(np.unique(y[rest])) < 2:
                score[out] = y[rest].mean() if len(rest) else 0.0
                continue
            columns, alone = self._columns(kernel, X, rows[rest]), Record(Duals(None), lambda _: False)
            result = self._solve_dual(columns, y[rest], weight[rest], alone)
            points = rows[rest] if kernel.precomputed else X[rows[rest]]
            score[out] = kernel(X[rows[out]], points) @ result.beta + result.intercept
        return sigmoid_of(score, y, weight)

    def _task(self, data: Partitions) -> Task:
        """The rows, the kernel, and the pairs of classes."""
        self._advise_on_probability()
        task = super()._task(data)
        counts = class_counts(task.block)
        (classes,), (totals,) = counts.values, counts.count
        at_least_two(classes)
        factors = weights_of_classes(self.class_weight, classes, totals[0])
        codes = np.asarray(class_codes(classes, np.asarray(task.block.y)), np.int64)
        weight, problems = task.block.weight * factors[codes], []
        for i, j in combinations(range(len(classes)), 2):
            rows = np.flatnonzero(((codes == i) | (codes == j)) & (weight > 0))
            sign = np.where(codes[rows] == i, 1.0, -1.0)
            if len(np.unique(sign)) < 2:
                raise ValueError(
                    "Invalid input - all samples with positive weights belong to the same class: the rows of "
                    "another class have weight zero."
                )
            problems.append(Problem(rows, sign, weight[rows]))
        return task._replace(problems=tuple(problems), codes=codes, classes=classes, factors=factors)

    def _advise_on_probability(self) -> None:
        """Warn of the option that scikit-learn deprecates, and name what it advises instead."""
        if self.probability != "deprecated":
            name = type(self).__name__
            warn(
                "The `probability` parameter was deprecated in scikit-learn 1.9 and will be removed in 1.11: "
                f"leave it out. For probabilities, use CalibratedClassifierCV({name}(), ensemble=False) "
                f"instead of {name}(probability=True).",
                FutureWarning,
            )

    def _finished(self, task: Task, results: list[Result]) -> SupportFit:
        sigmoids = None
        if self.probability is True:
            rng = check_random_state(self.random_state)
            sigmoids = np.array([self._sigmoid(task, problem, rng) for problem in task.problems])
        n_iter = [max(1, result.solution.n_iter) for result in results]
        fit = super()._finished(task, results)
        return fit.replace(
            classes_=task.classes,
            class_weight_=task.factors,
            C_=np.array([result.parameter for result in results]),
            n_iter_=np.array(n_iter, np.int32),
            sigmoids_=sigmoids,
        )

    def _dual_coef(self, coef: np.ndarray, n_support: np.ndarray) -> tuple[float, np.ndarray]:
        """Row j - 1 has the coefficients of class i against j, and row i those of class j against i."""
        K = len(n_support)
        dual, end = np.zeros((K - 1, coef.shape[1])), np.cumsum(n_support)
        of_class = [slice(b - n, b) for b, n in zip(end, n_support, strict=True)]
        for row, (i, j) in zip(coef, combinations(range(K), 2), strict=True):
            dual[j - 1, of_class[i]], dual[i, of_class[j]] = row[of_class[i]], row[of_class[j]]
        sign = -1.0 if K == 2 else 1.0  # for two classes, positive scores predict the second
        return sign, sign * dual

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, or of pairs of classes: see `decision_function_shape`.

        For two classes, the score is positive where the second is predicted.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        scores, K = self.model_(read_rows(self, X)), len(self.classes_)
        if K == 2:
            return -scores[:, 0]
        return (
            scores
            if self.decision_function_shape == "ovo"
            else _ovr_decision_function(scores < 0, -scores, K)
        )

    @property
    def probA_(self) -> np.ndarray:
        """Slopes of Platt's sigmoids; empty without ``probability=True``. Deprecated, as in scikit-learn."""
        return self._of_sigmoids("probA_", 0)

    @property
    def probB_(self) -> np.ndarray:
        """Intercepts of Platt's sigmoids; empty without ``probability=True``. Deprecated, as in
        scikit-learn."""
        return self._of_sigmoids("probB_", 1)

    def _of_sigmoids(self, name: str, column: int) -> np.ndarray:
        if not hasattr(self, "model_"):
            raise AttributeError(f"{name} is set by fit.")
        warn(
            f"Attribute `{name}` was deprecated in scikit-learn 1.9 and will be removed in 1.11: use "
            "CalibratedClassifierCV for probabilities.",
            FutureWarning,
        )
        return getattr(self, "sigmoids_", np.empty((0, 2)))[:, column]

    @available_if(_has_probabilities)
    @row_wise
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, with ``probability=True``, by Platt's sigmoids of scores.

        They may contradict `predict`, as in scikit-learn. For rows that are not in memory, and for `to`, see
        :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        if not hasattr(self, "sigmoids_"):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        K = len(self.classes_)
        pairs = list(combinations(range(K), 2))
        return coupled(self.model_(read_rows(self, X)), self.sigmoids_, pairs, K)

    @available_if(_has_probabilities)
    @row_wise
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities of the classes.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return np.log(self.predict_proba(X))

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row: of several, the one with most votes of the pairs.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        check_is_fitted(self)
        scores, K = self.model_(read_rows(self, X)), len(self.classes_)
        if self.break_ties and K > 2:
            return self.classes_[_ovr_decision_function(scores < 0, -scores, K).argmax(axis=1)]
        votes = np.zeros((len(scores), K), np.int64)
        for score, (i, j) in zip(scores.T, combinations(range(K), 2), strict=True):
            votes[np.arange(len(score)), np.where(score > 0, i, j)] += 1
        return self.classes_[votes.argmax(axis=1)]
