"""Soak test: fits on Ray whose workers are killed must give the same bits and use constant memory.

A thread kills one worker process after another with SIGKILL, at random times; only descendants of this
process are killed. The exit code is nonzero if a fit fails or gives other bits, if no worker was killed, or
if the memory of this process grows by more than ALLOWED from the first third of the time to the last.

    python benchmarks/soak.py --minutes 15
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import ray

import suffice
from suffice.cluster import KMeans
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.sequence import HiddenMarkovModel

K, D, BLOCKS = 4, 8, 16
ALLOWED = 1.1  # of the first third
# Minimum and maximum time between kills, and minimum age of a killed worker, as multiples of the time of an
# undisturbed fit. A slow machine takes longer to start a worker, and if workers were killed before they did
# anything, a task would use up its retries.
PAUSE, YOUNG = (0.5, 3.0), 1.5


def dataset(rows: int) -> Any:
    rng = np.random.default_rng(0)
    center = 3.0 * rng.normal(size=(K, D))
    tables = []
    for block in range(BLOCKS):
        group = rng.integers(0, K, rows)
        X = center[group] + rng.normal(size=(rows, D))
        ids = block * rows + np.arange(rows) // 100
        tables.append(pa.table({f"x{d}": X[:, d] for d in range(D)} | {"y": group % 2, "id": ids}))
    return ray.data.from_arrow(tables)


def fits(rows: int) -> dict[str, Callable[[], bytes]]:
    """Fits by name. Each opens the data again and returns the bits of the fitted parameters."""
    data, names = dataset(rows), [f"x{d}" for d in range(D)]
    features = suffice.rows(data, features=names)
    labelled = suffice.rows(data, features=names, target="y")
    sequences = suffice.sequences(data, sequence="id", features=names)
    how: Any = {"max_iter": 8, "tol": 0.0, "random_state": 0}
    return {
        "k-means": lambda: KMeans(K, **how).fit(features).cluster_centers_.tobytes(),
        "Gaussian mixture": lambda: GaussianMixture(K, **how).fit(features).covariances_.tobytes(),
        "logistic regression": lambda: LogisticRegression(**how).fit(labelled).coef_.tobytes(),
        "hidden Markov model": lambda: HiddenMarkovModel(K, **how).fit(sequences).transmat_.tobytes(),
    }


class Killer(threading.Thread):
    """Kills one Ray worker of this process after another until told to stop."""

    def __init__(self, seed: int, seconds: float, a_fit: float) -> None:
        super().__init__(daemon=True)
        self.until, self.a_fit = time.perf_counter() + seconds, a_fit
        self.random, self.done = np.random.default_rng(seed), threading.Event()
        self.killed = self.busy = 0

    def run(self) -> None:
        while not self.done.wait(self._pause()) and time.perf_counter() < self.until:
            found = sorted(workers(YOUNG * self.a_fit))
            # Mostly a busy worker, sometimes an idle one.
            at_work = [pid for pid, name in found if "IDLE" not in name]
            among = at_work if at_work and self.random.random() < 0.8 else [pid for pid, _ in found]
            if not among:
                continue
            pid = int(self.random.choice(among))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.killed += 1
                self.busy += pid in at_work

    def _pause(self) -> float:
        return self.a_fit * self.random.uniform(*PAUSE)


def workers(young: float) -> Iterator[tuple[int, str]]:
    """Ray workers of this process older than the minimum age: descendants whose process titles Ray sets.

    Agents have such titles too, but a node ends with its agents, so they are not returned.
    """
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            title = (child.cmdline() or [""])[0]
            old = time.time() - child.create_time() > young
            if title.startswith("ray::") and "Agent" not in title and old:
                yield child.pid, title


def memory() -> float:
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6


def soak(minutes: float, rows: int, seed: int) -> tuple[list[str], bool]:
    warnings.simplefilter("ignore")  # fits of a few iterations do not converge
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    jobs = fits(rows)
    first = {name: job() for name, job in jobs.items()}  # without kills: the expected bits
    start = time.perf_counter()
    for job in jobs.values():
        job()
    a_fit = (time.perf_counter() - start) / len(jobs)
    seen, wrong, count = [(0.0, memory())], [], 0
    free = ray.available_resources().get("object_store_memory", 0.0)
    killer = Killer(seed, 60.0 * minutes, a_fit)
    killer.start()
    start = time.perf_counter()
    for name, job in cycle(jobs.items()):
        if (now := time.perf_counter() - start) > 60.0 * minutes:
            break
        try:
            if job() != first[name]:
                wrong.append(f"after {now:.0f} s, {name} gave other bits")
        except Exception as error:
            wrong.append(f"after {now:.0f} s, {name} raised {type(error).__name__}: {error}")
        count += 1
        seen.append((time.perf_counter() - start, memory()))
    killer.done.set()
    killer.join()
    gc.collect()
    time.sleep(3.0)
    taken = (free - ray.available_resources().get("object_store_memory", 0.0)) / 1e6
    ray.shutdown()
    times, sizes = np.array(seen).T
    thirds = [sizes[(times >= a * times[-1] / 3) & (times <= (a + 1) * times[-1] / 3)] for a in range(3)]
    early, late = (float(np.median(part)) if len(part) else np.nan for part in (thirds[0], thirds[2]))
    flat = late <= ALLOWED * early
    lines = [
        f"{times[-1] / 60:.1f} minutes of fits of {', '.join(jobs)}; {BLOCKS} blocks of {rows:,} x {D}.",
        "",
        "| fits | workers killed | of them at work | fits with other bits, or none "
        "| memory in the first third, MB | in the last third, MB | object store grew by, MB |",
        "|---|---|---|---|---|---|---|",
        f"| {count} | {killer.killed} | {killer.busy} | {len(wrong)} "
        f"| {early:.0f} | {late:.0f} | {taken:.0f} |",
    ]
    print("\n".join([*lines, *wrong]), flush=True)
    return lines, not wrong and flat and killer.killed > 0


def table(minutes: float = 15.0) -> list[str]:
    lines, well = soak(minutes, rows=20_000, seed=0)
    if not well:
        raise SystemExit("The soak found a fault: see the lines above.")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--rows", type=int, default=20_000, help="rows in a block")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.exit(0 if soak(given.minutes, given.rows, given.seed)[1] else 1)
