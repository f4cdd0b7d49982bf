"""Measure the constants of the cost of a fit, and predict times for sizes beyond this machine.

The measurements are the compute time per row of six methods, the rate of reading Parquet, and the overhead of
an empty fold on each engine: per fold, per task, per byte that is received by the driver, and per byte that
is sent. These four constants are fitted to folds over few and many tasks with small and large sums. The
script writes the two tables of docs/concepts/scale.md.

    python benchmarks/cost.py
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import crf
import numpy as np
import out_of_core
import pyarrow as pa
import scipy.sparse as sp
from overhead import CHECK, timed
from scipy.optimize import nnls

import suffice
from suffice.cluster.k_means import Centers
from suffice.core.blocks import Rows, Sequences, cut
from suffice.core.values import nbytes
from suffice.engines.local import LocalPartitions
from suffice.families import DiagonalGaussian, FullGaussian, Mixture
from suffice.inputs import source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.linear_model.logistic import LogLinear
from suffice.sequence import HiddenMarkov
from suffice.sequence.conditional_random_field import LinearChain
from suffice.statistics import moments

PAGES = Path(__file__).parents[1] / "docs" / "concepts"

# Assumptions of the predictions about a cluster, which are not measured.
NETWORK = 1.25e9  # bytes per second of a link: ten gigabits
MEMORY = 4e9  # bytes of a worker, which is one core
SHARE = 0.3  # fraction of it for blocks: the default of Ray's object store
NODE = 8  # workers of a node, which share its disk
BLOCK = 128e6  # bytes of a block, as Ray and Spark read files
TASKS = 4  # minimum number of tasks per worker
HOME = 1 << 28  # maximum bytes of sums that the driver adds; more are added on the workers
ROWS = [10**8, 10**9, 10**10, 10**11, 10**12]
WORKERS = [1, 10, 100, 1000]


# --- six methods ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    name: str
    what: str
    passes: int  # of a usual fit, assumed
    bytes: float  # a row or step takes in a block
    make: Callable[[int], tuple[Any, Any, Any]]  # of rows: what is summed, the model, and a block


@dataclass(frozen=True)
class Measured:
    """Seconds of one core per row, and bytes of the statistic."""

    compute: float
    statistic: int


K, D = 8, 16
CENTER = 3.0 * np.random.default_rng(1).normal(size=(K, D))


def dense(rows: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return CENTER[rng.integers(0, K, rows)] + rng.normal(size=(rows, D))


def k_means(rows: int) -> tuple[Any, Any, Any]:
    return Centers.summarize, Centers(CENTER), Rows(dense(rows))


def mixture(rows: int) -> tuple[Any, Any, Any]:
    model = Mixture(np.full(K, 1.0 / K), FullGaussian(CENTER, np.tile(np.eye(D), (K, 1, 1))))
    return Mixture.summarize, model, Rows(dense(rows))


def pca(rows: int) -> tuple[Any, Any, Any]:
    return lambda _, piece: moments(piece.X, piece.weight), None, Rows(dense(rows))


def logistic(rows: int, features: int = 1_000_000, kinds: int = 20) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    i = (features // kinds * rng.random((rows, kinds)) ** 3).astype(np.int32)
    i += features // kinds * np.arange(kinds, dtype=np.int32)
    ends = np.arange(0, rows * kinds + 1, kinds)
    X = sp.csr_array((rng.normal(size=i.size), i.ravel(), ends), (rows, features))
    theta = 0.1 * rng.normal(size=(1, features + 1))
    return LogLinear.summarize, LogLinear(theta, np.arange(2), np.ones(2)), Rows(X, rng.integers(0, 2, rows))


def markov(steps: int) -> tuple[Any, Any, Any]:
    family = DiagonalGaussian(CENTER[:, :4], np.ones((K, 4)))
    model = HiddenMarkov(np.full(K, 1.0 / K), 0.9 * np.eye(K) + 0.1 / K, family)
    X = np.ascontiguousarray(dense(steps)[:, :4])
    return HiddenMarkov.summarize, model, Sequences(X, np.append(np.arange(0, steps, 500), steps))


def random_field(steps: int) -> tuple[Any, Any, Any]:
    X, y, offset = crf.data("small")
    labels = crf.CASES["small"][2]
    theta = 0.1 * np.random.default_rng(0).normal(size=X.shape[1] * labels + labels**2)
    model = LinearChain(theta, np.arange(labels), np.ones(labels), np.zeros(0, np.int64))
    block = Sequences(X, offset, y)
    last = int(np.searchsorted(offset, min(steps, offset[-1])))
    return LinearChain.summarize, model, block[:last]


METHODS = [
    Method("k-means", "8 centers, 16 features", 20, 4 * D, k_means),
    Method("Gaussian mixture", "8 components, full, 16 features", 50, 4 * D, mixture),
    Method("PCA, least squares", "16 features", 1, 4 * D, pca),
    Method("logistic regression", "$10^6$ sparse features, 20 in a row", 50, 8 * 20, logistic),
    Method("hidden Markov model", "8 states, 4 features; by step", 30, 4 * 4 + 8, markov),
    Method(
        "conditional random field",
        "9 labels, 17,700 sparse features, 10 in a step; by step",
        60,
        80,
        random_field,
    ),
]


def compute(method: Method, rows: int, repeat: int) -> Measured:
    f, model, block = method.make(rows)
    data = LocalPartitions(cut(block))
    if method.make is random_field:
        data = LocalPartitions((block,))
    with suffice.threads(1):
        total = data.fold(f, model)  # a first call
        spent = np.median([timed(lambda: data.fold(f, model)) for _ in range(repeat)])
    return Measured(float(spent) / block.X.shape[0], nbytes(total))


# --- reading ----------------------------------------------------------------------------------------------


def count(rows: Rows) -> float:
    return float(len(rows.X))


def reading(rows: int, repeat: int) -> tuple[float, float]:
    """Bytes per second of one core from Parquet in the page cache to blocks; and of the disk."""
    with tempfile.TemporaryDirectory() as folder:
        out_of_core.make(Path(folder), rows)
        data = source_of(suffice.scan_parquet(folder)).partitions(
            Columns(DenseColumns(tuple(out_of_core.NAMES))), CHECK
        )
        files = sorted(Path(folder).glob("*.parquet"))
        size = sum(path.stat().st_size for path in files)
        with suffice.threads(1):
            data.fold(count)
            spent = float(np.median([timed(lambda: data.fold(count)) for _ in range(repeat)]))
        for path in files:  # drop it from the page cache
            with path.open("rb") as file:
                os.fsync(file.fileno())
                if hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        cold = timed(lambda: [read_through(path) for path in files])
    return size / spent, size / cold


def read_through(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 23):
            pass


# --- engines ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Engine:
    """Seconds per fold, per task, per byte that the driver receives, and per byte that it sends."""

    fold: float
    task: float
    home: float
    sent: float


# tasks, bytes of a sum, bytes of what is shared
POINTS = [(4, 1 << 10, 0), (64, 1 << 10, 0), (4, 1 << 22, 0), (32, 1 << 22, 0), (4, 1 << 10, 1 << 24)]


def nothing(size: int, shared: Any, rows: Rows) -> np.ndarray:
    return np.ones(size // 8)


def engine_constants(opened: Callable[[int], Any], repeat: int) -> Engine:
    times = []
    for tasks, size, shared in POINTS:
        fold = partial(opened(tasks).fold, nothing, size, np.ones(shared // 8))
        fold(), fold()
        times.append(np.median([timed(fold) for _ in range(repeat)]))
    design = np.array([(1.0, n, n * size, shared) for n, size, shared in POINTS])
    weight = 1.0 / np.array(times)  # relative errors
    scale = (design * weight[:, None]).max(axis=0)
    found, _ = nnls(design * weight[:, None] / scale, np.ones(len(times)))
    return Engine(*(found / scale).tolist())


def blocks(n: int) -> tuple[Rows, ...]:
    return tuple(Rows(np.zeros((4, 2)), index=(number,)) for number in range(n))


@contextmanager
def local() -> Iterator[Callable[[int], Any]]:
    yield lambda n: LocalPartitions(blocks(n))


@contextmanager
def on_ray() -> Iterator[Callable[[int], Any]]:
    import ray

    from suffice.engines.ray import RayPartitions

    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        yield lambda n: RayPartitions(tuple(ray.put((block,)) for block in blocks(n)))
    finally:
        ray.shutdown()


@contextmanager
def on_dask() -> Iterator[Callable[[int], Any]]:
    from distributed import Client, LocalCluster

    from suffice.engines.dask import DaskPartitions

    how: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(**how, silence_logs="CRITICAL") as cluster, Client(cluster) as client:
        yield lambda n: DaskPartitions(
            client, tuple(client.submit(tuple, [block], pure=False) for block in blocks(n))
        )


@contextmanager
def on_spark() -> Iterator[Callable[[int], Any]]:
    from spark_overhead import started

    session = started()

    def few(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"x": np.zeros(batch.num_rows)})

    def opened(n: int) -> Any:
        data = session.range(0, 4 * n, 1, n).mapInArrow(few, "x double")
        return source_of(data).partitions(Columns(DenseColumns(("x",))), CHECK)

    try:
        yield opened
    finally:
        session.stop()


ENGINES = {"this process, two threads": local, "Ray": on_ray, "Dask": on_dask, "Spark": on_spark}


# --- the model --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constants:
    methods: dict[str, Measured]
    read: float  # bytes per second and core
    disc: float  # bytes per second and node
    engines: dict[str, Engine]

    def parts(self, method: Method, rows: float, workers: int, engine: str = "Ray") -> dict[str, float]:
        """Seconds of a pass, by term."""
        of = self.methods[method.name]
        S, size = of.statistic, rows * method.bytes
        out = {"compute": rows * of.compute / workers, "reading": 0.0, "tasks": 0.0, "sums": 0.0}
        if workers == 1:  # this process reads its files in each pass; sums stay in memory
            out["reading"] = size / self.read
            return out
        if size > SHARE * MEMORY * workers:  # blocks that do not fit are spilled to disk
            out["reading"] = size / (self.disc * math.ceil(workers / NODE))
        e = self.engines[engine]
        n = max(TASKS * workers, size / BLOCK)
        a_byte = max(e.home, 1.0 / NETWORK)
        out["tasks"] = e.fold + n * e.task
        if n * S <= HOME:
            out["sums"] = n * S * a_byte
        else:  # pairs are added by workers: all of them at once, and then level by level
            out["sums"] = S * a_byte * (n / workers + math.log2(n))
            out["tasks"] += n * e.task
        out["sums"] += S * max(e.sent, math.log2(2 + workers / NODE) / NETWORK)
        return out

    def fit(self, method: Method, rows: float, workers: int, engine: str = "Ray") -> tuple[float, str]:
        """Seconds of a fit, and its largest term."""
        spent = {name: method.passes * t for name, t in self.parts(method, rows, workers, engine).items()}
        if workers > 1:  # files are read once, whatever stays in memory
            spent["reading"] += rows * method.bytes / (workers * self.read)
        return sum(spent.values()), max(spent, key=lambda name: spent[name])


def measure(rows: int, repeat: int) -> Constants:
    methods = {}
    for method in METHODS:
        methods[method.name] = compute(method, rows, repeat)
        print(f"{method.name}: {1e9 * methods[method.name].compute:.0f} ns", flush=True)
    read, disc = reading(5 * rows, repeat)
    engines = {}
    for name, opened in ENGINES.items():
        with opened() as partitions:
            engines[name] = engine_constants(partitions, repeat)
        print(f"{name}: {engines[name]}", flush=True)
    return Constants(methods, read, disc, engines)


# --- in words ---------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    for unit, size in (("years", 365 * 86400.0), ("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{_round(seconds / size)} {unit}"
    return f"{_round(seconds)} s"


def _round(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def amount(number: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if number >= size:
            return f"{_round(number / size)} {unit}"
    return f"{_round(number)} B"


def a_second(seconds_a_byte: float) -> str:
    return f"{amount(1.0 / seconds_a_byte)}" if seconds_a_byte > 1e-13 else "not seen"


def constants_page(c: Constants) -> list[str]:
    lines = [
        f"Measured on {platform.machine()} with {os.cpu_count()} cores, Python {platform.python_version()}.",
        "",
        "| method | one core, ns a row | rows a second a core | statistic | bytes a row "
        "| two cores, one pass over $10^9$ rows of Parquet |",
        "|---|---|---|---|---|---|",
    ]
    for method in METHODS:
        of = c.methods[method.name]
        lines.append(
            f"| {method.name}: {method.what} | {1e9 * of.compute:,.0f} | {1.0 / of.compute:,.0f} "
            f"| {amount(of.statistic)} | {method.bytes:.0f} "
            f"| {duration(1e9 * (of.compute + method.bytes / c.read) / 2)} |"
        )
    lines += [
        "",
        "Reading Parquet that the system holds in memory, and making blocks of it: "
        f"{amount(c.read)} a second a core. The disc alone: {amount(c.disc)} a second.",
        "",
        "| engine | a fold, ms | a task, ms | sums to the driver, a second | what is sent, a second |",
        "|---|---|---|---|---|",
    ]
    for name, e in c.engines.items():
        lines.append(
            f"| {name} | {1e3 * e.fold:.1f} | {1e3 * e.task:.2f} | {a_second(e.home)} | {a_second(e.sent)} |"
        )
    return lines


def times_page(c: Constants) -> list[str]:
    head = "| method | rows | " + " | ".join(_workers(n) for n in WORKERS) + " |"
    lines = [head, "|---" * (2 + len(WORKERS)) + "|"]
    for method in METHODS:
        for rows in ROWS:
            cells = []
            for workers in WORKERS:
                spent, on = c.fit(method, rows, workers)
                cells.append(f"{duration(spent)}, {on}")
            name = f"{method.name}, {method.passes} pass" + ("es" if method.passes > 1 else "")
            lines.append(f"| {name} | $10^{{{round(math.log10(rows))}}}$ | {' | '.join(cells)} |")
    lines += ["", "Workers after which a pass on Ray gets no shorter, all rows in memory:", ""]
    lines += ["| method | " + " | ".join(f"$10^{{{round(math.log10(n))}}}$ rows" for n in ROWS) + " |"]
    lines += ["|---" * (1 + len(ROWS)) + "|"]
    for method in METHODS:
        task = TASKS * c.engines["Ray"].task
        most = [math.sqrt(n * c.methods[method.name].compute / task) for n in ROWS]
        cells = [f"{float(f'{n:.1g}'):,.0f}" for n in most]
        lines.append(f"| {method.name} | {' | '.join(cells)} |")
    lines += ["", "What a pass costs that is not compute, by engine, with four tasks to a worker:", ""]
    lines += ["| engine | method | " + " | ".join(_workers(n) for n in WORKERS[1:]) + " |"]
    lines += ["|---" * (1 + len(WORKERS)) + "|"]
    for engine in list(c.engines)[1:]:
        for method in (METHODS[0], METHODS[3]):
            cells = []
            for workers in WORKERS[1:]:
                parts = c.parts(method, 1.0, workers, engine)
                cells.append(duration(parts["tasks"] + parts["sums"]))
            size = amount(c.methods[method.name].statistic)
            lines.append(f"| {engine} | {method.name}, {size} | {' | '.join(cells)} |")
    return lines


def _workers(n: int) -> str:
    return "1 worker" if n == 1 else f"{n:,} workers"


def table(rows: int = 200_000, repeat: int = 7, write: bool = True) -> list[str]:
    warnings.simplefilter("ignore")
    found = measure(rows, repeat)
    constants, times = constants_page(found), times_page(found)
    print("\n".join([*constants, "", *times]), flush=True)
    if write:
        (PAGES / "scale_constants.md").write_text("\n".join(constants) + "\n")
        (PAGES / "scale_times.md").write_text("\n".join(times) + "\n")
    return constants


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000, help="rows of each method")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--look", action="store_true", help="print, and write nothing")
    given = parser.parse_args()
    table(given.rows, given.repeat, not given.look)
