"""What the Dask engine costs: one fold over 64 blocks, beside bare Dask tasks doing the same grouped sums.

Both sum the same moments over the same cache-sized pieces of the same blocks, eight blocks to a task,
in turns within one run, on two worker processes of one thread each.

    python benchmarks/dask_overhead.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster

from suffice.core.blocks import Rows
from suffice.core.door import Check
from suffice.engines import dask as engine
from suffice.statistics import Moments, moments

BLOCKS, RUN, COLUMNS = 64, 8, 16
PIECE = 16384  # rows in two megabytes of float64, as the engine cuts them


def moments_of(rows: Rows) -> Moments:
    return moments(rows.X, rows.weight)


def made(rows: int, number: int) -> np.ndarray:
    return np.random.default_rng(number).normal(size=(rows, COLUMNS))


def arrays_of(blocks: tuple[Rows, ...]) -> list[np.ndarray]:
    return [block.X.copy() for block in blocks]


def bare(blocks: list[np.ndarray]) -> Moments:
    """The moments of a few blocks, piece by piece, by the same loop."""
    total: Moments | None = None
    for X in blocks:
        for start in range(0, len(X), PIECE):
            piece = X[start : start + PIECE]
            term = moments(piece, np.ones(len(piece)))
            total = term if total is None else total + term
    assert total is not None
    return total


def bare_fold(client: Client, runs: list[Any]) -> Moments:
    return sum_of(client.gather(client.map(bare, runs, pure=False)))


def sum_of(sums: list[Moments]) -> Moments:
    total = sums[0]
    for term in sums[1:]:
        total = total + term
    return total


def timed(f: Callable[[], Any]) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def table(sizes: tuple[int, ...] = (65536, 256), repeat: int = 31) -> list[str]:
    how: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(**how, silence_logs="CRITICAL") as cluster, Client(cluster) as client:
        measured = [line(client, rows, repeat) for rows in sizes]
    lines = [
        f"A fold over {BLOCKS} blocks of {COLUMNS} columns, {RUN} to a task; median of {repeat} in turns.",
        "",
        "| rows in a block | suffice on Dask, ms | bare Dask tasks, ms | ratio | quartiles | aim |",
        "|---|---|---|---|---|---|",
        *measured,
    ]
    print("\n".join(lines), flush=True)
    return lines


def line(client: Client, rows: int, repeat: int) -> str:
    engine.RUN = RUN
    check = Check("", sparse=False, nan=False, positive=False, strings=False, target=None)
    chunks = [da.from_delayed(delayed(made)(rows, n), (rows, COLUMNS), float) for n in range(BLOCKS)]
    ours: Any = engine.open_arrays(da.concatenate(chunks), None, None, None, check)
    got = ours.fold(moments_of)
    where = client.who_has(ours.runs)  # so that the bare tasks find their blocks in the same places
    runs = [client.submit(arrays_of, run, workers=list(where[run.key]), pure=False) for run in ours.runs]
    np.testing.assert_allclose(got.scatter, bare_fold(client, runs).scatter, rtol=1e-9)
    times = 1e3 * np.array(
        [
            (timed(lambda: ours.fold(moments_of)), timed(lambda: bare_fold(client, runs)))
            for _ in range(repeat)
        ]
    )
    mine, bare = np.median(times, axis=0)
    low, middle, high = np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75])
    return f"| {rows:,} | {mine:.0f} | {bare:.0f} | {middle:.2f} | {low:.2f} to {high:.2f} | at most 1.2 |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[65536, 256], help="rows in a block")
    parser.add_argument("--repeat", type=int, default=31)
    given = parser.parse_args()
    table(tuple(given.rows), given.repeat)
