"""Generalization bounds: upper bounds on the risk, given the empirical risk.

Li 1.6; Gong and Xu 10.1; Vapnik, "The nature of statistical learning theory", 1995; Mohri, Rostamizadeh and
Talwalkar, "Foundations of machine learning", 2nd ed., 2018, chapters 2, 3 and 5. All logarithms are natural.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

MANY = 16  # points whose labellings, 65 536, are still tried one by one


def hoeffding_bound(
    deviation: Any, n_samples: Any, *, ranges: Any = 1.0, n_hypotheses: Any = 1, two_sided: bool = False
) -> Any:
    """Hoeffding's inequality: upper bound on the probability that a mean deviates from its expectation.

    Parameters
    ----------
    deviation : float or array
        Deviation of the sample mean from its expectation.
    n_samples : int or array
        Number of independent examples.
    ranges : float or array of shape (n_samples,), default=1.0
        Range (maximum minus minimum) of the values of all examples, or of each.
    n_hypotheses : int, default=1
        Number of means, for the union bound.
    two_sided : bool, default=False
        Whether to bound deviations in both directions.

    Returns
    -------
    float or ndarray
        ``exp(-2 * (n_samples * deviation)**2 / sum(ranges**2))``, times the number of events; at most 1.

    Examples
    --------
    >>> from suffice.textbook import hoeffding_bound
    >>> round(hoeffding_bound(0.05, 1000), 6)
    0.006738
    """
    n = np.asarray(n_samples, dtype=np.float64)
    widths = np.asarray(ranges, dtype=np.float64)
    if widths.ndim and not np.array_equal(n, len(widths)):
        raise ValueError(
            f"ranges has {len(widths)} entries, but there are {n_samples} examples: one for each."
        )
    _must_be(np.asarray(deviation) >= 0, f"deviation={deviation!r} must not be negative.")
    squares = (widths**2).sum() if widths.ndim else n * widths**2
    exponent = -2.0 * (n * np.asarray(deviation)) ** 2 / squares
    return _plain(np.minimum((2.0 if two_sided else 1.0) * np.asarray(n_hypotheses) * np.exp(exponent), 1.0))


def finite_class_bound(
    n_hypotheses: Any,
    n_samples: Any,
    *,
    delta: Any = 0.05,
    empirical_risk: Any = 0.0,
    two_sided: bool = False,
) -> Any:
    """Upper bound on the risk of a finite hypothesis class, with probability 1 - `delta`.

    It holds uniformly over the class, so also for the hypothesis chosen by the examples. If two-sided, the
    risk of the latter exceeds the minimum risk of the class by at most twice ``bound - empirical_risk``.

    Parameters
    ----------
    n_hypotheses : int or array
        Number of functions.
    n_samples : int or array
        Number of independent examples.
    delta : float, default=0.05
        Probability that the bound does not hold.
    empirical_risk : float or array, default=0.0
        Mean loss on the examples. Losses must be between 0 and 1.
    two_sided : bool, default=False
        Whether to bound deviations in both directions.

    Returns
    -------
    float or ndarray
        ``empirical_risk + sqrt(log(n_hypotheses / delta) / (2 * n_samples))``; two-sided, with 2 / delta.

    Examples
    --------
    >>> from suffice.textbook import finite_class_bound
    >>> round(finite_class_bound(100, 1000, delta=0.05, empirical_risk=0.1), 4)
    0.1616
    """
    ways = _ways(n_hypotheses, delta, two_sided)
    return _plain(np.asarray(empirical_risk) + np.sqrt(ways / (2.0 * np.asarray(n_samples))))


def finite_class_sample_size(
    n_hypotheses: int, deviation: float, *, delta: float = 0.05, two_sided: bool = False
) -> int:
    """Sample size for which the risks of a finite hypothesis class deviate by at most `deviation`.

    Parameters
    ----------
    n_hypotheses : int
        Number of functions.
    deviation : float
        Maximum difference between the risk and the mean loss on the examples.
    delta : float, default=0.05
        Probability that the bound does not hold.
    two_sided : bool, default=False
        Whether to bound deviations in both directions.

    Examples
    --------
    >>> from suffice.textbook import finite_class_sample_size
    >>> finite_class_sample_size(1000, 0.1, delta=0.05, two_sided=True)
    530
    """
    _must_be(deviation > 0, f"deviation={deviation!r} must be positive.")
    return int(np.ceil(_ways(n_hypotheses, delta, two_sided) / (2.0 * deviation**2)))


def vc_confidence(vc_dimension: Any, n_samples: Any, *, delta: Any = 0.05) -> Any:
    """VC confidence: upper bound on the risk minus the empirical risk, by the VC dimension.

    Parameters
    ----------
    vc_dimension : float or array
        Largest number of points that the class can shatter. For hyperplanes, the number of features plus one.
    n_samples : int or array
        Number of independent examples.
    delta : float, default=0.05
        Probability that the bound does not hold.

    Returns
    -------
    float or ndarray
        ``sqrt((V * (log(2 * n / V) + 1) + log(4 / delta)) / n)``; with V at most 2 n, beyond which the number
        of labellings does not grow.

    Examples
    --------
    >>> from suffice.textbook import vc_confidence
    >>> round(vc_confidence(10, 1000, delta=0.05), 4)
    0.2595
    """
    V, n = np.asarray(vc_dimension, dtype=np.float64), np.asarray(n_samples, dtype=np.float64)
    _must_be((V > 0) & (n > 0), "vc_dimension and n_samples must be positive.")
    _must_be_share(delta)
    V = np.minimum(V, 2.0 * n)
    return _plain(np.sqrt((V * (np.log(2.0 * n / V) + 1.0) + np.log(4.0 / np.asarray(delta))) / n))


def vc_bound(
    empirical_risk: Any, vc_dimension: Any, n_samples: Any, *, delta: Any = 0.05, constant: float = 1.0
) -> Any:
    """Upper bound on the risk by the VC dimension, with probability 1 - `delta`.

    Structural risk minimization chooses, from nested classes, the one with the smallest bound: pass the risks
    and the VC dimensions as arrays.

    Parameters
    ----------
    empirical_risk : float or array
        Mean loss on the examples. Losses must be between 0 and 1.
    vc_dimension : float or array
        See `vc_confidence`.
    n_samples : int or array
        Number of independent examples.
    delta : float, default=0.05
        Probability that the bound does not hold.
    constant : float, default=1.0
        Factor of the confidence, for texts that state it up to a constant.

    Examples
    --------
    >>> from suffice.textbook import vc_bound
    >>> bounds = vc_bound([0.30, 0.11, 0.10, 0.10], [2, 3, 50, 500], 100_000)
    >>> bounds.round(3), int(bounds.argmin())
    (array([0.317, 0.13 , 0.168, 0.287]), 1)
    """
    confidence = np.asarray(vc_confidence(vc_dimension, n_samples, delta=delta))
    return _plain(np.asarray(empirical_risk, dtype=np.float64) + constant * confidence)


def margin_bound(
    margin_error: Any, margin: Any, n_samples: Any, *, radius: Any = 1.0, delta: Any = 0.05
) -> Any:
    """Upper bound on the error of a hyperplane by its margin, with probability 1 - `delta`, for any number of
    features.

    Parameters
    ----------
    margin_error : float or array
        Fraction of the examples whose signed distance to the hyperplane is below the margin.
    margin : float or array
        The margin, chosen before the examples are seen.
    n_samples : int or array
        Number of independent examples.
    radius : float, default=1.0
        Upper bound on the norm of the rows.
    delta : float, default=0.05
        Probability that the bound does not hold.

    Returns
    -------
    float or ndarray
        ``margin_error + 2 * radius / (margin * sqrt(n)) + sqrt(log(1 / delta) / (2 * n))``.

    Examples
    --------
    >>> from suffice.textbook import margin_bound
    >>> round(margin_bound(0.02, 0.2, 10_000), 4)
    0.1322
    """
    _must_be(np.asarray(margin) > 0, f"margin={margin!r} must be positive.")
    _must_be_share(delta)
    n = np.asarray(n_samples, dtype=np.float64)
    complexity = 2.0 * np.asarray(radius) / (np.asarray(margin) * np.sqrt(n))
    return _plain(
        np.asarray(margin_error) + complexity + np.sqrt(np.log(1.0 / np.asarray(delta)) / (2.0 * n))
    )


def is_shattered(points: Any, estimator: Any = None, *, fit_intercept: bool = True) -> bool:
    """Whether hyperplanes, or an estimator, shatter these points.

    Hyperplanes shatter points if and only if these are affinely independent: otherwise, Radon's theorem gives
    a labelling that fails. So their VC dimension is the number of features plus one.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        The points.
    estimator : classifier, optional
        Fitted to each labelling with both classes, to see whether it classifies all points correctly. At most
        16 points, which have 65 536 labellings. If None, hyperplanes.
    fit_intercept : bool, default=True
        Whether the hyperplanes have an intercept.

    Examples
    --------
    >>> from suffice.textbook import is_shattered
    >>> is_shattered([[0, 0], [1, 0], [0, 1]]), is_shattered([[0, 0], [1, 0], [0, 1], [1, 1]])
    (True, False)
    """
    X = np.asarray(points, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"points has shape {X.shape}, expected (n_points, n_features).")
    if estimator is None:
        columns = X
        if fit_intercept:  # about their mean, since only how points lie to each other counts
            columns = np.hstack([X - X.mean(axis=0), np.full((len(X), 1), np.abs(X).max(initial=1.0))])
        return bool(np.linalg.matrix_rank(columns) == len(X))
    if len(X) > MANY:
        raise ValueError(f"{len(X)} points have {2 ** len(X)} labellings: pass {MANY} points at most.")
    for labels in product((0, 1), repeat=len(X)):
        y = np.array(labels)
        if 0 < y.sum() < len(y) and (clone(estimator).fit(X, y).predict(X) != y).any():
            return False
    return True


def _ways(n_hypotheses: Any, delta: Any, two_sided: bool) -> Any:
    """log(n_hypotheses / delta), or twice as many."""
    _must_be_share(delta)
    _must_be(np.asarray(n_hypotheses) >= 1, f"n_hypotheses={n_hypotheses!r} must be at least 1.")
    return np.log((2.0 if two_sided else 1.0) * np.asarray(n_hypotheses) / np.asarray(delta))


def _must_be_share(delta: Any) -> None:
    values = np.asarray(delta)
    _must_be((values > 0) & (values < 1), f"delta={delta!r} must be between 0 and 1.")


def _must_be(holds: Any, said: str) -> None:
    if not np.all(holds):
        raise ValueError(said)


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value
