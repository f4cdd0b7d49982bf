"""Area under the ROC curve and average precision, from the scores of all rows, which merge like a sum.

Fawcett, "An introduction to ROC analysis", 2006.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from sklearn import metrics

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.statistics import Statistics
from ..estimator.scores import check_some_weight
from ..statistics import distinct_targets
from .predictions import as_numbers, opened

log = logging.getLogger("suffice")

MOST_SCORES = 1 << 20  # distinct scores; beyond, they are rounded to fewer bits
STEP = 4  # bits


@dataclass(frozen=True, eq=False)
class ScoreCounts(Statistics):
    """The distinct scores in order, and the weight of the negative and of the positive rows of each.

    Scores are integers in the order of the floats. If there are more than `MOST_SCORES`, the last `level`
    bits are set to zero, as few as possible. The sum does not depend on the order of its terms: a part has no
    more distinct scores than the whole, so its level is not higher.
    """

    score: Annotated[np.ndarray, "int (S,)"]
    weight: Annotated[np.ndarray, "(2, S)"]
    level: int = 0

    @classmethod
    def of(cls, positive: Any, rows: Rows) -> ScoreCounts:
        score = _ordered(as_numbers(rows.X, "A metric of scores")[:, -1])
        return _merged(
            score, np.stack([rows.weight * (rows.y != positive), rows.weight * (rows.y == positive)]), 0
        )

    def __add__(self, other: Self) -> ScoreCounts:
        score = np.concatenate([self.score, other.score])
        return _merged(score, np.hstack([self.weight, other.weight]), max(self.level, other.level))

    def __mul__(self, factor: float) -> Self:
        return self.replace(weight=self.weight * factor)

    __rmul__ = __mul__

    @property
    def tied(self) -> float:
        """Fraction of the pairs of a positive and a negative row that have the same score."""
        return float(self.weight.prod(axis=0).sum() / self.weight.sum(axis=1).prod())


def _ordered(x: np.ndarray) -> np.ndarray:
    """Integers in the order of the floats."""
    bits = np.ascontiguousarray(x + 0.0).view(np.int64)  # minus zero is zero
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def _merged(score: np.ndarray, weight: np.ndarray, level: int) -> ScoreCounts:
    """Equal scores added; rounded until they are few."""
    distinct, place = np.unique(score >> level << level, return_inverse=True)
    while len(distinct) > MOST_SCORES:
        level += STEP
        distinct, place = np.unique(score >> level << level, return_inverse=True)
    counts = [np.bincount(place, w, minlength=len(distinct)) for w in weight]
    return ScoreCounts(distinct, np.stack(counts), level)


def _counted(table: Any, pos_label: Any, name: str) -> ScoreCounts:
    data = opened(table, "classifier", name)
    classes: np.ndarray = data.fold(distinct_targets).values[0]
    check_some_weight(len(classes))
    if len(classes) < 2:
        raise ValueError(
            f"Only one class is present in y_true: {classes.tolist()}. {name} is not defined in that case: "
            "score rows of both classes."
        )
    if len(classes) > 2 and pos_label is None:
        raise ValueError(
            f"{name} of a table takes two classes, and the labels are {classes.tolist()}: pass pos_label=..."
        )
    positive = classes[-1] if pos_label is None else pos_label
    counts: ScoreCounts = data.fold(ScoreCounts.of, positive)
    if not counts.weight.sum(axis=1).all():
        raise ValueError(f"No row has the label pos_label={positive!r}; the labels are {classes.tolist()}.")
    if counts.level:
        log.info(
            "%s: more than %d distinct scores were rounded; the error is at most %.1e.",
            name,
            MOST_SCORES,
            counts.tied / 2.0,
        )
    return counts


def roc_auc_score(
    y_true: Any,
    y_score: Any = None,
    *,
    average: str | None = "macro",
    sample_weight: MaybeArray = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
    pos_label: Any = None,
) -> Any:
    """Area under the ROC curve: the probability that a positive row has a higher score than a negative one.

    Parameters
    ----------
    y_true : array of shape (n_samples,), or table
        True labels. Or a table described by `suffice.rows`, with the score as its last feature and the label,
        one of two, as target, or by `predicted`.
    y_score : array, optional
        Scores. Leave out for a table.
    average, sample_weight, max_fpr, multi_class, labels
        As in scikit-learn, for arrays.
    pos_label : label, default=None
        For a table, the positive class. If None, the second of the sorted labels.

    Notes
    -----
    .. math::

        \\mathrm{AUC} = \\frac{1}{n_+ n_-} \\sum_{y_i = 1, y_j = 0} [s_i > s_j] + \\tfrac{1}{2} [s_i = s_j].

    The value of a table is exact if there are at most 2^20 distinct scores. Beyond that they are rounded to
    fewer bits. The error is then at most half the fraction of pairs with equal rounded scores, which the log
    states. One pass finds the labels, another counts the scores.

    References
    ----------
    * Fawcett (2006), "An introduction to ROC analysis", Pattern Recognition Letters 27.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.metrics import roc_auc_score
    >>> table = pa.table({"label": [0, 0, 1, 1], "score": [0.1, 0.4, 0.35, 0.8]})
    >>> roc_auc_score(suffice.rows(table, features=["score"], target="label"))
    0.75
    """
    if y_score is not None:
        options = {"max_fpr": max_fpr, "multi_class": multi_class, "labels": labels}
        return metrics.roc_auc_score(y_true, y_score, average=average, sample_weight=sample_weight, **options)
    negative, positive = _counted(y_true, pos_label, "roc_auc_score").weight
    above = positive[::-1].cumsum()[::-1] - positive
    return float(negative @ (above + 0.5 * positive) / (negative.sum() * positive.sum()))


def average_precision_score(
    y_true: Any,
    y_score: Any = None,
    *,
    average: str | None = "macro",
    pos_label: Any = None,
    sample_weight: MaybeArray = None,
) -> Any:
    """Average precision: the precision at each threshold, weighted by the recall that it adds.

    Parameters
    ----------
    y_true : array of shape (n_samples,), or table
        True labels. Or a table described by `suffice.rows`, with the score as its last feature and the label,
        one of two, as target, or by `predicted`.
    y_score : array, optional
        Scores. Leave out for a table.
    average, sample_weight
        As in scikit-learn, for arrays.
    pos_label : label, default=None
        The positive class. If None, 1 for arrays, and the second of the sorted labels of a table.

    Notes
    -----
    .. math::

        \\mathrm{AP} = \\sum_n (R_n - R_{n-1}) P_n.

    The value of a table is exact if there are at most 2^20 distinct scores, which are rounded beyond that:
    see `roc_auc_score`.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.metrics import average_precision_score
    >>> table = pa.table({"label": [0, 0, 1, 1], "score": [0.1, 0.4, 0.35, 0.8]})
    >>> round(average_precision_score(suffice.rows(table, features=["score"], target="label")), 4)
    0.8333
    """
    if y_score is not None:
        pos_label = 1 if pos_label is None else pos_label
        return metrics.average_precision_score(
            y_true, y_score, average=average, pos_label=pos_label, sample_weight=sample_weight
        )
    negative, positive = _counted(y_true, pos_label, "average_precision_score").weight[:, ::-1]
    true_positives = positive.cumsum()
    predicted = true_positives + negative.cumsum()
    precision = np.divide(true_positives, predicted, out=np.zeros_like(true_positives), where=predicted > 0)
    return float(positive @ precision / positive.sum())
