"""Trees of Parquet files larger than memory: seconds, CPU seconds, and the growth of resident memory.

    python benchmarks/trees_out_of_core.py --rows 50000000

A tree of depth 10 with its pruning path, and 20 boosted trees of 31 leaves. If XGBoost is installed, it
boosts as many trees beside them, from external memory in batches of the same files.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from out_of_core import growth, seconds

import suffice
from suffice.ensemble import HistGradientBoostingClassifier
from suffice.tree import DecisionTreeClassifier

D = 20
NAMES = [f"x{d}" for d in range(D)]
N_TREES, N_LEAVES, MAX_BINS = 20, 31, 255


def write(folder: Path, rows: int, group: int = 1 << 20) -> None:
    """Files of at most eight row groups each, written a group at a time."""
    rng = np.random.default_rng(0)
    for number, first in enumerate(range(0, rows, 8 * group)):
        writer = None
        for start in range(first, min(first + 8 * group, rows), group):
            n = min(group, rows - start)
            X = rng.standard_normal((n, D), dtype=np.float32)
            y = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(n, dtype=np.float32) > 0
            table = pa.table({**dict(zip(NAMES, X.T, strict=True)), "y": y.astype(np.int8)})
            writer = writer or pq.ParquetWriter(folder / f"part-{number:04}.parquet", table.schema)
            writer.write_table(table)
        writer.close()


def cart(folder: Path) -> str:
    model = DecisionTreeClassifier(max_depth=10)
    data = suffice.rows(suffice.scan_parquet(folder), features=NAMES, target="y")
    path = model.cost_complexity_pruning_path(data)
    return f"{len(path.ccp_alphas)} values of alpha"


def boosted(folder: Path) -> str:
    data = suffice.rows(suffice.scan_parquet(folder), features=NAMES, target="y")
    model = HistGradientBoostingClassifier(max_iter=N_TREES, early_stopping=False).fit(data)
    return f"{model.n_iter_} trees"


def of_xgboost(folder: Path) -> str:
    import xgboost

    class Batches(xgboost.DataIter):
        def __init__(self) -> None:
            self.paths, self.next_path = sorted(folder.glob("*.parquet")), 0
            super().__init__(cache_prefix=str(folder / "cache"))

        def next(self, input_data: Callable[..., Any]) -> bool:
            if self.next_path == len(self.paths):
                return False
            table = pq.read_table(self.paths[self.next_path])
            X = np.column_stack([table[name].to_numpy() for name in NAMES])
            input_data(data=X, label=table["y"].to_numpy())
            self.next_path += 1
            return True

        def reset(self) -> None:
            self.next_path = 0

    data = xgboost.ExtMemQuantileDMatrix(Batches(), max_bin=MAX_BINS)
    options = {
        "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": N_LEAVES, "max_depth": 0,
        "max_bin": MAX_BINS, "objective": "binary:logistic", "eta": 0.1, "nthread": 2,
    }  # fmt: skip
    model = xgboost.train(options, data, N_TREES)
    return f"{model.num_boosted_rounds()} trees"


def measured(fit: Callable[[Path], str], folder: Path) -> str:
    seen: list[float] = []
    before = time.process_time()
    with growth(seen):
        duration, said = seconds(fit, folder)
    return f"{duration:.0f} s, {time.process_time() - before:.0f} CPU s, {seen[0]:.0f} MB, {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--folder", help="where there is room for 90 bytes a row")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        write(folder, given.rows)
        fits = {"CART": cart, "boosting": boosted}
        if find_spec("xgboost"):
            fits["boosting, XGBoost"] = of_xgboost
        # Each in its own process, whose memory does not have what another left.
        processes = ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1)
        for case, fit in fits.items():
            print(f"{case}: {processes.submit(measured, fit, folder).result()}", flush=True)


if __name__ == "__main__":
    main()
