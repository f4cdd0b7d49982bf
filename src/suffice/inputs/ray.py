"""Ray Datasets: their blocks are read by tasks, and stay on the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa
import ray
import ray.data
from ray.data.dataset import MaterializedDataset

from ..core.blas import one_blas_thread
from ..core.partitions import in_block
from ..engines import ray as engine
from ..engines.ray import RETRIES, RayPartitions, ended_in_order, errors_as_raised, run_length
from .checks import Check
from .sequences import sequences_in, shares, whole
from .sources import TableSource, must_not_write
from .tables import Columns


@dataclass(frozen=True)
class RaySource(TableSource):
    """A `ray.data.Dataset`."""

    def names(self) -> list[str]:
        return list(self.types())

    def types(self) -> dict[str, Any]:
        return _types(self.container)

    def partitions(self, columns: Any, check: Check) -> RayPartitions:
        """The blocks of the Dataset, converted once by tasks.

        The boundaries are those of the Dataset. Where Ray reads files it chooses them by the files and,
        beyond a hundred, by the CPUs: ``override_num_blocks=`` of the reader fixes them.
        """
        source = self.container
        if not isinstance(source, MaterializedDataset):
            # Other columns are not read, and what Ray caches of this one goes when we are done.
            source = source.select_columns(columns.names())
        tables = _blocks_in_order(source)
        types = _types(source)
        empty = pa.schema({name: types[name] for name in columns.names()}).empty_table()
        n = engine.RUN or run_length(len(tables), source.size_bytes())
        starts = range(0, len(tables), n)
        parts: Any = _whole_sequences(tables, columns, n) if columns.sequence else [(0, ())] * len(tables)

        def opened(i: int) -> Any:
            mine = list(zip(tables[i : i + n], parts[i : i + n], strict=True))
            tables_in_order = [part for table, (_, heads) in mine for part in (table, *heads)]
            sizes = [(past, len(heads)) for _, (past, heads) in mine]
            return _open.remote(columns, check, empty, i, sizes, *tables_in_order)

        return RayPartitions(tuple(map(opened, starts)), n)

    def answer(self, request: Any, to: Any) -> ray.data.Dataset:
        """The rows with their results, as a Dataset. It is lazy, except for sequences, which are completed
        first."""
        must_not_write(self, to)
        if request.columns.sequence is None:
            return self.container.map_batches(
                partial(_beside, request), batch_format="pyarrow", batch_size=None, zero_copy_batch=True
            )
        types = self.types()
        columns, tables = request.columns.with_all(types), _blocks_in_order(self.container)
        empty = pa.schema(types).empty_table()
        shared = ray.put(request)
        parts = zip(tables, _whole_sequences(tables, columns, 1), strict=True)
        return ray.data.from_arrow_refs(
            [
                _answer_whole.remote(shared, columns, empty, n, past, table, *heads)
                for n, (table, (past, heads)) in enumerate(parts)
            ]
        )


def _types(source: ray.data.Dataset) -> dict[str, Any]:
    schema = source.schema()
    if schema is None:
        raise ValueError("The ray.data.Dataset is empty: it has no rows and no columns.")
    return dict(zip(schema.names, schema.types, strict=True))


@ray.remote(max_retries=RETRIES)
def _open(
    columns: Columns, check: Any, empty: pa.Table, start: int, shares: Any, *tables: pa.Table
) -> tuple[Any, ...]:
    blocks, remaining = [], iter(tables)
    for number, (past, more) in enumerate(shares, start):
        with in_block(number, "reading it"):
            table = next(remaining)
            table = table if table.num_rows else empty
            if columns.sequence:
                table = whole(columns.names(), table, past, islice(remaining, more))
            blocks.append(columns.block(check, number, table))
    return tuple(blocks)


@ray.remote(max_retries=RETRIES)
def _sequences_in(column: str, start: int, *tables: pa.Table) -> Any:
    return sequences_in(column, start, tables)


@ray.remote(max_retries=RETRIES)
def _head(names: list[str], n: int, table: pa.Table) -> pa.Table:
    return table.select(names).slice(0, n)


def _whole_sequences(tables: list[Any], columns: Columns, n: int) -> list[tuple[int, list[Any]]]:
    """Number of rows of each block that belong to an earlier one, and the heads of later blocks that belong
    to it."""
    starts = range(0, len(tables), n)
    tasks = [partial(_sequences_in.remote, columns.sequence, i, *tables[i : i + n]) for i in starts]
    with errors_as_raised():
        shared = shares(part for task in ended_in_order(tasks, n) for part in ray.get(task))

    def head(number: int, size: int | None) -> Any:
        table = tables[number]
        return table if size is None else _head.remote(columns.names(), size, table)

    return [(past, [head(*part) for part in heads]) for past, heads in shared]


def _beside(request: Any, table: pa.Table) -> pa.Table:
    if not table.num_rows:  # and perhaps no columns
        return table
    with one_blas_thread:
        return request.beside(table)


@ray.remote(max_retries=RETRIES)
def _answer_whole(
    request: Any, columns: Columns, empty: pa.Table, number: int, past: int, table: pa.Table, *heads: pa.Table
) -> pa.Table:
    with in_block(number, "answering for it"), one_blas_thread:
        table = whole(columns.names(), table if table.num_rows else empty, past, heads)
        return request.beside(table.select(empty.column_names))


def _blocks_in_order(source: ray.data.Dataset) -> list[Any]:
    """References to the blocks, in order: by default, Ray Data yields them as they become ready."""
    options = source.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        return source.to_arrow_refs()
    finally:
        options.preserve_order = before
