"""Clusterings of Parquet files: through landmarks, small clusters and samples, and Ward's exact tree.

    python benchmarks/clusters_out_of_core.py --rows 1000000 --engine local --folder rows
    python benchmarks/clusters_out_of_core.py --rows 1000000 --engine ray --folder rows

Reported are seconds, the growth of the resident memory of this process, and a digest of the results, which is
the same on every engine; for planted groups the adjusted Rand index, and for k-medoids the loss over all
rows. Each file is one block, and a block of each engine.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from margins_out_of_core import opened
from out_of_core import growth, seconds
from sklearn.metrics import adjusted_rand_score

import suffice
from suffice.cluster import AgglomerativeClustering, KMedoids, SpectralClustering

D, K, FILE_ROWS, EXACT_ROWS = 16, 10, 1 << 14, 100_000
NAMES = [f"x{d}" for d in range(D)]
CENTERS = np.random.default_rng(1).normal(scale=3.0, size=(K, D))


def rows_of(part: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a file, and their groups."""
    rng = np.random.default_rng(part)
    group = rng.integers(0, K, n)
    return CENTERS[group] + rng.normal(size=(n, D)), group


def write(folder: Path, rows: int) -> None:
    for part, first in enumerate(range(0, rows, FILE_ROWS)):
        X, _ = rows_of(part, min(FILE_ROWS, rows - first))
        pq.write_table(pa.table(dict(zip(NAMES, X.T, strict=True))), folder / f"part-{part:05}.parquet")


X_NEW, GROUP_NEW = rows_of(1 << 20, 10_000)


def planted(model: Any) -> str:
    return f"adjusted Rand index {adjusted_rand_score(GROUP_NEW, model.predict(X_NEW)):.3f}"


def spectral(source: Any) -> tuple[list[np.ndarray], str]:
    model = SpectralClustering(K, affinity="landmarks", random_state=0).fit(source)
    return [model.model_.embedding.points, model.model_.centers.center], planted(model)


def merged(source: Any) -> tuple[list[np.ndarray], str]:
    model = AgglomerativeClustering(K, random_state=0).fit(source)
    return [model.children_, model.distances_], planted(model)


def medoids(source: Any) -> tuple[list[np.ndarray], str]:
    model = KMedoids(K, random_state=0).fit(source)
    return [model.cluster_centers_], f"loss over all rows {model.inertia_:.6g}, {planted(model)}"


def ward(source: Any) -> tuple[list[np.ndarray], str]:
    model = AgglomerativeClustering(K, micro_clusters=None).fit(suffice.rows(source, features=NAMES[:8]))
    return [model.children_, model.distances_], f"{model.n_leaves_:,} leaves"


FITS: dict[str, Callable[[Any], tuple[list[np.ndarray], str]]] = {
    "spectral": spectral,
    "agglomerative": merged,
    "k-medoids": medoids,
    "ward": ward,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--exact-rows", type=int, default=EXACT_ROWS, help="of Ward's exact tree, 8 features")
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--only", nargs="*", choices=list(FITS), default=list(FITS))
    parser.add_argument("--folder", help="where the files are, or are written: 130 bytes a row")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for only, rows, where in (
            ([case for case in given.only if case != "ward"], given.rows, "all"),
            ([case for case in given.only if case == "ward"], given.exact_rows, "exact"),
        ):
            if not only:
                continue
            folder = Path(given.folder or name) / where
            folder.mkdir(exist_ok=True, parents=True)
            if not any(folder.iterdir()):
                write(folder, rows)
            with opened(given.engine, folder) as source:
                for case in only:
                    seen: list[float] = []
                    with growth(seen):
                        duration, (found, said) = seconds(FITS[case], source)
                    digest = hashlib.sha256(b"".join(x.tobytes() for x in found)).hexdigest()[:12]
                    print(
                        f"{given.engine}, {case}, {rows:,} rows: {duration:.0f} s, {seen[0]:.0f} MB, "
                        f"{digest}, {said}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
