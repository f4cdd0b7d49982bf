"""Compare passes over Parquet with a bare loop of the same sums, at the largest size for a small machine.

The time of a pass is the difference of two fits with different numbers of iterations, divided by the
difference of their numbers of passes, so that work before and after the iterations is excluded. The bare loop
reads the same files with pyarrow, passes batches to two plain threads that call the model's `summarize`, and
adds the results. It has no blocks, no checks and no fixed order of sums. Memory is the growth of the resident
memory of the process, sampled while the fits run.

    python benchmarks/at_size.py --rows 100000000 --sparse-rows 10000000
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import out_of_core
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import sequences_out_of_core
from out_of_core import growth, seconds

import suffice
from suffice.cluster import KMeans
from suffice.cluster.k_means import Centers
from suffice.core.blas import one_blas_thread
from suffice.core.blocks import Rows, Sequences
from suffice.engines.local import LocalPartitions
from suffice.families import FullGaussian, Mixture
from suffice.linear_model import LogisticRegression
from suffice.linear_model.logistic import LogLinear
from suffice.mixture import GaussianMixture
from suffice.sequence import HiddenMarkovModel

THREADS = 2
FEW, MORE = 1, 3  # iterations of the two fits
FEATURES, KINDS = 1_000_000, 20  # of sparse rows: number of columns, and of nonzero entries in a row


def make_sparse(folder: Path, rows: int, group: int = 1 << 17) -> None:
    """A label, and a feature of each kind as lists of positions and values; some features are frequent."""
    rng = np.random.default_rng(0)
    coef = rng.normal(size=FEATURES)
    kinds = FEATURES // KINDS
    schema = pa.schema({"y": pa.int8(), "i": pa.list_(pa.int32()), "v": pa.list_(pa.float32())})
    for number, first in enumerate(range(0, rows, 8 * group)):
        with pq.ParquetWriter(folder / f"part-{number:04}.parquet", schema) as writer:
            for start in range(first, min(first + 8 * group, rows), group):
                n = min(group, rows - start)
                i = (kinds * rng.random((n, KINDS)) ** 3).astype(np.int32)
                i += kinds * np.arange(KINDS, dtype=np.int32)
                v = rng.standard_normal((n, KINDS), dtype=np.float32)
                y = (v * coef[i]).sum(axis=1) + rng.logistic(size=n) > 0
                ends = pa.array(np.arange(0, n * KINDS + 1, KINDS, dtype=np.int32))
                lists = [pa.ListArray.from_arrays(ends, pa.array(part.ravel())) for part in (i, v)]
                writer.write_table(pa.table([pa.array(y.astype(np.int8)), *lists], schema=schema))


# --- the bare loop ----------------------------------------------------------------------------------------


def batches(folder: Path, size: int, columns: list[str]) -> Iterator[Any]:
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(size, columns=columns)


def bare_pass(parts: Iterable[Any], summarize: Callable[[Any], Any]) -> Any:
    total, flying = None, deque[Any]()

    def added(term: Any) -> Any:
        return term if total is None else total + term

    with one_blas_thread, ThreadPoolExecutor(THREADS) as pool:
        for part in parts:
            flying.append(pool.submit(summarize, part))
            if len(flying) > THREADS:
                total = added(flying.popleft().result())
        while flying:
            total = added(flying.popleft().result())
    return total


def array(batch: Any, names: list[str]) -> np.ndarray:
    X = np.empty((batch.num_rows, len(names)))
    for d, name in enumerate(names):
        X[:, d] = batch.column(name)
    return X


def whole_sequences(parts: Iterator[Any]) -> Iterator[Any]:
    """Tables that do not split sequences: the last sequence of a batch is completed by the next batch."""
    held: list[Any] = []
    for batch in parts:
        ids = batch.column("id").to_numpy()
        last = int(np.searchsorted(ids, ids[-1]))  # they rise
        if last:
            yield pa.Table.from_batches([*held, batch.slice(0, last)])
            held = []
        held.append(batch.slice(last))
    yield pa.Table.from_batches(held)


# --- the four fits ----------------------------------------------------------------------------------------


class Dense:
    names = out_of_core.NAMES
    make = staticmethod(out_of_core.make)

    def parts(self, folder: Path) -> Iterator[Any]:
        return batches(folder, 1 << 14, self.names)

    def block(self, batch: Any) -> Rows:
        return Rows(array(batch, self.names), weight=np.ones(batch.num_rows))


class KMeansFit(Dense):
    name = f"k-means, {out_of_core.K} centers, {out_of_core.D} features"
    model: Any = Centers(out_of_core.CENTERS)

    def fit(self, folder: Path, n: int) -> Any:
        return KMeans(out_of_core.K, init=out_of_core.CENTERS, n_init=1, max_iter=n, tol=0.0).fit(
            suffice.scan_parquet(folder)
        )

    def answer(self, model: Centers) -> np.ndarray:
        return model.center


class MixtureFit(Dense):
    K, D = out_of_core.K, out_of_core.D
    name = f"Gaussian mixture, full covariances, {K} components, {D} features"
    precision = np.tile(np.eye(D), (K, 1, 1))
    model: Any = Mixture(np.full(K, 1.0 / K), FullGaussian(out_of_core.CENTERS, precision))

    def fit(self, folder: Path, n: int) -> Any:
        return GaussianMixture(
            self.K,
            max_iter=n,
            tol=0.0,
            reg_covar=0.0,
            weights_init=np.full(self.K, 1.0 / self.K),
            means_init=out_of_core.CENTERS,
            precisions_init=self.precision,
        ).fit(suffice.scan_parquet(folder))

    def answer(self, model: Mixture) -> np.ndarray:
        return model.component.mean  # type: ignore[attr-defined]


class MarkovFit:
    names = sequences_out_of_core.NAMES
    name = f"hidden Markov model, diagonal, {sequences_out_of_core.K} states, {len(names)} features"
    make = staticmethod(sequences_out_of_core.make)
    model: Any = sequences_out_of_core.START

    def fit(self, folder: Path, n: int) -> Any:
        table = suffice.sequences(suffice.scan_parquet(folder), sequence="id", features=self.names)
        return HiddenMarkovModel(len(self.model.start), init_params=self.model, max_iter=n, tol=0.0).fit(
            table
        )

    def parts(self, folder: Path) -> Iterator[Any]:
        return whole_sequences(batches(folder, 1 << 14, ["id", *self.names]))

    def block(self, batch: Any) -> Sequences:
        ids = batch.column("id").to_numpy()
        offset = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1, [len(ids)]])
        return Sequences(array(batch, self.names), offset, weight=np.ones(len(offset) - 1))

    def answer(self, model: Any) -> np.ndarray:
        return model.transition


class LogisticFit:
    name = f"logistic regression, {FEATURES:,} features, {KINDS} of them in a row"
    make = staticmethod(make_sparse)
    model: Any = LogLinear(np.zeros((1, FEATURES + 1)), np.arange(2), np.ones(2))

    def fit(self, folder: Path, n: int) -> Any:
        table = suffice.rows(
            suffice.scan_parquet(folder), features=suffice.sparse("i", "v", size=FEATURES), target="y"
        )
        return LogisticRegression(max_iter=n, tol=0.0, C=np.inf).fit(table)

    def parts(self, folder: Path) -> Iterator[Any]:
        return batches(folder, 1 << 17, ["y", "i", "v"])

    def block(self, batch: Any) -> Rows:
        ends = batch.column("i").offsets.to_numpy()
        flat = [batch.column(name).flatten().to_numpy() for name in ("v", "i")]
        X = sp.csr_array((flat[0].astype(np.float64), flat[1], ends - ends[0]), (batch.num_rows, FEATURES))
        return Rows(X, batch.column("y").to_numpy(), np.ones(batch.num_rows))


@contextmanager
def passes(counted: list[int]) -> Iterator[None]:
    """Append the number of folds that the block ran."""
    given, n = LocalPartitions.fold, 0

    def fold(self: Any, *call: Any) -> Any:
        nonlocal n
        n += 1
        return given(self, *call)

    LocalPartitions.fold = fold  # type: ignore[method-assign]
    try:
        yield
    finally:
        LocalPartitions.fold = given  # type: ignore[method-assign]
        counted.append(n)


def line(kind: Any, rows: int, small: Path, full: Path) -> str:
    this = kind()
    size = sum(path.stat().st_size for path in full.glob("*.parquet"))
    this.fit(small, FEW)  # a first call
    counted: list[int] = []
    grown: list[float] = []
    times = []
    for n in (FEW, MORE):
        with growth(grown), passes(counted):
            spent, fitted = seconds(this.fit, full, n)
        times.append(spent)
    mine = (times[1] - times[0]) / (counted[1] - counted[0])

    def bare(model: Any) -> Any:
        return bare_pass(this.parts(full), lambda part: model.summarize(this.block(part)))

    bare_times, model = [], this.model
    if hasattr(this, "answer"):  # an iteration is a pass, so the results can be compared
        for _ in range(MORE):
            spent, total = seconds(bare, model)
            bare_times.append(spent)
            model = model.estimate(total)
        np.testing.assert_allclose(this.answer(fitted.model_), this.answer(model), rtol=1e-6, atol=1e-6)
    else:
        for _ in range(MORE - FEW):
            spent, total = seconds(bare, fitted.model_)
            bare_times.append(spent)
        np.testing.assert_allclose(fitted.statistics_.loss, total.loss, rtol=1e-9)
    theirs = float(np.mean(bare_times))
    text = (
        f"| {kind.name} | {rows:,} | {1e-9 * size:.1f} | {mine:.1f} | {theirs:.1f} | {mine / theirs:.2f} "
        f"| {rows / mine / THREADS:,.0f} | {max(grown):.0f} |"
    )
    print(text, flush=True)
    return text


FITS: dict[str, Any] = {"kmeans": KMeansFit, "mixture": MixtureFit, "hmm": MarkovFit, "logistic": LogisticFit}


def table(
    rows: int, sparse_rows: int, folder: str | None = None, which: Iterable[str] = tuple(FITS)
) -> list[str]:
    warnings.simplefilter("ignore")  # fits of a few iterations do not converge
    lines = [
        f"One pass over Parquet by {THREADS} threads: the difference of fits of {MORE} and {FEW} iterations.",
        "",
        "| fit | rows or steps | files, GB | suffice, s | bare loop, s | ratio "
        "| rows a second a core | memory grows by, MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    made: dict[Any, list[Path]] = {}  # small and full data, by what makes them
    with suffice.threads(THREADS), ExitStack() as stack:
        for name in which:
            kind, n = FITS[name], sparse_rows if name == "logistic" else rows
            if kind.make not in made:
                made[kind.make] = [
                    Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder))) for _ in range(2)
                ]
                for path, size in zip(made[kind.make], (10_000, n), strict=True):
                    kind.make(path, size)
                os.sync()  # pending writes would slow down the reads
            lines.append(line(kind, n, *made[kind.make]))
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("which", nargs="*", choices=[*FITS, []], help="all if none is named")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--sparse-rows", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where there is room for 100 bytes a row, and 200 a sparse row")
    given = parser.parse_args()
    table(given.rows, given.sparse_rows, given.folder, given.which or tuple(FITS))
