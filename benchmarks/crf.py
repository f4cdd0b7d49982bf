"""Compare conditional random fields with CRFsuite: time to the same objective, and peak memory.

Each library runs in a separate process, alternating. CRFsuite's time is that of its iterations alone; ours is
that of `fit`. Memory is the growth of the peak over the memory of the process with the data loaded as arrays,
after a first fit of a few sequences, whose time is reported separately.

    python benchmarks/crf.py [small labels chunking]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

# name: sequences, mean steps, labels, attributes, attributes a step, iterations of CRFsuite
CASES: dict[str, tuple[Any, ...]] = {
    "small": (2000, 25, 9, 17_700, 10, 60),
    "labels": (2000, 25, 45, 17_700, 10, 20),
    "chunking": (8936, 23.7, 22, 338_574, 19, 15),  # the shape of CoNLL-2000
}
C2 = 1.0


def data(name: str) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Labels from a Markov chain; a step has one attribute of each kind, some depend on its label."""
    S, T, K, D, A, *_ = CASES[name]
    rng = np.random.default_rng(0)
    lengths = np.full(S, T) if isinstance(T, int) else np.maximum(1, rng.poisson(T, S))
    offset = np.concatenate([[0], np.cumsum(lengths)])
    N = int(offset[-1])
    after = rng.dirichlet(np.full(K, 0.3), size=K).cumsum(axis=1)
    y, u, first = rng.integers(K, size=N), rng.random(N), np.isin(np.arange(N), offset)
    for n in np.flatnonzero(~first).tolist():
        y[n] = min(K - 1, np.searchsorted(after[y[n - 1]], u[n]))
    kinds = D // A
    rank = np.minimum((kinds * rng.random((N, A)) ** 3).astype(int), kinds - 1)
    shift = np.where(rng.random((N, A)) < 0.4, (y[:, None] * 7919) % kinds, 0)
    columns = ((rank + shift) % kinds + np.arange(A) * kinds).astype(np.int32)
    X = sp.csr_array((np.ones(N * A), columns.ravel(), np.arange(0, N * A + 1, A, dtype=np.int32)), (N, D))
    return X, y, offset


class Memory:
    """Growth of the peak memory of this process since the start, in megabytes; on Linux only."""

    def __init__(self) -> None:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self.before = self.read("VmRSS")

    def read(self, name: str) -> float:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))

    def peak(self) -> float:
        return self.read("VmHWM") - self.before


def crfsuite(name: str) -> dict[str, float]:
    import pycrfsuite

    X, y, offset = data(name)
    names, labels = [f"a{d}" for d in range(X.shape[1])], [str(k) for k in range(y.max() + 1)]
    memory = Memory()
    trainer = pycrfsuite.Trainer(verbose=False)
    for a, b in pairwise(offset):
        rows = [[names[d] for d in X.indices[X.indptr[n] : X.indptr[n + 1]]] for n in range(a, b)]
        trainer.append(rows, [labels[k] for k in y[a:b]])
    trainer.set_params(
        {
            "c2": C2,
            "max_iterations": CASES[name][5],
            "feature.possible_states": 1,
            "feature.possible_transitions": 1,
            "epsilon": 1e-9,
            "delta": 1e-9,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
    done = trainer.logparser.iterations
    return {
        "seconds": sum(i["time"] for i in done),
        "objective": done[-1]["loss"],
        "iterations": len(done),
        "memory": memory.peak(),
    }


def ours(name: str, target: float) -> dict[str, float]:
    from suffice.sequence import ConditionalRandomField

    warnings.simplefilter("ignore")
    X, y, offset = data(name)
    ids = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    crf, few = ConditionalRandomField(C=1 / (2 * C2), tol=0.0), int(offset[50])
    began = time.perf_counter()
    crf.set_params(max_iter=3).fit(X[:few], y[:few], groups=ids[:few])
    first = time.perf_counter() - began
    memory = Memory()
    crf.set_params(max_iter=2 * CASES[name][5]).fit(X, y, groups=ids)
    peak = memory.peak()
    reached = np.flatnonzero(crf.trace_ * len(y) <= target * (1 + 1e-6))
    n = int(reached[0]) + 1 if len(reached) else 0
    began = time.perf_counter()
    if n:
        crf.set_params(max_iter=n).fit(X, y, groups=ids)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds if n > 0 else np.nan,
        "objective": crf.trace_[-1] * len(y),
        "iterations": n,
        "memory": peak,
        "first": first,
    }


def alone(*arguments: Any) -> dict[str, float]:
    """Run in a separate process."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(names: list[str], repeats: int = 1) -> list[str]:
    lines = [
        "| case | CRFsuite, s | ours, s | ratio | CRFsuite, MB | ours, MB | share | first call, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        theirs, mine = [], []
        for _ in range(repeats):
            theirs.append(alone("crfsuite", name))
            mine.append(alone("ours", name, theirs[-1]["objective"]))
        seconds = [float(np.median([r["seconds"] for r in side])) for side in (theirs, mine)]
        peaks = [float(np.median([r["memory"] for r in side])) for side in (theirs, mine)]
        lines.append(
            f"| {name}, {theirs[0]['iterations']} and {mine[0]['iterations']} iterations "
            f"| {seconds[0]:.2f} | {seconds[1]:.2f} | {seconds[0] / seconds[1]:.1f} "
            f"| {peaks[0]:.0f} | {peaks[1]:.0f} | {peaks[1] / peaks[0]:.2f} | {mine[0]['first']:.1f} |"
        )
        print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        side, name, *rest = sys.argv[2:]
        print(json.dumps(crfsuite(name) if side == "crfsuite" else ours(name, float(rest[0]))))
    else:
        table(sys.argv[1:] or list(CASES))
