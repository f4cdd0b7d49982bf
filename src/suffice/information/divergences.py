"""Ratios of densities, and the divergences that are means of them.

Yamada, Suzuki, Kanamori, Hachiya and Sugiyama, "Relative density-ratio estimation for robust distribution
comparison", 2013.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def relative_density_ratio(p: Any, q: Any, alpha: float = 0.0) -> np.ndarray:
    """The ratio p / (alpha p + (1 - alpha) q) of densities or probabilities at the same points.

    Parameters
    ----------
    p, q : array
        Densities or probabilities.
    alpha : float, default=0.0
        Share of p in the denominator, from 0 to 1. The ratio is at most 1 / alpha; with 0 it is p / q.

    Returns
    -------
    ratio : ndarray
        Infinite where only q is zero and `alpha` is; NaN where both are zero.

    Examples
    --------
    >>> from suffice.information import relative_density_ratio
    >>> relative_density_ratio([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], alpha=0.2).round(4)
    array([2.7778, 0.5556, 0.7143])
    """
    p, q = _densities(p, q, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        return p / (alpha * p + (1.0 - alpha) * q)


def relative_pearson(p: Any, q: Any, alpha: float = 0.0) -> float:
    """The relative Pearson divergence of discrete distributions: the mean of (ratio - 1)^2 over the mixture.

    Parameters
    ----------
    p, q : array
        Probabilities of the same outcomes.
    alpha : float, default=0.0
        Share of p in the mixture alpha p + (1 - alpha) q, with which p is compared. With 0, it is the Pearson
        (chi-squared) divergence, which is infinite where only q is zero.

    Returns
    -------
    divergence : float

    See Also
    --------
    RelativeDensityRatio : Ratio and divergence from two samples.

    Examples
    --------
    >>> from suffice.information import relative_pearson
    >>> round(relative_pearson([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], alpha=0.5), 4)
    0.1933
    """
    p, q = _densities(p, q, alpha)
    for name, values in (("p", p), ("q", q)):
        if abs(values.sum() - 1.0) > 1e-6:
            raise ValueError(f"{name} must be probabilities with sum 1; got sum {values.sum():.6g}.")
    mixture = alpha * p + (1.0 - alpha) * q
    some = (p > 0) | (mixture > 0)
    with np.errstate(divide="ignore"):
        return float(((p - mixture)[some] ** 2 / mixture[some]).sum())


def _densities(p: Any, q: Any, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if p.shape != q.shape:
        raise ValueError(f"p and q must have the same shape; got {p.shape} and {q.shape}.")
    if not (0.0 <= alpha <= 1.0):
        raise ValueError(f"alpha must be from 0 to 1; got {alpha}.")
    if not ((p >= 0).all() and (q >= 0).all()):
        raise ValueError("p and q must be non-negative.")
    return p, q
