"""A sample of the values of each column that does not depend on their order, for quantiles.

The distinct values with the smallest hashes are kept (a KMV sketch), so the sum does not depend on the
blocks. Beyer, Haas, Reinwald, Sismanis and Gemulla, "On synopses for distinct-value estimation under multiset
operations", 2007.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from ..core.statistics import Statistics

KEPT = 1024  # number of values in the sample, whose quantiles have an error of about 1.5 percent of the rows


@dataclass(frozen=True, eq=False)
class Sample(Statistics):
    """Uniform sample of up to `KEPT` distinct values of each column, and its extremes, without weights."""

    values: Annotated[tuple[np.ndarray, ...], "D of (V_d,)"]  # of each column, by their hash
    low: Annotated[np.ndarray, "(D,)"]
    high: Annotated[np.ndarray, "(D,)"]

    def __add__(self, other: Self) -> Self:
        return self.replace(
            values=tuple(
                _smallest(np.concatenate(pair)) for pair in zip(self.values, other.values, strict=True)
            ),
            low=np.fmin(self.low, other.low),
            high=np.fmax(self.high, other.high),
        )

    def __mul__(self, factor: float) -> Self:
        return self

    __rmul__ = __mul__

    def knots(self, column: int, count: int) -> np.ndarray:
        """Quantiles of the distinct values of a column, at most this many."""
        unique = np.unique(np.concatenate([self.values[column], self.low[[column]], self.high[[column]]]))
        places = np.linspace(0, len(unique) - 1, min(count, len(unique)))
        return unique[np.round(places).astype(int)]


def sample(X: np.ndarray) -> Sample:
    """A sample of the distinct values of each column."""
    nothing = np.full((1, X.shape[1]), np.nan)
    seen = np.concatenate([X, nothing]) if not len(X) else X
    values = tuple(_smallest(np.ascontiguousarray(x)) for x in X.T)
    return Sample(values, seen.min(axis=0), seen.max(axis=0))


def _smallest(x: np.ndarray) -> np.ndarray:
    """The distinct values with the smallest hashes, in this order."""
    x = x + 0.0  # turns -0.0 into 0.0
    hashed = _hash(x)
    if len(x) > 4 * KEPT:
        # As in a sample of evenly spread numbers; if many values are equal, all are looked at.
        few = hashed < np.uint64((1 << 64) // len(x) * 2 * KEPT)
        unique = _different(x[few], hashed[few])
        if len(unique) >= KEPT:
            return unique[:KEPT]
    return _different(x, hashed)[:KEPT]


def _different(x: np.ndarray, hashed: np.ndarray) -> np.ndarray:
    _, first = np.unique(hashed, return_index=True)
    return x[first]


def _hash(x: np.ndarray) -> np.ndarray:
    """Mixed bits of doubles: different ones stay different (Steele, Lea and Flood, "SplitMix", 2014)."""
    z = x.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
