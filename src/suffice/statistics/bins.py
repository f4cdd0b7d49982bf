"""Bins of features: one for each category, and one for each distinct value if there are few values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Matrix, Rows
from ..core.shapes import must
from ..core.statistics import Statistics
from ..core.values import Value
from ..loops.buckets import find_buckets
from .quantile_sketch import CAPACITY, QuantileSketch, quantile_sketch
from .sums import Distinct, category_codes, distinct

BITS = 62  # bits of the largest sum of integers
MOST_EXPONENT = 1000  # largest exponent of a grid of tiny numbers, so that it is a float


@dataclass(frozen=True, eq=False)
class FeatureValues(Statistics):
    """The values of numeric features, and the categories of the others."""

    numbers: QuantileSketch
    categories: Distinct

    @classmethod
    def of(cls, categorical: np.ndarray, max_bins: int, rows: Rows) -> FeatureValues:
        """The values in a block, sketched as finely as `max_bins` bins of about one weight need."""
        capacity = max(max_bins, CAPACITY)
        sketch = quantile_sketch(_numbers(rows.X, ~categorical), rows.weight, capacity=capacity)
        categories = (distinct(_column(rows.X, d)) for d in np.flatnonzero(categorical).tolist())
        return cls(sketch, Distinct(tuple(categories)))


def _numbers(X: Matrix, columns: np.ndarray) -> Any:
    """Some columns as float64, dense or CSR."""
    if columns.all() and X.dtype == np.float64:
        return X
    features = np.flatnonzero(columns).tolist()
    part = X[:, features]
    return part if sp.issparse(part) else _floats(part, features)


def _floats(X: Matrix, features: Any) -> np.ndarray:
    """Columns of numbers as contiguous float64. `features` are their indices, which errors name."""
    try:
        return np.ascontiguousarray(X, np.float64)
    except (TypeError, ValueError, OverflowError):
        feature, value = next(
            (feature, value)
            for feature, column in zip(features, np.asarray(X, object).T, strict=True)
            for value in column
            if not _is_number(value)
        )
        raise ValueError(
            f"The column at index {feature} of X has {value!r:.60} ({type(value).__name__}), and its feature "
            "is numeric: pass float64 numbers, or name it in categorical_features."
        ) from None


def _is_number(value: Any) -> bool:
    try:
        np.asarray(value).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return np.ndim(value) == 0


def _column(X: Matrix, d: int) -> np.ndarray:
    if isinstance(X, np.ndarray):
        return X[:, d]
    part = X[:, [d]]
    return (part.toarray() if sp.issparse(part) else np.asarray(part)).ravel()


@dataclass(frozen=True, eq=False)
class FeatureBins(Value):
    """The bins of D features: ranges of numbers, or categories.

    The code of a value is the index of its bin, or the number of bins if it is missing or an unknown
    category.
    """

    categorical: Annotated[np.ndarray, "bool (D,)"]
    low: Annotated[tuple[np.ndarray, ...], "D of (B_d,)"]  # the smallest value of each bin; no categories
    high: Annotated[tuple[np.ndarray, ...], "D of (B_d,)"]  # the largest
    categories: Annotated[tuple[np.ndarray, ...], "D of labels (C_d,)"]  # sorted; none of numbers

    def check_loaded(self, sizes: dict[str, int]) -> None:
        for is_categorical, low, categories in zip(self.categorical, self.low, self.categories, strict=True):
            must(not len(low if is_categorical else categories), "A feature has ranges and categories.")

    @classmethod
    def of(cls, categorical: np.ndarray, s: FeatureValues, max_bins: int) -> FeatureBins:
        """At most `max_bins` bins for each feature, of about the same weight if there are more values."""
        none = np.empty(0)
        ranges = iter(zip(s.numbers.low, s.numbers.high, s.numbers.count, strict=True))
        kinds = iter(s.categories.values)
        low, high, categories = [], [], []
        for is_categorical in categorical:
            a, b, count = (none, none, none) if is_categorical else next(ranges)
            if len(a) > max_bins:
                end = np.cumsum(count)
                last = np.searchsorted(end, end[-1] * np.arange(1, max_bins + 1) / max_bins)
                last = np.unique(np.minimum(last, len(a) - 1))
                a, b = a[np.concatenate([[0], last[:-1] + 1])], b[last]
            low.append(a)
            high.append(b)
            categories.append(next(kinds) if is_categorical else none)
        return cls(categorical, tuple(low), tuple(high), tuple(categories))

    def of_categories(self) -> FeatureBins:
        """The bins of categories only: a grown tree does not need the ranges of numbers."""
        none = tuple(a[:0] for a in self.low)
        return self.replace(low=none, high=none)

    def chosen(self, features: np.ndarray) -> FeatureBins:
        """The bins of some features."""
        parts = (tuple(part[d] for d in features) for part in (self.low, self.high, self.categories))
        return FeatureBins(self.categorical[features], *parts)

    @cached_property
    def n_bins(self) -> np.ndarray:
        """The number of bins of each feature, (D,), without the one of missing values."""
        return np.array([len(a) + len(c) for a, c in zip(self.low, self.categories, strict=True)], np.int64)

    @property
    def dtype(self) -> Any:
        """The type of the codes."""
        return np.min_scalar_type(int(self.n_bins.max(initial=0)))

    def codes(self, X: Any) -> np.ndarray:
        """The codes of rows, (D, N)."""
        out = np.empty((X.shape[1], X.shape[0]), self.dtype)
        if sp.issparse(X):
            X = X.toarray()
        for d, n in enumerate(self.n_bins):
            if self.categorical[d]:
                code, known = category_codes(self.categories[d], _column(X, d))
                out[d] = np.where(known, code, n)
            elif n:
                find_buckets(_floats(_column(X, d)[:, None], [d])[:, 0], self.high[d], out[d])
            else:  # nothing was observed
                out[d] = 0
        return out

    def with_codes(self, X: Any) -> np.ndarray:
        """Rows as float64, with codes in place of categories. Unknown categories are NaN."""
        if sp.issparse(X):
            X = X.toarray()
        if not self.categorical.any():
            return _floats(X, range(X.shape[1]))
        out = np.empty(X.shape)
        numeric = np.flatnonzero(~self.categorical).tolist()
        out[:, numeric] = _floats(X[:, numeric], numeric)
        for d in np.flatnonzero(self.categorical).tolist():
            code, known = category_codes(self.categories[d], _column(X, d))
            out[:, d] = np.where(known, code, np.nan)
        return out

    def thresholds(
        self, feature: np.ndarray, below: np.ndarray, above: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The threshold between two bins of a numeric feature, and the last bin that is not above it. The
        threshold is the midpoint, or the largest number if the upper bin is that of missing values."""
        start = np.cumsum([0, *map(len, self.low)])[feature]
        low, high, n = np.concatenate(self.low), np.concatenate(self.high), self.n_bins[feature]
        out, last = np.full(len(feature), np.finfo(np.float64).max), n - 1
        (seen,) = np.nonzero(above < n)
        start, first, beyond = start[seen], below[seen], above[seen]
        a, b = high[start + first], low[start + beyond]
        middle = a / 2 + b / 2
        out[seen] = middle = np.where(middle < b, middle, a)  # neighbors may have no number between them
        while (beyond - first > 1).any():  # bins between the two are empty here: bisect
            bin = (first + beyond) // 2
            reached = low[start + bin] <= middle
            first, beyond = np.where(reached, bin, first), np.where(reached, beyond, bin)
        last[seen] = first
        return out, last


def grid(largest: float, bits: int = BITS) -> float:
    """The largest power of two times which `largest` stays below 2^bits.

    A sum may differ in its last digits by the order of its terms. So the power is computed for a slightly
    larger number: few sums are so near to a power of two.
    """
    if not largest:
        return 1.0
    return math.ldexp(1.0, min(bits - math.frexp(largest * (1.0 + 2.0**-30))[1], MOST_EXPONENT))
