"""Conjugate priors and their posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.special import digamma, gammaln, polygamma, xlogy

from ..core.values import Value


@dataclass(frozen=True, eq=False)
class Dirichlet(Value):
    """Dirichlet prior for the probabilities of V symbols.

    >>> Dirichlet(np.ones(3)).posterior([2, 0, 1]).mean
    array([0.5       , 0.16666667, 0.33333333])
    """

    alpha: Annotated[np.ndarray, "real (V,)"]

    def posterior(self, counts: np.ndarray) -> Dirichlet:
        return Dirichlet(np.asarray(self.alpha) + np.asarray(counts, dtype=float))

    @property
    def mean(self) -> np.ndarray:
        return self.alpha / np.sum(self.alpha)

    @property
    def mode(self) -> np.ndarray:
        """The mode, on the boundary for the symbols whose alpha is below 1."""
        above = np.maximum(np.asarray(self.alpha) - 1.0, 0.0)
        return above / above.sum()

    @property
    def expected_log(self) -> np.ndarray:
        """E[log p_v]."""
        return digamma(self.alpha) - digamma(np.sum(self.alpha))

    @property
    def log_normalizer(self) -> float:
        """Logarithm of the beta function of alpha, the normalizing constant."""
        return float(np.sum(gammaln(self.alpha)) - gammaln(np.sum(self.alpha)))

    @property
    def entropy(self) -> float:
        """Entropy, E[-log density]."""
        return float(self.log_normalizer - (np.asarray(self.alpha) - 1.0) @ self.expected_log)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return rng.dirichlet(self.alpha)

    def divergence(self, prior: Dirichlet) -> float:
        """Kullback-Leibler divergence of this distribution from a prior."""
        change = (np.asarray(self.alpha) - prior.alpha) @ self.expected_log
        return float(prior.log_normalizer - self.log_normalizer + change)

    def log_density(self, p: np.ndarray) -> np.ndarray:
        """Log density of probabilities, (..., V)."""
        return xlogy(np.asarray(self.alpha) - 1.0, p).sum(axis=-1) - self.log_normalizer

    def log_evidence(self, counts: np.ndarray) -> float:
        """Log evidence of a sequence of symbols with these counts."""
        return self.posterior(counts).log_normalizer - self.log_normalizer

    def log_likelihood(self, mean_log: np.ndarray) -> float:
        """Mean log density of probabilities, given the mean of their logarithms."""
        return float((np.asarray(self.alpha) - 1.0) @ mean_log - self.log_normalizer)

    def slopes(self, mean_log: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Gradient and Hessian of `log_likelihood`. The Hessian is a diagonal plus a constant."""
        gradient = np.asarray(mean_log) - self.expected_log
        return gradient, -polygamma(1, self.alpha), float(polygamma(1, np.sum(self.alpha)))

    def estimate(self, mean_log: np.ndarray, *, symmetric: bool = False, max_iter: int = 100) -> Dirichlet:
        """Maximum likelihood parameters by Newton's method, in time linear in V.

        `mean_log` is the mean of log p, or its expectation. Minka, "Estimating a Dirichlet distribution",
        2000; Blei, Ng and Jordan 2003, appendix A.2. `symmetric` keeps all parameters equal. A step that
        leaves the positive numbers, or decreases the likelihood, is halved.

        >>> Dirichlet(np.ones(2)).estimate(Dirichlet(np.array([3.0, 0.5])).expected_log).alpha.round(6)
        array([3. , 0.5])
        """
        current = Dirichlet(np.array(self.alpha, dtype=float))
        if current.alpha.size == 1:  # p is one, whatever alpha is
            return current
        value = current.log_likelihood(mean_log)
        for _ in range(max_iter):
            gradient, diagonal, common = current.slopes(mean_log)
            if symmetric:
                step = np.full_like(
                    diagonal, -gradient.sum() / (diagonal.sum() + len(diagonal) ** 2 * common)
                )
            else:
                shift = (gradient / diagonal).sum() / (1.0 / common + (1.0 / diagonal).sum())
                step = -(gradient - shift) / diagonal
            for _ in range(60):
                new = Dirichlet(current.alpha + step)
                if (new.alpha > 0).all():
                    after = new.log_likelihood(mean_log)
                    if after >= value:
                        break
                step = 0.5 * step
            else:
                return current
            current, value = new, after
            if (np.abs(step) <= 1e-12 * current.alpha).all():
                return current
        return current


@dataclass(frozen=True)
class Beta(Value):
    """Beta prior for a probability.

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
    """Normal prior for the mean of a Gaussian with known covariance.

    >>> NormalPrior(np.zeros(1), np.eye(1)).posterior([[2.0], [4.0]], covariance=np.eye(1)).mean
    array([2.])
    """

    mean: Annotated[np.ndarray, "real (D,)"]
    covariance: Annotated[np.ndarray, "real (D, D)"]

    def posterior(self, X: np.ndarray, covariance: np.ndarray) -> NormalPrior:
        X = np.asarray(X, dtype=float)
        prior, each = np.linalg.inv(self.covariance), np.linalg.inv(covariance)
        spread = np.linalg.inv(prior + len(X) * each)
        return NormalPrior(spread @ (prior @ self.mean + each @ X.sum(axis=0)), spread)

    def predictive(self, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Posterior predictive mean and covariance."""
        return self.mean, self.covariance + covariance


@dataclass(frozen=True, eq=False)
class InverseWishart(Value):
    """Inverse Wishart prior for the covariance of a Gaussian with known mean."""

    scale: Annotated[np.ndarray, "real (D, D)"]
    degrees_of_freedom: float

    def posterior(self, X: np.ndarray, mean: np.ndarray) -> InverseWishart:
        Y = np.asarray(X, dtype=float) - mean
        return InverseWishart(self.scale + Y.T @ Y, self.degrees_of_freedom + len(Y))

    @property
    def mean(self) -> np.ndarray:
        return self.scale / (self.degrees_of_freedom - len(self.scale) - 1.0)
