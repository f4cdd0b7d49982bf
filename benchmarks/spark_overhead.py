"""What the Spark engine costs: one fold, beside a bare `mapInArrow` doing the same sums on the same cache.

Both sum the same moments over the same cache-sized pieces of the same blocks, one block to a partition, in
turns within one run. The bare one has its blocks in Spark's cache as raw bytes, which it views as an array:
nothing that Spark can hold is faster to read.

    python benchmarks/spark_overhead.py
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from suffice.core.blocks import Rows
from suffice.core.door import Check
from suffice.core.tables import Columns
from suffice.engines import spark as engine
from suffice.statistics import Moments, moments

BLOCKS, COLUMNS = 8, 16
PIECE = 8192  # rows in a megabyte of float64, as the engine cuts them


def moments_of(rows: Rows) -> Moments:
    return moments(rows.X, rows.weight)


def merge(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    weight = a[0] + b[0]
    delta = b[1] - a[1]
    share = b[0] / weight
    return weight, a[1] + share * delta, a[2] + b[2] + a[0] * share * np.outer(delta, delta)


def bare_tasks(data: Any) -> Callable[[], tuple[Any, ...]]:
    """Weight, mean and scatter of each block by plain NumPy, one row of bytes a partition; merged here."""

    def to_bytes(batches: Iterator[Any]) -> Iterator[Any]:
        X = np.concatenate([np.column_stack(batch.columns) for batch in batches])
        yield pa.RecordBatch.from_pydict({"block": [X.tobytes()]})

    def sums(batches: Iterator[Any]) -> Iterator[Any]:
        # Spark has set OMP_NUM_THREADS to the CPUs of a task, which is one.
        for batch in batches:
            for cell in batch.column(0):
                X = np.frombuffer(cell.as_buffer()).reshape(-1, COLUMNS)
                total: tuple[Any, ...] | None = None
                for start in range(0, len(X), PIECE):
                    piece = X[start : start + PIECE]
                    mean = np.ones(len(piece)).dot(piece) / len(piece)
                    Y = piece - mean
                    term = (float(len(piece)), mean, Y.T.dot(Y))
                    total = term if total is None else merge(total, term)
                assert total is not None
                packed = np.concatenate([[total[0]], total[1], total[2].ravel()])
                yield pa.RecordBatch.from_pydict({"sum": [packed.tobytes()]})

    kept = data.mapInArrow(to_bytes, "block binary").persist()

    def fold() -> tuple[Any, ...]:
        found = kept.mapInArrow(sums, "sum binary").toArrow().column(0)
        terms = [np.frombuffer(cell.as_buffer()) for cell in found]
        parts = [(t[0], t[1 : COLUMNS + 1], t[COLUMNS + 1 :].reshape(COLUMNS, COLUMNS)) for t in terms]
        total = parts[0]
        for part in parts[1:]:
            total = merge(total, part)
        return total

    return fold


def timed(f: Callable[[], Any]) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


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
                yield pa.RecordBatch.from_arrays([*map(pa.array, X.T.copy())], names)

    names = [f"x{j}" for j in range(COLUMNS)]
    schema = ", ".join(f"{name} double" for name in names)
    data = session.range(0, BLOCKS, 1, BLOCKS).mapInArrow(normal, schema)
    check = Check("", sparse=False, nan=False, positive=False, strings=False, target=None)
    ours = engine.open_partitions(data, Columns(tuple(names)), check)
    bare = bare_tasks(data)

    got, expected = ours.fold(moments_of), bare()
    np.testing.assert_allclose(got.scatter, expected[2], rtol=1e-9)
    ours.fold(moments_of), bare()
    times = 1e3 * np.array([(timed(lambda: ours.fold(moments_of)), timed(bare)) for _ in range(repeat)])
    session.stop()

    mine, plain = np.median(times, axis=0)
    low, middle, high = np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75])
    lines = [
        f"A fold over {BLOCKS} blocks of {rows:,} x {COLUMNS}, one to a task; median of {repeat} in turns.",
        "",
        "| suffice on Spark, ms | bare mapInArrow, ms | ratio | quartiles | aim |",
        "|---|---|---|---|---|",
        f"| {mine:.0f} | {plain:.0f} | {middle:.2f} | {low:.2f} to {high:.2f} | at most 1.2 |",
    ]
    print("\n".join(lines), flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=131072, help="rows in a block")
    parser.add_argument("--repeat", type=int, default=15)
    given = parser.parse_args()
    table(given.rows, given.repeat)
