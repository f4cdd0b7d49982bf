"""Readers: conversion of Arrow batches to the rows of a block. A reader is sent to the batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import offsets, one_a_place


class Reader(ABC):
    """Makes the features of rows from columns of a table."""

    columns: tuple[str, ...]  # that are read
    features: tuple[str, ...] | int  # the names of the features; if they have none, how many there are

    @abstractmethod
    def rows(self, batch: Any) -> Any:
        """The features of the rows of an Arrow table or record batch: an array, or CSR."""

    @property
    def width(self) -> int:
        """The number of features."""
        return self.features if isinstance(self.features, int) else len(self.features)

    @property
    def fixed_size(self) -> bool:
        """Whether all rows take the same memory."""
        return True


@dataclass(frozen=True)
class DenseColumns(Reader):
    """Columns of numbers, booleans or strings."""

    columns: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.columns

    def rows(self, batch: Any) -> np.ndarray:
        parts = [column_of(batch, name) for name in self.columns]
        X = np.empty((batch.num_rows, len(parts)), np.result_type(*parts))
        for j, part in enumerate(parts):
            X[:, j] = part
        return X


@dataclass(frozen=True)
class SparseLists(Reader):
    """Sparse rows from a column of lists of indices, and optionally one of values. Returned by
    `suffice.sparse`."""

    columns: tuple[str, ...]
    features: int

    @property
    def fixed_size(self) -> bool:
        return False

    def rows(self, batch: Any) -> sp.csr_array:
        """Sparse rows. Entries with the same index are summed."""
        import pyarrow.compute as pc

        for name in self.columns:
            if batch.column(name).null_count:
                raise ValueError(
                    f"The column {name!r} has missing lists: use an empty list for a row without entries."
                )
        first, last = self.columns[0], self.columns[-1]
        lengths = [
            pc.list_value_length(batch.column(name)).to_numpy(zero_copy_only=False) for name in self.columns
        ]
        if (lengths[0] != lengths[-1]).any():
            n = int(np.flatnonzero(lengths[0] != lengths[-1])[0])
            raise ValueError(
                f"Row {n} has {lengths[0][n]} indices in {first!r}, but {lengths[-1][n]} values in {last!r}."
            )
        flat = [pc.list_flatten(batch.column(name)).to_numpy(zero_copy_only=False) for name in self.columns]
        indices = flat[0]
        if len(indices) and not (
            indices.min() >= 0 and indices.max() < self.features
        ):  # missing ones are NaN
            raise ValueError(
                f"The column {first!r} must hold whole numbers from 0 to {self.features - 1}, and holds "
                f"{indices.min()} to {indices.max()}."
            )
        data = flat[1] if len(flat) > 1 else np.ones(len(indices))
        dtype = np.int32 if max(self.features, len(indices)) < 1 << 31 else np.int64
        parts = data, indices.astype(dtype), offsets(lengths[0])
        return one_a_place(sp.csr_array(parts, (batch.num_rows, self.features)))


@dataclass(frozen=True)
class Texts(Reader):
    """A column of texts. Returned by `suffice.documents`."""

    columns: tuple[str, ...]
    features: int = 1

    @property
    def fixed_size(self) -> bool:
        return False

    def rows(self, batch: Any) -> np.ndarray:
        """The texts, (N, 1)."""
        import pyarrow.types as types

        (name,) = self.columns
        column = batch.column(name)
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
            raise ValueError(f"The column {name!r} holds {kind}, expected strings: cast it first.")
        if column.null_count:
            raise ValueError(
                f"The column {name!r} has {column.null_count} missing texts: leave those rows out, or fill "
                'them with "", a document without words.'
            )
        X = np.empty((batch.num_rows, 1), object)
        X[:, 0] = column.to_pylist()
        return X


@dataclass(frozen=True)
class Transformed(Reader):
    """A reader followed by a fitted transformer: rows are transformed when they are read."""

    reader: Reader
    transformer: Any  # with `transform_rows`
    features: int

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.reader.columns

    @property
    def fixed_size(self) -> bool:
        return self.reader.fixed_size

    def rows(self, batch: Any) -> Any:
        return self.transformer.transform_rows(self.reader.rows(batch))


def column_of(batch: Any, name: str) -> np.ndarray:
    """A column of numbers, booleans or strings. Integers and booleans with missing values become floats."""
    import pyarrow as pa
    import pyarrow.types as types

    column = batch.column(name)
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not any(kind(column.type) for kind in kinds):
        raise ValueError(
            f"The column {name!r} holds {column.type}, expected numbers, booleans or strings: cast it first."
        )
    if column.null_count and (types.is_integer(column.type) or types.is_boolean(column.type)):
        column = column.cast(pa.float64())
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
