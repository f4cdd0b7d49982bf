"""The first fit in a new process less the second, in CPU seconds: what a user waits for once.

    python benchmarks/first_fits.py                          # all estimators, on 1,000 rows
    python benchmarks/first_fits.py KMeans SVC --rows 200000
    python benchmarks/first_fits.py --beside-scikit-learn    # imports and the first fit of both

Medians of three processes. What the first fit takes more is imports of SciPy and scikit-learn, and memory
that the process gets for the first time.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT, TURNS = Path(__file__).parents[1], 3


def measured(path: str) -> None:
    """Print the CPU seconds of the imports, the first fit and the second of what is stored in a file."""
    warnings.simplefilter("ignore")
    where, name, params, X, y = pickle.loads(Path(path).read_bytes())
    seconds = [time.process_time()]
    estimator = getattr(import_module(where), name)(**params)
    for _ in range(2):
        seconds.append(time.process_time())
        estimator.fit(X, y)
    print(json.dumps(np.diff([*seconds, time.process_time()]).tolist()))


def fits(where: str, name: str, params: Any, X: Any, y: Any) -> Any:
    """Medians of the CPU seconds of the imports, the first fit and the second, in new processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.pickle"
        path.write_bytes(pickle.dumps((where, name, params, X, y)))
        command = [sys.executable, __file__, "--measure", str(path)]
        found = [
            json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            for _ in range(TURNS)
        ]
    return np.median(found, axis=0)


def table(names: list[str], rows: int) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.laws.registry import VARIANTS

    print("| estimator | import, CPU s | first fit | second fit | first less second |")
    print("|---|---|---|---|---|")
    for variant in VARIANTS:
        if variant.name in names if names else "(" not in variant.name:
            X, y = variant.data(rows // 3 if variant.takes == "sequences" else rows)  # of three steps each
            cls, params = type(variant.estimator), variant.estimator.get_params(deep=False)
            imports, first, second = fits(cls.__module__, cls.__name__, params, X, y)
            line = f"| {variant.name} | {imports:.2f} | {first:.2f} | {second:.2f} | {first - second:.2f} |"
            print(line, flush=True)


def beside_scikit_learn(names: list[str], rows: int) -> None:
    from everyday import OPTIONS, data, shared_classes

    print("| estimator | suffice, CPU s | scikit-learn | ratio |")
    print("|---|---|---|---|")
    for path, (ours, theirs) in sorted(shared_classes().items()):
        name = path.rpartition(".")[2]
        if name in names if names else hasattr(ours, "fit"):
            X, y = data(name, ours, "dense", rows)
            a, b = (
                sum(fits(cls.__module__.rpartition(".")[0], name, OPTIONS.get(name, {}), X, y)[:2])
                for cls in (ours, theirs)
            )
            print(f"| {name} | {a:.2f} | {b:.2f} | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--beside-scikit-learn", action="store_true")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measured(given.measure)
    elif given.beside_scikit_learn:
        beside_scikit_learn(given.names, given.rows)
    else:
        table(given.names, given.rows)
