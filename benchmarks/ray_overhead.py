"""Overhead of the Ray engine: one fold over 64 blocks, compared with bare Ray tasks of the same sums.

Both sum the same moments over the same pieces of the same blocks, eight blocks per task, alternating within
one run.

    python benchmarks/ray_overhead.py
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import ray
from overhead import CHECK, COLUMNS, NAMES, added, bare_moments, in_turns, page

from suffice.engines import ray as engine
from suffice.inputs import source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.statistics import Moments

BLOCKS, RUN = 64, 8


def bare_fold(task: Any, refs: list[Any]) -> Moments:
    return added(ray.get([task.remote(*refs[n : n + RUN]) for n in range(0, len(refs), RUN)]))


def of_run(*blocks: np.ndarray) -> Moments:
    return bare_moments(blocks)


def table(rows: int = 65536, repeat: int = 31) -> list[str]:
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    engine.RUN = RUN
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(rows, COLUMNS)) for _ in range(BLOCKS)]
    tables = [pa.table(dict(zip(NAMES, X.T, strict=True))) for X in arrays]
    ours = source_of(ray.data.from_arrow(tables)).partitions(Columns(DenseColumns(NAMES)), CHECK)
    refs = [ray.put(X) for X in arrays]
    del tables, arrays
    cells = in_turns(ours, partial(bare_fold, ray.remote(of_run), refs), repeat)
    ray.shutdown()
    what = f"A fold over {BLOCKS} blocks of {COLUMNS} columns, {RUN} to a task"
    return page(what, repeat, "Ray", {rows: cells}, 1.15)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=65536, help="rows in a block")
    parser.add_argument("--repeat", type=int, default=31)
    given = parser.parse_args()
    table(given.rows, given.repeat)
