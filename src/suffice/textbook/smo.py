"""One step of sequential minimal optimization, as textbooks write it. Platt 1998; Li 7.4."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from ..core.values import Value


@dataclass(frozen=True, eq=False)
class SMOStep(Value):
    """What one step of two variables computed."""

    errors: Annotated[np.ndarray, "(N,)"]  # E = f(x) - y before the step
    curvature: float  # eta = k11 + k22 - 2 k12
    unclipped: float  # the second variable at the minimum along the line of the constraint
    low: float  # its bounds on that line
    high: float
    alpha: Annotated[np.ndarray, "(N,)"]  # after the step
    b1: float  # the intercepts with which the first and the second row are on the margin
    b2: float
    intercept: float  # b after the step


def smo_step(
    K: Any, y: ArrayLike, alpha: Any, intercept: float, first: int, second: int, *, C: float = 1.0
) -> SMOStep:
    """Minimize the dual of a support vector classifier over two of its variables.

    This is the step of the textbooks, for those who learn the algorithm. :class:`~suffice.svm.SVC` repeats it
    many times.

    Parameters
    ----------
    K : array of shape (n_samples, n_samples)
        Kernel matrix.
    y : array of shape (n_samples,)
        Labels, 1 or -1.
    alpha : array of shape (n_samples,)
        Variables, from zero to C, with ``alpha @ y == 0``.
    intercept : float
        b of the decision function ``K @ (alpha * y) + b``.
    first : int
        Index of the first variable.
    second : int
        Index of the second variable.
    C : float, default=1.0
        Upper bound of the variables.

    Returns
    -------
    step : SMOStep
        The `alpha` and `intercept` after the step, with the `errors`, `curvature`, `unclipped` value and its
        bounds `low` and `high`, and the intercepts `b1` and `b2` of either row.

    References
    ----------
    * Platt, "Fast training of support vector machines using sequential minimal optimization", 1998.
    * Li, Machine Learning Methods, section 7.4.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.textbook import smo_step
    >>> X, y = np.array([[3, 3], [4, 3], [1, 1]]), [1, 1, -1]
    >>> step = smo_step(X @ X.T, y, np.zeros(3), 0.0, first=0, second=2)
    >>> step.alpha, step.intercept
    (array([0.25, 0.  , 0.25]), -2.0)
    """
    K = check_array(K, dtype=np.float64)
    y, alpha = np.asarray(y, np.float64), np.asarray(alpha, np.float64)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be a square matrix; got shape {K.shape}.")
    if y.shape != (len(K),) or alpha.shape != (len(K),):
        raise ValueError(f"y and alpha have shapes {y.shape} and {alpha.shape}, expected {(len(K),)}.")
    if not (np.abs(y) == 1).all():
        raise ValueError(f"y must be 1 or -1; got {np.unique(y).tolist()}: use np.where(y == c, 1, -1).")
    rounding = 1e-8 * min(C, 1.0)  # rounding errors of earlier steps
    if not C > 0 or not ((alpha >= -rounding) & (alpha <= C + rounding)).all():
        raise ValueError(
            f"alpha must be from 0 to C={C}, which is positive; got {alpha.min()}, {alpha.max()}."
        )
    i, j = index(first), index(second)
    if i == j or not {i, j} <= set(range(len(K))):
        raise ValueError(f"first and second must be two rows of {len(K)}, from 0; got {first} and {second}.")
    errors = K @ (alpha * y) + intercept - y
    low, high = max(0.0, alpha[j] - alpha[i]), min(C, C + alpha[j] - alpha[i])
    if y[i] == y[j]:
        low, high = max(0.0, alpha[i] + alpha[j] - C), min(C, alpha[i] + alpha[j])
    curvature = float(K[i, i] + K[j, j] - 2.0 * K[i, j])
    gain = y[j] * (errors[i] - errors[j])
    # Without curvature, as of equal rows, the minimum is at a bound.
    unclipped = alpha[j] + gain / curvature if curvature > 0 else alpha[j] if gain == 0 else gain * np.inf
    after = alpha.copy()
    after[j] = min(max(unclipped, low), high)
    after[i] = alpha[i] + y[i] * y[j] * (alpha[j] - after[j])
    change = y * (after - alpha)
    b1, b2 = (float(intercept - errors[n] - K[n] @ change) for n in (i, j))
    inside = [b for b, n in ((b1, i), (b2, j)) if 0.0 < after[n] < C]
    b = inside[0] if inside else 0.5 * (b1 + b2)
    return SMOStep(errors, curvature, float(unclipped), float(low), float(high), after, b1, b2, b)
