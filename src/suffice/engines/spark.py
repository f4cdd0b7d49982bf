"""Spark: the blocks lie in its cache as bytes, tasks in Python fold them, and what is lost is computed again.

Only DataFrames and `mapInArrow` are used, which classic Spark and Spark Connect both have. The workers need
the same Python, and suffice installed. What is shared by the tasks of a fold travels once, with the plan: to
a server of Connect in a message of at most 128 MB (``spark.connect.grpc.maxInboundMessageSize``).

A task whose worker dies is run again, until it was run ``spark.task.maxFailures`` times: four if nothing else
is said, but once where the master is ``local[2]``; write ``local[2,4]``. A worker that hangs is waited for,
unless the session was told otherwise: ``spark.sql.execution.pyspark.udf.idleTimeoutSeconds``, longer than any
block takes, with ``spark.sql.execution.pyspark.udf.killOnIdleTimeout`` kills it, and its task is run again.
"""

from __future__ import annotations

import atexit
import pickle
import threading
import traceback
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from ..core.blas import one_blas_thread
from ..core.blocks import Rows, power_of_two
from ..core.partitions import Partitions, fold_blocks, in_block
from ..core.statistics import tree_sum
from ..core.tables import Columns, Seen, runs
from ..core.values import nbytes

# Values travel as rows of cells: neither a row of Spark nor a message of Connect may be large.
CELLS = "number int, part int, cell binary"
CELL_BYTES = 1 << 24
# Where a cell begins, so that an array is read where it lies.
ALIGNMENT = 64
# Arrays that are smaller are pickled with what holds them.
SMALL_BYTES = 1 << 16
# Sums up to this size, all together, come home to be added; of larger ones, runs are added where they are.
HOME_BYTES = 1 << 28


