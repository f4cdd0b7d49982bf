"""Spark engine: blocks are in its cache as bytes, Python tasks fold them, and lost blocks are recomputed.

Only DataFrames and `mapInArrow` are used, which classic Spark and Spark Connect both have. The workers need
the same Python, and suffice installed. The arguments shared by the tasks of a fold are sent once, with the
plan: to a Spark Connect server in a message of at most 128 MB (``spark.connect.grpc.maxInboundMessageSize``).

A task whose worker dies is run again, up to ``spark.task.maxFailures`` times: four by default, but once if
the master is ``local[2]``; use ``local[2,4]``. A hanging worker blocks the fit, unless the session is
configured otherwise: ``spark.sql.execution.pyspark.udf.idleTimeoutSeconds``, longer than any block takes,
with ``spark.sql.execution.pyspark.udf.killOnIdleTimeout`` kills it, and its task is run again.
"""

from __future__ import annotations

import atexit
import gc
import pickle
import re
import threading
import traceback
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from ..core.blas import one_blas_thread
from ..core.blocks import Block, power_of_two
from ..core.partitions import Partitions, fold_blocks
from ..core.statistics import tree_sum
from ..core.values import nbytes
from .local import LocalPartitions, fold_by_key_on_driver, in_blocks
from .shards import Shards

# Values are sent as rows of cells, since neither a row of Spark nor a message of Connect may be large.
CELLS = "number int, part int, cell binary"
CELL_BYTES = 1 << 24  # largest size of a cell
ALIGNMENT = 64
# Smaller arrays are pickled with the object that contains them.
SMALL_BYTES = 1 << 16
# If the sums of all tasks together are at most this size, the driver adds them. Otherwise runs of them are
# added on the cluster.
HOME_BYTES = 1 << 28


