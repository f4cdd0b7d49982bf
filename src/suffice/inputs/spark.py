"""Spark DataFrames: their partitions are read by tasks, and stay on the cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from ..core.blas import one_blas_thread
from ..core.partitions import in_block
from ..engines.spark import SparkPartitions, cells_of, outcome, raised, run_tasks, values_of
from .checks import Check
from .sequences import Seen, runs
from .sources import TableSource, must_not_write
from .tables import Columns


@dataclass(frozen=True)
class SparkSource(TableSource):
    """A Spark DataFrame, also of Spark Connect."""

    def names(self) -> list[str]:
        return list(self.container.columns)

    def types(self) -> dict[str, Any]:
        schema = self.container.limit(0).toArrow().schema
        return dict(zip(schema.names, schema.types, strict=True))

    def partitions(self, columns: Any, check: Check) -> SparkPartitions:
        """The partitions of the DataFrame, each converted once to a block, which Spark persists in memory and
        on disk.

        The boundaries are those of the DataFrame, in order. A block may have any size that fits in the memory
        of a Python worker twice; from files, Spark reads 128 MB per partition
        (``spark.sql.files.maxPartitionBytes``). If a DataFrame has other rows each time it is computed, e.g.
        after sampling without a seed, ``persist`` it first: lost blocks are computed from it again.
        """
        names = list(dict.fromkeys(columns.names()))
        frame = self.container.select(*("`" + name.replace("`", "``") + "`" for name in names))
        empty = frame.limit(0).toArrow()
        frame = frame.toDF(*map(str, range(len(names))))  # Spark takes names with dots for something else
        if columns.sequence is not None:
            frame = _whole_sequences(frame, columns, empty)
        blocks = run_tasks(frame, _open, columns, check, empty)
        return SparkPartitions(blocks, columns.block(check, 0, empty))

    def answer(self, request: Any, to: Any) -> DataFrame:
        """The rows with their results, as a DataFrame. It is lazy, but ids of sequences are read first."""
        must_not_write(self, to)
        source = self.container
        empty = source.limit(0).toArrow()
        frame = source.toDF(*map(str, range(len(source.columns))))
        if request.columns.sequence is not None:
            frame = _whole_sequences(frame, request.columns, empty)
        fields = {field.name: field for field in source.schema.fields}
        answers = [
            fields.get(field.name) or StructField(field.name, from_arrow_type(field.type))
            for field in request.beside(empty).schema
        ]
        return frame.mapInArrow(partial(_answer, cloudpickle.dumps((request, empty))), StructType(answers))


def _open(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (columns, check, empty) = pickle.loads(call)
    number = TaskContext.get().partitionId()  # type: ignore[union-attr]

    def block() -> Any:
        with in_block(number, "reading it"):
            return columns.block(check, number, _table(batches, empty))

    yield from cells_of(number, outcome(block))


def _sequences_in(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """The ids of the sequences of a partition, in order."""
    _, (column, empty) = pickle.loads(call)
    number = TaskContext.get().partitionId()  # type: ignore[union-attr]

    def ids() -> list[Any]:
        with in_block(number, "reading it"):
            return runs(_table(batches, empty).column(column), f"The column {column!r}")[1]

    yield from cells_of(number, outcome(ids))


def _table(batches: Iterable[Any], empty: Any) -> Any:
    """The rows of a partition, with the names that its columns have on the driver."""
    all_batches = list(batches)
    return pa.Table.from_batches(all_batches).rename_columns(empty.column_names) if all_batches else empty


def _answer(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    request, empty = pickle.loads(call)
    parts = [batches] if request.columns.sequence is not None else ([batch] for batch in batches)
    number = TaskContext.get().partitionId()  # type: ignore[union-attr]
    for part in parts:
        with in_block(number, "answering for it"), one_blas_thread:
            table = request.beside(_table(part, empty))
        yield from table.to_batches()


def _whole_sequences(frame: DataFrame, columns: Columns, empty: Any) -> DataFrame:
    """The same rows if every sequence is contiguous in one partition; else grouped and sorted.

    The ids are read in a separate pass.
    """
    assert columns.sequence is not None
    names = empty.column_names
    ids = str(names.index(columns.sequence))
    seen, n, apart = Seen(), 0, None
    only_ids = empty.select([columns.sequence])
    for number, value in values_of(run_tasks(frame.select(ids), _sequences_in, columns.sequence, only_ids)):
        ids_of_batch, n = raised(value), number + 1
        if apart is None:
            try:
                seen.add(ids_of_batch)
            except ValueError as error:
                apart = error
    if apart is None:
        return frame
    if columns.order is None:
        raise ValueError(
            f"{apart} Spark does not keep the order of rows: with suffice.sequences(..., order=...) "
            f"they are grouped and sorted by that column."
        )
    return frame.repartition(n, ids).sortWithinPartitions(ids, str(names.index(columns.order)))
