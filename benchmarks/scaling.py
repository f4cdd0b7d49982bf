"""Measure the speedup from one worker to two, for threads and for Ray, on compute-bound folds.

The baseline is the speedup of the machine itself: plain threads and plain processes that call the same
`summarize` on their own rows, and a hash without memory access. Two CPUs may be two threads of one
core, or share a cache, a clock and other tenants, so no engine can scale better than the baseline.

    python benchmarks/scaling.py
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
from overhead import timed

import suffice
from suffice.core.blas import one_blas_thread
from suffice.core.blocks import Rows, Sequences, cut
from suffice.engines.local import LocalPartitions
from suffice.families import DiagonalGaussian, FullGaussian, Mixture
from suffice.sequence import HiddenMarkov

K, D, STEPS = 8, 16, 500  # components or states, features, steps of a sequence
CASES = {"mixture": "Gaussian mixture, full, 16 features", "hmm": "hidden Markov model, 8 states"}
AIMS = {"threads": "1.8", "Ray": "1.7"}


def model_of(case: str) -> Any:
    center = 3.0 * np.random.default_rng(1).normal(size=(K, D))
    if case == "mixture":
        return Mixture(np.full(K, 1.0 / K), FullGaussian(center, np.tile(np.eye(D), (K, 1, 1))))
    return HiddenMarkov(
        np.full(K, 1.0 / K), 0.9 * np.eye(K) + 0.1 / K, DiagonalGaussian(center[:, :4], np.ones((K, 4)))
    )


def block_of(case: str, rows: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    center = 3.0 * np.random.default_rng(1).normal(size=(K, D))
    X = center[rng.integers(0, K, rows)] + rng.normal(size=(rows, D))
    if case == "mixture":
        return Rows(X)
    return Sequences(np.ascontiguousarray(X[:, :4]), np.append(np.arange(0, rows, STEPS), rows))


def spin(n: int) -> bytes:
    """Arithmetic in registers, without the GIL."""
    return hashlib.pbkdf2_hmac("sha256", b"password", b"salt", n)


def in_turns(one: Callable[[], Any], two: Callable[[], Any], repeat: int) -> list[tuple[float, float]]:
    one(), two()  # a first call, which starts threads or processes
    return [(timed(one), timed(two)) for _ in range(repeat)]


# --- ours -------------------------------------------------------------------------------------------------


def by_threads(case: str, rows: int, repeat: int) -> list[tuple[float, float]]:
    data, model = LocalPartitions(cut(block_of(case, rows))), model_of(case)

    def fold(n: int) -> None:
        with suffice.threads(n):
            data.fold(type(model).summarize, model)

    return in_turns(lambda: fold(1), lambda: fold(2), repeat)


def by_ray(rows: int, repeat: int, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Median times of folds on Ray with one CPU and with two, in separate processes, alternating."""
    found: dict[str, list[tuple[float, float]]] = {case: [] for case in CASES}
    for _ in range(rounds):
        one, two = (on_ray_alone(n, rows, repeat) for n in (1, 2))
        for case in CASES:
            found[case].append((one[case], two[case]))
    return found


def on_ray_alone(cpus: int, rows: int, repeat: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--on-ray", str(cpus), "--rows", str(rows), "--repeat", str(repeat)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def on_ray(cpus: int, rows: int, repeat: int, blocks: int = 16) -> dict[str, float]:
    import ray

    from suffice.engines.ray import RayPartitions

    ray.init(num_cpus=cpus, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    found = {}
    for case in CASES:
        parts = [block_of(case, rows // blocks, seed).replace(index=(seed,)) for seed in range(blocks)]
        data, model = RayPartitions(tuple(ray.put((part,)) for part in parts)), model_of(case)
        for _ in range(2):
            data.fold(type(model).summarize, model)
        times = [timed(lambda: data.fold(type(model).summarize, model)) for _ in range(repeat)]  # noqa: B023
        found[case] = float(np.median(times))
    ray.shutdown()
    return found


# --- the machine ------------------------------------------------------------------------------------------

_mine = threading.local()  # the pieces of each worker


def work(case: str, rows: int, times: int) -> None:
    """A number of calls of `summarize` on pieces that fit the cache."""
    if getattr(_mine, "of", None) != (case, rows):
        _mine.of, _mine.pieces = (case, rows), list(block_of(case, rows).pieces(0))
    model = model_of(case)
    with one_blas_thread:
        for _ in range(times):
            for piece in _mine.pieces:
                model.summarize(piece)


def bare(pool: Executor, f: Callable[..., Any], *call: Any, times: int, repeat: int) -> Any:
    """Work by one worker of a pool, and by two at once."""

    def run(workers: int) -> None:
        for task in [pool.submit(f, *call, times // workers) for _ in range(workers)]:
            task.result()

    run(2), run(2)  # both workers have their data
    return in_turns(lambda: run(1), lambda: run(2), repeat)


# --- the table --------------------------------------------------------------------------------------------


def line(what: str, who: str, times: list[tuple[float, float]], beside: str = "") -> str:
    one, two = np.median(times, axis=0)
    ratios = np.array([a / b for a, b in times])
    text = (
        f"| {what} | {who} | {1e3 * one:.0f} | {1e3 * two:.0f} | {np.median(ratios):.2f} "
        f"| {ratios.min():.2f} to {ratios.max():.2f} | {beside} |"
    )
    print(text, flush=True)
    return text


def table(rows: int = 400_000, repeat: int = 9, rounds: int = 3) -> list[str]:
    lines = [
        f"A fold over {rows:,} rows or steps in memory, by one worker and by two, in turns.",
        "",
        "| what | workers | one, ms | two, ms | times as fast | spread | aim |",
        "|---|---|---|---|---|---|---|",
    ]
    spawn = multiprocessing.get_context("spawn")
    few = rows // 8
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, spawn) as processes:
        pools: dict[str, Executor] = {"plain threads": threads, "plain processes": processes}
        n = rows
        for who, pool in pools.items():
            found = bare(pool, spin, times=2 * n, repeat=repeat)
            lines.append(line("the machine: arithmetic in registers", who, found))
        for case, name in CASES.items():
            for who, pool in pools.items():
                found = bare(pool, work, case, few, times=8, repeat=repeat)
                lines.append(line(f"the machine: {name}", who, found))
    on_ray = by_ray(rows, repeat, rounds)
    for case, name in CASES.items():
        lines.append(line(name, "threads", by_threads(case, rows, repeat), AIMS["threads"]))
        lines.append(line(name, "Ray", on_ray[case], AIMS["Ray"]))
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=3, help="how often each Ray is started")
    parser.add_argument("--on-ray", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.on_ray:
        print(json.dumps(on_ray(given.on_ray, given.rows, given.repeat)))
    else:
        table(given.rows, given.repeat, given.rounds)
