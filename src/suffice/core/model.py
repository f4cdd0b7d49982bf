"""Predictors, models and families: immutable parameters that answer, or are estimated from sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from .randomness import Purpose, generator
from .statistics import Statistics
from .values import Value


class Predictor(Value):
    """Immutable parameters that a fitted estimator answers with: its `model_`."""


class Model(Predictor, ABC):
    """A predictor with `summarize` (block to statistics) and `estimate` (statistics to model).

    The law, for all blocks a and b, to rounding:
    ``m.summarize(a followed by b) == m.summarize(a) + m.summarize(b)``.
    """

    # Whether `summarize` adds up the runs of a block in place, as ``summarize(block, each=map)``. An `each`
    # that does as `map` does may compute them ahead. So threads can share one block, where a sum for each
    # thread would take too much memory. The bits are the same.
    threads_share_blocks: ClassVar[bool] = False

    @abstractmethod
    def summarize(self, block: Any) -> Statistics:
        """Statistics of one block, given the parameters (the E step)."""

    def sums_pieces(self, block: Any) -> bool:
        """Whether `summarize` also takes this block whole, as ``summarize(block, rows=n)``, and adds the sums
        of its pieces of n rows in the order of `tree_sum`. A compiled loop does so without the time that
        Python takes for each piece."""
        return False

    def estimate(self, s: Any) -> Self:
        """The model estimated from the total (the M step). Priors enter only here."""
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
        """`log_density` less the expected loss by the noise that regularization adds to every row, (N, K)."""
        return self.log_density(X)

    def summarize_known(self, X: Any, k: np.ndarray, weight: np.ndarray, K: int) -> Statistics:
        """`summarize` of rows that belong to one density each, k[n]."""
        R = np.zeros((K, len(k))).T
        R[np.arange(len(k)), k] = weight
        return self.summarize(X, R)

    def expect_chains(
        self, X: Any, offset: np.ndarray, weight: np.ndarray, start: np.ndarray, transition: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, Statistics] | None:
        """E step of a hidden Markov model with these emissions: the log-likelihood, expected counts of first
        states and of transitions, and what `summarize` returns for the marginals of the states. None if it is
        to be computed from `log_density`."""
        return None

    def sufficient(self, X: Any) -> np.ndarray:
        """Sufficient statistics t(x), (N, P), of an exponential family: `scores` are linear in them, up to a
        term of the row."""
        raise NotImplementedError(f"{type(self).__name__} is not an exponential family.")

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients of t(x) in log p(x given k), (K, P), and the intercepts, (K,)."""
        raise NotImplementedError(f"{type(self).__name__} is not an exponential family.")

    @abstractmethod
    def estimate(self, s: Any) -> Self:
        """The densities estimated from the statistics."""

    def posterior(self, s: Any) -> Any:
        """Conjugate posterior of the parameters, given the statistics; that of no rows is the prior."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def impute(self, X: Any, k: np.ndarray, rng: np.random.Generator) -> Any:
        """X with missing entries drawn from density k[n] given the observed ones, if `summarize` needs
        them."""
        return X

    @abstractmethod
    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One row from density k[n], for each n."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Number of free parameters, for the information criteria."""

    def log_prior(self) -> float:
        """Log of the prior density of the parameters, up to a constant; zero without a prior."""
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