@dataclass(frozen=True)
class SparkPartitions(Partitions):
    """Blocks in the cache of Spark, one to a partition of a DataFrame of cells.

    They are computed when they are first folded, kept, and given back when this is dropped. Each `map` makes
    the plan longer, from which what is lost is computed again.
    """

    frame: DataFrame
    empty: Any  # a block without rows, to tell how large a sum is
    came_from: list[SparkPartitions] = field(default_factory=list)  # until the blocks are there

    def __post_init__(self) -> None:
        self.frame.persist()
        weakref.finalize(self, _release, self.frame)

    def map(self, f: Callable[..., Any], *shared: Any) -> SparkPartitions:
        return SparkPartitions(_run(self.frame, _map, f, shared), f(*shared, self.empty), [self])

    def fold(self, f: Callable[..., Any], *shared: Any) -> Any:
        sums = _run(self.frame, _fold, f, shared)
        if run := self._run_length(nbytes(f(*shared, self.empty.piece(0, 0, 0)))):
            apart = sums.selectExpr("*", f"number div {run[0]} as run").repartition(run[1], "run")
            sums = _run(apart.sortWithinPartitions("number", "part").drop("run"), _add, run[0])
        total = tree_sum(_raised(value) for _, value in _at_home(sums))
        self.came_from.clear()
        # What was read lies in the bytes that came, which cannot be written to.
        return deepcopy(total)

    def _run_length(self, size: int) -> tuple[int, int] | None:
        """How many sums to add where they are, a power of two, and how many runs that makes."""
        if size <= SMALL_BYTES or self._n_blocks * size <= HOME_BYTES:
            return None
        length = 2 * power_of_two(self._n_blocks * size / max(1, HOME_BYTES), 1)
        return length, -(-self._n_blocks // length)

    @cached_property
    def _n_blocks(self) -> int:
        return self.frame.where("part = 0").count()


def _run(frame: DataFrame, task: Callable[..., Any], *call: Any) -> DataFrame:
    """The answers of tasks over a DataFrame, as cells.

    The call is pickled here, once. It carries a number that no other has: Spark knows what it has cached by
    the plan, and what one of two equal ones gave back would be lost to the other.
    """
    given = cloudpickle.dumps((uuid.uuid4().bytes, call))
    return frame.mapInArrow(partial(task, given), CELLS)


def _open(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (columns, check, empty) = pickle.loads(call)
    number = TaskContext.get().partitionId()  # type: ignore[union-attr]

    def block() -> Any:
        with in_block(number, "reading it"):
            return columns.block(check, number, _table(batches, empty))

    yield from _cells(number, _outcome(block))


def _sequences_in(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """The ids of the sequences of a partition as they stand."""
    _, (column, empty) = pickle.loads(call)
    number = TaskContext.get().partitionId()  # type: ignore[union-attr]

    def ids() -> list[Any]:
        with in_block(number, "reading it"):
            return runs(_table(batches, empty).column(column), f"The column {column!r}")[1]

    yield from _cells(number, _outcome(ids))


def _table(batches: Iterable[Any], empty: Any) -> Any:
    """The rows of a partition, with the names that its columns have at home."""
    found = list(batches)
    return pa.Table.from_batches(found).rename_columns(empty.column_names) if found else empty


def _map(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (f, shared) = pickle.loads(call)
    for number, block in _values(_rows(batches)):
        yield from _cells(number, _outcome(lambda: f(*shared, _raised(block))))  # noqa: B023


def _fold(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (f, shared) = pickle.loads(call)
    for number, block in _values(_rows(batches)):
        yield from _cells(number, _outcome(lambda: fold_blocks(f, shared, [_raised(block)])))  # noqa: B023


def _add(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (length,) = pickle.loads(call)
    for number, terms in groupby(_values(_rows(batches)), key=lambda term: term[0] // length):
        yield from _cells(number, _outcome(lambda: tree_sum(_raised(term) for _, term in terms)))  # noqa: B023


@dataclass(frozen=True)
class _Raised:
    """An error as a value: it is the answer, and Spark has no reason to try again."""

    error: Exception
    where: str


class _InTask(Exception):
    """Where in a task an error was raised."""

    def __str__(self) -> str:
        return "\n" + self.args[0]


def _outcome(compute: Callable[[], Any]) -> Any:
    try:
        with one_blas_thread:
            return compute()
    except Exception as error:
        if isinstance(error.__cause__, _InTask):  # it was raised by an earlier task
            return _Raised(error, error.__cause__.args[0])
        return _Raised(_that_travels(error), traceback.format_exc())


def _that_travels(error: Exception) -> Exception:
    """The error, or if it cannot be pickled, one that says the same."""
    try:
        if type(pickle.loads(cloudpickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass
    other = RuntimeError(f"{type(error).__name__}: {error}")
    other.__notes__ = list(getattr(error, "__notes__", []))
    return other


def _raised(value: Any) -> Any:
    if isinstance(value, _Raised):
        raise value.error from _InTask(value.where)
    return value


def _cells(number: int, value: Any) -> Iterator[Any]:
    """A value as rows of cells: the sizes of its parts; what was pickled; and its arrays as they lie."""
    large: list[Any] = []

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        if buffer.raw().nbytes >= SMALL_BYTES:
            large.append(buffer.raw())
            return False
        return True

    pickled = cloudpickle.dumps(value, protocol=5, buffer_callback=is_small)
    parts = [memoryview(pickled), *large]
    cells = [memoryview(pickle.dumps((CELL_BYTES, [part.nbytes for part in parts])))]
    cells += [part[i : i + CELL_BYTES] for part in parts for i in range(0, part.nbytes, CELL_BYTES)]
    for n, cell in enumerate(cells):
        padded = b"".join([cell, bytes(-cell.nbytes % ALIGNMENT)])
        columns = [pa.array([number], pa.int32()), pa.array([n], pa.int32()), pa.array([padded], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["number", "part", "cell"])


def _value(cells: list[Any]) -> Any:
    found, parts = iter(cells), []
    length, sizes = pickle.loads(next(found))
    for size in sizes:
        mine = list(islice(found, -(-size // length)))
        parts.append(memoryview(mine[0] if len(mine) == 1 else b"".join(mine))[:size])
    return pickle.loads(parts[0], buffers=parts[1:])


def _rows(batches: Iterable[Any]) -> Iterator[tuple[int, int, Any]]:
    for batch in batches:
        number, part, cell = batch.columns
        yield from zip(number.to_pylist(), part.to_pylist(), (c.as_buffer() for c in cell), strict=True)


def _values(rows: Iterable[tuple[int, int, Any]]) -> Iterator[tuple[int, Any]]:
    """Numbered values from rows of cells, which stand in order."""
    for number, cells in groupby(rows, key=itemgetter(0)):
        yield number, _value([cell for _, _, cell in cells])


def _at_home(frame: DataFrame) -> Iterator[tuple[int, Any]]:
    return _values(sorted(_rows(frame.toArrow().to_batches()), key=itemgetter(0, 1)))


def _release(frame: DataFrame) -> None:
    """Give the cache back.

    From a thread of its own: garbage may be collected while this one is in the middle of a word to Spark.
    """

    def unpersist() -> None:
        with suppress(Exception):  # the session may have been stopped, and its cache with it
            frame.unpersist()

    if threading.main_thread().is_alive():
        thread = threading.Thread(target=unpersist, daemon=True)
        thread.start()
        _releasing.add(thread)
    else:  # at the end there are no new threads, and no time to try again and again
        with suppress(Exception):
            frame.sparkSession.client.set_retry_policies([])
        unpersist()


_releasing: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _wait_for_release() -> None:
    """A server of Connect outlives this process, and would keep what it was not told of."""
    for thread in list(_releasing):
        thread.join(5.0)


def answer(source: DataFrame, asked: Any) -> DataFrame:
    """The rows with their answers, as a DataFrame: lazy, but for a look whether sequences stand together."""
    empty = source.limit(0).toArrow()
    frame = source.toDF(*map(str, range(len(source.columns))))
    if asked.columns.sequence is not None:
        frame = _whole_sequences(frame, asked.columns, empty)
    fields = {field.name: field for field in source.schema.fields}
    answers = [
        fields.get(field.name) or StructField(field.name, from_arrow_type(field.type))
        for field in asked.beside(empty).schema
    ]
    return frame.mapInArrow(partial(_answer, cloudpickle.dumps((asked, empty))), StructType(answers))


def _answer(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    asked, empty = pickle.loads(call)
    parts = [batches] if asked.columns.sequence is not None else ([batch] for batch in batches)
    number = TaskContext.get().partitionId()  # type: ignore[union-attr]
    for part in parts:
        with in_block(number, "answering for it"), one_blas_thread:
            table = asked.beside(_table(part, empty))
        yield from table.to_batches()


def column_names(source: DataFrame) -> list[str]:
    return list(source.columns)


def open_partitions(source: DataFrame, columns: Columns, check: Callable[[Rows], Rows]) -> SparkPartitions:
    """Its partitions, each converted once to a block, which Spark keeps in memory and on disk.

    The boundaries are those of the DataFrame, in their order. A block may be of any size that fits the memory
    of a Python worker twice; of files, Spark reads 128 MB to a partition
    (``spark.sql.files.maxPartitionBytes``). Where a DataFrame has other rows each time it is computed, as
    after sampling without a seed, ``persist`` it first: blocks that are lost are computed from it again.
    """
    names = list(dict.fromkeys(columns.names()))
    frame = source.select(*("`" + name.replace("`", "``") + "`" for name in names))
    empty = frame.limit(0).toArrow()
    frame = frame.toDF(*map(str, range(len(names))))  # Spark takes names with dots for something else
    if columns.sequence is not None:
        frame = _whole_sequences(frame, columns, empty)
    blocks = _run(frame, _open, columns, check, empty)
    return SparkPartitions(blocks, columns.block(check, 0, empty))


def _whole_sequences(frame: DataFrame, columns: Columns, empty: Any) -> DataFrame:
    """The same rows if every sequence stands together in one partition; else brought together and sorted.

    The ids are read in a pass of their own.
    """
    assert columns.sequence is not None
    names = empty.column_names
    ids = str(names.index(columns.sequence))
    seen, n, apart = Seen(), 0, None
    only_ids = empty.select([columns.sequence])
    for number, value in _at_home(_run(frame.select(ids), _sequences_in, columns.sequence, only_ids)):
        found, n = _raised(value), number + 1
        if apart is None:
            try:
                seen.add(found)
            except ValueError as error:
                apart = error
    if apart is None:
        return frame
    if columns.order is None:
        raise ValueError(
            f"{apart} Spark does not keep the order of rows: with suffice.sequences(..., order=...) they are "
            "brought together and sorted by that column."
        )
    return frame.repartition(n, ids).sortWithinPartitions(ids, str(names.index(columns.order)))
