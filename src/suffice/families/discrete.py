"""K discrete densities: Bernoulli, Poisson and categorical columns, multinomial rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, xlogy

from ..core.model import Family
from ..statistics import CategoryCounts, Totals, category_codes, count_categories, totals


@dataclass(frozen=True, eq=False)
class Bernoulli(Family):
    """Columns of zeros and ones, independent given k: p(x_d = 1 given k) = probability[k, d]."""

    probability: np.ndarray  # (K, D)
    alpha: float = 0.0  # Laplace smoothing: this many ones and as many zeros were seen before

    support: ClassVar[str] = "binary"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.full((K, D), 0.5), **options)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        one, zero = _log(self.probability), _log(1.0 - self.probability)
        return _mask_dot(X == 1, one) + _mask_dot(X == 0, zero)

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Totals:
        return totals(X, R)

    def estimate(self, s: Totals) -> Self:
        total, weight = s.total + self.alpha, s.weight + 2.0 * self.alpha
        return self.replace(probability=_ratio(total, weight, self.probability))

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((len(k), self.probability.shape[1])) < self.probability[k]).astype(float)

    @property
    def n_parameters(self) -> int:
        return self.probability.size

    def log_prior(self) -> float:
        p = self.probability
        return float((xlogy(self.alpha, p) + xlogy(self.alpha, 1.0 - p)).sum())


@dataclass(frozen=True, eq=False)
class Poisson(Family):
    """Columns of counts, independent given k, with mean rate[k, d]."""

    rate: np.ndarray  # (K, D)
    alpha: float = 0.0  # this many events in as many rows were seen before

    support: ClassVar[str] = "count"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.ones((K, D)), **options)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        seen = ~np.isnan(X)
        X = np.where(seen, X, 0.0)
        certain = self.rate > 0  # where the rate is zero, log p is 0 at zero and -inf above
        log_rate = np.log(np.where(certain, self.rate, 1.0))
        out = X @ log_rate.T - seen.astype(np.float64) @ self.rate.T
        if not certain.all():
            out[(X @ (~certain).astype(np.float64).T) > 0] = -np.inf
        return out - gammaln(X + 1.0).sum(axis=1, keepdims=True)

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Totals:
        return totals(X, R)

    def estimate(self, s: Totals) -> Self:
        return self.replace(rate=_ratio(s.total + self.alpha, s.weight + self.alpha, self.rate))

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(self.rate[k]).astype(float)

    @property
    def n_parameters(self) -> int:
        return self.rate.size

    def log_prior(self) -> float:
        return float((xlogy(self.alpha, self.rate) - self.alpha * self.rate).sum())


@dataclass(frozen=True, eq=False)
class Multinomial(Family):
    """Rows of counts of V symbols: each count is of independent draws from probability[k]."""

    probability: np.ndarray  # (K, V)
    alpha: float = 0.0  # Dirichlet smoothing: each symbol was seen this often before

    support: ClassVar[str] = "count"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.full((K, D), 1.0 / D), **options)

    def log_density(self, X: Any) -> np.ndarray:
        log_p = _log(self.probability)
        if sp.issparse(X):
            values = sp.csr_array((gammaln(X.data + 1.0), X.indices, X.indptr), X.shape)
            return X @ log_p.T + (gammaln(X.sum(axis=1) + 1.0) - values.sum(axis=1))[:, None]
        X = np.where(np.isnan(X), 0.0, X)
        ways = gammaln(X.sum(axis=1) + 1.0) - gammaln(X + 1.0).sum(axis=1)
        possible = np.where(np.isfinite(log_p), log_p, 0.0)
        out = X @ possible.T + ways[:, None]
        if not np.isfinite(log_p).all():
            out[X @ (~np.isfinite(log_p)).astype(np.float64).T > 0] = -np.inf
        return out

    def summarize(self, X: Any, R: np.ndarray) -> Totals:
        return totals(X, R)

    def estimate(self, s: Totals) -> Self:
        total = s.total + self.alpha
        return self.replace(probability=_ratio(total, total.sum(axis=1, keepdims=True), self.probability))

    def sample(self, k: np.ndarray, rng: np.random.Generator, n: int = 1) -> np.ndarray:
        return rng.multinomial(n, self.probability[k]).astype(float)

    @property
    def n_parameters(self) -> int:
        return self.probability.size - len(self.probability)

    def log_prior(self) -> float:
        return float(xlogy(self.alpha, self.probability).sum())


@dataclass(frozen=True, eq=False)
class Categorical(Family):
    """Columns of categories, independent given k: p(x_d = values[d][v] given k) = probability[d][k, v].

    The categories are those that were seen; what is none of them tells nothing, and counts as not
    observed.

    >>> start = Categorical.start(1, 1, alpha=1.0)
    >>> family = start.estimate(start.summarize(np.array([["a"], ["b"], ["b"]]), np.ones((3, 1))))
    >>> np.exp(family.log_density(np.array([["a"], ["b"], ["c"]])))
    array([[0.4],
           [0.6],
           [1. ]])
    """

    values: tuple[np.ndarray, ...]  # of each column: its categories, in order
    probability: tuple[np.ndarray, ...]  # of each column: (K, V_d)
    alpha: float = 0.0  # Dirichlet smoothing: each category was seen this often before

    support: ClassVar[str] = "category"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls((np.empty(0),) * D, (np.empty((K, 0)),) * D, **options)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        out = np.zeros((len(X), len(self.probability[0])))
        for x, values, probability in zip(X.T, self.values, self.probability, strict=True):
            code, known = category_codes(values, x)
            if len(values):
                out += np.where(known, _log(probability)[:, code], 0.0).T
        return out

    def summarize(self, X: np.ndarray, R: np.ndarray) -> CategoryCounts:
        counted = [count_categories(values, x, R) for values, x in zip(self.values, X.T, strict=True)]
        return CategoryCounts(tuple(v for v, _ in counted), tuple(c for _, c in counted))

    def estimate(self, s: CategoryCounts) -> Self:
        probability = []
        for count in s.count:
            count = count + self.alpha
            even = np.full_like(count, 1.0 / max(1, count.shape[1]))
            probability.append(_ratio(count, count.sum(axis=1, keepdims=True), even))
        return self.replace(values=s.values, probability=tuple(probability))

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        columns = []
        for values, probability in zip(self.values, self.probability, strict=True):
            below = np.cumsum(probability, axis=1)[k]
            code = (rng.random((len(k), 1)) > below).sum(axis=1)
            columns.append(values[np.minimum(code, len(values) - 1)])
        return np.stack(columns, axis=1)

    @property
    def n_parameters(self) -> int:
        return sum(len(p) * (p.shape[1] - 1) for p in self.probability)

    def log_prior(self) -> float:
        return float(sum(xlogy(self.alpha, p).sum() for p in self.probability))


def _log(p: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(p)


def _mask_dot(mask: np.ndarray, log_p: np.ndarray) -> np.ndarray:
    """Sum of log p over the mask, (N, K), where 0 * -inf is 0."""
    finite = np.isfinite(log_p)
    out = mask.astype(np.float64) @ np.where(finite, log_p, 0.0).T
    if not finite.all():
        out[mask.astype(np.float64) @ (~finite).astype(np.float64).T > 0] = -np.inf
    return out


def _ratio(a: np.ndarray, b: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """a / b, and what it was where nothing was seen."""
    return np.divide(a, b, out=np.array(otherwise), where=np.broadcast_to(b > 0, a.shape))
