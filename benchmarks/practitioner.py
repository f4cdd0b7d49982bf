"""A table of mixed columns on S3, from files to predictions: numbers with holes, strings, dates.

    python benchmarks/practitioner.py --rows 20000000

Writes a hive-partitioned folder of Parquet files, copies it to an S3 server on loopback ("moto[server]"), and
from both places: splits, fits a pipeline, scores it, cross-validates it and writes predictions. Reported are
seconds, the growth of memory over that before the first fit, and whether the bits are the same.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from sklearn.pipeline import make_pipeline

import suffice
from suffice.compose import ColumnTransformer
from suffice.impute import SimpleImputer
from suffice.linear_model import LogisticRegression
from suffice.model_selection import cross_validate, train_test_split
from suffice.preprocessing import DatetimeEncoder, OneHotEncoder, StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.engines._s3 import filesystem, s3_server

FILE_ROWS = 1 << 19


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--folder", help="Where to write; default is a temporary folder.")
    options = parser.parse_args()
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
