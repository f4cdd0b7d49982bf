"""All benchmarks: prints the tables of ratios and writes them into the documentation.

python benchmarks/run.py            # a quarter of an hour; --quick for a look
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

import imports
import numba
import numpy as np
import out_of_core
import ray_overhead
import sklearn
import speed

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "benchmarks_table.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data, and nothing is written")
    parser.add_argument("--rows", type=int, default=50_000_000, help="rows out of core")
    quick, rows = vars(parser.parse_args()).values()
    versions = f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}, Numba {numba.__version__}"
    parts = {
        "Beside scikit-learn": speed.table(100_000 if quick else 1_000_000, 3 if quick else 7),
        "Out of core": out_of_core.table(500_000 if quick else rows),
        "On Ray": ray_overhead.table(8192 if quick else 65536),
        "Import": imports.table(3 if quick else 9),
    }
    lines = [f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}."]
    for title, part in parts.items():
        lines += ["", f"## {title}", "", *part]
    if not quick:
        PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
