"""Readers: conversion of Arrow batches to the rows of a block. A reader is sent to the batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import offsets, one_a_place
from ..core.coded import Coded
from ..core.extras import required


class Reader(ABC):
    """Base class of readers, which make the features of rows from columns of a table."""

    columns: tuple[str, ...]  # that are read
    features: tuple[str, ...] | int  # the names of the features; if they have none, how many there are

    @abstractmethod
    def rows(self, batch: Any) -> Any:
        """The features of the rows of an Arrow table or record batch: an array, CSR, or `Coded`."""

    @property
    def width(self) -> int:
        """The number of features."""
        return self.features if isinstance(self.features, int) else len(self.features)

    @property
    def fixed_size(self) -> bool:
        """Whether all rows have the same size in memory."""
        return True


@dataclass(frozen=True)
class DenseColumns(Reader):
    """Columns of numbers, booleans or strings; and of lists of numbers, all of one size."""

    columns: tuple[str, ...]
    sizes: tuple[tuple[str, int], ...] = ()  # of the columns of lists

    @property
    def features(self) -> tuple[str, ...]:  # type: ignore[override]
        return entries_of(self.columns, dict(self.sizes)) if self.sizes else self.columns

    def rows(self, batch: Any) -> np.ndarray:
        lists = dict(self.sizes)
        parts = [
            lists_of(batch, name, lists[name]) if name in lists else column_of(batch, name)
            for name in self.columns
        ]
        X = np.empty((batch.num_rows, self.width), np.result_type(*parts))
        j = 0
        for part in parts:
            if part.ndim == 1:
                X[:, j] = part
                j += 1
            else:
                X[:, j : j + part.shape[1]] = part
                j += part.shape[1]
        return X


def dense(columns: tuple[str, ...], sizes: Mapping[str, int]) -> DenseColumns:
    """The reader of these columns. `sizes` are the sizes of all columns of lists."""
    reader = DenseColumns(columns, tuple((name, sizes[name]) for name in columns if name in sizes))
    if reader.sizes and len(set(reader.features)) < reader.width:
        twice = [name for name in columns if name not in sizes and reader.features.count(name) > 1]
        lists = [name for name, _ in reader.sizes]
        raise ValueError(
            f"The columns {twice} have the names of entries of the lists {lists}: "
            "rename them, or select features=[...]."
        )
    return reader


def list_sizes(schema: Any) -> dict[str, int]:
    """The columns of an Arrow schema that hold lists of a fixed size, and these sizes."""
    types = required("pyarrow.types", "parquet")
    return {part.name: part.type.list_size for part in schema if types.is_fixed_size_list(part.type)}


def entries_of(columns: Sequence[str], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The names of the features of these columns: a column of lists has one for each entry."""
    return tuple(
        entry
        for name in columns
        for entry in ([f"{name}_{k}" for k in range(sizes[name])] if name in sizes else [name])
    )


