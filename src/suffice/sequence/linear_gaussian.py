"""Linear Gaussian state space model of one dimension: the Kalman filter. Gong and Xu, problem 7.8.

Kalman, "A new approach to linear filtering and prediction problems", 1960.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..core.values import Value
from ..families.gaussian import LOG_2PI


@dataclass(frozen=True, eq=False)
class LinearGaussianStateSpace(Value):
    """State z_t = a z_(t-1) + u_t and observation y_t = b z_t + v_t, with u ~ N(0, q) and v ~ N(0, r).

    The first observation is of z_1, one step after z_0 ~ N(mean, variance). NaN means not observed.

    >>> model = LinearGaussianStateSpace(a=0.9, b=1.0, q=0.5, r=0.2)
    >>> mean, variance = model.filter([1.0, np.nan, -0.3])
    >>> mean.round(3), variance.round(3)
    (array([ 0.868,  0.781, -0.135]), array([0.174, 0.641, 0.167]))
    """

    a: float
    b: float
    q: float  # variance, as r is
    r: float
    mean: float = 0.0
    variance: float = 1.0

    def filter(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of z_t given y_1 .. y_t, both (T,)."""
        return self._filtered(y)[:2]

    def log_likelihood(self, y: ArrayLike) -> float:
        """log p(y_1 .. y_T)."""
        return self._filtered(y)[2]

    def _filtered(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray, float]:
        y = np.asarray(y, dtype=np.float64)
        if y.ndim != 1:
            raise ValueError(f"y has shape {y.shape}, expected (n_steps,): one number per step.")
        m, v, total = self.mean, self.variance, 0.0
        means, variances = np.empty(len(y)), np.empty(len(y))
        for t, seen in enumerate(y.tolist()):
            m, v = self.a * m, self.a**2 * v + self.q
            if seen == seen:
                surprise, spread = seen - self.b * m, self.b**2 * v + self.r  # of y_t given those before
                gain = v * self.b / spread
                m, v = m + gain * surprise, (1.0 - gain * self.b) * v
                total -= 0.5 * (LOG_2PI + np.log(spread) + surprise**2 / spread)
            means[t], variances[t] = m, v
        return means, variances, float(total)
