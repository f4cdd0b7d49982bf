"""Linear and kernel machines and neighbours of Parquet files larger than memory, here and on clusters.

    python benchmarks/margins_out_of_core.py --rows 10000000 --engine local
    python benchmarks/margins_out_of_core.py --rows 10000000 --engine ray --kill --folder rows

Reported are seconds, the growth of the resident memory of this process, and a digest of the results, which is
the same on every engine. With `--kill`, one process of Ray that folds blocks is killed in each fit. Each file
is a partition on each engine.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from out_of_core import growth, seconds

import suffice
from suffice.kernel_ridge import KernelRidge
from suffice.neighbors import NearestNeighbors
from suffice.svm import LinearSVC

D, FILE_ROWS = 20, 1 << 14
NAMES = [f"x{d}" for d in range(D)]
QUERIES = pa.table(
    {name: np.random.default_rng([1, d]).normal(size=1000) for d, name in enumerate(NAMES[:10])}
)


def write(folder: Path, rows: int) -> None:
    for part, first in enumerate(range(0, rows, FILE_ROWS)):
        rng, n = np.random.default_rng(part), min(FILE_ROWS, rows - first)
        X = rng.normal(size=(n, D))
        value = np.sin(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n)
        columns = {**dict(zip(NAMES, X.T, strict=True)), "value": value, "label": (value > 0).astype(np.int8)}
        pq.write_table(pa.table(columns), folder / f"part-{part:05}.parquet")


def linear(source: Any) -> list[np.ndarray]:
    model = LinearSVC().fit(suffice.rows(source, features=NAMES, target="label"))
    return [model.coef_, model.intercept_]


def ridge(source: Any) -> list[np.ndarray]:
    model = KernelRidge(kernel="rbf", landmarks=500, random_state=0).fit(
        suffice.rows(source, features=NAMES, target="value")
    )
    return [model.dual_coef_]


def nearest(source: Any) -> list[np.ndarray]:
    model = NearestNeighbors(n_neighbors=10).fit(suffice.rows(source, features=NAMES[:10]))
    return list(model.kneighbors(QUERIES))


FITS: dict[str, Callable[[Any], list[np.ndarray]]] = {
    "LinearSVC": linear,
    "KernelRidge(landmarks=500)": ridge,
    "neighbours of 1,000 queries": nearest,
}


@contextmanager
def opened(engine: str, folder: Path) -> Iterator[Any]:
    """The files as a source of an engine, with a partition for each: readers of engines join small files."""
    files = sorted(map(str, folder.glob("*.parquet")))
    if engine == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        logging.getLogger("ray.data").setLevel(logging.WARNING)
        numbers = ray.data.range(len(files), override_num_blocks=len(files))
        yield numbers.map_batches(
            lambda batch: pq.read_table(files[batch["id"][0].as_py()]),
            batch_format="pyarrow",
            batch_size=None,
        )
        ray.shutdown()
    elif engine == "dask":
        import dask
        import dask.dataframe as dd
        from distributed import Client, LocalCluster

        each_file = dask.config.set({"dataframe.parquet.minimum-partition-size": 1})
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with each_file, cluster, Client(cluster):
            yield dd.read_parquet(files, split_row_groups=False, aggregate_files=False)
    elif engine == "spark":
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        spark = builder.config("spark.driver.memory", "6g").getOrCreate()  # which holds the cache here

        def read(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                for i in batch.column(0).to_pylist():
                    yield from pq.read_table(files[i]).to_batches()

        kinds = ", ".join(f"{name} double" for name in [*NAMES, "value"]) + ", label tinyint"
        yield spark.range(0, len(files), numPartitions=len(files)).mapInArrow(read, kinds)
        spark.stop()
    else:
        yield suffice.scan_parquet(folder)


def kill_one(stop: threading.Event) -> None:
    """Kill a process of Ray that folds blocks, a second after the first is seen."""
    while not stop.wait(0.2):
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if process.name().startswith("ray::_fold"):
                    stop.wait(1.0)
                    process.kill()
                    print(f"  killed: {process.name()}", flush=True)
                    return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--engine", choices=["local", "ray", "dask", "spark"], default="local")
    parser.add_argument("--only", nargs="*", choices=list(FITS), default=list(FITS))
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--folder", help="where the files are, or are written: 180 bytes a row")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(given.folder or name)
        folder.mkdir(exist_ok=True)
        if not any(folder.iterdir()):
            write(folder, given.rows)
        with opened(given.engine, folder) as source:
            for case in given.only:
                seen: list[float] = []
                stop = threading.Event()
                if given.kill:
                    threading.Thread(target=kill_one, args=(stop,), daemon=True).start()
                with growth(seen):
                    duration, found = seconds(FITS[case], source)
                stop.set()
                digest = hashlib.sha256(b"".join(x.tobytes() for x in found)).hexdigest()[:12]
                print(f"{given.engine}, {case}: {duration:.0f} s, {seen[0]:.0f} MB, {digest}", flush=True)


if __name__ == "__main__":
    main()
