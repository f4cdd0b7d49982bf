"""The fast forms of `suffice.loops.fast_math` beside the plain ones.

First the functions by themselves, in turns in one process. Then fits of latent Dirichlet allocation: two
processes, one of them with SUFFICE_PLAIN_MATH=1, take turns. The ratio is that of the medians. Fast forms
that do not make a fit with 100 topics 1.15 times as fast are not worth their risk.

    python benchmarks/fast_math.py
    python benchmarks/fast_math.py --functions   # without the fits
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

TURNS = 9


def in_turns(runs: dict[str, Callable[[], float]], turns: int = TURNS) -> dict[str, float]:
    """The median of the seconds that each run returns, by name."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(turns):
        for name in runs if turn % 2 else reversed(runs):
            seconds[name].append(runs[name]())
    return {name: median(taken) for name, taken in seconds.items()}


def show(name: str, seconds: dict[str, float]) -> None:
    fast, plain = seconds["fast"], seconds["plain"]
    print(f"{name:34s} fast {fast:8.4f} s   plain {plain:8.4f} s   ratio {plain / fast:.2f}", flush=True)


# --- functions ---------------------------------------------------------------------------------------------


def functions() -> None:
    from suffice.loops import fast_math
    from suffice.loops.compiled import compiled

    jit = compiled(fastmath={"contract", "reassoc"})

    def repeated(f):
        @jit
        def loop(n, *arguments):
            for _ in range(n):
                f(*arguments)

        return loop

    def called(f):
        """As a function of its own: what is inlined takes no *arguments."""

        @jit
        def call(n_dk, document, old, prior, q, p, by_column, by_section):
            f(n_dk, document, old, prior, q, p, by_column, by_section)

        return call

    K = 96
    rng = np.random.default_rng(0)
    x = rng.gamma(0.5, size=K) + 0.01
    counts, q, prior = rng.integers(0, 9, K).astype(np.uint16), *rng.random((2, K)).astype(np.float32)
    by_column, by_section, p = (np.zeros(n, np.float32) for n in (16, 16, K))
    cases = {
        "exp_digamma": (20_000, x, 0.0, *np.empty((2, K))),
        "gammas": (20_000, x, *np.empty((5, K))),
        "products": (200_000, counts, np.uint64(0), np.uint64(7), prior, q, p, by_column, by_section),
    }
    for name, arguments in cases.items():
        forms = {kind: getattr(fast_math, f"{kind}_{name}") for kind in ("fast", "plain")}
        loops = {kind: repeated(called(f) if name == "products" else f) for kind, f in forms.items()}
        for loop in loops.values():
            loop(1, *arguments[1:])  # which compiles
        runs = {kind: partial(clocked, loop, *arguments) for kind, loop in loops.items()}
        show(f"{name}, {K} topics", in_turns(runs))


def clocked(f: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    f(*arguments)
    return time.perf_counter() - start


# --- fits --------------------------------------------------------------------------------------------------

FITS = {"variational": {"max_iter": 8}, "gibbs": {"max_iter": 10}}
TOPICS = (20, 100)


def serve() -> None:
    """Fit when a line asks for it, and answer with the seconds."""
    from suffice.topics import LatentDirichletAllocation

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.03, 2.0, size=(2000, 1500)))
    for line in sys.stdin:
        solver, K = line.split()
        model = LatentDirichletAllocation(int(K), solver=solver, random_state=0, **FITS[solver])
        print(clocked(model.fit, X), flush=True)


def fits() -> None:
    sides = {
        kind: subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"SUFFICE_PLAIN_MATH": value},
        )
        for kind, value in (("fast", "0"), ("plain", "1"))
    }

    def ask(kind: str, question: str) -> float:
        to, back = sides[kind].stdin, sides[kind].stdout
        assert to is not None
        assert back is not None
        to.write(question + "\n")
        to.flush()
        return float(back.readline())

    for solver in FITS:
        for K in TOPICS:
            question = f"{solver} {K}"
            for kind in sides:
                ask(kind, question)  # which compiles
            runs = {kind: partial(ask, kind, question) for kind in sides}
            show(f"fit, solver={solver!r}, {K} topics", in_turns(runs, 5))
    for side in sides.values():
        side.communicate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
    else:
        functions()
        if not options.functions:
            fits()
