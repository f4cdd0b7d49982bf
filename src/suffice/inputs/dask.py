"""Dask DataFrames and arrays, and lists of delayed tables and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask
import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from dask.delayed import Delayed, delayed

from ..core.arguments import MaybeArray
from ..core.blas import one_blas_thread
from ..core.blocks import Rows
from ..core.partitions import Partitions, in_block
from ..engines.dask import client_of_dask, computed, explain_killed_workers, opened
from .checks import Check
from .readers import DenseColumns
from .sequences import sequences_in, shares, whole
from .sources import Opening, Source, TableSource, must_not_write
from .tables import Columns, Table
from .validation import must_be_sound, unmasked


def delayed_source(container: Any, table: Table | None) -> Source:
    """The source of a Delayed, or of a list of them: tables or arrays, by the first."""
    names = names_of(container)
    if isinstance(names, int):
        return DaskArraySource(container, table, names)
    return DaskSource(container, table, names)


@dataclass(frozen=True)
class DaskSource(TableSource):
    """A Dask DataFrame, or a list of delayed tables."""

    known_names: list[str] | None = None  # of delayed tables, read from the first one

    def names(self) -> list[str]:
        names = self.known_names or names_of(self.container)
        assert not isinstance(names, int)
        return names

    def types(self) -> dict[str, Any]:
        source = self.container
        if isinstance(source, list | Delayed):
            [empty] = computed(client_of_dask(), [_task(_empty, self.names())(_list(source)[0])])
        else:
            empty = _empty(self.names(), source._meta)
        return dict(zip(empty.schema.names, empty.schema.types, strict=True))

    def partitions(self, columns: Any, check: Check) -> Partitions:
        """The partitions of a table, or the tables of a list, converted once by tasks."""
        source, names = self.container, list(dict.fromkeys(columns.names()))
        if isinstance(source, list | Delayed):
            parts = _list(source)
            empty = _task(_empty, names)(parts[0])
        else:
            parts = source[names].to_delayed()
            empty = _empty(names, source._meta)
        if columns.sequence is None:
            return opened([_task(_rows, columns, check, n)(part, empty) for n, part in enumerate(parts)])
        return _whole(columns, check, [_task(_table, names, n)(part, empty) for n, part in enumerate(parts)])

    def answer(self, request: Any, to: Any) -> Any:
        """The rows with their results: a DataFrame for a DataFrame, a list of delayed tables for such a list.

        It is lazy, except for sequences, which are completed first.
        """
        must_not_write(self, to)
        source = self.container
        listed = isinstance(source, list | Delayed)
        if request.columns.sequence is not None:
            return _answer_sequences(source, request, listed)
        if listed:
            return [_task(_answered, request)(part) for part in _list(source)]
        return source.map_partitions(partial(_answered, request), meta=_answered(request, source._meta))


@dataclass(frozen=True)
class DaskArraySource(Source):
    """A Dask array, or a list of delayed arrays."""

    known_width: int | None = None  # of delayed arrays, read from the first one

    @property
    def width(self) -> int:
        width = self.known_width or names_of(self.container)
        assert isinstance(width, int)
        return width

    def open_rows(self, opening: Opening, y: MaybeArray, sample_weight: MaybeArray) -> Partitions:
        return self._open(opening, "rows", y if opening.check.target else None, sample_weight, None)

    def open_sequences(
        self, opening: Opening, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
    ) -> Partitions:
        if groups is None and self.table is None:
            raise ValueError(
                "A distributed array without groups would be one sequence, in one block: pass groups=, an id "
                'per row, or fit(suffice.sequences(table, sequence="...")).'
            )
        return self._open(opening, "sequences", y, sample_weight, groups)

    def _open(
        self, opening: Opening, verb: str, y: MaybeArray, sample_weight: MaybeArray, groups: MaybeArray
    ) -> Partitions:
        if self.table is not None:
            raise TypeError(f"suffice.{verb} describes tables, and these blocks are arrays: call fit(X, y).")
        if opening.check.target and y is None:
            raise ValueError(f"{opening.check.name} requires y to be passed, but the target y is None.")
        opening.set_features(self.width)
        return open_arrays(self.container, self.width, y, sample_weight, groups, opening.check)

    def answer(self, request: Any, to: Any) -> Any:
        """The results for the rows of an array, as a Dask array; for a list of arrays, as a list."""
        must_not_write(self, to)
        X = self.container
        if not _is_array(X):
            return [_task(_answered_array, request, None)(part) for part in _list(X)]
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        like = request(np.ones((1, X.shape[1])))[:0]  # the result for one row has the type and the width
        shape: Any = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], (like.shape[1],))}
        return X.map_blocks(partial(_answered_array, request, like), dtype=like.dtype, meta=like, **shape)

    def flat_target(self, y: MaybeArray) -> bool:
        return getattr(y, "ndim", 1) < 2


def names_of(source: Any) -> list[str] | int:
    """The names of the columns; for arrays, their number."""
    if _is_array(source):
        if source.ndim != 2:
            raise ValueError(f"Expected 2D array, got a dask array of shape {source.shape} instead.")
        return int(source.shape[1])
    if isinstance(source, list | Delayed):
        with explain_killed_workers():
            [names] = computed(client_of_dask(), [_task(_names)(_list(source)[0])])
    else:
        names = list(source.columns)
    if not isinstance(names, int) and any(not isinstance(name, str) for name in names):
        raise TypeError(f"The names of columns must be strings; got {names}: rename them first.")
    return names


def _names(part: Any) -> list[str] | int:
    if isinstance(part, pa.Table | pa.RecordBatch):
        return list(part.schema.names)
    return list(part.columns) if hasattr(part, "columns") else int(part.shape[1])


def open_arrays(
    X: Any, width: int, y: MaybeArray, sample_weight: MaybeArray, groups: MaybeArray, check: Check
) -> Partitions:
    """The chunks of rows of an array, or the arrays of a list; with `groups`, rows are steps of sequences."""
    if _is_array(X):
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        parts = X.to_delayed().ravel().tolist()
    else:
        parts = _list(X)
    by_name = {"y": y, "sample_weight": sample_weight, "groups": groups}
    by_name = {name: _beside(X, part, name) for name, part in by_name.items() if part is not None}
    beside = list(zip(*by_name.values(), strict=True)) or [()] * len(parts)
    if groups is None:
        read = enumerate(zip(parts, beside, strict=True))
        return opened([_task(_rows_of_arrays, check, n, tuple(by_name))(part, *b) for n, (part, b) in read])
    columns = Columns(
        DenseColumns(tuple(f"x{j}" for j in range(width))),
        None if y is None else "y",
        None if sample_weight is None else "sample_weight",
        "groups",
    )
    read = enumerate(zip(parts, beside, strict=True))
    tables = [_task(_table_of_arrays, check, n, columns, tuple(by_name))(part, *b) for n, (part, b) in read]
    return _whole(columns, check, tables)


def _whole(columns: Columns, check: Any, tables: list[Delayed]) -> Partitions:
    """Partitions of complete sequences, from Arrow tables that may divide them."""
    complete = _whole_tables(columns, tables)
    return opened([_task(_sequences, columns, check, n, past)(*parts) for n, (past, parts) in complete])


def _whole_tables(columns: Columns, tables: list[Delayed]) -> Iterator[tuple[int, tuple[int, list[Any]]]]:
    """The number of rows of each table that belong to an earlier one, and the table with the heads that
    belong to it."""
    assert columns.sequence is not None
    client = client_of_dask()
    tables = dask.persist(*tables)
    sequences = computed(client, [_task(_sequences_in, columns.sequence, n)(t) for n, t in enumerate(tables)])

    def head(number: int, size: int | None) -> Any:
        return tables[number] if size is None else _task(_head, size)(tables[number])

    for n, (past, heads) in enumerate(shares(sequences)):
        yield n, (past, [tables[n], *(head(*part) for part in heads)])


def _answered(request: Any, part: Any) -> Any:
    with one_blas_thread:
        if isinstance(part, pa.Table | pa.RecordBatch):
            return request.beside(_arrow(list(part.schema.names), part))
        table, selection = _arrow(request.columns.names(), part), request.columns.selection
        answer = request.named(table)
        return (part if selection is None else part[selection.mask(table)]).assign(**answer)


def _answer_sequences(source: Any, request: Any, listed: bool) -> Any:
    """Results of sequences are Arrow tables, without an index."""
    import dask.dataframe as dd

    names = names_of(source)
    assert not isinstance(names, int)
    parts = _list(source) if listed else source.to_delayed()
    empty = _task(_empty, names)(parts[0]) if listed else _empty(names, source._meta)
    columns = request.columns.with_all(names)
    complete = _whole_tables(columns, [_task(_table, names, n)(part, empty) for n, part in enumerate(parts)])
    answers = [
        _task(_answered_whole, request, columns, n, past, names)(*parts) for n, (past, parts) in complete
    ]
    if listed:
        return answers
    meta = request.beside(empty).to_pandas()
    return dd.from_delayed([_task(pa.Table.to_pandas)(a) for a in answers], meta=meta, verify_meta=False)


def _answered_whole(
    request: Any, columns: Columns, number: int, past: int, names: list[str], *tables: pa.Table
) -> pa.Table:
    with in_block(number, "answering for it"), one_blas_thread:
        return request.beside(whole(columns.names(), tables[0], past, tables[1:]).select(names))


def _answered_array(request: Any, like: Any, part: Any) -> Any:
    if like is not None and not len(part):
        return like
    with one_blas_thread:
        return request(part)


def _is_array(source: Any) -> bool:
    return not isinstance(source, list | Delayed) and hasattr(source, "chunks")


def _list(source: Any) -> list[Delayed]:
    return [source] if isinstance(source, Delayed) else list(source)


def _task(f: Callable[..., Any], *given: Any) -> Any:
    return delayed(partial(f, *given), pure=False, traverse=False)


def _beside(X: Any, part: Any, name: str) -> list[Any]:
    """Targets, weights or groups of the rows of X, divided as X."""
    if not _is_array(X):
        parts, n = _list(part), len(_list(X))
        if len(parts) != n:
            raise ValueError(f"X is a list of {n} blocks, but {name} has {len(parts)}: pass one per block.")
        return parts
    rows = X.chunks[0]
    if hasattr(part, "to_dask_array"):
        part = part.to_dask_array()
    if not _is_array(part):
        import dask.array as da

        if np.isnan(X.shape[0]):
            raise ValueError(
                f"{name} is in memory, and the chunks of X have unknown lengths: call "
                f"X.compute_chunk_sizes() first, or pass {name} as a dask array with the chunks of X."
            )
        part = da.from_array(np.asarray(unmasked(part, name)), -1)
    part = part.rechunk(dict.fromkeys(range(1, part.ndim), -1))
    if not np.isnan(X.shape[0]) and not np.isnan(part.shape[0]):
        if part.shape[0] != X.shape[0]:
            raise ValueError(f"{name} has {part.shape[0]} rows, but X has {X.shape[0]}.")
        part = part.rechunk({0: rows})
    if part.numblocks[0] != len(rows):
        raise ValueError(f"{name} has {part.numblocks[0]} chunks, but X has {len(rows)} chunks of rows.")
    return part.to_delayed().ravel().tolist()


def _arrow(names: list[str], part: Any) -> pa.Table:
    """A pandas or Arrow table as an Arrow table. An empty pandas column has no type."""
    if isinstance(part, pa.RecordBatch):
        part = pa.Table.from_batches([part])
    if not isinstance(part, pa.Table):
        part = pa.Table.from_pandas(part[names], preserve_index=False)
    part = part.select(names).replace_schema_metadata()
    known = [f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in part.schema]
    return part.cast(pa.schema(known))


def _empty(names: list[str], part: Any) -> pa.Table:
    return _arrow(names, part).schema.empty_table()


def _table(names: list[str], number: int, part: Any, empty: pa.Table) -> pa.Table:
    with in_block(number, "reading it"):
        return _arrow(names, part) if len(part) else empty


def _rows(columns: Columns, check: Any, number: int, part: Any, empty: pa.Table) -> Any:
    table = _table(empty.column_names, number, part, empty)
    with in_block(number, "reading it"):
        return columns.block(check, number, table)


def _sequences_in(column: str, number: int, table: pa.Table) -> Any:
    [sequences] = sequences_in(column, number, [table])
    return sequences


def _head(n: int, table: pa.Table) -> pa.Table:
    return table.slice(0, n)


def _sequences(columns: Columns, check: Any, number: int, past: int, *tables: pa.Table) -> Any:
    with in_block(number, "reading it"):
        return columns.block(check, number, whole(columns.names(), tables[0], past, tables[1:]))


def _rows_of_arrays(check: Any, number: int, names: tuple[str, ...], X: Any, *beside: Any) -> Any:
    with in_block(number, "reading it"):
        X, by_name = _arrays(check, X, names, beside)
        weight = by_name.get("sample_weight")
        return check(
            Rows(X, by_name.get("y"), None if weight is None else weight.astype(np.float64), (number,))
        )


def _table_of_arrays(
    check: Any, number: int, columns: Columns, names: tuple[str, ...], X: Any, *beside: Any
) -> pa.Table:
    with in_block(number, "reading it"):
        X, by_name = _arrays(check, X, names, beside)
        return pa.table(dict(zip(columns.reader.columns, X.T, strict=True)) | by_name)


def _arrays(
    check: Any, X: Any, names: tuple[str, ...], beside: tuple[Any, ...]
) -> tuple[Any, dict[str, np.ndarray]]:
    """The arrays of a block, which have the same rows."""
    if sp.issparse(X):
        if not check.sparse or "groups" in names:
            raise TypeError(f"{check.name} does not take blocks of sparse rows: make them dense first.")
        must_be_sound(X)
        X = sp.csr_array(X)
    else:
        X = np.asarray(unmasked(X, "X", check.nan))
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a block of shape {X.shape} instead.")
    if X.dtype.kind not in "biuf":
        X = X.astype(object if check.strings else np.float64)
    by_name = {name: np.asarray(unmasked(part, name)) for name, part in zip(names, beside, strict=True)}
    for name, part in by_name.items():
        if part.ndim == 2 and part.shape[1] == 1 and (name != "y" or check.target != "number"):
            by_name[name] = part = part[:, 0]
        if len(part) != X.shape[0] or (part.ndim != 1 and name != "y"):
            raise ValueError(
                f"{name} has the shape {part.shape}, but X has {X.shape[0]} rows: pass one per row."
            )
    return X, by_name
