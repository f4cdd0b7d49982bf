"""CPU time of new processes, in turns: `import suffice`, and loading a model to predict one row,
beside `import sklearn`.

    python benchmarks/imports.py [--repeat 9]

Aims: the import takes at most 1.2 times scikit-learn's, and a prediction at most 0.3 CPU s more than it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import suffice
from suffice.cluster import KMeans
from suffice.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB

MODELS = (
    KMeans(3, random_state=0),
    GaussianNB(),
    LogisticRegression(),
    GaussianMixture(2, random_state=0),
    RandomForestClassifier(10, random_state=0),
    HistGradientBoostingClassifier(max_iter=10, random_state=0),
)


def cpu_seconds(code: str) -> float:
    """CPU time of a new process that runs the code."""
    process = subprocess.Popen([sys.executable, "-c", code])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, code)
    return usage.ru_utime + usage.ru_stime


def processes(folder: Path) -> dict[str, str]:
    """The code of each process, by its name in the table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] > 0).astype(np.int64)
    codes = {"import sklearn": "import sklearn", "import suffice": "import suffice"}
    for model in MODELS:
        name = type(model).__name__
        suffice.save(model.fit(X, y), folder / name)
        codes[f"load {name}, predict"] = (
            f"import numpy as np, suffice; suffice.load({str(folder / name)!r}).predict(np.zeros((1, 5)))"
        )
    return codes


def table(repeat: int = 9) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        codes = processes(Path(folder))
        turns = np.array([[cpu_seconds(code) for code in codes.values()] for _ in range(repeat + 1)])[1:]
    seconds = np.median(turns, axis=0)
    lines = ["| process | CPU s | beside scikit-learn's import, s |", "|---|---|---|"]
    for name, taken in zip(codes, seconds, strict=True):
        lines.append(f"| {name} | {taken:.2f} | {taken - seconds[0]:+.2f} |")
    print("\n".join(lines), flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=9)
    table(parser.parse_args().repeat)
