"""Compare out-of-core fits on Parquet with a bare loop of pyarrow and NumPy that makes the same passes.

The script makes a folder of float32 columns, then runs three iterations of k-means and two of a diagonal
Gaussian mixture, each with the passes of a fit before and after the iterations, and the same passes in a bare
loop. Memory is the growth of the resident memory of the process, sampled while the fits run.

    python benchmarks/out_of_core.py --rows 50000000
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

import suffice
from suffice.cluster import KMeans
from suffice.mixture import GaussianMixture

D, K = 16, 8
CENTERS = 3.0 * np.random.default_rng(1).normal(size=(K, D))
NAMES = [f"x{d}" for d in range(D)]


def make(folder: Path, rows: int, group: int = 1 << 20) -> None:
    """Files of at most eight row groups each, written a group at a time."""
    rng = np.random.default_rng(0)
    schema = pa.schema([(name, pa.float32()) for name in NAMES])
    for number, first in enumerate(range(0, rows, 8 * group)):
        with pq.ParquetWriter(folder / f"part-{number:04}.parquet", schema) as writer:
            for start in range(first, min(first + 8 * group, rows), group):
                n = min(group, rows - start)
                X = rng.standard_normal((n, D), dtype=np.float32)
                X += CENTERS.astype(np.float32)[rng.integers(0, K, n)]
                writer.write_table(pa.table(dict(zip(NAMES, X.T, strict=True)), schema=schema))


def batches(folder: Path) -> Iterator[np.ndarray]:
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1 << 15):
                X = np.empty((batch.num_rows, D))
                for d, column in enumerate(batch.columns):
                    X[:, d] = column
                yield X


def bare_spread(folder: Path) -> np.ndarray:
    count, total, square = 0, np.zeros(D), np.zeros(D)
    for X in batches(folder):
        ones = np.ones(len(X))
        count, total, square = count + len(X), total + ones @ X, square + ones @ (X * X)
    return square / count - (total / count) ** 2


def bare_assign(folder: Path, center: np.ndarray) -> tuple[np.ndarray, float]:
    """Distances and sums as matrix products, the fastest way in NumPy."""
    total, weight, inertia = np.zeros((K, D)), np.zeros(K), 0.0
    for X in batches(folder):
        distance = X @ (-2.0 * center.T)
        distance += (center**2).sum(axis=1)
        label = distance.argmin(axis=1)
        inertia += distance[np.arange(len(X)), label].sum() + X.ravel() @ X.ravel()
        hot = np.eye(K)[label]
        total += hot.T @ X
        weight += np.bincount(label, minlength=K)
    return total / weight[:, None], inertia


def bare_k_means(folder: Path) -> np.ndarray:
    bare_spread(folder)
    center = CENTERS
    for _ in range(3):
        center, _ = bare_assign(folder, center)
    bare_assign(folder, center)
    return center


def bare_mixture(folder: Path) -> np.ndarray:
    bare_spread(folder)
    weight, mean, variance = np.full(K, 1.0 / K), CENTERS, np.ones((K, D))
    for _ in range(2):
        first, second, total = np.zeros((K, D)), np.zeros((K, D)), np.zeros(K)
        constant = np.log(weight) - 0.5 * (np.log(2.0 * np.pi * variance) + mean**2 / variance).sum(axis=1)
        for X in batches(folder):
            square = X * X
            R = square @ (-0.5 / variance).T
            R += X @ (mean / variance).T
            R += constant
            R -= R.max(axis=1, keepdims=True)
            np.exp(R, out=R)
            R /= R.sum(axis=1, keepdims=True)
            total += R.sum(axis=0)
            first += R.T @ X
            second += R.T @ square
        weight, mean = total / total.sum(), first / total[:, None]
        variance = second / total[:, None] - mean**2
    return mean


def k_means(folder: Path) -> np.ndarray:
    return (
        KMeans(K, init=CENTERS, n_init=1, max_iter=3, tol=0.0)
        .fit(suffice.scan_parquet(folder, cache=None))
        .cluster_centers_
    )


def mixture(folder: Path) -> np.ndarray:
    return (
        GaussianMixture(
            K,
            covariance_type="diag",
            max_iter=2,
            tol=0.0,
            reg_covar=0.0,
            weights_init=np.full(K, 1.0 / K),
            means_init=CENTERS,
            precisions_init=np.ones((K, D)),
        )
        .fit(suffice.scan_parquet(folder, cache=None))
        .means_
    )


@contextmanager
def growth(seen: list[float]) -> Iterator[None]:
    """Append the largest growth of resident memory, in MB, while the block runs."""
    process, done = psutil.Process(), threading.Event()
    before = most = process.memory_info().rss

    def watch() -> None:
        nonlocal most
        while not done.wait(0.02):
            most = max(most, process.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        seen.append((most - before) / 1e6)


def seconds(f: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = f(*args)
    return time.perf_counter() - start, answer


def table(rows: int, folder: str | None = None) -> list[str]:
    warnings.simplefilter("ignore")  # fits of a few iterations do not converge
    lines = [
        f"{rows:,} x {D} float32 in Parquet.",
        "",
        "| fit | suffice, s | bare loop, s | times as fast | aim | memory grows by, MB | aim |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(dir=folder) as small, tempfile.TemporaryDirectory(dir=folder) as full:
        make(Path(small), 10_000)
        make(Path(full), rows)
        for name, ours, bare in (
            ("k-means, 3 iterations", k_means, bare_k_means),
            ("diagonal Gaussian mixture, 2 iterations", mixture, bare_mixture),
        ):
            grown: list[float] = []
            with growth(grown):
                ours(Path(small))  # a first call
                mine, answer = seconds(ours, Path(full))
            theirs, expected = seconds(bare, Path(full))
            np.testing.assert_allclose(answer, expected, rtol=1e-5, atol=1e-5)
            lines.append(
                f"| {name} | {mine:.1f} | {theirs:.1f} | {theirs / mine:.2f} | 0.7 | {grown[0]:.0f} | 600 |"
            )
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--folder", help="where there is room for 64 bytes a row")
    given = parser.parse_args()
    table(given.rows, given.folder)
