"""Overhead of the Spark engine: one fold, compared with a bare `mapInArrow` of the same sums.

Both sum the same moments over the same pieces of the same blocks, one block per partition, alternating within
one run. The bare one has its blocks in Spark's cache as raw bytes, which it views as an array: this is the
fastest format to read from Spark.

    python benchmarks/spark_overhead.py
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from overhead import CHECK, COLUMNS, NAMES, added, bare_moments, in_turns, page
from pyspark.sql import SparkSession

from suffice.inputs import source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.statistics import Moments

BLOCKS = 8


def bare_tasks(data: Any) -> Callable[[], Moments]:
    """Moments of each block, one row of bytes per partition, added on the driver."""

    def to_bytes(batches: Iterator[Any]) -> Iterator[Any]:
        X = np.concatenate([np.column_stack(batch.columns) for batch in batches])
        yield pa.RecordBatch.from_pydict({"block": [X.tobytes()]})

    def sums(batches: Iterator[Any]) -> Iterator[Any]:
        # Spark has set OMP_NUM_THREADS to the CPUs of a task, which is one.
        for batch in batches:
            for cell in batch.column(0):
                X = np.frombuffer(cell.as_buffer()).reshape(-1, COLUMNS)
                yield pa.RecordBatch.from_pydict({"sum": [pickle.dumps(bare_moments([X]))]})

    kept = data.mapInArrow(to_bytes, "block binary").persist()

    def fold() -> Moments:
        found = kept.mapInArrow(sums, "sum binary").toArrow().column(0)
        return added(pickle.loads(cell.as_buffer()) for cell in found)

    return fold


def started() -> SparkSession:
    """A Spark of two threads on this machine."""
    warnings.filterwarnings("ignore", "PySpark does not yet")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def table(rows: int = 131072, repeat: int = 15) -> list[str]:
    session = started()

    def normal(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                X = np.random.default_rng(number).normal(size=(rows, COLUMNS))
                yield pa.RecordBatch.from_arrays([*map(pa.array, X.T.copy())], NAMES)

    schema = ", ".join(f"{name} double" for name in NAMES)
    data = session.range(0, BLOCKS, 1, BLOCKS).mapInArrow(normal, schema)
    ours = source_of(data).partitions(Columns(DenseColumns(NAMES)), CHECK)
    cells = in_turns(ours, bare_tasks(data), repeat)
    session.stop()
    what = f"A fold over {BLOCKS} blocks of {COLUMNS} columns, one to a task"
    return page(what, repeat, "Spark", {rows: cells}, 1.2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=131072, help="rows in a block")
    parser.add_argument("--repeat", type=int, default=15)
    given = parser.parse_args()
    table(given.rows, given.repeat)
