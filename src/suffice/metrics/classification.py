"""Accuracy, confusion matrix and log loss, as sums over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from sklearn import metrics

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.callers import warn
from ..core.statistics import Statistics
from ..estimator.scores import check_label_types, check_some_weight
from ..statistics import CategoryCounts, class_codes, distinct
from .predictions import as_numbers, opened


def accuracy_score(
    y_true: Any, y_pred: Any = None, *, normalize: bool = True, sample_weight: MaybeArray = None
) -> float:
    """Fraction of rows whose label is predicted correctly.

    Parameters
    ----------
    y_true : array of shape (n_samples,), or table
        True labels. Or a table described by `suffice.rows`, with the predicted label as feature and the true
        label as target, or by `predicted`.
    y_pred : array of shape (n_samples,), optional
        Predicted labels. Leave out for a table.
    normalize : bool, default=True
        Whether to return the fraction, or the total weight of the rows that are predicted correctly.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows. Leave out for a table, which names a column.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.metrics import accuracy_score
    >>> accuracy_score([0, 1, 1, 1], [0, 1, 1, 0])
    0.75
    >>> table = pa.table({"label": ["a", "b", "b"], "prediction": ["a", "b", "a"]})
    >>> accuracy_score(suffice.rows(table, features=["prediction"], target="label"), normalize=False)
    2.0
    """
    if y_pred is not None:
        return metrics.accuracy_score(y_true, y_pred, normalize=normalize, sample_weight=sample_weight)
    right, total = opened(y_true, "classifier", "accuracy_score").fold(_right)
    check_some_weight(total)
    return float(right / total if normalize else right)


def _right(rows: Rows) -> np.ndarray:
    """Weight of the rows predicted correctly, and of all."""
    right = np.asarray(_labels(rows) == rows.y, dtype=bool)
    return np.array([rows.weight[right].sum(), rows.weight.sum()])


def _labels(rows: Rows) -> np.ndarray:
    """The predicted labels, the only feature."""
    if rows.X.shape[1] != 1:
        raise ValueError(
            f"The predicted label is one column, and the table has {rows.X.shape[1]} features: call "
            'suffice.rows(table, features=["prediction"], target="...").'
        )
    labels = rows.X[:, 0]
    check_label_types(rows.y, labels)
    continuous = labels[labels != np.floor(labels)] if labels.dtype.kind == "f" else labels[:0]
    if len(continuous):
        raise ValueError(
            "Classification metrics can't handle a mix of labels and continuous predictions, e.g. "
            f"{continuous[0]}: name the column of predicted labels as the feature, or "
            "pass the probabilities to log_loss or roc_auc_score."
        )
    return labels.astype(rows.y.dtype) if labels.dtype == object and rows.y.dtype.kind in "biuf" else labels


@dataclass(frozen=True, eq=False)
class Confusion(Statistics):
    """The sorted labels, and the weight of the rows by true and predicted label."""

    labels: Annotated[np.ndarray, "labels (K,)"]
    count: Annotated[np.ndarray, "(K, K)"]

    @classmethod
    def of(cls, rows: Rows) -> Confusion:
        predicted = _labels(rows)
        labels = np.union1d(distinct(rows.y), distinct(predicted))
        K = len(labels)
        if not K:
            return cls(labels, np.zeros((0, 0)))
        pair = class_codes(labels, rows.y) * K + class_codes(labels, predicted)
        return cls(labels, np.bincount(pair, rows.weight, minlength=K * K).reshape(K, K))

    def __add__(self, other: Self) -> Self:
        labels = np.union1d(self.labels, other.labels) if len(self.labels) else other.labels
        return self.replace(labels=labels, count=self.at(labels) + other.at(labels))

    def at(self, labels: np.ndarray) -> np.ndarray:
        """The counts of these labels; zero for those that did not occur."""
        out = np.zeros((len(labels), len(labels)))
        common, place, mine = np.intersect1d(labels, self.labels, return_indices=True)
        if len(common):
            out[np.ix_(place, place)] = self.count[np.ix_(mine, mine)]
        return out

    def __mul__(self, factor: float) -> Self:
        return self.replace(count=self.count * factor)

    __rmul__ = __mul__


def confusion_matrix(
    y_true: Any,
    y_pred: Any = None,
    *,
    labels: Any = None,
    sample_weight: MaybeArray = None,
    normalize: str | None = None,
) -> np.ndarray:
    """Weight of the rows by true label (rows of the matrix) and predicted label (columns).

    Parameters
    ----------
    y_true : array of shape (n_samples,), or table
        True labels. Or a table described by `suffice.rows`, with the predicted label as feature and the true
        label as target, or by `predicted`.
    y_pred : array of shape (n_samples,), optional
        Predicted labels. Leave out for a table.
    labels : array of shape (n_classes,), optional
        Labels of the matrix, in order. If None, all that occur, sorted.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows. Leave out for a table, which names a column.
    normalize : {'true', 'pred', 'all'}, default=None
        Divide by the sums of rows, of columns, or of all entries.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.metrics import confusion_matrix
    >>> table = pa.table({"label": ["a", "b", "b"], "prediction": ["a", "b", "a"]})
    >>> confusion_matrix(suffice.rows(table, features=["prediction"], target="label"))
    array([[1, 0],
           [1, 1]])
    """
    if y_pred is not None:
        return metrics.confusion_matrix(
            y_true, y_pred, labels=labels, sample_weight=sample_weight, normalize=normalize
        )
    if normalize not in (None, "true", "pred", "all"):
        raise ValueError(f"normalize={normalize!r} is unknown: use 'true', 'pred', 'all' or None.")
    confusion = opened(y_true, "classifier", "confusion_matrix").fold(Confusion.of)
    check_some_weight(confusion.count.sum())
    if labels is None:
        count = confusion.count
    else:
        labels = np.asarray(labels)
        if not np.isin(labels, confusion.labels).any():
            raise ValueError("At least one label specified must be in y_true")
        order = np.argsort(labels, kind="stable")
        count = np.empty((len(labels), len(labels)))
        count[np.ix_(order, order)] = confusion.at(labels[order])
    if normalize is None:
        integers = count.astype(np.int64)
        return integers if (integers == count).all() else count
    total = {"true": count.sum(axis=1, keepdims=True), "pred": count.sum(axis=0), "all": count.sum()}
    with np.errstate(all="ignore"):
        return np.nan_to_num(count / total[normalize])


def log_loss(
    y_true: Any,
    y_pred: Any = None,
    *,
    normalize: bool = True,
    sample_weight: MaybeArray = None,
    labels: Any = None,
) -> float:
    """Logistic loss: the mean of -log p(true label).

    Parameters
    ----------
    y_true : array of shape (n_samples,), or table
        True labels. Or a table described by `suffice.rows`, with a column of probabilities for each class, in
        the order of the sorted labels, as features and the true label as target, or by `predicted`. One
        column is the probability of the second class.
    y_pred : array of shape (n_samples,) or (n_samples, n_classes), optional
        Predicted probabilities. Leave out for a table.
    normalize : bool, default=True
        Whether to return the mean, or the sum.
    sample_weight : array of shape (n_samples,), optional
        Weights of the rows. Leave out for a table, which names a column.
    labels : array of shape (n_classes,), optional
        The classes. If None, the labels that occur.

    Notes
    -----
    As in scikit-learn, probabilities are clipped to [eps, 1 - eps], with the smallest difference of floats,
    and probabilities that do not sum to one cause a warning.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.metrics import log_loss
    >>> table = pa.table({"label": ["a", "b", "b"], "a": [0.9, 0.2, 0.4], "b": [0.1, 0.8, 0.6]})
    >>> round(log_loss(suffice.rows(table, features=["a", "b"], target="label")), 4)
    0.2798
    """
    if y_pred is not None:
        return metrics.log_loss(
            y_true, y_pred, normalize=normalize, sample_weight=sample_weight, labels=labels
        )
    sums: CategoryCounts = opened(y_true, "classifier", "log_loss").fold(_losses)
    (values,), (count,) = sums.values, sums.count
    loss, weight, not_one = count[:-2], count[-2].sum(), count[-1].sum()
    check_some_weight(weight)
    classes = values if labels is None else np.unique(labels)
    if len(classes) < 2 or len(classes) != len(loss):
        raise ValueError(
            f"The table has probabilities of {len(loss)} classes, and the labels are {classes.tolist()}: "
            "pass the labels of all classes, log_loss(..., labels=[...])."
        )
    if not_one:
        warn("The y_prob values do not sum to one. Make sure to pass probabilities.", UserWarning)
    total = float(loss[class_codes(classes, values), np.arange(len(values))].sum())
    return total / float(weight) if normalize else total


def _losses(rows: Rows) -> CategoryCounts:
    """By label, the weighted sums of -log p of every class, the weight, and that of the rows whose
    probabilities do not sum to one."""
    P = as_numbers(rows.X, "log_loss")
    if len(P) and not ((P >= 0.0) & (P <= 1.0)).all():
        raise ValueError(
            f"Probabilities lie between 0 and 1; got values from {P.min()} to {P.max()}: pass the columns of "
            "probabilities as features."
        )
    if P.shape[1] == 1:
        P = np.hstack([1.0 - P, P])
    # A table is read in double precision: numbers that are also single ones had such a column.
    precision = np.float32 if (P.astype(np.float32) == P).all() else np.float64
    not_one = ~np.isclose(P.sum(axis=1), 1.0, rtol=np.finfo(precision).eps ** 0.5)
    eps = np.finfo(np.float64).eps
    loss = -np.log(np.clip(P, eps, 1.0 - eps))
    values = distinct(rows.y)
    if not len(values):
        return CategoryCounts((values,), (np.zeros((P.shape[1] + 2, 0)),))
    codes = class_codes(values, rows.y)
    terms = [*(loss.T * rows.weight), rows.weight, rows.weight * not_one]
    count = np.stack([np.bincount(codes, term, minlength=len(values)) for term in terms])
    return CategoryCounts((values,), (count,))
