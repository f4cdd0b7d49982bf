"""Models over a family: mixtures (hidden groups) and labelled classes (known groups).

Dempster, Laird and Rubin, "Maximum likelihood from incomplete data via the EM algorithm", 1977;
Li ch. 9 (mixtures) and ch. 4 (labels known).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import logsumexp, xlogy

from ..core.blocks import Matrix, Rows, missing
from ..core.model import Family, Model
from ..core.statistics import Statistics
from ..statistics import class_codes
from .gaussian import DiagonalGaussian


@dataclass(frozen=True, eq=False)
class GroupStatistics(Statistics):
    """Weights of K groups, the statistics of their family, and the log-likelihood."""

    log_likelihood: float
    weight: Annotated[np.ndarray, "(K,) or (K, M)"]  # (K, M) of K mixtures
    component: Any


class LatentGroups(Model):
    """Rows of K groups whose labels are hidden: log p(x, k), up to a bound, gives the responsibilities."""

    @abstractmethod
    def log_joint(self, X: Matrix) -> np.ndarray:
        """log p(x, k), (N, K)."""

    @property
    @abstractmethod
    def family(self) -> Family:
        """The densities that summarize rows."""

    def log_density(self, X: Matrix) -> np.ndarray:
        """log p(x), (N,)."""
        return logsumexp(self.log_joint(X), axis=1)

    def predict_proba(self, X: Matrix) -> np.ndarray:
        """p(k given x), (N, K): the responsibilities."""
        return _responsibilities(self.log_joint(X))[1]

    def summarize(self, block: Rows) -> GroupStatistics:
        log_px, R = _responsibilities(self.log_joint(block.X))
        R *= block.weight[:, None]
        return GroupStatistics(float(block.weight @ log_px), R.sum(axis=0), self.family.summarize(block.X, R))

    def summarize_as(self, R: np.ndarray, block: Rows) -> GroupStatistics:
        """Statistics of a block with fixed responsibilities."""
        R = R * block.weight[:, None]
        return GroupStatistics(0.0, R.sum(axis=0), self.family.summarize(block.X, R))


@dataclass(frozen=True, eq=False)
class Mixture(LatentGroups):
    """p(x) = sum_k weight_k p_k(x), with p_1 ... p_K of any one family.

    >>> from suffice.families import FullGaussian
    >>> model = Mixture(np.array([0.5, 0.5]), FullGaussian.start(2, 1))
    >>> model.predict_proba(np.zeros((1, 1)))
    array([[0.5, 0.5]])
    """

    weight: Annotated[np.ndarray, "real (K,)"]
    component: Annotated[Family, "K, D"]
    concentration: Annotated[Any, "number or real (K,)"] = (
        1.0  # of the Dirichlet prior of weights; 1: no prior
    )

    @property
    def family(self) -> Family:
        return self.component

    def log_joint(self, X: Matrix) -> np.ndarray:
        return self._weighted(self.component.log_density(X))

    def regularized_log_joint(self, X: Matrix) -> np.ndarray:
        """`log_joint` less the expected loss by the noise that regularization adds to every row, (N, K)."""
        return self._weighted(self.component.regularized_log_density(X))

    def _weighted(self, log_density: np.ndarray) -> np.ndarray:
        """Log densities plus the logarithms of the weights, in place."""
        with np.errstate(divide="ignore"):
            log_density += np.log(self.weight)
        return log_density

    def log_joint_of(self, X: Matrix, k: np.ndarray) -> np.ndarray:
        """log p(x, k) of rows with labels k, (N,)."""
        return self.log_joint(X)[np.arange(len(k)), k]

    def draw(self, X: Matrix, rng: np.random.Generator) -> np.ndarray:
        """A label for each row, from p(k given x)."""
        return draw_labels(self.predict_proba(X), rng)

    def complete(self, block: Rows, k: np.ndarray) -> GroupStatistics:
        """Statistics of rows with known labels."""
        K = len(self.weight)
        weight = np.bincount(k, block.weight, minlength=K)
        return GroupStatistics(0.0, weight, self.component.summarize_known(block.X, k, block.weight, K))

    def estimate(self, s: GroupStatistics) -> Self:
        weight = np.maximum(s.weight + (np.asarray(self.concentration) - 1.0), 0.0)
        return self.replace(weight=weight / weight.sum(), component=self.component.estimate(s.component))

    def objective(self, s: GroupStatistics) -> float:
        """Mean log-likelihood (plus the log prior over the same weight), from the statistics."""
        return (s.log_likelihood + self.log_prior()) / s.weight.sum()

    def log_prior(self) -> float:
        more = np.asarray(self.concentration) - 1.0
        present = self.weight > 0  # a component that has vanished has no say
        of_weights = float(
            (np.broadcast_to(more, present.shape)[present] * np.log(self.weight[present])).sum()
        )
        return of_weights + self.component.log_prior()

    @property
    def n_parameters(self) -> int:
        return self.component.n_parameters + len(self.weight) - 1


@dataclass(frozen=True, eq=False)
class Mixtures(Family):
    """K mixtures of M densities each: p(x given k) = sum_m weight[k, m] p_km(x), all of one family.

    It is an emission of hidden Markov models. `estimate` is one EM step.
    """

    weight: Annotated[np.ndarray, "real (K, M)"]
    component: Annotated[Family, "K = K * M, D"]  # those of k = 0 first
    concentration: float = 1.0  # of the Dirichlet prior of the weights; 1 means no prior

    support: ClassVar[str] = "real"

    @classmethod
    def start(cls, K: int, D: int, M: int = 2) -> Self:
        """A start with diagonal Gaussians at different means."""
        spread = np.tile(np.linspace(-1.0, 1.0, M), K)[:, None]
        family = DiagonalGaussian.start(K * M, D)
        return cls(np.full((K, M), 1.0 / M), family.replace(mean=family.mean + spread))

    def _log_joint(self, X: Matrix) -> np.ndarray:
        """log p(x, m given k), (N, K, M)."""
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        return self.component.log_density(X).reshape(-1, *self.weight.shape) + log_weight

    def log_density(self, X: Matrix) -> np.ndarray:
        return logsumexp(self._log_joint(X), axis=2)

    def summarize(self, X: Matrix, R: np.ndarray) -> GroupStatistics:
        K, M = self.weight.shape
        _, within = _responsibilities(self._log_joint(X).reshape(-1, M))
        return self.summarize_as(X, (within.reshape(-1, K, M) * R[:, :, None]).reshape(-1, K * M))

    def summarize_as(self, X: Matrix, R: np.ndarray) -> GroupStatistics:
        """Statistics of rows with fixed responsibilities of all K * M densities, weights included."""
        weight = R.sum(axis=0).reshape(self.weight.shape)
        return GroupStatistics(0.0, weight, self.component.summarize(X, R))

    def estimate(self, s: GroupStatistics) -> Self:
        weight = np.maximum(s.weight + (self.concentration - 1.0), 0.0)
        total = weight.sum(axis=1, keepdims=True)
        weight = np.where(total > 0, weight / np.where(total > 0, total, 1.0), self.weight)
        return self.replace(weight=weight, component=self.component.estimate(s.component))

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        below = np.cumsum(self.weight, axis=1)[k]
        m = np.minimum((rng.random((len(k), 1)) > below).sum(axis=1), self.weight.shape[1] - 1)
        return self.component.sample(k * self.weight.shape[1] + m, rng)

    @property
    def n_parameters(self) -> int:
        return self.component.n_parameters + self.weight.size - len(self.weight)

    def log_prior(self) -> float:
        return float(xlogy(self.concentration - 1.0, self.weight).sum()) + self.component.log_prior()


@dataclass(frozen=True, eq=False)
class Labelled(Model):
    """p(x, c) = prior_c p_c(x), with the class c of every row known: the block of generative classifiers."""

    classes: Annotated[np.ndarray, "labels (K,)"]  # in order
    prior: Annotated[np.ndarray, "real (K,)"]
    component: Annotated[Family, "K, D"]
    given_prior: Annotated[np.ndarray | None, "real (K,)"] = None  # if the prior is not estimated

    def log_joint(self, X: Matrix) -> np.ndarray:
        """log p(x, c), (N, K)."""
        with np.errstate(divide="ignore"):
            return np.log(self.prior) + self.component.log_density(X)

    def log_density(self, X: Matrix) -> np.ndarray:
        """log p(x), (N,)."""
        return logsumexp(self.log_joint(X), axis=1)

    def scores(self, X: Matrix) -> np.ndarray:
        """log p(x, c), (N, K), up to a term of the row."""
        with np.errstate(divide="ignore"):
            return np.log(self.prior) + self.component.scores(X)

    def summarize(self, block: Rows) -> GroupStatistics:
        codes, K = self.codes(block.y), len(self.classes)
        weight = np.bincount(codes, block.weight, minlength=K)
        return GroupStatistics(0.0, weight, self.component.summarize_known(block.X, codes, block.weight, K))

    def estimate(self, s: GroupStatistics) -> Self:
        prior = s.weight / s.weight.sum() if self.given_prior is None else self.given_prior
        return self.replace(prior=prior, component=self.component.estimate(s.component))

    def codes(self, y: np.ndarray) -> np.ndarray:
        return class_codes(self.classes, y)


@dataclass(frozen=True, eq=False)
class PartlyLabelled(Labelled):
    """p(x, c) = prior_c p_c(x), with the class c of some rows hidden.

    The likelihood of a row is p(x, c) if its class is known, else p(x).
    """

    unlabelled: Any = None  # label of unlabelled rows, besides None and NaN

    def codes(self, y: np.ndarray) -> np.ndarray:
        """Index of the class of each label; -1 if it is unknown."""
        hidden = missing(y)
        if self.unlabelled is not None:
            hidden = hidden | (y == self.unlabelled)
        codes = np.full(len(y), -1)
        codes[~hidden] = class_codes(self.classes, y[~hidden])
        return codes

    def summarize(self, block: Rows) -> GroupStatistics:
        codes = self.codes(block.y)
        log_joint = self.log_joint(block.X)
        log_p, R = _responsibilities(log_joint)
        known = np.flatnonzero(codes >= 0)
        log_p[known] = log_joint[known, codes[known]]
        R[known] = 0.0
        R[known, codes[known]] = 1.0
        R *= block.weight[:, None]
        return GroupStatistics(
            float(block.weight.dot(log_p)), R.sum(axis=0), self.component.summarize(block.X, R)
        )

    def summarize_labelled(self, block: Rows) -> GroupStatistics:
        """Statistics of the labelled rows, for initialization."""
        return Labelled.summarize(self, block[self.codes(block.y) >= 0])

    def objective(self, s: GroupStatistics) -> float:
        """Mean log-likelihood (plus the log prior over the same weight), from the statistics."""
        return (s.log_likelihood + self.component.log_prior()) / s.weight.sum()


def draw_labels(R: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One label for each row, with the probabilities of its row in R (N, K)."""
    below, k = R.T.copy(), np.zeros(len(R), np.int64)  # (K, N)
    for before, now in pairwise(below):
        now += before
    u = rng.random(len(R)) * below[-1]
    for bound in below[:-1]:
        k += u >= bound
    return k


def _responsibilities(log_joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log p(x), (N,), and p(k given x), (N, K). Responsibilities of an impossible row are uniform."""
    most = log_joint.max(axis=1, keepdims=True)
    impossible = most == -np.inf
    if impossible.any():
        log_joint = np.where(impossible, 0.0, log_joint)
    R = log_joint - np.where(impossible, 0.0, most)
    np.exp(R, out=R)
    total = R.sum(axis=1)
    R /= total[:, None]
    return most[:, 0] + np.log(total), R
