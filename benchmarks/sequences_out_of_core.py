"""Compare out-of-core training on sequences in Parquet with the same fit in memory.

The script makes files of four float32 columns, the state and the id of the sequence, with about a thousand
steps per sequence, in row groups that split sequences. Then it runs iterations of a hidden Markov model of
four states from a fixed start, each one pass over the files, and of a conditional random field of the states;
and the same on arrays in memory. It also times reading the files with pyarrow. Memory is the growth of the
resident memory of the process, sampled while the fit runs.

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
from suffice.sequence import ConditionalRandomField, HiddenMarkov, HiddenMarkovModel

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
    parts = {"id": first + np.cumsum(begins), "state": state.astype(np.int8)}
    return pa.table(parts | dict(zip(NAMES, X.T, strict=True)))


def make(folder: Path, steps: int, group: int = GROUP) -> None:
    """Files of at most eight row groups each, written a group at a time."""
    rng, last = np.random.default_rng(0), 0
    for number, first in enumerate(range(0, steps, 8 * group)):
        parts = []
        for start in range(first, min(first + 8 * group, steps), group):
            parts.append(steps_of(min(group, steps - start), last, rng))
            last = parts[-1]["id"][-1].as_py()
        pq.write_table(pa.concat_tables(parts), folder / f"part-{number:04}.parquet", row_group_size=group)


class Both:
    """A fit to the files, and to the same rows in memory, of a few iterations."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self) -> None:
        whole = pq.read_table(self.folder)
        self.X = np.column_stack([whole[name] for name in NAMES])
        self.ids, self.state = whole["id"].to_numpy(), whole["state"].to_numpy()

    def table(self, **parts: str) -> object:
        scan = suffice.scan_parquet(self.folder, cache=None)  # the cache takes a share of the free memory
        return suffice.sequences(scan, sequence="id", features=NAMES, **parts)


class BaumWelch(Both):
    name = "Baum–Welch, three iterations"

    def model(self) -> HiddenMarkovModel:
        return HiddenMarkovModel(K, init_params=START, max_iter=3, tol=0.0)

    def streamed(self) -> HiddenMarkovModel:
        return self.model().fit(self.table())

    def here(self) -> HiddenMarkovModel:
        return self.model().fit(self.X, groups=self.ids)

    def check(self, there: HiddenMarkovModel, here: HiddenMarkovModel) -> None:
        assert there.trace_.tobytes() == here.trace_.tobytes()
        assert there.transmat_.tobytes() == here.transmat_.tobytes()


class RandomField(Both):
    """Blocks in memory are cut by how much they have to add up, so that the bits are others."""

    name = "Conditional random field, three iterations"

    def model(self) -> ConditionalRandomField:
        return ConditionalRandomField(max_iter=3, tol=0.0)

    def streamed(self) -> ConditionalRandomField:
        return self.model().fit(self.table(target="state"))

    def here(self) -> ConditionalRandomField:
        return self.model().fit(self.X, self.state, groups=self.ids)

    def check(self, there: ConditionalRandomField, here: ConditionalRandomField) -> None:
        np.testing.assert_allclose(there.trace_, here.trace_, rtol=1e-10)


def bare(folder: Path) -> int:
    """Read the files and do nothing else."""
    rows = 0
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            rows += sum(batch.num_rows for batch in file.iter_batches(1 << 15))
    return rows


def table(steps: int, folder: str | None = None) -> list[str]:
    warnings.simplefilter("ignore")  # fits of a few iterations do not converge
    lines = [
        f"{steps:,} x {D} float32 in Parquet, in sequences of about 1,000; {K} states.",
        "",
        "| what | streamed, s | in memory, s | times as fast "
        "| reading alone, s | memory grows by, MB | aim |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(dir=folder) as small, tempfile.TemporaryDirectory(dir=folder) as full:
        make(Path(small), 10_000)
        make(Path(full), steps)
        alone, _ = seconds(bare, Path(full))
        for kind in (BaumWelch, RandomField):
            little = kind(Path(small))
            little.load()
            little.streamed(), little.here()  # a first call
            both = kind(Path(full))
            grown: list[float] = []
            with growth(grown):
                of_files, there = seconds(both.streamed)
            both.load()
            of_arrays, here = seconds(both.here)
            both.check(there, here)
            lines.append(
                f"| {kind.name} | {of_files:.1f} "
                f"| {of_arrays:.1f} | {of_arrays / of_files:.2f} | {alone:.2f} | {grown[0]:.0f} | 600 |"
            )
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where there is room for 20 bytes a step")
    given = parser.parse_args()
    table(given.steps, given.folder)
