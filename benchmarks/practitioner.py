"""A table of mixed columns, from files to predictions: numbers with holes, strings, dates.

    python benchmarks/practitioner.py --rows 20000000
    python benchmarks/practitioner.py --peers --rows 30000000

Writes a hive-partitioned folder of Parquet files, copies it to an S3 server on loopback ("moto[server]"), and
from both places: splits, fits a pipeline, scores it, cross-validates it and writes predictions. Reported are
seconds, the growth of memory over that before the first fit, and whether the bits are the same.

With `--peers`, the twelve columns of benchmarks/pipeline.py, hive-partitioned, with a fifth as many rows to
test on: pipelines of suffice over scans, LightGBM on all rows in memory, and a pipeline of scikit-learn on a
sample of 1 million. Each job runs in a process of its own. Reported are CPU seconds and wall seconds of all
that it does, reading and predicting included, the growth of memory, and the area under the ROC curve.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import suffice
from suffice.compose import ColumnTransformer
from suffice.ensemble import HistGradientBoostingClassifier
from suffice.impute import SimpleImputer
from suffice.linear_model import LogisticRegression
from suffice.model_selection import cross_validate, train_test_split
from suffice.preprocessing import (
    DatetimeEncoder,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import pipeline as mixed
from out_of_core import growth
from tests.engines._s3 import filesystem, s3_server

FILE_ROWS = 1 << 19
SAMPLE = 1_000_000  # rows for scikit-learn


def write(folder: Path, rows: int) -> float:
    """A folder for each year. Returns megabytes."""
    for part, first in enumerate(range(0, rows, FILE_ROWS)):
        rng, n = np.random.default_rng(part), min(FILE_ROWS, rows - first)
        age, country = rng.normal(40.0, 10.0, n), rng.choice(["DE", "FR", "US"], n)
        logit = (age - 40.0) / 5.0 + 2.0 * (country == "DE")
        columns = {
            "age": pa.array(age, mask=rng.random(n) < 0.05),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10.0, 1.0, n)),
            "country": country,
            "signup": np.datetime64("2024-01-01", "s") + rng.integers(0, 500 * 86400, n),
            "clicked": rng.random(n) < 1.0 / (1.0 + np.exp(-logit)),
        }
        there = folder / f"year={2020 + part % 4}"
        there.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), there / f"part-{part:03}.parquet", row_group_size=1 << 16)
    return sum(file.stat().st_size for file in folder.rglob("*.parquet")) / 1e6


def pipeline() -> Any:
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
            ("categories", OneHotEncoder(handle_unknown="ignore"), ["country"]),
            ("dates", DatetimeEncoder(["month", "weekday"], cyclic=True), ["signup"]),
        ]
    )
    return make_pipeline(columns, LogisticRegression())


class Memory:
    """The most memory that this process held, in megabytes, watched by a thread."""

    def __init__(self) -> None:
        self.process, self.most, self.on = psutil.Process(), 0.0, True
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def now(self) -> float:
        return self.process.memory_info().rss / 1e6

    def _watch(self) -> None:
        while self.on:
            self.most = max(self.most, self.now())
            time.sleep(0.02)


def story(scan: Any, out: Path, folds: int) -> tuple[dict[str, float], str]:
    """Seconds of each part, and a digest of all results."""
    digest, times = hashlib.sha256(), {}

    def told(name: str, start: float, *results: Any) -> None:
        times[name] = time.perf_counter() - start
        for result in results:
            digest.update(np.ascontiguousarray(result).tobytes())

    described = suffice.rows(scan, features=["age", "income", "country", "signup"], target="clicked")
    train, test = train_test_split(described, test_size=0.2, random_state=0)
    start = time.perf_counter()
    model = pipeline().fit(train)
    told("fit", start, model[-1].coef_, model[-1].intercept_)
    start = time.perf_counter()
    score = model.score(test)
    told("score", start, score)
    start = time.perf_counter()
    scores = cross_validate(pipeline(), described, cv=folds, random_state=0)["test_score"]
    told("cross-validate", start, scores)
    start = time.perf_counter()
    model.predict(scan, to=out)
    labels = [table["prediction"].to_numpy() for table in map(pq.read_table, sorted(out.rglob("*.parquet")))]
    told("predict", start, *labels)
    times["accuracy"] = score
    return times, digest.hexdigest()


# --- beside other libraries -------------------------------------------------------------------------------


def write_mixed(folder: Path, rows: int, first_seed: int) -> float:
    """The table of benchmarks/pipeline.py, in a folder for each year. Returns megabytes."""
    for part, first in enumerate(range(0, rows, FILE_ROWS)):
        there = folder / f"year={2020 + part % 4}"
        there.mkdir(parents=True, exist_ok=True)
        made = mixed.table(min(FILE_ROWS, rows - first), first_seed + part)
        pq.write_table(made, there / f"part-{part:03}.parquet", row_group_size=1 << 16)
    return sum(file.stat().st_size for file in folder.rglob("*.parquet")) / 1e6


COLUMNS = [*mixed.NUMBERS, *mixed.CATEGORIES]
TREES = {"learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 20}


def boosting() -> Any:
    """Boosting of numbers, three columns of categories, and one with too many of them, encoded by target."""
    columns = ColumnTransformer(
        [
            ("numbers", "passthrough", mixed.NUMBERS),
            ("few", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan), FEW),
            ("many", TargetEncoder(random_state=0), ["city"]),
        ]
    )
    places = list(range(len(mixed.NUMBERS), len(mixed.NUMBERS) + len(FEW)))
    model = HistGradientBoostingClassifier(
        max_iter=100, early_stopping=False, categorical_features=places, random_state=0, **TREES
    )
    return make_pipeline(columns, model)


FEW = ["plan", "country", "device"]


def by_suffice(model: Any, train: Path, test: Path) -> np.ndarray:
    columns = suffice.rows(suffice.scan_parquet(train), features=[*COLUMNS, "day"], target="bought")
    return model.fit(columns).predict_proba(suffice.scan_parquet(test))[:, 1]


def by_logistic(train: Path, test: Path) -> np.ndarray:
    return by_suffice(mixed.ours(), train, test)


def by_boosting(train: Path, test: Path) -> np.ndarray:
    return by_suffice(boosting(), train, test)


def by_lightgbm(train: Path, test: Path) -> np.ndarray:
    """All rows in memory, as float32, with the codes of categories."""
    import lightgbm

    kinds = {name: pl.Enum([f"{name} {k:04}" for k in range(n)]) for name, n in mixed.CATEGORIES.items()}

    def matrix(folder: Path) -> tuple[np.ndarray, np.ndarray]:
        frame = pl.read_parquet(folder, columns=[*COLUMNS, "bought"])
        codes = [pl.col(name).cast(kind).to_physical() for name, kind in kinds.items()]
        X = frame.select(*mixed.NUMBERS, *codes).cast(pl.Float32).to_numpy()
        return X, frame["bought"].to_numpy()

    X, y = matrix(train)
    options = {"objective": "binary", "num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 20}
    places = list(range(len(mixed.NUMBERS), len(COLUMNS)))
    data = lightgbm.Dataset(X, y, categorical_feature=places, params={"max_bin": 255, "verbosity": -1})
    model = lightgbm.train({**options, "verbosity": -1, "num_threads": 2}, data, 100)
    del X, y, data
    return model.predict(matrix(test)[0])


def by_sklearn(train: Path, test: Path) -> np.ndarray:
    """A pipeline on a sample: every n-th row."""
    rows = pl.scan_parquet(train, hive_partitioning=False)
    step = max(1, rows.select(pl.len()).collect().item() // SAMPLE)
    X, y = mixed.prepared(rows.gather_every(step).collect())
    model = mixed.theirs().fit(X, y)
    return model.predict_proba(mixed.prepared(pl.read_parquet(test, hive_partitioning=False))[0])[:, 1]


JOBS = {
    "suffice, encoders and logistic regression, all rows": by_logistic,
    "suffice, encoders and histogram boosting, all rows": by_boosting,
    "LightGBM, all rows in memory": by_lightgbm,
    f"scikit-learn, encoders and logistic regression, {SAMPLE:,} rows": by_sklearn,
}


def measured(job: str, small: Path, train: Path, test: Path, channel: Any) -> None:
    warnings.simplefilter("ignore")  # scikit-learn's solver reaches max_iter
    JOBS[job](small, small)  # a first call
    seen: list[float] = []
    with growth(seen):
        cpu, wall = time.process_time(), time.perf_counter()
        score = JOBS[job](train, test)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    bought = pl.read_parquet(test, columns=["bought"])["bought"].to_numpy()
    channel.send((cpu, wall, seen[0], roc_auc_score(bought, score)))


def beside_peers(home: Path, rows: int, jobs: list[str]) -> None:
    small, train, test = home / "small", home / "train", home / "test"
    write_mixed(small, 5_000, 0)
    size = write_mixed(train, rows, 1), write_mixed(test, rows // 5, 1_000)
    print(f"{rows:,} rows, {size[0]:.0f} MB; {rows // 5:,} to test, {size[1]:.0f} MB")
    print("| job | CPU s | wall s | growth, MB | AUC |\n|---|---|---|---|---|")
    processes = multiprocessing.get_context("spawn")
    for job in jobs:
        receiver, sender = processes.Pipe(duplex=False)
        process = processes.Process(target=measured, args=(job, small, train, test, sender))
        process.start()
        sender.close()
        cpu, wall, grown, score = receiver.recv()
        process.join()
        print(f"| {job} | {cpu:.0f} | {wall:.0f} | {grown:.0f} | {score:.4f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--folder", help="Where to write; default is a temporary folder.")
    parser.add_argument("--peers", action="store_true", help="beside LightGBM and scikit-learn")
    parser.add_argument("--jobs", nargs="*", default=list(JOBS), choices=list(JOBS))
    options = parser.parse_args()
    if options.peers:
        with tempfile.TemporaryDirectory(dir=options.folder) as home:
            beside_peers(Path(home), options.rows, options.jobs)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as home, s3_server() as port:
        local = Path(home) / "events"
        local.mkdir()
        print(f"{options.rows} rows, {write(local, options.rows):.0f} MB")
        there = filesystem(port)
        fs.copy_files(str(local), "bucket/events", destination_filesystem=there)
        scans = {
            "local": suffice.scan_parquet(local),
            "S3": suffice.scan_parquet("bucket/events", filesystem=there),
        }
        memory = Memory()
        before, digests = memory.now(), set()
        for name, scan in scans.items():
            times, digest = story(scan, Path(home) / f"answers-{name}", options.folds)
            digests.add(digest)
            print(name, ", ".join(f"{part} {value:.2f}" for part, value in times.items()))
        memory.on = False
        print(f"growth {memory.most - before:.0f} MB")
        print("the same bits" if len(digests) == 1 else "OTHER BITS")


if __name__ == "__main__":
    main()
