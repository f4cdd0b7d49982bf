"""Rows of a table that are drawn by a hash of their values: the parts of a split, and folds.

The part of a row depends on its values and the seed alone: not on the order of the rows, nor on blocks or
engines.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core.coded import Coded, coded, objects
from ..core.extras import required
from ..core.hashing import row_hashes, uniforms
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..fitting.strata import GroupParts, Strata
from .readers import Reader, categories_of


@dataclass(frozen=True)
class Division:
    """The part of each row of a table, drawn by a hash of its values or of its group."""

    columns: tuple[str, ...]  # that are hashed: all of a row, or its group
    purpose: Purpose
    seed: tuple[int, ...]
    shares: tuple[float, ...]  # of the rows below each boundary between two parts
    label: str | None = None  # the column of the classes, if the parts are stratified
    grouped: bool = False  # whether a hash is that of a group
    strata: Strata | GroupParts | None = field(default=None, compare=False)

    def counted(self, data: Partitions) -> Division:
        """Read the data for the boundaries of each class, or for the part of each group."""
        if self.label is None:
            return self
        if self.grouped:
            return replace(self, strata=GroupParts.of(data, self, self.shares))
        return replace(self, strata=Strata.of(data, self, self.shares))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(dict.fromkeys([*self.columns, *([] if self.label is None else [self.label])]))

    def numbers(self, block: Any) -> np.ndarray:
        return hashed(block.batch, self.columns, self.purpose, *self.seed)

    def labels(self, block: Any) -> np.ndarray:
        assert self.label is not None
        return _numbers(block.batch.column(self.label), self.label)

    def parts(self, batch: Any) -> np.ndarray:
        """The part of each row of an Arrow table or record batch."""
        number = hashed(batch, self.columns, self.purpose, *self.seed)
        if self.strata is None:
            return np.searchsorted(self.shares, number, side="right")
        return self.strata.parts(number, _numbers(batch.column(self.label), self.label or ""))


@dataclass(frozen=True)
class Selection:
    """The rows of one part of a division."""

    division: Division
    part: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.division.names

    def rows(self, batch: Any) -> Any:
        """The selected rows of an Arrow table or record batch."""
        pa = required("pyarrow", "parquet")

        return batch.filter(pa.array(self.mask(batch)))

    def mask(self, batch: Any) -> np.ndarray:
        """Mask of the selected rows."""
        return self.division.parts(batch) == self.part


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
