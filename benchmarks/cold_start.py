"""The first fit in a new process, without a cache of machine code: CPU seconds for each estimator.

    python benchmarks/cold_start.py                            # all estimators, on 1,000 rows
    python benchmarks/cold_start.py GaussianMixture KMeans --loops
    python benchmarks/cold_start.py --tree ../before           # with the sources of another checkout
    python benchmarks/cold_start.py --sizes                    # NumPy beside compiled loops, by size

CPU seconds depend on the machine and its load. Beside them is a ratio with the time that Numba takes, in the
same process, for the first function of three lines: about 0.75 s on an idle core of the machine where the
aim of 1.5 s was set, so that the aim is a ratio of 2. The imports of the estimator are not counted; that of
Numba is, where the fit needs it.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ROWS, AIM = 1000, 2.0


def compile_something() -> float:
    """CPU seconds of Numba's first compilation."""
    import numba
    import numpy as np

    def total(x: Any) -> float:
        s = 0.0
        for i in range(len(x)):
            s += x[i]
        return s

    start = time.process_time()
    numba.njit(nogil=True, error_model="numpy")(total)(np.ones(3))
    return time.process_time() - start


def measured(path: str) -> None:
    """Fit what is stored in a file, and print the seconds and what was compiled."""
    warnings.simplefilter("ignore")
    estimator, X, y = pickle.loads(Path(path).read_bytes())
    start = time.process_time()
    estimator.fit(X, y)
    seconds = time.process_time() - start
    module, loops = sys.modules.get("suffice.loops"), []
    for name, part in vars(module).items() if module else ():
        for loop, f in vars(part).items() if name[0] != "_" else ():
            if hasattr(f, "py_func") and f.signatures and f.py_func.__module__ == part.__name__:
                loops.append(f"{name}.{loop}" + (f" x{len(f.signatures)}" if len(f.signatures) > 1 else ""))
    numba = "numba" in sys.modules
    print(json.dumps([seconds, compile_something() if not loops else None, numba, loops]))


def first_fit(estimator: Any, X: Any, y: Any, tree: Path = ROOT) -> tuple[float, bool, list[str], float]:
    """CPU seconds of a fit in a new process, whether it imported Numba, the loops that it compiled, and the
    ratio of the seconds with those of a trivial compilation."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.pickle"
        path.write_bytes(pickle.dumps((estimator, X, y)))
        environment = os.environ | {
            "PYTHONPATH": str(tree.resolve() / "src"),
            "NUMBA_CACHE_DIR": str(Path(folder) / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

        def run(*arguments: str) -> Any:
            command = [sys.executable, __file__, *arguments]
            out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
            return json.loads(out.stdout.splitlines()[-1])

        seconds, unit, numba, loops = run("--measure", str(path))
        return seconds, numba, loops, seconds / (unit or run("--calibrate"))


def table(names: list[str], tree: Path, show_loops: bool) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.laws.registry import VARIANTS

    print("| estimator | CPU s | ratio, at most 2 | compiles |")
    print("|---|---|---|---|")
    for variant in VARIANTS:
        if variant.name in names if names else "(" not in variant.name:
            X, y = variant.data(ROWS // 3 if variant.takes == "sequences" else ROWS)  # of three steps each
            seconds, numba, loops, ratio = first_fit(variant.make(), X, y, tree)
            made = ", ".join(loops) if show_loops else f"{len(loops)} loops" if loops else "Numba" * numba
            print(f"| {variant.name} | {seconds:.2f} | {ratio:.2f} | {made} |", flush=True)


def sizes() -> None:
    """Milliseconds of fits by size of the data, with NumPy and with loops that are compiled already."""
    import numpy as np

    from suffice.cluster import KMeans
    from suffice.core import small
    from suffice.linear_model import LogisticRegression
    from suffice.mixture import GaussianMixture
    from suffice.sequence import HiddenMarkovModel

    warnings.simplefilter("ignore")
    fits = {
        "KMeans(8), 10 iterations": lambda X: KMeans(8, max_iter=10, n_init=1, random_state=0).fit(X),
        "GaussianMixture(3), 10 iterations": lambda X: GaussianMixture(3, max_iter=10, random_state=0).fit(X),
        "LogisticRegression": lambda X: LogisticRegression().fit(X, X[:, 0] > 0),
        "HiddenMarkovModel(3), 10 iterations": lambda X: HiddenMarkovModel(
            3, max_iter=10, random_state=0
        ).fit(X),
    }
    print("| fit | KiB | NumPy, ms | compiled, ms | ratio |")
    print("|---|---|---|---|---|")
    for name, fit in fits.items():
        for rows in (100, 800, 3200, 12800):
            X = np.random.default_rng(0).normal(size=(rows, 10))
            ms = []
            for limit in (np.inf, -1.0):
                small.SMALL_BYTES = limit  # type: ignore[assignment]
                fit(X)
                start = time.process_time()
                fit(X)
                ms.append(1000.0 * (time.process_time() - start))
            numpy, compiled = ms
            print(f"| {name} | {X.nbytes >> 10} | {numpy:.0f} | {compiled:.0f} | {numpy / compiled:.1f} |")


if __name__ == "__main__":
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--tree", type=Path, default=ROOT)
    parser.add_argument("--loops", action="store_true", help="name the loops that are compiled")
    parser.add_argument("--sizes", action="store_true", help="compare the forms of loops by size")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--calibrate", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measured(arguments.measure)
    elif arguments.calibrate:
        print(compile_something())
    elif arguments.sizes:
        sizes()
    else:
        table(arguments.names, arguments.tree, arguments.loops)
