"""Margin losses: surrogate losses of classifiers as functions of the margin y f(x). Li 12.3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit

from ..losses import LogLoss


def _logistic(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The log loss of the second class, whose score is the margin."""
    value, slope, _ = LogLoss(np.ones(2)).evaluated(np.ones(m.size, np.int64), m.reshape(-1, 1))
    return value.reshape(m.shape), slope.reshape(m.shape)


def _exponential(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    loss = np.exp(-m)
    return loss, -loss


# The loss and its left derivative in the margin, by kind.
KINDS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "zero-one": lambda m: (np.where(m < 0, 1.0, 0.0), np.zeros_like(m)),
    "perceptron": lambda m: (np.maximum(-m, 0.0), np.where(m <= 0, -1.0, 0.0)),
    "hinge": lambda m: (np.maximum(1.0 - m, 0.0), np.where(m <= 1, -1.0, 0.0)),
    "exponential": _exponential,
    "logistic": _logistic,
}
# The score f that minimizes the expected loss, if the positive class has probability p.
BEST: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "zero-one": lambda p: np.sign(2.0 * p - 1.0),
    "perceptron": np.zeros_like,
    "hinge": lambda p: np.sign(2.0 * p - 1.0),
    "exponential": lambda p: 0.5 * logit(p),
    "logistic": logit,
}


def margin_loss(
    margin: Any, kind: str = "hinge", *, smoothing: float = 1.0, base: float = np.e, derivative: bool = False
) -> Any:
    """Loss of scores f(x) for labels y of -1 and 1, by their margin y f(x).

    Parameters
    ----------
    margin : array
        Margins y f(x), which are positive if the sign of the score is correct.
    kind : {'zero-one', 'perceptron', 'hinge', 'smoothed-hinge', 'logistic', 'exponential'}, default='hinge'
        1 where m < 0; max(-m, 0); max(1 - m, 0); g log(1 + exp((1 - m) / g)); log(1 + exp(-m)); exp(-m).
    smoothing : float, default=1.0
        Parameter g of the smoothed hinge, which is at most g log 2 above the hinge.
    base : float, default=np.e
        Base of the logarithm of the logistic loss. With base 2 it is 1 at margin zero, and an upper bound of
        the 0-1 loss. Hinge and exponential loss are upper bounds too; the perceptron loss is not.
    derivative : bool, default=False
        Whether to also return the derivative in the margin; the left derivative where it is not
        differentiable.

    Returns
    -------
    loss : ndarray, as the margins
    slope : ndarray
        Derivative of the loss. Only if `derivative`.

    Examples
    --------
    >>> from suffice.statistics import margin_loss
    >>> margin_loss([-1.0, 0.0, 0.5, 2.0], "hinge")
    array([2. , 1. , 0.5, 0. ])
    >>> margin_loss([-1.0, 0.0, 0.5, 2.0], "logistic", base=2).round(3)
    array([1.895, 1.   , 0.684, 0.183])
    """
    m = np.asarray(margin, dtype=np.float64)
    if kind == "smoothed-hinge":
        if not smoothing > 0:
            raise ValueError(
                f"smoothing must be positive; got {smoothing}. Without smoothing, use kind='hinge'."
            )
        loss, slope = _logistic((m - 1.0) / smoothing)
        loss = smoothing * loss
    elif kind in KINDS:
        loss, slope = KINDS[kind](m)
    else:
        raise ValueError(f"kind={kind!r} is unknown: use one of {[*KINDS, 'smoothed-hinge']}.")
    if kind == "logistic" and base != np.e:
        loss, slope = loss / np.log(base), slope / np.log(base)
    return (loss, slope) if derivative else loss


def best_score(probability: Any, kind: str = "logistic") -> np.ndarray:
    """Population minimizer of a margin loss: the score that minimizes the expected loss.

    Parameters
    ----------
    probability : array
        Probability that the label is 1 and not -1.
    kind : {'zero-one', 'perceptron', 'hinge', 'logistic', 'exponential'}, default='logistic'
        The loss. The minimizer is the log-odds for 'logistic', half the log-odds for 'exponential', the sign
        of the log-odds for 'hinge' and 'zero-one', and zero for 'perceptron'.

    Returns
    -------
    score : ndarray

    Examples
    --------
    >>> from suffice.statistics import best_score
    >>> best_score([0.2, 0.9], "hinge")
    array([-1.,  1.])
    """
    p = np.asarray(probability, dtype=np.float64)
    if kind not in BEST:
        raise ValueError(f"kind={kind!r} is unknown: use one of {list(BEST)}.")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("probability must be from 0 to 1.")
    return BEST[kind](p)
