"""A process of its own: sums by key of 200 MB in 32 shards, and how far its memory grew."""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np

COLUMNS, BLOCKS, ROWS, SHARDS = 25, 24, 25_000, 32


def rows_of(n_keys, block):
    """Rows of random keys that occur in the block, made from its number."""
    rng = np.random.default_rng(int(block.X[0, 0])) if len(block) else None
    keys = rng.integers(0, n_keys, ROWS) if rng else np.zeros(0, int)
    return keys, np.repeat((keys % 7 + 1.0)[:, None], COLUMNS, axis=1)


def rows_taken(n_keys, sums, block):
    keys, _ = rows_of(n_keys, block)
    return keys, sums.take(keys)


def run(data, n_keys):
    given = {"n_keys": n_keys, "shards": SHARDS}
    sums = data.fold_by_key(rows_of, n_keys, **given)
    half = sums.map(lambda shard: shard.replace(values=shard.values / 2))
    again = data.fold_by_key(rows_taken, n_keys, half, **given)
    return again.fold(lambda shard: shard.values.sum(axis=0))


def expected(n_keys):
    keys = np.concatenate([rows_of(n_keys, Rows(np.full((1, 1), float(n))))[0] for n in range(BLOCKS)])
    count = np.bincount(keys, minlength=n_keys)
    return (count * (count * (np.arange(n_keys) % 7 + 1.0)) / 2).sum()


def resident(name):
    return int(re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1e3


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import suffice
    from suffice.core.blocks import Rows
    from suffice.engines import disk_sums
    from suffice.engines.local import LocalPartitions

    blocks = tuple(Rows(np.full((1, 1), float(n)), index=(n,)) for n in range(BLOCKS))
    if sys.argv[1] == "local":
        disk_sums.SPILL_BYTES = 1 << 23
        data = LocalPartitions(blocks)
    else:
        import ray

        from suffice.engines.ray import RayPartitions

        ray.init(num_cpus=2, include_dashboard=False, object_store_memory=1 << 30, log_to_driver=False)
        data = RayPartitions(tuple(ray.put((block,)) for block in blocks))
    with suffice.threads(2):
        run(data, 1_000)
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
        before = resident("VmRSS")
        total = run(data, 1_000_000)
        grown = resident("VmHWM") - before
    off = float(np.abs(total / expected(1_000_000) - 1.0).max())
    print(json.dumps({"megabytes": grown, "off": off}))
