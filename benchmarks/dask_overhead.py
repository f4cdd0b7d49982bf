"""Overhead of the Dask engine: one fold over 64 blocks, compared with bare Dask tasks of the same sums.

Both sum the same moments over the same pieces of the same blocks, eight blocks per task, alternating within
one run, on two worker processes of one thread each.

    python benchmarks/dask_overhead.py
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster
from overhead import CHECK, COLUMNS, added, bare_moments, in_turns, page

from suffice.core.blocks import Rows
from suffice.engines import dask as engine
from suffice.inputs.dask import open_arrays
from suffice.statistics import Moments

BLOCKS, RUN = 64, 8


def made(rows: int, number: int) -> np.ndarray:
    return np.random.default_rng(number).normal(size=(rows, COLUMNS))


def arrays_of(blocks: tuple[Rows, ...]) -> list[np.ndarray]:
    return [block.X.copy() for block in blocks]


def bare_fold(client: Client, runs: list[Any]) -> Moments:
    return added(client.gather(client.map(bare_moments, runs, pure=False)))


def table(sizes: tuple[int, ...] = (65536, 256), repeat: int = 31) -> list[str]:
    how: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(**how, silence_logs="CRITICAL") as cluster, Client(cluster) as client:
        lines = {rows: line(client, rows, repeat) for rows in sizes}
    what = f"A fold over {BLOCKS} blocks of {COLUMNS} columns, {RUN} to a task"
    return page(what, repeat, "Dask", lines, 1.2)


def line(client: Client, rows: int, repeat: int) -> str:
    engine.RUN = RUN
    chunks = [da.from_delayed(delayed(made)(rows, n), (rows, COLUMNS), float) for n in range(BLOCKS)]
    ours: Any = open_arrays(da.concatenate(chunks), COLUMNS, None, None, None, CHECK)
    where = client.who_has(ours.runs)  # the bare tasks run where their blocks are
    runs = [client.submit(arrays_of, run, workers=list(where[run.key]), pure=False) for run in ours.runs]
    return in_turns(ours, partial(bare_fold, client, runs), repeat)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[65536, 256], help="rows in a block")
    parser.add_argument("--repeat", type=int, default=31)
    given = parser.parse_args()
    table(tuple(given.rows), given.repeat)
