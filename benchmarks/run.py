"""Run all benchmarks, print the tables of ratios and write them into the documentation.

python benchmarks/run.py                     # two hours; --quick for a look
python benchmarks/run.py "On Ray" Import     # only these tables; the others on the page stay
"""

from __future__ import annotations

import argparse
import os
import platform
import re
from collections.abc import Callable
from pathlib import Path

import at_size
import cost
import crf
import dask_overhead
import factors
import hidden_markov
import imports
import lda
import logistic
import maximum_entropy
import numpy as np
import out_of_core
import pagerank
import paths
import ray_overhead
import scaling
import sequences_out_of_core
import sklearn
import soak
import spark_overhead
import speed

import additive
import naive_bayes

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "benchmarks_table.md"


def parts(quick: bool) -> dict[str, Callable[[], list[str]]]:
    """The tables, by title."""
    return {
        "Beside scikit-learn": lambda: speed.table(100_000 if quick else 1_000_000, 3 if quick else 7),
        "Paths": lambda: paths.table(50_000 if quick else 1_000_000),
        "Additive models": lambda: additive.table(*(50_000, (10_000,)) if quick else (1_000_000,)),
        "Naive Bayes": lambda: naive_bayes.table(*(100_000, 20_000, 1) if quick else (1_000_000, 200_000, 3)),
        "Logistic regression": lambda: logistic.table(*(50_000, 10_000) if quick else (1_000_000, 200_000)),
        "Maximum entropy": lambda: maximum_entropy.table(*(1000, 5, 1) if quick else (5000, 10, 3)),
        "Hidden Markov models": lambda: hidden_markov.table(1 if quick else 3),
        "Conditional random fields": lambda: crf.table(["small"] if quick else list(crf.CASES)),
        "Matrix factors": lambda: factors.table(*(0.1, 1, 20_000) if quick else (1.0, 3, 1_000_000)),
        "Topic models": lambda: lda.table(quick),
        "Out of core": lambda: out_of_core.table(500_000 if quick else 50_000_000),
        "Sequences out of core": lambda: sequences_out_of_core.table(200_000 if quick else 10_000_000),
        "At size": lambda: at_size.table(*(500_000, 100_000) if quick else (10**8, 10**7)),
        "PageRank": lambda: pagerank.table(*(1_000_000, 1, 0) if quick else (20_000_000, 3, 10**8)),
        "On Ray": lambda: ray_overhead.table(8192 if quick else 65536),
        "On Spark": lambda: spark_overhead.table(8192 if quick else 131072, 5 if quick else 15),
        "On Dask": lambda: dask_overhead.table((8192, 256) if quick else (65536, 256), 7 if quick else 31),
        "Scaling": lambda: scaling.table(*(80_000, 3, 1) if quick else (400_000, 9, 3)),
        "Soak": lambda: soak.table(0.5 if quick else 15.0),
        "Cost": lambda: cost.table(*(50_000, 3, False) if quick else (200_000, 7, True)),
        "Import": lambda: imports.table(3 if quick else 9),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("titles", nargs="*", help="which tables; all if none is named")
    parser.add_argument("--quick", action="store_true", help="small data, and nothing is written")
    given = parser.parse_args()
    known = parts(given.quick)
    if strange := [title for title in given.titles if title not in known]:
        parser.error(f"there is no table {strange}; there are {list(known)}")
    # Spark workers import the functions of these files by name.
    before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *before])
    for title in given.titles or known:
        lines = known[title]()
        if not given.quick:
            write(title, lines)


def write(title: str, lines: list[str]) -> None:
    """Replace a table on the page; the others stay."""
    versions = f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}"
    head = f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}."
    found = re.split(r"^## (.*)$", PAGE.read_text(), flags=re.M)
    tables = dict(zip(found[1::2], (part.strip() for part in found[2::2]), strict=True))
    tables[title] = "\n".join(lines)
    page = [head]
    for name in parts(quick=False):
        if name in tables:
            page += ["", f"## {name}", "", tables[name]]
    PAGE.write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main()
