"""Bayesian mixtures and independent components of Parquet files larger than memory, here and on clusters.

    python benchmarks/groups_out_of_core.py --rows 20000000 --engine local --folder rows
    python benchmarks/groups_out_of_core.py --rows 20000000 --engine ray --kill --folder rows

Reported are seconds, the growth of the resident memory of this process, what was found, and a digest of the
results, which is the same on every engine. With `--kill`, one process of Ray that computes is killed in each
fit. Each file is one block, and a block of each engine.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from margins_out_of_core import FILE_ROWS, kill_one, opened
from out_of_core import growth, seconds

import suffice
from suffice.decomposition import FastICA
from suffice.mixture import BayesianGaussianMixture

D, GROUPS = 16, 6
GROUPED, MIXED = ([f"{letter}{d}" for d in range(D)] for letter in "xs")
CENTERS = 3.0 * np.random.default_rng(1).normal(size=(GROUPS, D))
MIXING = np.random.default_rng(2).normal(size=(D, D))
HOW = {"n_components": 8, "max_iter": 5, "init_params": "random_from_data", "random_state": 0}


def write(folder: Path, rows: int) -> None:
    """Columns x of normal groups, and columns s of sources with long and short tails, mixed."""
    for part, first in enumerate(range(0, rows, FILE_ROWS)):
        rng, n = np.random.default_rng(part), min(FILE_ROWS, rows - first)
        X = CENTERS[rng.integers(GROUPS, size=n)] + rng.normal(size=(n, D))
        sources = np.hstack([rng.laplace(size=(n, D // 2)), rng.uniform(-1.0, 1.0, size=(n, D // 2))])
        columns = zip([*GROUPED, *MIXED], [*X.T, *(sources @ MIXING.T).T], strict=True)
        table = pa.table({name: values.astype(np.float32) for name, values in columns})
        pq.write_table(table, folder / f"part-{part:05}.parquet")


def variational(source: Any) -> tuple[str, list[np.ndarray]]:
    model = BayesianGaussianMixture(**HOW).fit(suffice.rows(source, features=GROUPED))
    found = f"{(model.weights_ > 0.01).sum()} components above 1%"
    return found, [model.weights_, model.means_, model.covariances_, model.trace_]


def gibbs(source: Any) -> tuple[str, list[np.ndarray]]:
    model = BayesianGaussianMixture(**HOW, solver="gibbs").fit(suffice.rows(source, features=GROUPED))
    return f"{model.n_occupied_[-1]} components with rows", [*model.draws_.values(), model.trace_]


def ica(source: Any) -> tuple[str, list[np.ndarray]]:
    model = FastICA(random_state=0, max_iter=10).fit(suffice.rows(source, features=MIXED))
    P = np.sort(np.abs(model.components_ @ MIXING), axis=1)
    found = f"{model.n_iter_} iterations, second entry of a source {(P[:, -2] / P[:, -1]).max():.1e}"
    return found, [model.components_, model.trace_]


FITS: dict[str, Callable[[Any], tuple[str, list[np.ndarray]]]] = {
    "variational": variational,
    "Gibbs": gibbs,
    "FastICA": ica,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--engine", choices=["local", "ray", "dask"], default="local")
    parser.add_argument("--only", nargs="*", choices=list(FITS), default=list(FITS))
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--folder", help="where the files are, or are written: 130 bytes a row")
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # a few iterations are enough here
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
                    duration, (found, arrays) = seconds(FITS[case], source)
                stop.set()
                digest = hashlib.sha256(b"".join(x.tobytes() for x in arrays)).hexdigest()[:12]
                print(
                    f"{given.engine}, {case}: {duration:.0f} s, {seen[0]:.0f} MB, {found}, {digest}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
