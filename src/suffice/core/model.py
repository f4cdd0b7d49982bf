"""Models and families: immutable parameters that summarize blocks and are estimated from the sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from .statistics import Statistics
from .values import Value


class Model(Value, ABC):
    """Parameters, what they predict, what they add up, and what they become.

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

    @abstractmethod
    def estimate(self, s: Any) -> Self:
        """The model that the total calls for (the M step). Priors enter here and only here."""


class Family(Value, ABC):
    """K densities of one kind on the same rows.

    The block of naive Bayes and discriminant analysis (labels known), of mixtures (labels hidden) and
    of hidden Markov models (hidden and chained).
    """

    support: ClassVar[str]  # what a column holds: "real", "count", "binary", "category" or "mixed"

    @abstractmethod
    def log_density(self, X: Any) -> np.ndarray:
        """log p(x given k), (N, K). NaN is not observed, and is summed out."""

    @abstractmethod
    def summarize(self, X: Any, R: np.ndarray) -> Statistics:
        """Statistics of the rows of X, shared among the K densities by R (N, K), weights included."""

    def scores(self, X: Any) -> np.ndarray:
        """log p(x given k), (N, K), up to a term of the row that is the same for every k."""
        return self.log_density(X)

    def summarize_known(self, X: Any, k: np.ndarray, weight: np.ndarray, K: int) -> Statistics:
        """`summarize` of rows each of which is of one of the K densities, k[n]."""
        R = np.zeros((K, len(k))).T
        R[np.arange(len(k)), k] = weight
        return self.summarize(X, R)

    def sufficient(self, X: Any) -> np.ndarray:
        """t(x), (N, P), of an exponential family: `scores` are linear in it, but for a term of the row."""
        raise NotImplementedError(f"{type(self).__name__} is no exponential family.")

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients of t(x) in log p(x given k), (K, P), and the intercepts, (K,)."""
        raise NotImplementedError(f"{type(self).__name__} is no exponential family.")

    @abstractmethod
    def estimate(self, s: Any) -> Self:
        """The densities of this kind that the statistics call for."""

    @abstractmethod
    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One row from density k[n], for each n."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Free parameters, as the information criteria count them."""

    def log_prior(self) -> float:
        """Log of the prior density of the parameters, up to a constant; zero without a prior."""
        return 0.0

    def must_be_of(self, K: int, D: int, each: str) -> None:
        """Refuse densities that are not K, on D columns."""
        columns = self.sample(np.zeros(1, int), np.random.default_rng(0)).shape[1]
        densities = self.log_density(np.full((1, columns), np.nan)).shape[1]
        if (densities, columns) != (K, D):
            raise ValueError(
                f"{type(self).__name__} has {densities} densities on {columns} columns, expected one for "
                f"each of the {K} {each}, on the {D} columns of X."
            )
