"""Sequences in Parquet, larger than the memory they take: Baum–Welch beside the same fit in memory.

Makes files of four float32 columns and the id of the sequence, about a thousand steps each, in row groups
that cut sequences. Then runs iterations of a hidden Markov model of four states from a given start, each one
pass over the files, and the same on arrays in memory. The files alone are read too, with pyarrow. Memory is
what the process holds above what it held before, sampled while the fit runs.

    python benchmarks/sequences_out_of_core.py --steps 10000000
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from out_of_core import growth, seconds

import suffice
from suffice.families import DiagonalGaussian
from suffice.sequence import HiddenMarkov, HiddenMarkovModel

D, K = 4, 4
GROUP = 1 << 18
CENTERS = 2.0 * np.random.default_rng(1).normal(size=(K, D))
NAMES = [f"x{d}" for d in range(D)]
START = HiddenMarkov(
    np.full(K, 1 / K), 0.9 * np.eye(K) + 0.1 / K, DiagonalGaussian(CENTERS + 0.3, np.ones((K, D)))
)


def steps_of(n: int, first: int, rng: np.random.Generator) -> pa.Table:
    """Steps of a chain that stays in its state nine times of ten; a thousandth of them begin a sequence."""
    begins = rng.random(n) < 1e-3
    moves = begins | (rng.random(n) < 0.1)
    state = rng.integers(0, K, n)[np.maximum.accumulate(np.where(moves, np.arange(n), 0))]
    X = rng.standard_normal((n, D), dtype=np.float32) + CENTERS.astype(np.float32)[state]
    return pa.table({"id": first + np.cumsum(begins), **dict(zip(NAMES, X.T, strict=True))})


def make(folder: Path, steps: int, group: int = GROUP) -> None:
    """Files of at most eight row groups each, written a group at a time."""
    rng, last = np.random.default_rng(0), 0
    for number, first in enumerate(range(0, steps, 8 * group)):
        parts = []
        for start in range(first, min(first + 8 * group, steps), group):
            parts.append(steps_of(min(group, steps - start), last, rng))
            last = parts[-1]["id"][-1].as_py()
        pq.write_table(pa.concat_tables(parts), folder / f"part-{number:04}.parquet", row_group_size=group)


def fitted(*data: object, iterations: int = 3, **more: object) -> HiddenMarkovModel:
    model = HiddenMarkovModel(K, init_params=START, max_iter=iterations, tol=0.0)
    return model.fit(*data, **more)


def streamed(folder: Path, iterations: int = 3) -> HiddenMarkovModel:
    scan = suffice.scan_parquet(folder)
    return fitted(suffice.sequences(scan, sequence="id"), iterations=iterations)


def bare(folder: Path) -> int:
    """The files read, and nothing done."""
    rows = 0
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            rows += sum(batch.num_rows for batch in file.iter_batches(1 << 15))
    return rows


def table(steps: int, folder: str | None = None) -> list[str]:
    warnings.simplefilter("ignore")  # fits of a few iterations do not converge
    lines = [
        f"{steps:,} x {D} float32 in Parquet, in sequences of about 1,000; {K} states, diagonal.",
        "",
        "| passes | streamed, s a pass | million steps a second | in memory, s a pass | times as fast "
        "| reading alone, s | memory grows by, MB | aim |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(dir=folder) as small, tempfile.TemporaryDirectory(dir=folder) as full:
        make(Path(small), 10_000)
        make(Path(full), steps)
        streamed(Path(small))  # compiles
        grown: list[float] = []
        with growth(grown):
            once, _ = seconds(streamed, Path(full), 1)
            thrice, there = seconds(streamed, Path(full), 3)
        alone, _ = seconds(bare, Path(full))
        whole = pq.read_table(full)
        X, groups = np.column_stack([whole[name] for name in NAMES]), whole["id"].to_numpy()
        once_here, _ = seconds(lambda: fitted(X, groups=groups, iterations=1))
        thrice_here, here = seconds(lambda: fitted(X, groups=groups))
        assert there.trace_.tobytes() == here.trace_.tobytes()
        assert there.transmat_.tobytes() == here.transmat_.tobytes()
        there_pass, here_pass = (thrice - once) / 2, (thrice_here - once_here) / 2
        lines.append(
            f"| Baum–Welch, the same bits | {there_pass:.2f} | {steps / there_pass / 1e6:.1f} "
            f"| {here_pass:.2f} | {here_pass / there_pass:.2f} | {alone:.2f} | {grown[0]:.0f} | 600 |"
        )
        print("\n".join(lines), flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where there is room for 20 bytes a step")
    given = parser.parse_args()
    table(given.steps, given.folder)
