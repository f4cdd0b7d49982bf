"""Additive models with 20 smooths: ours on Parquet, and compared with pyGAM on as many rows as it can fit.

pyGAM uses fixed penalties, ours chooses them; both have the same number of basis functions for each feature.
pyGAM runs in a separate process with a time limit, at increasing sizes. The table also has the time of the
moments alone: the basis functions of all rows and their products, which every fit of this kind needs.

    pip install pygam    # it holds back SciPy: in an environment of its own, or with --no-deps
    python benchmarks/additive.py
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from out_of_core import growth, seconds

FEATURES, FUNCTIONS = 20, 10
LIMIT = 60.0  # seconds that pyGAM has for one size


def rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, targets, and expected values of the targets."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, FEATURES))
    waves = np.linspace(1.0, 8.0, FEATURES)
    mean = (np.sin(X * waves) * (np.arange(FEATURES) % 3 > 0)).sum(axis=1)
    return X, mean + rng.normal(size=n), mean


def ours(X: np.ndarray, y: np.ndarray) -> Any:
    from suffice.additive import AdditiveModel

    return AdditiveModel(n_knots=FUNCTIONS).fit(X, y)


def theirs(X: np.ndarray, y: np.ndarray) -> Any:
    from pygam import LinearGAM, s

    terms = s(0, n_splines=FUNCTIONS)
    for d in range(1, FEATURES):
        terms += s(d, n_splines=FUNCTIONS)
    return LinearGAM(terms).fit(X, y)


def measured(who: str, n: int) -> dict[str, float]:
    """Seconds, and the error of the fit."""
    X, y, mean = rows(n)
    fit = {"suffice": ours, "pygam": theirs}[who]
    if who == "suffice":
        fit(X[:500], y[:500])  # a first call
    busy = time.process_time()
    took, model = seconds(fit, X, y)
    busy = time.process_time() - busy
    part = X[:20_000]
    error = float(np.sqrt(np.mean((model.predict(part) - mean[: len(part)]) ** 2)))
    return {"seconds": took, "cpu": busy, "error": error}


def in_a_process(who: str, n: int, limit: float) -> dict[str, float] | None:
    """The same in a separate process; None if it took too long, or too much memory."""
    command = [sys.executable, __file__, "--one", who, str(n)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return None
    return json.loads(run.stdout)


def out_of_core(n: int) -> tuple[float, float, float, float]:
    """Seconds to fit rows in Parquet, those of the moments alone, memory in MB, and the size of the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    import suffice
    from suffice.additive import AdditiveModel
    from suffice.additive.additive_model import Additive
    from suffice.inputs import open_rows

    names = [f"x{d}" for d in range(FEATURES)]
    with tempfile.TemporaryDirectory() as folder:
        step, file = 100_000, Path(folder) / "rows.parquet"
        writer = None
        for start in range(0, n, step):
            X, y, _ = rows(min(step, n - start), start)
            table = pa.table({**dict(zip(names, X.T, strict=True)), "y": y})
            writer = writer or pq.ParquetWriter(file, table.schema, compression="snappy")
            writer.write_table(table, row_group_size=step)
        assert writer is not None
        writer.close()
        del X, y, table
        scan = suffice.rows(suffice.scan_parquet(folder), features=names, target="y")
        grown: list[float] = []
        with growth(grown):
            took, model = seconds(AdditiveModel(n_knots=FUNCTIONS).fit, scan)
        data = open_rows(model, scan, reset=False)
        alone, _ = seconds(data.fold, Additive.summarize, model.model_)
        return took, alone, grown[0], file.stat().st_size / 2**20


def table(most: int = 1_000_000, sizes: tuple[int, ...] = (10_000, 50_000, 100_000)) -> list[str]:
    took, alone, memory, size = in_another("parquet", most)
    lines = [
        f"Additive model of {FEATURES} smooths with {FUNCTIONS} functions each.",
        "",
        f"{most:,} rows in Parquet ({size:.0f} MB): {took:.2f} s, of which the moments alone take "
        f"{alone:.2f} s; memory grows by {memory:.0f} MB.",
        "",
        "| rows | suffice, s | pyGAM, s | ratio | of CPU time | aim | error, suffice | error, pyGAM |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n in sizes:
        its = in_a_process("pygam", n, LIMIT)
        if its is None:
            lines.append(f"| {n:,} | | more than {LIMIT:.0f} s, or no memory | | | | | |")
            break
        mine = in_a_process("suffice", n, LIMIT)
        assert mine is not None
        lines.append(
            f"| {n:,} | {mine['seconds']:.2f} | {its['seconds']:.1f} "
            f"| {its['seconds'] / mine['seconds']:.0f} "
            f"| {its['cpu'] / mine['cpu']:.0f} | 10 | {mine['error']:.3f} | {its['error']:.3f} |"
        )
    print("\n".join(lines), flush=True)
    return lines


def in_another(what: str, n: int) -> tuple[float, ...]:
    """Result of `out_of_core` in a new process, so that its memory is measured from zero."""
    command = [sys.executable, __file__, "--one", what, str(n)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(run.stdout))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--one", nargs=2, default=None)
    given = parser.parse_args()
    if given.one is None:
        table(given.rows)
    elif given.one[0] == "parquet":
        out_of_core(1000)  # a first call
        print(json.dumps(out_of_core(int(given.one[1]))))
    else:
        print(json.dumps(measured(given.one[0], int(given.one[1]))))
