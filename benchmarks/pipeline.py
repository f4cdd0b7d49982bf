"""A pipeline of encoders and logistic regression on mixed columns: a Parquet scan, and Polars + scikit-learn.

    python benchmarks/pipeline.py --rows 1000000

The table has six columns of numbers with holes, four of strings with 5 to 1,000 categories, a date, and a
binary target. Each job runs in a process of its own, after a small one that imports. Reported are CPU seconds
of all threads, wall seconds, the growth of resident memory, the number of passes over the files, iterations,
and the area under the ROC curve on the rows of the fit (of folds: the mean accuracy).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn import compose, impute, linear_model, model_selection, preprocessing
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import suffice
from suffice.compose import ColumnTransformer
from suffice.impute import SimpleImputer
from suffice.inputs.parquet import Batches
from suffice.linear_model import LogisticRegression
from suffice.model_selection import cross_validate
from suffice.preprocessing import (
    DatetimeEncoder,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

sys.path.insert(0, str(Path(__file__).resolve().parent))
from out_of_core import growth

NUMBERS = [f"number{d}" for d in range(6)]
CATEGORIES = {"plan": 5, "country": 60, "device": 200, "city": 1000}
FILE_ROWS = 1 << 18


def table(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, len(NUMBERS))) * [1.0, 10.0, 100.0, 1.0, 1.0, 5.0] + [
        0.0,
        40.0,
        900.0,
        0,
        0,
        1,
    ]
    logit = X[:, 0] + (X[:, 1] - 40.0) / 10.0 - 0.5 * X[:, 3] - 1.0
    columns: dict[str, Any] = {}
    for d, name in enumerate(NUMBERS):
        columns[name] = np.where(rng.random(rows) < 0.05, np.nan, X[:, d]) if d % 2 else X[:, d]
    for name, count in CATEGORIES.items():
        effect = np.random.default_rng(count).normal(size=count)
        code = np.minimum(rng.geometric(3.0 / count, rows) - 1, count - 1)
        columns[name] = pa.array([f"{name} {k:04}" for k in range(count)]).take(pa.array(code))
        logit = logit + 0.5 * effect[code]
    day = rng.integers(0, 1000, rows)
    columns["day"] = np.datetime64("2021-01-01") + day
    columns["bought"] = (rng.random(rows) < 1.0 / (1.0 + np.exp(-logit))).astype(np.int64)
    return pa.table(columns)


def write(folder: Path, rows: int) -> None:
    folder.mkdir()
    for part, first in enumerate(range(0, rows, FILE_ROWS)):
        made = table(min(FILE_ROWS, rows - first), part)
        pq.write_table(made, folder / f"part-{part:04}.parquet", row_group_size=1 << 16)


def ours() -> Any:
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
            ("one-hot", OneHotEncoder(handle_unknown="ignore"), ["country", "city"]),
            ("ordinal", make_pipeline(OrdinalEncoder(), StandardScaler()), ["plan"]),
            ("target", TargetEncoder(random_state=0), ["device"]),
            ("dates", DatetimeEncoder(["month", "weekday"], cyclic=True), ["day"]),
        ]
    )
    return make_pipeline(columns, LogisticRegression())


def theirs() -> Any:
    columns = compose.ColumnTransformer(
        [
            ("numbers", make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler()), NUMBERS),
            ("one-hot", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["country", "city"]),
            (
                "ordinal",
                make_pipeline(preprocessing.OrdinalEncoder(), preprocessing.StandardScaler()),
                ["plan"],
            ),
            ("target", preprocessing.TargetEncoder(random_state=0), ["device"]),
            (
                "dates",
                "passthrough",
                [f"{f}_{part}" for part in ("month", "weekday") for f in ("sin", "cos")],
            ),
        ]
    )
    return make_pipeline(columns, linear_model.LogisticRegression())


def scanned(folder: Path, **options: Any) -> Any:
    return suffice.rows(suffice.scan_parquet(folder, **options), target="bought")


def in_memory(folder: Path) -> tuple[Any, Any]:
    return prepared(pl.read_parquet(folder))


def prepared(frame: pl.DataFrame) -> tuple[Any, Any]:
    """The features and the target, with columns for the angles of dates, which Polars computes."""
    angles = {
        "month": pl.col("day").dt.month() * (2 * np.pi / 12),
        "weekday": pl.col("day").dt.weekday() * (2 * np.pi / 7),
    }
    frame = frame.with_columns(
        *(angle.sin().alias(f"sin_{part}") for part, angle in angles.items()),
        *(angle.cos().alias(f"cos_{part}") for part, angle in angles.items()),
    )
    return frame.drop("bought", "day"), frame["bought"].to_numpy()


def fit_ours(folder: Path, **options: Any) -> tuple[Any, Any, Any]:
    """The fitted pipeline, its rows and their targets."""
    model = ours().fit(scanned(folder, **options))
    return (
        model,
        suffice.scan_parquet(folder),
        pl.read_parquet(folder, columns=["bought"])["bought"].to_numpy(),
    )


def fit_theirs(folder: Path) -> tuple[Any, Any, Any]:
    X, y = in_memory(folder)
    return theirs().fit(X, y), X, y


def validate_ours(folder: Path) -> Any:
    return cross_validate(ours(), scanned(folder), cv=3, random_state=0)["test_score"].mean()


def validate_theirs(folder: Path) -> Any:
    return model_selection.cross_validate(theirs(), *in_memory(folder), cv=3)["test_score"].mean()


JOBS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "fit": (fit_ours, {}),
    "fit, cache=None": (fit_ours, {"cache": None}),
    "fit, cache='memory'": (fit_ours, {"cache": "memory"}),
    "fit, cache='disk'": (fit_ours, {"cache": "disk"}),
    "fit, Polars + scikit-learn": (fit_theirs, {}),
    "3 folds": (validate_ours, {}),
    "3 folds, Polars + scikit-learn": (validate_theirs, {}),
}


def measured(job: str, small: Path, folder: Path, channel: Any) -> None:
    warnings.simplefilter("ignore")  # scikit-learn's solver reaches max_iter
    f, options = JOBS[job]
    f(small, **options)
    passes, reading, seen = 0, Batches.__iter__, []

    def counted(self: Any) -> Any:
        nonlocal passes
        passes += 1
        return reading(self)

    Batches.__iter__ = counted  # type: ignore[method-assign]
    with growth(seen):
        cpu, wall = time.process_time(), time.perf_counter()
        result = f(folder, **options)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    score, iterations = result, 0
    if isinstance(result, tuple):
        model, X, y = result
        score = roc_auc_score(y, model.predict_proba(X)[:, 1])
        iterations = int(np.max(model[-1].n_iter_))
    channel.send((cpu, wall, seen[0], passes, iterations, score))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", help="Where to write; default is a temporary folder.")
    parser.add_argument("--jobs", nargs="*", default=list(JOBS), choices=list(JOBS))
    options = parser.parse_args()
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(dir=options.folder) as home:
        small, folder = Path(home) / "small", Path(home) / "rows"
        write(small, 5_000)
        write(folder, options.rows)
        print(f"{options.rows:,} rows, {sum(f.stat().st_size for f in folder.iterdir()) / 1e6:.0f} MB")
        print("| job | CPU s | wall s | growth, MB | passes over the files | iterations | score |")
        print("|---|---|---|---|---|---|---|")
        for job in options.jobs:
            receiver, sender = processes.Pipe(duplex=False)
            process = processes.Process(target=measured, args=(job, small, folder, sender))
            process.start()
            sender.close()
            cpu, wall, grown, passes, iterations, score = receiver.recv()
            process.join()
            print(
                f"| {job} | {cpu:.1f} | {wall:.1f} | {grown:.0f} | {passes} | {iterations} | {score:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