@dataclass(frozen=True)
class SparkPartitions(Partitions):
    """Blocks in the cache of Spark, one per partition of a DataFrame of cells.

    They are computed at the first fold, cached, and released when this object is deleted. Each `map` extends
    the plan from which lost blocks are recomputed.
    """

    frame: DataFrame
    empty: Any  # a block without rows, which gives the size of a sum
    came_from: list[SparkPartitions] = field(default_factory=list)  # kept until the blocks are computed

    def __post_init__(self) -> None:
        self.frame.persist()
        weakref.finalize(self, _release, self.frame)

    def map(self, f: Callable[..., Any], *shared: object) -> SparkPartitions:
        return SparkPartitions(run_tasks(self.frame, _map, f, shared), f(*shared, self.empty), [self])

    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        sums = run_tasks(self.frame, _fold, f, shared)
        if run := self._run_length(nbytes(f(*shared, self.empty.piece(0, 0, 0)))):
            apart = sums.selectExpr("*", f"number div {run[0]} as run").repartition(run[1], "run")
            sums = run_tasks(apart.sortWithinPartitions("number", "part").drop("run"), _add, run[0])
        total = tree_sum(raised(value) for _, value in values_of(sums))
        self.came_from.clear()
        # Arrays are views of the received bytes, which are read-only.
        return deepcopy(total)

    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Shards:
        return fold_by_key_on_driver(self, f, shared, n_keys, shards)

    def on_driver(self, block: Block) -> LocalPartitions:
        return in_blocks(block)

    def batches(self) -> Iterator[Any]:
        rows = ((row.number, row.part, memoryview(row.cell)) for row in self.frame.toLocalIterator())
        with imports_explained():
            for _, block in _values(rows):
                yield raised(block)
        self.came_from.clear()

    def _run_length(self, size: int) -> tuple[int, int] | None:
        """Return the number of sums to add by a task, a power of two, and the resulting number of runs."""
        if size <= SMALL_BYTES or self._n_blocks * size <= HOME_BYTES:
            return None
        length = 2 * power_of_two(self._n_blocks * size / max(1, HOME_BYTES), 1)
        return length, -(-self._n_blocks // length)

    @cached_property
    def _n_blocks(self) -> int:
        with imports_explained():
            return self.frame.where("part = 0").count()


def run_tasks(frame: DataFrame, task: Callable[..., Any], *call: Any) -> DataFrame:
    """Return a DataFrame with the results of tasks over a DataFrame, as cells.

    The call is pickled once, with a unique number: Spark identifies cached data by the plan, so releasing one
    of two equal plans would release the other.
    """
    message = cloudpickle.dumps((uuid.uuid4().bytes, call))
    return frame.mapInArrow(partial(task, message), CELLS)


def _map(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (f, shared) = pickle.loads(call)
    for number, block in _values(_rows(batches)):
        yield from cells_of(number, outcome(lambda: f(*shared, raised(block))))  # noqa: B023
    _keep_modules()


def _fold(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (f, shared) = pickle.loads(call)
    for number, block in _values(_rows(batches)):
        yield from cells_of(number, outcome(lambda: fold_blocks(f, shared, [raised(block)])))  # noqa: B023
    _keep_modules()


def _add(call: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    _, (length,) = pickle.loads(call)
    for number, terms in groupby(_values(_rows(batches)), key=lambda term: term[0] // length):
        yield from cells_of(number, outcome(lambda: tree_sum(raised(term) for _, term in terms)))  # noqa: B023


@cache
def _keep_modules() -> None:
    """Exclude the imported modules of a worker from garbage collection.

    Spark collects garbage after each task. With the objects of these modules, that takes 0.1 s, longer than
    most folds of a block.
    """
    gc.collect()
    gc.freeze()


@dataclass(frozen=True)
class _Raised:
    """An error as a result, so that Spark does not retry the task."""

    error: Exception
    where: str


class _InTask(Exception):
    """Traceback of an error in a task."""

    def __str__(self) -> str:
        return "\n" + self.args[0]


def outcome(compute: Callable[[], Any]) -> Any:
    try:
        with one_blas_thread:
            return compute()
    except Exception as error:
        if isinstance(error.__cause__, _InTask):  # it was raised by an earlier task
            return _Raised(error, error.__cause__.args[0])
        return _Raised(_that_travels(error), traceback.format_exc())


def _that_travels(error: Exception) -> Exception:
    """Return the error, or one with the same message if it cannot be pickled."""
    try:
        if type(pickle.loads(cloudpickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass
    other = RuntimeError(f"{type(error).__name__}: {error}")
    other.__notes__ = list(getattr(error, "__notes__", []))
    return other


def raised(value: Any) -> Any:
    if isinstance(value, _Raised):
        raise value.error from _InTask(value.where)
    return value


def cells_of(number: int, value: Any) -> Iterator[Any]:
    """Yield a value as rows of cells: the sizes of its parts, its pickle, and its arrays as bytes."""
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
    remaining, parts = iter(cells), []
    length, sizes = pickle.loads(next(remaining))
    for size in sizes:
        mine = list(islice(remaining, -(-size // length)))
        parts.append(memoryview(mine[0] if len(mine) == 1 else b"".join(mine))[:size])
    return pickle.loads(parts[0], buffers=parts[1:])


def _rows(batches: Iterable[Any]) -> Iterator[tuple[int, int, Any]]:
    for batch in batches:
        number, part, cell = batch.columns
        yield from zip(number.to_pylist(), part.to_pylist(), (c.as_buffer() for c in cell), strict=True)


def _values(rows: Iterable[tuple[int, int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield numbered values from rows of cells, which are in order."""
    for number, cells in groupby(rows, key=itemgetter(0)):
        yield number, _value([cell for _, _, cell in cells])


def values_of(frame: DataFrame) -> Iterator[tuple[int, Any]]:
    with imports_explained():
        cells = frame.toArrow().to_batches()
    return _values(sorted(_rows(cells), key=itemgetter(0, 1)))


@contextmanager
def imports_explained() -> Iterator[None]:
    """Context manager: name a package that workers cannot import, instead of the traceback of Spark."""
    try:
        yield
    except PySparkException as error:
        missing = re.search(r"ModuleNotFoundError: No module named '(\w+)", str(error))
        if missing is None:
            raise
        raise ModuleNotFoundError(
            f"The Python of the Spark workers has no package {missing[1]!r}: install it there, or set the "
            "environment variable PYSPARK_PYTHON to a Python that has it before the session starts, e.g. "
            "os.environ['PYSPARK_PYTHON'] = sys.executable."
        ) from None


def _release(frame: DataFrame) -> None:
    """Release the cache.

    In a separate thread, since garbage collection may interrupt a call to Spark.
    """

    def unpersist() -> None:
        with suppress(Exception):  # the session may have been stopped, which released the cache
            frame.unpersist()

    if threading.main_thread().is_alive():
        thread = threading.Thread(target=unpersist, daemon=True)
        thread.start()
        _releasing.add(thread)
    else:  # at interpreter exit there can be no new threads, and no time for retries
        with suppress(Exception):
            frame.sparkSession.client.set_retry_policies([])
        unpersist()


_releasing: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _wait_for_release() -> None:
    """Release caches at exit: a Spark Connect server outlives this process."""
    for thread in list(_releasing):
        thread.join(5.0)
