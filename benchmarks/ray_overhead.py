"""What the Ray engine costs: one fold over 64 blocks, beside bare Ray tasks doing the same grouped sums.

Both sum the same moments over the same cache-sized pieces of the same blocks, eight blocks to a task,
in turns within one run.

    python benchmarks/ray_overhead.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import ray

from suffice.core.blocks import Rows
from suffice.core.door import Check
from suffice.core.tables import Columns
from suffice.engines import ray as engine
from suffice.statistics import Moments, moments

BLOCKS, RUN, COLUMNS = 64, 8, 16
PIECE = 8192  # rows in a megabyte of float64, as the engine cuts them


def moments_of(rows: Rows) -> Moments:
    return moments(rows.X, rows.weight)


@ray.remote
def bare(*blocks: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Weight, mean and scatter of a few blocks, piece by piece, with plain NumPy."""
    total: tuple[Any, ...] | None = None
    for X in blocks:
        for start in range(0, len(X), PIECE):
            piece = X[start : start + PIECE]
            mean = np.ones(len(piece)) @ piece / len(piece)  # a product: faster than mean(axis=0)
            Y = piece - mean
            term = (float(len(piece)), mean, Y.T @ Y)
            total = term if total is None else merge(total, term)
    assert total is not None
    return total


def merge(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    weight = a[0] + b[0]
    delta = b[1] - a[1]
    share = b[0] / weight
    return weight, a[1] + share * delta, a[2] + b[2] + a[0] * share * np.outer(delta, delta)


def bare_fold(refs: list[Any]) -> tuple[Any, ...]:
    sums = ray.get([bare.remote(*refs[n : n + RUN]) for n in range(0, len(refs), RUN)])
    total = sums[0]
    for term in sums[1:]:
        total = merge(total, term)
    return total


def timed(f: Callable[[], Any]) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def table(rows: int = 65536, repeat: int = 31) -> list[str]:
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    engine.RUN = RUN
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(COLUMNS)]
    arrays = [rng.normal(size=(rows, COLUMNS)) for _ in range(BLOCKS)]
    tables = [pa.table(dict(zip(names, X.T, strict=True))) for X in arrays]
    columns = Columns(tuple(names))
    check = Check("", sparse=False, nan=False, positive=False, strings=False, target=None)
    ours = engine.open_partitions(ray.data.from_arrow(tables), columns, check)
    refs = [ray.put(X) for X in arrays]
    del tables, arrays

    got, expected = ours.fold(moments_of), bare_fold(refs)
    np.testing.assert_allclose(got.scatter, expected[2], rtol=1e-9)
    times = 1e3 * np.array(
        [(timed(lambda: ours.fold(moments_of)), timed(lambda: bare_fold(refs))) for _ in range(repeat)]
    )
    ray.shutdown()

    mine, bare = np.median(times, axis=0)
    low, middle, high = np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75])
    lines = [
        f"A fold over {BLOCKS} blocks of {rows:,} x {COLUMNS}, {RUN} to a task; median of {repeat} in turns.",
        "",
        "| suffice on Ray, ms | bare Ray tasks, ms | ratio | quartiles | aim |",
        "|---|---|---|---|---|",
        f"| {mine:.0f} | {bare:.0f} | {middle:.2f} | {low:.2f} to {high:.2f} | at most 1.15 |",
    ]
    print("\n".join(lines), flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=65536, help="rows in a block")
    parser.add_argument("--repeat", type=int, default=31)
    given = parser.parse_args()
    table(given.rows, given.repeat)
