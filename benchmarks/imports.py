"""Compare the time of `import suffice` with that of `import sklearn`, in new processes, alternating.

python benchmarks/imports.py
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np


def seconds(module: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return time.perf_counter() - start


def table(repeat: int = 9) -> list[str]:
    times = np.array([(seconds("suffice"), seconds("sklearn")) for _ in range(repeat + 1)])[1:]
    ours, theirs = np.median(times, axis=0)
    lines = [
        "| process that only imports | s | ratio | aim |",
        "|---|---|---|---|",
        f"| sklearn | {theirs:.2f} | 1 | |",
        f"| suffice | {ours:.2f} | {ours / theirs:.2f} | at most 1.2 |",
    ]
    print("\n".join(lines), flush=True)
    return lines


if __name__ == "__main__":
    table()
