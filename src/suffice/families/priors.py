"""Conjugate priors: what they become when data are seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from ..core.values import Value


@dataclass(frozen=True, eq=False)
class Dirichlet(Value):
    """A prior for the probabilities of V symbols.

    >>> Dirichlet(np.ones(3)).posterior([2, 0, 1]).mean
    array([0.5       , 0.16666667, 0.33333333])
    """

    alpha: np.ndarray  # (V,)

    def posterior(self, counts: np.ndarray) -> Dirichlet:
        return Dirichlet(np.asarray(self.alpha) + np.asarray(counts, dtype=float))

    @property
    def mean(self) -> np.ndarray:
        return self.alpha / np.sum(self.alpha)

    @property
    def mode(self) -> np.ndarray:
        return (self.alpha - 1.0) / np.sum(self.alpha - 1.0)

    @property
    def expected_log(self) -> np.ndarray:
        """E[log p_v]."""
        return digamma(self.alpha) - digamma(np.sum(self.alpha))


@dataclass(frozen=True)
class Beta(Value):
    """A prior for a probability.

    >>> Beta(2, 2).posterior(6, 4)
    Beta(a=8, b=6)
    """

    a: float
    b: float

    def posterior(self, successes: float, failures: float) -> Beta:
        return Beta(self.a + successes, self.b + failures)

    @property
    def mean(self) -> float:
        return self.a / (self.a + self.b)

    @property
    def mode(self) -> float:
        return (self.a - 1.0) / (self.a + self.b - 2.0)


@dataclass(frozen=True, eq=False)
class NormalPrior(Value):
    """A prior for the mean of a Gaussian whose covariance is known.

    >>> NormalPrior(np.zeros(1), np.eye(1)).posterior([[2.0], [4.0]], covariance=np.eye(1)).mean
    array([2.])
    """

    mean: np.ndarray  # (D,)
    covariance: np.ndarray  # (D, D)

    def posterior(self, X: np.ndarray, covariance: np.ndarray) -> NormalPrior:
        X = np.asarray(X, dtype=float)
        prior, each = np.linalg.inv(self.covariance), np.linalg.inv(covariance)
        spread = np.linalg.inv(prior + len(X) * each)
        return NormalPrior(spread @ (prior @ self.mean + each @ X.sum(axis=0)), spread)

    def predictive(self, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of the next observation."""
        return self.mean, self.covariance + covariance


@dataclass(frozen=True, eq=False)
class InverseWishart(Value):
    """A prior for the covariance of a Gaussian whose mean is known."""

    scale: np.ndarray  # (D, D)
    degrees_of_freedom: float

    def posterior(self, X: np.ndarray, mean: np.ndarray) -> InverseWishart:
        Y = np.asarray(X, dtype=float) - mean
        return InverseWishart(self.scale + Y.T @ Y, self.degrees_of_freedom + len(Y))

    @property
    def mean(self) -> np.ndarray:
        return self.scale / (self.degrees_of_freedom - len(self.scale) - 1.0)