def columns_of(features: Sequence[str], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The columns of features that `entries_of` named."""
    first = {f"{name}_0": name for name in sizes}
    chosen, k = [], 0
    while k < len(features):
        name = first.get(features[k])
        if name is not None and tuple(features[k : k + sizes[name]]) == entries_of([name], sizes):
            chosen.append(name)
            k += sizes[name]
        else:
            chosen.append(features[k])
            k += 1
    return tuple(chosen)


def lists_of(batch: Any, name: str, size: int) -> np.ndarray:
    """A column of lists of this size, (N, size). A missing list is NaN."""
    pa, types = required("pyarrow", "parquet"), required("pyarrow.types", "parquet")
    column = batch.column(name)
    if not types.is_fixed_size_list(column.type) or column.type.list_size != size:
        raise ValueError(
            f"The column {name!r} holds {column.type}, and lists of {size} numbers before: cast it first."
        )
    if not (types.is_integer(column.type.value_type) or types.is_floating(column.type.value_type)):
        raise ValueError(
            f"The column {name!r} holds {column.type}, expected lists of numbers: cast it first."
        )
    rows = []
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        values = chunk.values.slice(chunk.offset * size, len(chunk) * size)  # which ignore the offset
        if (values.null_count or chunk.null_count) and not types.is_floating(values.type):
            values = values.cast(pa.float64())
        part = values.to_numpy(zero_copy_only=False).reshape(len(chunk), size)
        if chunk.null_count:
            missing = chunk.is_null().to_numpy(zero_copy_only=False)
            part = np.where(missing[:, None], part.dtype.type(np.nan), part)
        rows.append(part)
    return np.concatenate(rows) if rows else np.empty((0, size))


@dataclass(frozen=True)
class CategoryColumns(DenseColumns):
    """Columns of categories, as codes: each distinct string of a batch is converted once."""

    def rows(self, batch: Any) -> Coded:  # type: ignore[override]
        parts = [categories_of(batch.column(name), name) for name in self.columns]
        codes = np.empty((batch.num_rows, len(parts)), np.int32, order="F")  # which is read by column
        for d, (part, _) in enumerate(parts):
            codes[:, d] = part
        return Coded(codes, tuple(values for _, values in parts))


@dataclass(frozen=True)
class TimeColumns(DenseColumns):
    """Columns of dates or timestamps, in local time where they have a time zone."""

    def rows(self, batch: Any) -> np.ndarray:
        X = np.empty((batch.num_rows, len(self.columns)), "datetime64[us]")
        for d, name in enumerate(self.columns):
            X[:, d] = times_of(batch.column(name), name)
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
        pc = required("pyarrow.compute", "parquet")

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
        types = required("pyarrow.types", "parquet")

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


@dataclass(frozen=True)
class Picked(Reader):
    """Some of the features of another reader."""

    reader: Reader
    places: tuple[int, ...]

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.reader.columns

    @property
    def features(self) -> int:  # type: ignore[override]
        return len(self.places)

    @property
    def fixed_size(self) -> bool:
        return self.reader.fixed_size

    def rows(self, batch: Any) -> Any:
        return self.reader.rows(batch)[:, list(self.places)]


@dataclass(frozen=True)
class Joined(Reader):
    """The features of several readers, side by side."""

    readers: tuple[Reader, ...]
    scales: tuple[float, ...]  # the features of each are multiplied by its scale
    sparse: bool  # whether the result is CSR

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(name for reader in self.readers for name in reader.columns))

    @property
    def features(self) -> int:  # type: ignore[override]
        return sum(reader.width for reader in self.readers)

    @property
    def fixed_size(self) -> bool:
        return all(reader.fixed_size for reader in self.readers)

    def rows(self, batch: Any) -> Any:
        parts = [reader.rows(batch) for reader in self.readers]
        parts = [
            part if scale == 1.0 else part * scale for part, scale in zip(parts, self.scales, strict=True)
        ]
        if self.sparse:
            return beside(parts)
        dense = [part.toarray() if sp.issparse(part) else np.asarray(part) for part in parts]
        return np.hstack(dense) if dense else np.empty((batch.num_rows, 0))


def beside(parts: Sequence[Any]) -> sp.csr_array:
    """Dense and sparse rows side by side, in CSR."""
    starts = offsets([part.shape[1] for part in parts])
    entries = [_entries(part, start) for part, start in zip(parts, starts[:-1], strict=True)]
    if any(entry is None for entry in entries):
        return sp.csr_array(sp.hstack([sp.csr_array(part) for part in parts], format="csr"))
    # All rows have the same number of entries.
    indices = np.hstack([indices for indices, _ in entries])  # type: ignore[misc]
    data = np.hstack([data for _, data in entries])  # type: ignore[misc]
    N, n = data.shape
    kind = np.int32 if max(starts[-1], N * n) < 1 << 31 else np.int64
    indptr = np.arange(N + 1, dtype=kind) * n
    return sp.csr_array((data.ravel(), indices.astype(kind, copy=False).ravel(), indptr), (N, starts[-1]))


def _entries(part: Any, start: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Columns, from `start` on, and values of the entries of each row, (N, n); None if rows differ in n."""
    if not sp.issparse(part):
        columns = np.arange(start, start + part.shape[1], dtype=np.int32)
        return np.broadcast_to(columns, part.shape), part
    n = part.nnz // max(1, part.shape[0])
    if n == 0 or not np.array_equal(part.indptr, np.arange(0, part.shape[0] * n + 1, n)):
        return None
    return part.indices.reshape(-1, n) + np.int32(start), part.data.reshape(-1, n)


def _remedy(kind: Any) -> str:
    """Advice for a column of this Arrow type."""
    is_temporal = required("pyarrow.types", "parquet").is_temporal(kind)
    return "use suffice.preprocessing.DatetimeEncoder" if is_temporal else "cast it first"


def column_of(batch: Any, name: str) -> np.ndarray:
    """A column of numbers, booleans or strings. Integers and booleans with missing values become floats."""
    pa = required("pyarrow", "parquet")
    types = required("pyarrow.types", "parquet")

    column = batch.column(name)
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not any(kind(column.type) for kind in kinds):
        raise ValueError(
            f"The column {name!r} holds {column.type}, expected numbers, booleans or strings: "
            f"{_remedy(column.type)}."
        )
    if column.null_count and (types.is_integer(column.type) or types.is_boolean(column.type)):
        column = column.cast(pa.float64())
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)


