"""Rows of a table that are drawn by a hash of their values: the parts of a split, and folds.

The part of a row depends on its values and the seed alone: not on the order of the rows, nor on blocks or
engines.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.coded import Coded, coded, objects
from ..core.extras import required
from ..core.hashing import row_hashes, uniforms
from ..core.randomness import Purpose
from .readers import Reader, categories_of


@dataclass(frozen=True)
class Selection:
    """The rows whose hash, a number from 0 to 1, lies in some intervals."""

    columns: tuple[str, ...]  # that are hashed
    seed: int
    intervals: tuple[tuple[float, float], ...]

    def rows(self, batch: Any) -> Any:
        """The selected rows of an Arrow table or record batch."""
        pa = required("pyarrow", "parquet")

        return batch.filter(pa.array(self.mask(batch)))

    def mask(self, batch: Any) -> np.ndarray:
        """Whether each row is selected."""
        number = hashed(batch, self.columns, Purpose.SPLIT, self.seed)
        mask = np.zeros(len(number), bool)
        for low, high in self.intervals:
            mask |= (number >= low) & (number < high)
        return mask


def hashed(batch: Any, columns: Sequence[str], purpose: Purpose, *seed: int) -> np.ndarray:
    """A number from 0 to 1 for each row of an Arrow table, drawn by the hash of these columns."""
    X = np.empty((batch.num_rows, len(columns)))
    for d, name in enumerate(columns):
        X[:, d] = _numbers(batch.column(name), name)
    return uniforms(row_hashes(X, purpose, *seed))


def _numbers(column: Any, name: str) -> np.ndarray:
    """A number for each value, equal for equal values on every engine."""
    pa, pc = required("pyarrow", "parquet"), required("pyarrow.compute", "parquet")
    types = required("pyarrow.types", "parquet")

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_temporal(kind) and not types.is_duration(kind) and not types.is_time(kind):
        column = pc.cast(
            pc.cast(column, pa.timestamp("us", getattr(kind, "tz", None)), safe=False), pa.int64()
        )
        kind = column.type
    if types.is_dictionary(column.type) or types.is_string(kind) or types.is_large_string(kind):
        codes, values = categories_of(column, name)
        if values.dtype.kind not in "biuf":
            values = np.array([zlib.crc32(str(value).encode()) for value in values], dtype=np.float64)
        numbers = values.astype(np.float64)[codes]
    elif (
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    ):
        column = pc.cast(column, pa.float64(), safe=False)
        numbers = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    else:
        numbers = np.array([zlib.crc32(repr(value).encode()) for value in column.to_pylist()], np.float64)
    return np.where(np.isnan(numbers), np.nan, numbers)  # which has many bit patterns


@dataclass(frozen=True)
class WithFold(Reader):
    """Categories, and the fold of each row as the last column."""

    reader: Reader
    hash_columns: tuple[str, ...]
    seed: int
    n_folds: int

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys((*self.reader.columns, *self.hash_columns)))

    @property
    def features(self) -> int:  # type: ignore[override]
        return self.reader.width + 1

    def rows(self, batch: Any) -> Coded:
        X = coded(self.reader.rows(batch))
        number = hashed(batch, self.hash_columns, Purpose.CROSS_FITTING, self.seed)
        fold = (number * self.n_folds).astype(X.codes.dtype)
        return Coded(np.column_stack([X.codes, fold]), (*X.values, objects(range(self.n_folds))))
