"""Scores by folds, for rows in memory, in files or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.shapes import must
from ..core.statistics import Statistics
from ..estimator.answers import nameless
from ..inputs import open_rows
from ..statistics import Moments, moments


def check_label_types(labels: np.ndarray, predicted: np.ndarray) -> None:
    """Raise if the labels are strings and the predicted labels are numbers, or vice versa.

    No label would equal a prediction, and the score would be zero.
    """
    types = [_label_type(values) for values in (labels, predicted)]
    if None not in types and ("str" in types) and types[0] != types[1]:
        raise ValueError(
            f"Mix of label input types (string and number): the labels are of type {types[0]} (e.g. "
            f"{labels.ravel().tolist()[0]!r}) and the predictions of type {types[1]} (e.g. "
            f"{predicted.ravel().tolist()[0]!r}): convert one of them, e.g. by y.astype(str)."
        )


def _label_type(labels: np.ndarray) -> str | None:
    """Return the name of the type of labels; None if there are no labels."""
    if not labels.size:
        return None
    if labels.dtype == object:
        label = labels.ravel()[0]
        return "str" if isinstance(label, str) else type(label).__name__
    return "str" if labels.dtype.kind in "UST" else str(labels.dtype)


def check_some_weight(weight: Any) -> None:
    """Raise if a total weight is zero, so that the mean is not defined."""
    if not np.all(weight):
        raise ValueError(
            "There are no rows to score, or sample_weight is zero for every row, expected a positive weight "
            "for some."
        )


def total_score(estimator: BaseEstimator, X: Any, sample_weight: MaybeArray = None) -> tuple[float, float]:
    """Return the sum of `score_samples` over the rows, and their total weight."""
    check_is_fitted(estimator)
    data = open_rows(estimator, X, None, sample_weight, reset=False)
    total, weight = data.fold(_scored, nameless(estimator))
    return float(total), float(weight)


def mean_score(estimator: BaseEstimator, X: Any, sample_weight: MaybeArray = None) -> float:
    """Return the weighted mean of `score_samples` over the rows."""
    total, weight = total_score(estimator, X, sample_weight)
    check_some_weight(weight)
    return total / weight


def _scored(estimator: BaseEstimator, rows: Rows) -> np.ndarray:
    total = rows.weight.dot(estimator.score_samples(rows.X)) if len(rows) else 0.0
    return np.array([total, rows.weight.sum()])


class Classifier(ClassifierMixin):
    """Base class of classifiers, with `score`."""

    has_target = True
    classes_: Annotated[Any, "labels (K,)"]

    def _classes_of_model(self) -> int:
        """Return the number of classes of the model. A subclass overrides it if shapes do not declare it."""
        return _count(self.classes_)

    def _check_loaded(self) -> None:
        n, K = _count(self.classes_), self._classes_of_model()
        must(n == K, f"`classes_` has {n} classes, and the model {K}.")

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Accuracy: the fraction of rows that are classified correctly.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,), optional
            Class labels. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Weights of the rows.
        """
        right, total = _summed(self, _right, X, y, sample_weight)
        check_some_weight(total)
        return float(right / total)


def _count(classes: np.ndarray | list[np.ndarray]) -> int:
    """Return the number of classes, summed over the targets if there are several."""
    return sum(map(len, classes)) if isinstance(classes, list) else len(classes)


def _summed(estimator: BaseEstimator, f: Any, X: Any, y: MaybeArray, sample_weight: MaybeArray) -> Any:
    """Return the sum of f(estimator, block) over the rows.

    If each prediction makes a pass over the rows of the fit, the rows to score are gathered and predicted at
    once.
    """
    check_is_fitted(estimator)
    data = open_rows(estimator, X, y, sample_weight, reset=False)
    if getattr(estimator, "rows_elsewhere", False):
        return f(nameless(estimator), data.gather("score fewer rows."))
    return data.fold(f, nameless(estimator))


def _right(estimator: BaseEstimator, rows: Rows) -> np.ndarray:
    """Return the weight of the correctly classified rows, and of all rows."""
    predicted = estimator.predict(rows.X) if len(rows) else rows.y
    check_label_types(rows.y, predicted)
    right = rows.y.reshape(predicted.shape) == predicted  # a single target may be a column
    right = right.all(axis=1) if right.ndim == 2 else right  # all labels of a row must be correct
    return np.array([rows.weight[right].sum(), rows.weight.sum()])


class Regressor(RegressorMixin):
    """Base class of regressors, with `score`."""

    has_target = True

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Coefficient of determination R^2. For several targets, the mean.

        Parameters
        ----------
        X : array, table, scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array of shape (n_samples,) or (n_samples, n_targets), optional
            Targets. Leave out if columns of the table hold them.
        sample_weight : array, optional
            Weights of the rows.
        """
        sums = _summed(self, residuals, X, y, sample_weight)
        check_some_weight(sums.target.weight)
        if sums.rows < 2:
            warn("R^2 is not defined for less than two rows.", UndefinedMetricWarning)
            return float("nan")
        spread = sums.target.scatter
        share = sums.squares / np.where(spread > 0, spread, 1.0)
        return float(np.where(spread > 0, 1.0 - share, sums.squares == 0).mean())


@dataclass(frozen=True, eq=False)
class Residuals(Statistics):
    """Moments of the targets, and the residual sums of squares."""

    rows: float
    target: Moments  # diagonal, (T,)
    squares: Annotated[np.ndarray, "(T,)"]


def residuals(estimator: BaseEstimator | None, rows: Rows) -> Residuals:
    """Summarize the residuals of the predictions. If the estimator is None, X holds the predictions."""
    y = (rows.y[:, None] if rows.y.ndim == 1 else rows.y).astype(np.float64)
    predicted = rows.X if estimator is None else estimator.predict(rows.X) if len(rows) else y
    rest = y - predicted.reshape(y.shape)
    target = moments(y, rows.weight, "diagonal")
    return Residuals(float(len(rows)), target, rows.weight.dot(rest**2))
