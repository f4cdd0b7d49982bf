"""Improved iterative scaling for non-negative features. Li ch. 6 and 11.

Each pass sums the expected counts. Each weight is then updated as if the others were fixed, so that its
expected count equals the observed one. Della Pietra, Della Pietra and Lafferty, "Inducing features of random
fields", 1997; with a squared penalty, Chen and Rosenfeld, "A survey of smoothing techniques for maximum
entropy models", 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.loop import Watch
from .descent import Descent

# Least ratio of observed to expected counts. The weight of an unseen feature would otherwise go to minus
# infinity.
SMALLEST = 1e-10


def iterative_scaling(
    counts: Callable[[np.ndarray], tuple[float, np.ndarray]],
    observed: np.ndarray,
    totals: np.ndarray,
    start: np.ndarray,
    *,
    penalty: Any = 0.0,
    standard: Callable[[np.ndarray], np.ndarray] = lambda gradient: gradient,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Maximize the likelihood of a log-linear model by iterative scaling.

    Parameters
    ----------
    counts : callable
        ``counts(x)`` returns the objective, for the trace, and the expected counts by total of the features,
        (M, P): a fold.
    observed : ndarray of shape (P,)
        The counts in the data.
    totals : ndarray of shape (M,)
        Possible totals of the features of an example. With a slack feature there is only one.
    start : ndarray of shape (P,)
        Initial point.
    penalty : float or ndarray of shape (P,)
        Strength of the l2 penalty, on the scale of the counts.
    standard : callable
        Scales the differences of the counts, which are the gradient, before they are compared with `tol`.
    tol : float
        Tolerance of the stopping criterion: the largest difference between expected and observed counts,
        penalty included.
    max_iter : int
        Maximum number of iterations.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    A coin that fell on heads three times in four: one feature, which is one for heads.

    >>> import numpy as np
    >>> from suffice.fitting import iterative_scaling
    >>> p = lambda x: 1 / (1 + np.exp(-x))
    >>> counts = lambda x: (float(-3 * np.log(p(x[0])) - np.log1p(-p(x[0]))), 4 * p(x)[None])
    >>> x = iterative_scaling(counts, np.array([3.0]), np.array([1.0]), np.zeros(1), tol=1e-6).model
    >>> p(x).round(4)
    array([0.75])
    """

    def step(state: Descent) -> Descent:
        x = state.model
        value, expected = counts(x)
        apart = expected.sum(axis=0) - observed + penalty * x
        if np.abs(standard(apart)).max(initial=0.0) <= tol:
            return state.replace(trace=(*state.trace, value), value=value, stopped_because="tolerance")
        new = x + scaling_step(observed, expected, totals, x, penalty)
        return Descent(new, (*state.trace, value), value=value)

    return (watch or Watch()).limited(max_iter).loop(step, Descent(start))


def scaling_step(
    observed: np.ndarray, expected: np.ndarray, totals: np.ndarray, x: np.ndarray, penalty: Any = 0.0
) -> np.ndarray:
    """Return d with ``sum_m expected[m] exp(d totals[m]) + penalty (x + d) = observed``, for each feature.

    The left side is increasing and convex, so Newton's method from a point above the root decreases to it
    monotonically.
    """
    penalty = np.broadcast_to(np.asarray(penalty, dtype=np.float64), x.shape)
    least = np.where(penalty > 0, 0.0, SMALLEST * expected.sum(axis=0))
    target = np.maximum(observed, least) - penalty * x
    # The starting point is zero if that is above the root, otherwise where one term alone reaches the target.
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.log(np.maximum(target, 0.0) / expected) / totals[:, None]
    high = np.where((expected > 0) & (totals[:, None] > 0), alone, np.inf).min(axis=0, initial=np.inf)
    high = np.where(penalty > 0, np.minimum(high, target / np.where(penalty > 0, penalty, 1.0)), high)
    live = np.isfinite(high) | (expected > 0).any(axis=0)
    d = np.where(live & (expected.sum(axis=0) < target), high, 0.0)
    for _ in range(100):
        terms = expected * np.exp(totals[:, None] * d)
        gap = terms.sum(axis=0) + penalty * d - target
        slope = totals.dot(terms) + penalty
        move = np.where(live & (slope > 0), gap / np.where(slope > 0, slope, 1.0), 0.0)
        d = d - move
        if np.abs(move).max(initial=0.0) <= 1e-13 * max(1.0, float(np.abs(d).max(initial=0.0))):
            break
    return d
