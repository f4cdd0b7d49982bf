"""A quantile sketch: the weight of each distinct value of a column. If there are too many, values are
rounded to fewer bits.

Up to `capacity` distinct values are counted exactly. Beyond, a bucket holds the values whose leading bits are
equal: the sign, the exponent and the first bits of the mantissa, as many as leave at most `capacity` buckets.
So a bucket has a relative width of 2^-b, where b bits of the mantissa are left. Each bucket also keeps its
smallest and its largest value, so that a quantile is off by no more than the range of its bucket
(Masson, Rim and Lee, "DDSketch", 2019, whose buckets have a fixed relative width).

The number of leading bits depends on the set of values alone: a subset never needs fewer. Counts are whole
numbers. So the sum has the same bits for any blocks, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Matrix
from ..core.statistics import Statistics
from ..loops.buckets import compress, merge

Buckets = tuple[float, np.ndarray, np.ndarray, np.ndarray]  # the bits left out, lowest, highest, weight

CAPACITY = 1 << 14  # buckets of a column: 400 kB

# The virtual index of a quantile q of n values is n q + alpha + q (1 - alpha - beta) - 1: Hyndman and Fan,
# "Sample quantiles in statistical packages", 1996.
ALPHA_BETA = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}


@dataclass(frozen=True, eq=False)
class QuantileSketch(Statistics):
    """Buckets of the observed values of each column, in increasing order."""

    weight: float  # of all rows
    dropped: Annotated[np.ndarray, "(D,)"]  # bits at the end of the values that buckets leave out
    low: Annotated[tuple[np.ndarray, ...], "D of (V_d,)"]  # the smallest value of each bucket
    high: Annotated[tuple[np.ndarray, ...], "D of (V_d,)"]  # the largest
    count: Annotated[tuple[np.ndarray, ...], "D of (V_d,)"]  # the weight of its values
    capacity: int = CAPACITY  # the largest number of buckets of a column

    def __add__(self, other: Self) -> Self:
        pairs = zip(self._columns(), other._columns(), strict=True)
        columns = [_merged(self.capacity, *pair) for pair in pairs]
        return self._of(self.weight + other.weight, columns, self.capacity)

    def __mul__(self, factor: float) -> Self:
        return self.replace(weight=self.weight * factor, count=tuple(c * factor for c in self.count))

    __rmul__ = __mul__

    @classmethod
    def _of(cls, weight: float, columns: list[Any], capacity: int) -> Self:
        dropped, low, high, count = zip(*columns, strict=True) if columns else ((), (), (), ())
        return cls(weight, np.array(dropped, dtype=np.float64), low, high, count, capacity)

    def _columns(self) -> Any:
        return zip(self.dropped, self.low, self.high, self.count, strict=True)

    @property
    def observed(self) -> np.ndarray:
        """The weight of the observed values of each column, (D,)."""
        return np.array([count.sum() for count in self.count])

    @property
    def error(self) -> np.ndarray:
        """The largest range of a bucket of each column: no quantile is off by more. Zero if it is exact."""
        pairs = zip(self.low, self.high, strict=True)
        return np.array([(high - low).max(initial=0.0) for low, high in pairs])

    def quantiles(self, probabilities: Any, method: str = "linear") -> np.ndarray:
        """Quantiles of all columns, (Q, D): see `column_quantiles`."""
        columns = [self.column_quantiles(d, probabilities, method) for d in range(len(self.low))]
        return np.stack(columns, axis=1) if columns else np.empty((len(probabilities), 0))

    def column_quantiles(self, column: int, probabilities: Any, method: str = "linear") -> np.ndarray:
        """Quantiles of a column by a method of `numpy.quantile`, as if each value was repeated by its
        weight; NaN if nothing was observed."""
        q = np.asarray(probabilities, dtype=np.float64)
        low, high, count = self.low[column], self.high[column], self.count[column]
        if not len(low):
            return np.full(q.shape, np.nan)
        end = np.cumsum(count)
        n = end[-1]

        def value(rank: np.ndarray, side: Any) -> np.ndarray:
            """The value at this rank from 0; with "left", the first value whose cumulative weight reaches
            it."""
            k = np.minimum(np.searchsorted(end, rank, side), len(end) - 1)
            within = rank - (end[k] - count[k]) - (side == "left")
            t = np.clip(within / np.maximum(count[k] - 1.0, 1.0), 0.0, 1.0)
            return low[k] + t * (high[k] - low[k])

        if method in ALPHA_BETA:
            alpha, beta = ALPHA_BETA[method]
            index = np.clip(n * q + alpha + q * (1.0 - alpha - beta) - 1.0, 0.0, max(n - 1.0, 0.0))
            below = np.floor(index)
            a, b, t = value(below, "right"), value(below + 1.0, "right"), index - below
            # From the nearer side, as NumPy does, so that equal values stay equal.
            quantile = np.where(t < 0.5, a + (b - a) * t, b - (b - a) * (1.0 - t))
        elif method == "closest_observation":
            index = n * q - 1.5
            even = (index == np.floor(index)) & (np.floor(index) % 2 == 1)
            quantile = value(np.maximum(np.floor(index) + ~even, 0.0), "right")
        else:
            quantile = value(n * q, "left")
            if method == "averaged_inverted_cdf":
                quantile = 0.5 * (quantile + value(n * q, "right"))
        return np.maximum.accumulate(quantile) if (np.diff(q) >= 0).all() else quantile


def quantile_sketch(
    X: Matrix, weight: np.ndarray, zeros: bool = True, capacity: int = CAPACITY
) -> QuantileSketch:
    """Sketch of the columns of X, dense or CSR, without NaN. `zeros` says whether entries that a CSR
    matrix does not store count as zeros."""
    ones = bool((weight == 1.0).all())
    if sp.issparse(X):
        columns = sparse_columns(X, weight, zeros)
    else:
        columns = ((x, weight) for x in np.ascontiguousarray(X.T))
    sketches = [_of_column(capacity, x, w, ones) for x, w in columns]
    return QuantileSketch._of(float(weight.sum()), sketches, capacity)


def sparse_columns(X: sp.csr_array, weight: np.ndarray, zeros: bool) -> Any:
    """The stored values of each column and their weights, and one zero with the weight of the others."""
    by_column, total = X.tocsc(), weight.sum()
    for start, stop in zip(by_column.indptr[:-1], by_column.indptr[1:], strict=True):
        w = weight[by_column.indices[start:stop]]
        x, rest = by_column.data[start:stop], total - w.sum()
        full = stop - start == X.shape[0]
        yield (np.append(x, 0.0), np.append(w, rest)) if zeros and not full else (x, w)


def _of_column(capacity: int, x: np.ndarray, weight: np.ndarray, ones: bool) -> Buckets:
    x = x + 0.0  # turns -0.0 into 0.0
    if len(x) and np.isnan(x.sum()):
        seen = ~np.isnan(x)
        x, weight = x[seen], weight[seen]
    if ones and len(weight) and weight[-1] == 1.0:  # the order of equal weights does not matter
        x.sort()
    else:
        order = np.argsort(x, kind="stable")
        x, weight = x[order], weight[order]
    return _compressed(capacity, 0, x, x, weight)


def _merged(capacity: int, a: Buckets, b: Buckets) -> Buckets:
    if not len(b[1]) or not len(a[1]):
        return a if len(a[1]) else b
    dropped = int(max(a[0], b[0]))
    low, high, count = merge(*a[1:], *b[1:], dropped)
    if len(low) <= capacity:
        return float(dropped), low, high, count
    return _compressed(capacity, dropped, low, high, count)


def _compressed(capacity: int, dropped: int, low: np.ndarray, high: np.ndarray, count: np.ndarray) -> Buckets:
    """Merge sorted buckets. They keep the largest number of leading bits that gives at most `capacity`."""
    count = np.ascontiguousarray(count, np.float64)
    bits, low, high, count = compress(low, high, count, dropped, capacity)
    return float(bits), low, high, count
