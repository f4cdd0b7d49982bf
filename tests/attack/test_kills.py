"""kill -9 of the fitting process at random times, on each engine: run again, it ends with the same bits."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from suffice.core.storage import load_value

from ..engines.test_faults import started

KILLS = 3
ENGINES = ["local", "parquet", "ray", "dask", "spark"]
NAMES = ["KMeans", "GaussianMixture", "LogisticRegression"]
# The driver writes the checkpoint, wherever the sums are: each engine has one fit, and the local one has all.
TRIALS = [*(("local", name) for name in NAMES), *zip(ENGINES[1:], [*NAMES, NAMES[0]], strict=True)]


@pytest.mark.slow
@pytest.mark.timeout(1800, method="thread")
@pytest.mark.parametrize(("engine", "name"), TRIALS)
def test_killed_at_random_times(engine: str, name: str, tmp_path: Path) -> None:
    reference, checkpoint, result = (tmp_path / part for part in ("reference", "fit.checkpoint", "result"))
    begin = time.monotonic()
    with started("_fit.py", name, engine, tmp_path / "other.checkpoint", reference) as process:
        assert process.wait(600) == 0
    seconds = time.monotonic() - begin
    rng = np.random.default_rng([ENGINES.index(engine), len(name)])
    for _ in range(KILLS):
        with started("_fit.py", name, engine, checkpoint, result) as process:
            time.sleep(rng.uniform(0.0, seconds))
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                assert process.wait(30) == -signal.SIGKILL
        if result.exists():
            break  # it was faster this time
        if checkpoint.exists():
            load_value(checkpoint)  # which is whole, whenever it was killed
    if not result.exists():
        with started("_fit.py", name, engine, checkpoint, result) as process:
            assert process.wait(600) == 0
    assert result.read_text().split("\n", 1)[1] == reference.read_text().split("\n", 1)[1]
    assert not checkpoint.exists(), "a fit that has ended leaves no checkpoint"
