"""The story of a practitioner: a table of mixed columns on S3, from files to predictions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "practitioner.py"


@pytest.mark.parametrize("rows", [60_000, pytest.param(4_000_000, marks=pytest.mark.slow)])
def test_from_s3_to_predictions(rows):
    """Fitted, scored, cross-validated and predicted, with the bits of local files, in little memory."""
    run = subprocess.run(
        [sys.executable, SCRIPT, "--rows", str(rows)], capture_output=True, text=True, timeout=500
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "the same bits"
    assert float(re.search(r"growth (\d+) MB", run.stdout)[1]) < 1000.0
    assert all(float(value) > 0.75 for value in re.findall(r"accuracy ([\d.]+)", run.stdout))
