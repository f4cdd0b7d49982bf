"""Faults on Spark: a worker or an executor that is killed, a worker that hangs; the bits are the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from suffice.families import FullGaussian, Mixture

from ._common import FEATURES, bits, tables
from .test_faults import started
from .test_spark import engine, local, opened, summed

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
]
engine.cloudpickle.register_pickle_by_value(sys.modules[__name__])


def test_a_worker_is_killed_in_a_fold(spark, tmp_path):
    marker = tmp_path / "killed"

    def summarize(model, marker, rows):
        """The E step; the first time it comes to block 2 it kills its process."""
        if rows.index[0] == 2 and len(rows) and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return model.summarize(rows)

    mixture = Mixture(np.array([0.4, 0.6]), FullGaussian.start(2, 3))
    mixture = mixture.replace(component=mixture.component.replace(mean=np.eye(3)[:2]))
    data = opened(spark, tables()[:5], features=FEATURES)
    got = data.fold(summarize, mixture, marker)
    assert marker.exists()
    assert bits(got) == bits(local(tables()[:5]).fold(Mixture.summarize, mixture))


def test_a_worker_that_hangs_is_killed(spark, tmp_path):
    """By Spark's own settings, of the session: those that the guide names."""

    def hangs(marker, rows):
        if rows.index[0] == 1 and len(rows) and not marker.exists():
            marker.touch()
            time.sleep(600)
        return summed(rows)

    data = opened(spark, tables()[:3], features=FEATURES)
    expected = bits(data.fold(summed))
    given = {
        "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": "8",
        "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
    }
    for key, value in given.items():
        spark.conf.set(key, value)
    try:
        start = time.monotonic()
        assert bits(data.fold(hangs, tmp_path / "hung")) == expected
        assert (tmp_path / "hung").exists() and time.monotonic() - start < 120
    finally:
        for key in given:
            spark.conf.unset(key)


@pytest.mark.slow
def test_executors_are_killed_between_and_inside_folds(tmp_path):
    with started("_lose_executors.py", tmp_path, stdout=subprocess.PIPE) as process:
        out, _ = process.communicate(timeout=280)
    assert process.returncode == 0
    found = json.loads([line for line in out.decode().splitlines() if line.startswith("{")][-1])
    opened, between, inside = found["made"]
    assert opened == 6 < between < inside, "no block was made again"
    assert found["same"]


@pytest.mark.slow
def test_workers_without_the_package_are_explained_in_one_line(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    script = Path(__file__).with_name("_without_package.py")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, script, tmp_path / "empty" / "bin" / "python"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    assert line.startswith("The Python of the Spark workers has no package 'suffice': install it there")
    assert "PYSPARK_PYTHON" in line
