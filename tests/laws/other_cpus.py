"""Which fits have the same bits on every type of CPU.

    python -m tests.laws.other_cpus      # writes docs/concepts/guarantees_cpus.md

The loops of this package do, at every level of instructions. BLAS and NumPy choose other kernels on other
CPUs: here both are told to take those of an old one.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .same_bits import data_of_variants, differences, of_arrays

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "concepts" / "guarantees_cpus.md"


def hashes_with(**environment: str) -> dict[str, Any]:
    """Hashes of the fits of all variants to arrays, in a process with these environment variables.

    The data are made in this process: their bits depend on the CPU too.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, hashes = Path(folder) / "data.pickle", Path(folder) / "hashes.json"
        data.write_bytes(pickle.dumps(data_of_variants()))
        command = [sys.executable, "-m", "tests.laws.other_cpus", str(data), str(hashes)]
        subprocess.run(command, check=True, cwd=ROOT, env=os.environ | environment)
        return json.loads(hashes.read_text())


def old_cpu() -> dict[str, str]:
    """Of OpenBLAS the kernels of 2008, and of NumPy those that every CPU has."""
    features = np._core._multiarray_umath.__cpu_dispatch__
    return {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": ",".join(features)}


def page() -> str:
    """The estimators by whether BLAS or NumPy decide bits of them."""
    here = hashes_with()
    changed = differences(here, hashes_with(**old_cpu()))
    names: dict[str, list[str]] = {}
    for variant in here:
        name = variant.removeprefix("arrays ").split("(")[0]
        names.setdefault(name, []).append(variant)
    same = [name for name, variants in names.items() if not any(v in changed for v in variants)]
    every = [name for name, variants in names.items() if all(v in changed for v in variants)]
    some = [name for name in names if name not in same and name not in every]

    def listed(which: list[str]) -> str:
        return ", ".join(f"`{name}`" for name in sorted(which)) + "."

    return "\n\n".join(
        [
            f"{len(here) - len(changed)} of {len(here)} estimators and options have the same bits with both.",
            f"**The same, with all options**: {listed(same)}",
            f"**With some options**: {listed(some)}",
            f"**BLAS or NumPy decide the last digits**: {listed(every)}",
        ]
    )


if __name__ == "__main__":
    if given := [Path(name) for name in sys.argv[1:]]:
        warnings.simplefilter("ignore")
        given[1].write_text(json.dumps(of_arrays(pickle.loads(given[0].read_bytes()))))
        sys.exit()
    PAGE.write_text(page() + "\n")
