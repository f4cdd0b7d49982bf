"""Impurity of nodes, information gain and gain ratio. Quinlan, 1986 and 1993; Li 5.2 and 5.5.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from ..core.arguments import MaybeArray
from ..statistics import class_codes
from ..statistics.sums import category_codes, distinct


def impurity(counts: Any, criterion: str = "gini") -> np.ndarray:
    """Compute the impurity of class counts or probabilities.

    Parameters
    ----------
    counts : array-like of shape (..., n_classes)
        Counts, weights or probabilities of the classes, which need not sum to one.
    criterion : {'gini', 'entropy', 'misclassification'}, default='gini'
        With class shares p: Gini index 1 - sum(p^2), entropy -sum(p log2(p)) in bits, or misclassification
        rate 1 - max(p).

    Returns
    -------
    impurity : ndarray of shape (...)
        Impurity along the last axis; zero where all counts are zero.

    Examples
    --------
    >>> from suffice.tree import impurity
    >>> impurity([[5, 5], [9, 1]])
    array([0.5 , 0.18])
    >>> float(impurity([5, 5], criterion="entropy"))
    1.0
    """
    counts = np.asarray(counts, np.float64)
    if counts.ndim == 0 or not (counts >= 0.0).all():
        raise ValueError("counts must be a non-negative array with the classes on its last axis.")
    total = counts.sum(axis=-1, keepdims=True)
    p = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0.0)
    if criterion == "gini":
        out = (p * (1.0 - p)).sum(axis=-1)
    elif criterion == "entropy":
        out = -xlogy(p, p).sum(axis=-1) / np.log(2.0)
    elif criterion == "misclassification":
        out = p.sum(axis=-1) - p.max(axis=-1, initial=0.0)
    else:
        raise ValueError(f"criterion must be 'gini', 'entropy' or 'misclassification'; got {criterion!r}.")
    return np.maximum(out, 0.0)  # of a pure node, not -0.0


def conditional_entropy(feature: Any, y: ArrayLike, sample_weight: MaybeArray = None) -> float:
    """Compute the empirical conditional entropy H(y | feature) in bits.

    Parameters
    ----------
    feature : array-like of shape (n_samples,)
        A discrete feature. Each distinct value is a category. Samples with a missing value (NaN or None) are
        left out.
    y : array-like of shape (n_samples,)
        Classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> from suffice.tree import conditional_entropy
    >>> conditional_entropy(["a", "a", "b", "b"], [0, 1, 1, 1])
    0.5
    """
    return _conditional(_counts(feature, y, sample_weight)[0])


def information_gain(feature: Any, y: ArrayLike, sample_weight: MaybeArray = None) -> float:
    """Compute the information gain H(y) - H(y | feature) in bits.

    Parameters
    ----------
    feature : array-like of shape (n_samples,)
        A discrete feature. Each distinct value is a category. Samples with a missing value (NaN or None) are
        left out, and the gain is multiplied by the share of the weight of the others, as in C4.5.
    y : array-like of shape (n_samples,)
        Classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

    Returns
    -------
    gain : float

    Examples
    --------
    >>> from suffice.tree import information_gain
    >>> information_gain(["a", "a", "b", "b"], [0, 0, 1, 1])
    1.0
    """
    counts, missing = _counts(feature, y, sample_weight)
    return float(gains(counts, missing)[0])


def information_gain_ratio(feature: Any, y: ArrayLike, sample_weight: MaybeArray = None) -> float:
    """Compute the gain ratio: information gain divided by the entropy of the feature.

    Parameters
    ----------
    feature : array-like of shape (n_samples,)
        A discrete feature. Each distinct value is a category. Missing values (NaN or None) are treated as in
        :func:`information_gain`, and are one more category in the entropy of the feature, as in C4.5.
    y : array-like of shape (n_samples,)
        Classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

    Returns
    -------
    ratio : float
        Zero for a constant feature.

    Examples
    --------
    >>> from suffice.tree import information_gain_ratio
    >>> information_gain_ratio(["a", "b", "c", "d"], [0, 0, 1, 1])
    0.5
    """
    counts, missing = _counts(feature, y, sample_weight)
    gain, split = gains(counts, missing)
    return float(gain / split) if split > 0.0 else 0.0


def gains(counts: np.ndarray, missing: float | np.ndarray = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The information gain of counts (..., categories, classes) and the entropy of the categories, in bits.

    `missing` is the weight without a category: it scales the gain, and is one more category.
    """
    total = np.asarray(counts.sum(axis=(-2, -1)) + missing)
    scale = 1.0 / np.where(total > 0.0, total, 1.0)
    p = counts * scale[..., None, None]
    branch, classes = p.sum(axis=-1), p.sum(axis=-2)
    of_branches = _xlog2x(branch).sum(axis=-1)
    within = of_branches - _xlog2x(p).sum(axis=(-2, -1))
    gain = _xlog2x(branch.sum(axis=-1)) - _xlog2x(classes).sum(axis=-1) - within
    return np.maximum(gain, 0.0), np.maximum(-of_branches - _xlog2x(missing * scale), 0.0)


def _xlog2x(x: np.ndarray) -> np.ndarray:
    return xlogy(x, x) / np.log(2.0)


def _conditional(counts: np.ndarray) -> float:
    weight = counts.sum(axis=1)
    total = weight.sum()
    return float(weight @ impurity(counts, "entropy") / total) if total > 0.0 else 0.0


def _counts(feature: Any, y: ArrayLike, sample_weight: MaybeArray) -> tuple[np.ndarray, float]:
    """The weight of each category and class, (C, K), and that of rows without a category."""
    feature, y = np.asarray(feature), np.asarray(y)
    if feature.ndim != 1 or y.shape != feature.shape:
        raise ValueError(
            "feature and y must be one-dimensional arrays of the same length; got shapes "
            f"{feature.shape} and {y.shape}."
        )
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if weight.shape != y.shape or not (weight >= 0.0).all():
        raise ValueError(f"sample_weight must be {len(y)} non-negative numbers, one for each sample.")
    categories, classes = distinct(feature), distinct(y)
    shape = len(categories), len(classes)
    code, known = category_codes(categories, feature)
    flat = code[known] * shape[1] + class_codes(classes, y)[known]
    counts = np.bincount(flat.astype(np.int64), weight[known], minlength=shape[0] * shape[1])
    return counts.reshape(shape), float(weight[~known].sum())
