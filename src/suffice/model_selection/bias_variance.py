"""Bias-variance decomposition of the squared error. CS181 2.8.1; Geman, Bienenstock and Doursat, "Neural
networks and the bias/variance dilemma", 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..core.values import Value
from ..statistics import moments


@dataclass(frozen=True, eq=False)
class BiasVariance(Value):
    """Parts of the expected squared error at each point. Returned by `bias_variance_decomposition`.

    Attributes
    ----------
    bias : ndarray
        Mean prediction minus the truth.
    variance : ndarray
        Variance of the predictions.
    noise : ndarray
        Variance of the targets about the truth.
    """

    bias: Annotated[np.ndarray, "(...)"]
    variance: Annotated[np.ndarray, "(...)"]
    noise: Annotated[np.ndarray, "(...)"]

    @property
    def bias_squared(self) -> np.ndarray:
        return self.bias**2

    @property
    def mse(self) -> np.ndarray:
        """The expected squared error at each point: the sum of the three."""
        return self.noise + self.bias_squared + self.variance

    def mean(self) -> dict[str, float]:
        """The parts and their sum, on average over the points."""
        names = ("noise", "bias_squared", "variance", "mse")
        return {name: float(np.mean(getattr(self, name))) for name in names}


def bias_variance_decomposition(
    predictions: Any, truth: Any, *, noise: Any = 0.0, weight: Any = None
) -> BiasVariance:
    """Bias-variance decomposition of predictions from replicated data sets.

    Parameters
    ----------
    predictions : array of shape (n_replicates, n_points)
        Predictions at each point after fitting to each of several data sets, as returned by
        `replicate_predictions`; or estimates of one number, (n_replicates,).
    truth : array of shape (n_points,) or float
        The expected target of each point, without noise.
    noise : array of shape (n_points,) or float, default=0.0
        Variance of the targets about the truth.
    weight : array of shape (n_replicates,), optional
        Probability of each data set. If None, uniform.

    Returns
    -------
    BiasVariance
        With `bias`, `variance`, `noise`, `bias_squared` and `mse` of each point, and their `mean()`.

    Examples
    --------
    >>> from suffice.model_selection import bias_variance_decomposition
    >>> found = bias_variance_decomposition([1.5, 2.5, 2.0], 1.8)
    >>> float(found.bias.round(6)), float(found.variance.round(6))
    (0.2, 0.166667)
    """
    P = np.asarray(predictions, dtype=np.float64)
    if P.ndim not in (1, 2) or not len(P):
        raise ValueError(f"predictions has shape {P.shape}, expected (n_replicates, n_points).")
    shape = P.shape[1:]
    weight = np.ones(len(P)) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.shape != (len(P),) or not (weight >= 0).all() or not weight.sum() > 0:
        raise ValueError(
            f"weight must be {len(P)} non-negative numbers, one per replicate, and not all zero."
        )
    of_each = moments(P.reshape(len(P), -1), weight, "diagonal")
    mean, variance = of_each.mean.reshape(shape), of_each.variance.reshape(shape)
    parts = (np.broadcast_to(np.asarray(part, dtype=np.float64), shape) for part in (truth, noise))
    expected, noise = (np.array(part) for part in parts)
    return BiasVariance(mean - expected, variance, noise)


def replicate_predictions(
    estimator: BaseEstimator,
    sample: Callable[[np.random.Generator], tuple[Any, Any]],
    X: Any,
    *,
    n_replicates: int = 100,
    random_state: int = 0,
) -> np.ndarray:
    """Predictions of an estimator fitted to replicated data sets.

    Parameters
    ----------
    estimator : estimator
        Estimator; a clone is fitted to each data set.
    sample : callable
        ``sample(rng)`` draws a data set with a NumPy generator, and returns its rows and targets.
    X : array of shape (n_points, n_features)
        Points at which to predict.
    n_replicates : int, default=100
        Number of data sets.
    random_state : int, default=0
        Seed. Data set n is drawn with ``default_rng([random_state, n])``, so that estimators are compared on
        the same data sets.

    Returns
    -------
    ndarray of shape (n_replicates, n_points)

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.linear_model import LinearRegression
    >>> from suffice.model_selection import bias_variance_decomposition, replicate_predictions
    >>> x = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> curve = x[:, 0] ** 2
    >>> found = replicate_predictions(
    ...     LinearRegression(), lambda rng: (x, curve + rng.normal(scale=0.1, size=20)), x, n_replicates=50
    ... )
    >>> parts = bias_variance_decomposition(found, curve, noise=0.01).mean()
    >>> parts["bias_squared"] > 10 * parts["variance"]
    True
    """
    rngs = (np.random.default_rng([random_state, n]) for n in range(n_replicates))
    return np.stack([clone(estimator).fit(*sample(rng)).predict(X) for rng in rngs])
