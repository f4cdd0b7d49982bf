"""Predictors, models and families: immutable parameters that predict, and that are estimated from sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from .randomness import Purpose, generator
from .statistics import Statistics
from .values import Value


class Predictor(Value):
    """Immutable parameters with which a fitted estimator predicts: the class of every `model_`."""


class Model(Predictor, ABC):
    """A predictor with `summarize` (block to statistics) and `estimate` (statistics to model).

    The law, for all blocks a and b, to rounding:
    ``m.summarize(a followed by b) == m.summarize(a) + m.summarize(b)``.
    """

    # Whether `summarize` takes `each`, a function like `map` that computes the parts of a block, perhaps in
    # threads, and adds their results in place and in order. Threads then share one block, where a sum for
    # each thread would take too much memory. The bits are the same.
    threads_share_blocks: ClassVar[bool] = False

    @abstractmethod
    def summarize(self, block: Any) -> Statistics:
        """Return the statistics of one block, given the parameters (the E step)."""

    def sums_pieces(self, block: Any) -> bool:
        """Whether ``summarize(block, rows=n)`` takes this block whole, and adds the sums of its pieces of n
        rows in the order of `tree_sum`. A compiled loop thus saves the overhead of Python for each piece."""
        return False

    def estimate(self, s: Any) -> Self:
        """Return the model estimated from the total (the M step). Priors enter only here."""
        raise NotImplementedError(f"{type(self).__name__} is a loss, which a solver minimizes.")


class Family(Value, ABC):
    """K densities of one kind on the same rows.

    Families are the building blocks of naive Bayes and discriminant analysis (labels known), of mixtures
    (labels hidden) and of hidden Markov models (labels hidden in a chain).
    """

    support: ClassVar[str]  # what a column holds: "real", "count", "binary", "category" or "mixed"

    @abstractmethod
    def log_density(self, X: Any) -> np.ndarray:
        """log p(x given k), (N, K). NaN means not observed, and is marginalized."""

    @abstractmethod
    def summarize(self, X: Any, R: np.ndarray) -> Statistics:
        """Statistics of the rows of X with responsibilities R (N, K) of the K densities, weights included."""

    def scores(self, X: Any) -> np.ndarray:
        """log p(x given k), (N, K), up to a term that is the same for every k."""
        return self.log_density(X)

    def regularized_log_density(self, X: Any) -> np.ndarray:
        """`log_density` minus its expected decrease by the noise that regularization adds to rows, (N, K)."""
        return self.log_density(X)

    def summarize_known(self, X: Any, k: np.ndarray, weight: np.ndarray, K: int) -> Statistics:
        """Return `summarize` for rows that each belong to one known density, k[n]."""
        R = np.zeros((K, len(k))).T
        R[np.arange(len(k)), k] = weight
        return self.summarize(X, R)

    def expect_chains(
        self, X: Any, offset: np.ndarray, weight: np.ndarray, start: np.ndarray, transition: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, Statistics] | None:
        """Compute the E step of a hidden Markov model with these emissions in one loop, if there is one.

        Returns the log-likelihood, the expected counts of first states and of transitions, and the statistics
        of `summarize` for the marginals of the states; or None, then the caller uses `log_density`.
        """
        return None

    def sufficient(self, X: Any) -> np.ndarray:
        """Return the sufficient statistics t(x) of an exponential family, (N, P).

        `scores` are linear in them, up to a term that is the same for every k.
        """
        raise NotImplementedError(f"{type(self).__name__} is not an exponential family.")

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of t(x) in log p(x given k), (K, P), and the intercepts, (K,)."""
        raise NotImplementedError(f"{type(self).__name__} is not an exponential family.")

    @abstractmethod
    def estimate(self, s: Any) -> Self:
        """Return the densities estimated from the statistics."""

    def posterior(self, s: Any) -> Any:
        """Return the conjugate posterior of the parameters. Without rows it is the prior."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def impute(self, X: Any, k: np.ndarray, rng: np.random.Generator) -> Any:
        """Return X with missing entries drawn from density k[n] given the observed ones.

        A family whose `summarize` accepts missing entries returns X.
        """
        return X

    @abstractmethod
    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one row from density k[n], for each n."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of free parameters, for the information criteria."""

    def log_prior(self) -> float:
        """Return the log prior density of the parameters, up to a constant; zero without a prior."""
        return 0.0

    def must_be_of(self, K: int, D: int, each: str) -> None:
        """Raise unless there are K densities on D columns."""
        columns = self.sample(np.zeros(1, int), generator(Purpose.PROBES)).shape[1]
        densities = self.log_density(np.full((1, columns), np.nan)).shape[1]
        if (densities, columns) != (K, D):
            raise ValueError(
                f"{type(self).__name__} has {densities} densities on {columns} columns, expected one for "
                f"each of the {K} {each}, on the {D} columns of X."
            )
