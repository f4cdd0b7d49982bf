"""Random samples of rows. The number of draws of a row is a function of a seed, the number of the sample
and the number of the row. So it does not depend on blocks or engines, and can be computed again."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any

import numpy as np
from scipy.special import pdtr

from ..core.blocks import Rows
from ..core.callers import warn
from ..core.hashing import uniforms
from ..core.partitions import Partitions
from ..core.randomness import Purpose, key_of
from ..core.statistics import Statistics
from ..core.values import Value
from ..loops.trees import mixed

MOST = 15  # maximum number of draws of a row: more have a probability of 1e-14


@dataclass(frozen=True, eq=False)
class Draws(Value):
    """Bootstrap counts: the number of times that each row is in each of many samples.

    With replacement, these are Poisson numbers, the limit of the bootstrap for many rows; without, zero or
    one. One row, drawn at random, is in each sample, so that none is empty. Rows of weight zero are not
    counted and not drawn.
    """

    seed: int
    cumulative: Annotated[np.ndarray, "(C,)"]  # the probability of at most c draws
    block: Annotated[np.ndarray, "int (B,)"]  # in order
    first: Annotated[np.ndarray, "int (B,)"]  # the number of the first row of each block
    n_rows: int

    @classmethod
    def of(cls, data: Partitions, seed: int, n_rows: int, mean: float, replacement: bool) -> Draws:
        """Draws for `n_rows` rows of positive weight; `mean` is the expected number of draws of a row."""
        cumulative = pdtr(np.arange(MOST), mean) if replacement else np.array([1.0 - mean])
        s = data.fold(RowCounts.of)
        return cls(seed, cumulative, s.block, np.cumsum(s.rows) - s.rows, n_rows)

    def gathered(self) -> Draws:
        """The same draws, indexed for the same rows in one gathered block."""
        return self.replace(block=np.zeros(1, np.int64), first=np.zeros(1, np.int64))

    def counts(self, sample: int, block: Rows) -> np.ndarray:
        """The number of times that each row of a block is in a sample, (N,)."""
        seen = has_weight(block)
        first = self.first[np.searchsorted(self.block, block.index[0])]
        out = np.zeros(len(seen), np.int64)
        out[seen] = self._counts(sample, first + np.arange(seen.sum()))
        return out

    def rows(self, sample: int) -> np.ndarray:
        """The row numbers in a sample, repeated as often as drawn."""
        number = np.arange(self.n_rows)
        return np.repeat(number, self._counts(sample, number))

    def _counts(self, sample: int, number: np.ndarray) -> np.ndarray:
        number = number.astype(np.uint64)
        with np.errstate(over="ignore"):
            key = np.uint64(key_of(Purpose.BOOTSTRAP, self.seed, sample))
            u = uniforms(mixed(mixed(key + number)))
        drawn = np.searchsorted(self.cumulative, u, side="right")
        return np.where(number == key % np.uint64(self.n_rows), np.maximum(drawn, 1), drawn)


def mean_draws(max_samples: Any, n_rows: int) -> float:
    """The mean number of times that a row is drawn, from `max_samples`."""
    if not isinstance(max_samples, Integral):
        return float(max_samples)
    if (most := int(max_samples)) > n_rows:
        raise ValueError(f"`max_samples` must be <= n_samples={n_rows} but got value {most}")
    return most / n_rows


def warn_of_unscored(known: np.ndarray) -> None:
    """Warn if rows are in the samples of all members, so that no member scores them."""
    if not known.all():
        warn(
            "Some inputs do not have OOB scores. This probably means too few estimators were used to compute "
            f"any reliable oob estimates: {(~known).sum()} of {len(known)} rows are in every sample."
        )


def has_weight(block: Rows) -> np.ndarray:
    """Whether each row has a positive weight, (N,)."""
    return block.entry[:, 0] > 0 if hasattr(block, "entry") else block.weight > 0


@dataclass(frozen=True, eq=False)
class RowCounts(Statistics):
    """The number of rows with a weight in each block."""

    block: Annotated[np.ndarray, "int (B,)"]  # in order
    rows: Annotated[np.ndarray, "int (B,)"]

    @classmethod
    def of(cls, block: Rows) -> RowCounts:
        return cls(np.array([block.index[0]]), np.array([has_weight(block).sum()]))

    def __add__(self, other: RowCounts) -> RowCounts:
        block, place = np.unique(np.concatenate([self.block, other.block]), return_inverse=True)
        rows = np.zeros(len(block), np.int64)
        np.add.at(rows, place, np.concatenate([self.rows, other.rows]))
        return RowCounts(block, rows)
