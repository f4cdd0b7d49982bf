"""K discrete densities: Bernoulli, Poisson and categorical columns, multinomial rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, xlogy

from ..core.blocks import Matrix, csr_of, dense, entries_of
from ..core.model import Family
from ..core.values import Value
from ..statistics import (
    CategoryCounts,
    Totals,
    category_codes,
    count_categories,
    count_categories_by_label,
    totals,
    totals_by_label,
)
from .posteriors import BetaPosterior, DirichletPosterior, GammaPosterior


@dataclass(frozen=True, eq=False)
class Logs(Value):
    """Logarithms that multiply rows, with 0 * -inf = 0."""

    finite: Annotated[np.ndarray, "(D, K)"]  # zero where the logarithm is infinite
    infinite: Annotated[np.ndarray | None, "(D, K)"]  # one there; None if none is

    @classmethod
    def of(cls, log_p: np.ndarray) -> Self:
        log_p = np.ascontiguousarray(log_p)
        finite = np.isfinite(log_p)
        if finite.all():
            return cls(log_p, None)
        return cls(np.where(finite, log_p, 0.0), (~finite).astype(np.float64))

    def times(self, X: Matrix) -> np.ndarray:
        """X times the logarithms, (N, K)."""
        out = _times(X, self.finite)
        if self.infinite is not None:
            out[_times(X, self.infinite) > 0] = -np.inf
        return out


@dataclass(frozen=True, eq=False)
class Bernoulli(Family):
    """Bernoulli columns, independent given k: p(x_d = 1 given k) = probability[k, d]."""

    probability: Annotated[np.ndarray, "real (K, D)"]
    alpha: Annotated[Any, "number or real (D,)"] = 0.0  # Laplace smoothing: pseudo-count of ones and of zeros
    above: float | None = None  # what is above this number counts as a one, and all else as a zero

    support: ClassVar[str] = "binary"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.full((K, D), 0.5), **options)

    def log_density(self, X: Matrix) -> np.ndarray:
        X, (one, zero, both) = self.ones(X), self._logs
        if both is not None:  # the zeros of most rows are many: those of a row of zeros, less its ones
            out = both.times(X) + self._zeros
            if not np.isnan(out.sum()):
                return out
        X = dense(X)
        seen = ~np.isnan(X)
        return one.times(np.where(seen, X, 0.0)) + zero.times(np.where(seen, 1.0 - X, 0.0))

    @cached_property
    def _zeros(self) -> np.ndarray:
        """log p of a row of zeros, (K,)."""
        return _log(1.0 - self.probability).sum(axis=1)

    @cached_property
    def _logs(self) -> tuple[Logs, Logs, Logs | None]:
        """log p(x_d = 1 given k), log p(x_d = 0 given k), (D, K), and their difference if it is finite."""
        one, zero = _log(self.probability.T), _log(1.0 - self.probability.T)
        return Logs.of(one), Logs.of(zero), Logs.of(one - zero) if np.isfinite(zero).all() else None

    def ones(self, X: Any) -> Any:
        """X as zeros and ones. NaN is kept."""
        if self.above is None:
            return X
        if sp.issparse(X):
            return csr_of((X.data > self.above).astype(np.float64), X.indices, X.indptr, X.shape)
        out = np.greater(X, self.above).astype(np.float64)
        if np.isnan(X.sum()):
            out[np.isnan(X)] = np.nan
        return out

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Totals:
        return totals(self.ones(X), R)

    def summarize_known(self, X: Matrix, k: np.ndarray, weight: np.ndarray, K: int) -> Totals:
        if sp.issparse(X):
            return totals_by_label(self.ones(X), k, weight, K)
        return totals_by_label(X, k, weight, K, self.above)

    def sufficient(self, X: Matrix) -> np.ndarray:
        X = self.ones(X)
        return dense(X)

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        one, zero = _log(self.probability), _log(1.0 - self.probability)
        return one - zero, zero.sum(axis=1)

    def estimate(self, s: Totals) -> Self:
        return self.posterior(s).mode

    def posterior(self, s: Totals) -> BetaPosterior:
        return BetaPosterior(self, s.total + self.alpha, s.weight + 2.0 * np.asarray(self.alpha))

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
    """Poisson columns, independent given k, with mean rate[k, d]."""

    rate: Annotated[np.ndarray, "real (K, D)"]
    alpha: float = 0.0  # smoothing: pseudo-events in as many pseudo-rows

    support: ClassVar[str] = "count"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.ones((K, D)), **options)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        return self.scores(X) - gammaln(np.where(np.isnan(X), 0.0, X) + 1.0).sum(axis=1, keepdims=True)

    def scores(self, X: np.ndarray) -> np.ndarray:
        out = self._log_rate.times(X) - self.rate.sum(axis=1)
        if not np.isnan(out.sum()):
            return out
        seen = ~np.isnan(X)
        return self._log_rate.times(np.where(seen, X, 0.0)) - seen.astype(np.float64).dot(self.rate.T)

    @cached_property
    def _log_rate(self) -> Logs:
        """(D, K)"""
        return Logs.of(_log(self.rate.T))

    def summarize(self, X: np.ndarray, R: np.ndarray) -> Totals:
        return totals(X, R)

    def summarize_known(self, X: np.ndarray, k: np.ndarray, weight: np.ndarray, K: int) -> Totals:
        return totals_by_label(X, k, weight, K)

    def sufficient(self, X: np.ndarray) -> np.ndarray:
        return X

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        return _log(self.rate), -self.rate.sum(axis=1)

    def estimate(self, s: Totals) -> Self:
        return self.posterior(s).mode

    def posterior(self, s: Totals) -> GammaPosterior:
        return GammaPosterior(self, s.total + self.alpha, s.weight + self.alpha)

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(self.rate[k]).astype(float)

    @property
    def n_parameters(self) -> int:
        return self.rate.size

    def log_prior(self) -> float:
        return float((xlogy(self.alpha, self.rate) - self.alpha * self.rate).sum())


@dataclass(frozen=True, eq=False)
class Multinomial(Family):
    """Multinomial rows: counts of independent draws of V symbols from probability[k]."""

    probability: Annotated[np.ndarray, "real (K, D)"]
    alpha: Annotated[Any, "number or real (D,)"] = 0.0  # Dirichlet smoothing: pseudo-count of each symbol

    support: ClassVar[str] = "count"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls(np.full((K, D), 1.0 / D), **options)

    def log_density(self, X: Any) -> np.ndarray:
        if sp.issparse(X):
            values = sp.csr_array((gammaln(X.data + 1.0), X.indices, X.indptr), X.shape)
        else:
            X = np.nan_to_num(X, nan=0.0)
            values = gammaln(X + 1.0)
        return self.scores(X) + (gammaln(X.sum(axis=1) + 1.0) - values.sum(axis=1))[:, None]

    def scores(self, X: Matrix) -> np.ndarray:
        out = self._log_probability.times(X)
        holes = np.isnan(out.sum()) and isinstance(X, np.ndarray)
        return self._log_probability.times(np.nan_to_num(X, nan=0.0)) if holes else out

    @cached_property
    def _log_probability(self) -> Logs:
        """(V, K)"""
        return Logs.of(_log(self.probability.T))

    def summarize(self, X: Matrix, R: np.ndarray) -> Totals:
        return totals(X, R)

    def summarize_known(self, X: Matrix, k: np.ndarray, weight: np.ndarray, K: int) -> Totals:
        return totals_by_label(X, k, weight, K)

    def sufficient(self, X: Matrix) -> np.ndarray:
        return dense(X)

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        return _log(self.probability), np.zeros(len(self.probability))

    def estimate(self, s: Totals) -> Self:
        return self.posterior(s).mode

    def posterior(self, s: Totals) -> DirichletPosterior:
        return DirichletPosterior(self, (s.total + self.alpha,))

    def tables(self) -> tuple[np.ndarray, ...]:
        """The probabilities, for `DirichletPosterior`."""
        return (self.probability,)

    def with_tables(self, tables: tuple[np.ndarray, ...]) -> Self:
        return self.replace(probability=tables[0])

    def predictive(self, X: Any, alpha: tuple[np.ndarray, ...]) -> np.ndarray:
        """Log density of rows if probability[k] ~ Dirichlet(alpha[k])."""
        X = X.toarray() if sp.issparse(X) else np.nan_to_num(X, nan=0.0)
        n = X.sum(axis=1)
        rows = gammaln(n + 1.0) - gammaln(X + 1.0).sum(axis=1)
        each = [
            gammaln(X + a).sum(axis=1) - gammaln(a).sum() + gammaln(a.sum()) - gammaln(n + a.sum())
            for a in alpha[0]
        ]
        return np.stack(each, axis=1) + rows[:, None]

    def sample(self, k: np.ndarray, rng: np.random.Generator, n: int = 1) -> np.ndarray:
        return rng.multinomial(n, self.probability[k]).astype(float)

    @property
    def n_parameters(self) -> int:
        return self.probability.size - len(self.probability)

    def log_prior(self) -> float:
        return float(xlogy(self.alpha, self.probability).sum())


@dataclass(frozen=True, eq=False)
class Categorical(Family):
    """Categorical columns, independent given k: p(x_d = values[d][v] given k) = probability[d][k, v].

    The categories are those that were seen. Others are treated as not observed.

    >>> start = Categorical.start(1, 1, alpha=1.0)
    >>> family = start.estimate(start.summarize(np.array([["a"], ["b"], ["b"]]), np.ones((3, 1))))
    >>> np.exp(family.log_density(np.array([["a"], ["b"], ["c"]])))
    array([[0.4],
           [0.6],
           [1. ]])
    """

    values: Annotated[tuple[np.ndarray, ...], "D of labels (V_d,)"]  # the categories, in order
    probability: Annotated[tuple[np.ndarray, ...], "D of real (K, V_d)"]
    alpha: float = 0.0  # Dirichlet smoothing: pseudo-count of each category

    support: ClassVar[str] = "category"

    @classmethod
    def start(cls, K: int, D: int, **options: Any) -> Self:
        return cls((np.empty(0),) * D, (np.empty((K, 0)),) * D, **options)

    def log_density(self, X: np.ndarray) -> np.ndarray:
        if X.dtype != object and self._table is not None:
            from ..loops.counts import look_up

            return look_up(np.ascontiguousarray(X, np.float64), *self._table)
        out = np.zeros((len(X), len(self.probability[0])))
        for x, values, probability in zip(X.T, self.values, self.probability, strict=True):
            code, known = category_codes(values, x)
            if len(values):
                out += np.where(known, _log(probability)[:, code], 0.0).T
        return out

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Lookup table of log p for categories that are small integers, columns stacked, (V, K); and the
        first row of each column. Rows of integers that were not seen are zero."""
        sizes = [size for size in map(_small, self.values) if size is not None]
        if len(sizes) < len(self.values):
            return None
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        table = np.zeros((start[-1], len(self.probability[0])))
        for first, values, probability in zip(start, self.values, self.probability, strict=False):
            table[first + values.astype(np.int64)] = _log(probability.T)
        return start, table

    def summarize_known(self, X: np.ndarray, k: np.ndarray, weight: np.ndarray, K: int) -> CategoryCounts:
        counted = count_categories_by_label(self.values, X, k, weight, K)
        return super().summarize_known(X, k, weight, K) if counted is None else counted  # type: ignore[return-value]

    def summarize(self, X: np.ndarray, R: np.ndarray) -> CategoryCounts:
        counted = [count_categories(values, x, R) for values, x in zip(self.values, X.T, strict=True)]
        return CategoryCounts(tuple(v for v, _ in counted), tuple(c for _, c in counted))

    def sufficient(self, X: np.ndarray) -> np.ndarray:
        columns = zip(X.T, self.values, strict=True)
        return np.hstack([x[:, None] == values for x, values in columns]).astype(np.float64)

    def natural(self) -> tuple[np.ndarray, np.ndarray]:
        return _log(np.hstack(self.probability)), np.zeros(len(self.probability[0]))

    def estimate(self, s: CategoryCounts) -> Self:
        return self.posterior(s).mode

    def posterior(self, s: CategoryCounts) -> DirichletPosterior:
        even = tuple(np.full(count.shape, 1.0 / max(1, count.shape[1])) for count in s.count)
        known = self.replace(values=s.values, probability=even)
        return DirichletPosterior(known, tuple(count + self.alpha for count in s.count))

    def tables(self) -> tuple[np.ndarray, ...]:
        """The probabilities, for `DirichletPosterior`."""
        return self.probability

    def with_tables(self, tables: tuple[np.ndarray, ...]) -> Self:
        return self.replace(probability=tables)

    def predictive(self, X: np.ndarray, alpha: tuple[np.ndarray, ...]) -> np.ndarray:
        """Log density of rows if probability[d][k] ~ Dirichlet(alpha[d][k])."""
        return self.with_tables(tuple(a / a.sum(axis=1, keepdims=True) for a in alpha)).log_density(X)

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


def _times(X: Matrix, W: np.ndarray) -> np.ndarray:
    if not sp.issparse(X):
        return X.dot(W)
    from ..loops.sparse import times

    return times(*entries_of(X), W)


# Categories that are integers are looked up in a table with a row for each integer up to the largest. This is
# the largest number of its rows per column.
MOST_CATEGORIES = 1 << 16


def _small(values: np.ndarray) -> int | None:
    """The size of a lookup table of these categories, or None if they are not small integers."""
    if not len(values):
        return 0
    if values.dtype.kind not in "iuf" or not 0 <= values[0] <= values[-1] < MOST_CATEGORIES:
        return None
    return int(values[-1]) + 1 if (values == np.floor(values)).all() else None