def are_categories(kind: Any) -> bool:
    """Whether a column of this Arrow type holds categories: a dictionary, or strings."""
    types = required("pyarrow.types", "parquet")
    known = (types.is_dictionary, types.is_string, types.is_large_string, types.is_string_view)
    return any(is_kind(kind) for is_kind in known)


def categories_of(column: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The codes of a column of categories, and its values: objects for strings, None and NaN if missing."""
    pa = required("pyarrow", "parquet")
    types = required("pyarrow.types", "parquet")

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_string_view(kind):
        column, kind = column.cast(pa.large_string()), pa.large_string()
    known = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    if not any(is_kind(kind) for is_kind in known):
        raise ValueError(
            f"The column {name!r} holds {kind}, expected categories (strings, numbers or booleans): "
            f"{_remedy(kind)}."
        )
    if hasattr(column, "chunks"):
        column = column.unify_dictionaries() if types.is_dictionary(column.type) else column
        column = column.combine_chunks()
    if types.is_dictionary(column.type):  # of which some may not occur
        codes = column.indices.fill_null(len(column.dictionary)).to_numpy(zero_copy_only=False)
        used = np.flatnonzero(np.bincount(codes, minlength=len(column.dictionary) + 1))
        place = np.zeros(len(column.dictionary) + 1, np.int32)
        place[used] = np.arange(len(used))
        values = pa.concat_arrays([column.dictionary, pa.nulls(1, kind)]).take(pa.array(used))
        return place[codes], values.to_numpy(zero_copy_only=False)
    column = column.dictionary_encode("encode")
    return column.indices.to_numpy(zero_copy_only=False), column.dictionary.to_numpy(zero_copy_only=False)


def times_of(column: Any, name: str) -> np.ndarray:
    """The microseconds of a column of dates or timestamps, in local time if they have a time zone."""
    pa = required("pyarrow", "parquet")
    pc = required("pyarrow.compute", "parquet")
    types = required("pyarrow.types", "parquet")

    if not (types.is_timestamp(column.type) or types.is_date(column.type)):
        raise ValueError(
            f"The column {name!r} holds {column.type}, expected dates or timestamps: cast it first."
        )
    if types.is_timestamp(column.type) and column.type.tz is not None:
        column = pc.local_timestamp(column)
    column = pc.cast(column, pa.timestamp("us"), safe=False)
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
