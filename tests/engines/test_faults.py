"""Faults: what is killed in the middle, and goes on or is started again, ends with the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core import partitions
from suffice.core.storage import load_value
from suffice.engines.local import LocalPartitions
from suffice.families import FullGaussian, Mixture
from suffice.inputs import Check, source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.mixture import BayesianGaussianMixture

from ._common import FEATURES, bits, tables, write
from ._fit import ITERATIONS

HERE = Path(__file__).parent
pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(300, method="thread"),  # what a signal raises is lost inside ray.get
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
]
CHECK = Check("Test", sparse=False, nan=False, positive=False, strings=False, target=None)


def wait_to_be_killed(marker):
    """Say who one is, once."""
    part = marker.with_suffix(".part")
    part.write_text(str(os.getpid()))
    part.rename(marker)
    time.sleep(120)


@contextmanager
def killing(marker):
    """Kill the process that waits for it; the list that is returned then has its number."""
    killed = []

    def kill():
        while not marker.exists():
            time.sleep(0.01)
        killed.append(int(marker.read_text()))
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    yield killed
    thread.join(10)


class TestWorker:
    """`kill -9` of a Ray worker process in the middle of a fold."""

    def test_killed_in_a_fold(self, cluster, monkeypatch, tmp_path):
        import ray

        from suffice.engines import ray as engine

        monkeypatch.setattr(engine, "RUN", 4)
        marker = tmp_path / "pid"

        def summarize(model, marker, rows):
            """The E step; the first time it comes to block 6 it says who it is, and waits to be killed."""
            if rows.index[0] == 6 and len(rows) and not marker.exists():
                wait_to_be_killed(marker)
            return model.summarize(rows)

        mixture = Mixture(np.array([0.4, 0.6]), FullGaussian.start(2, 3))
        mixture = mixture.replace(component=mixture.component.replace(mean=np.eye(3)[:2]))
        columns = Columns(DenseColumns(tuple(FEATURES)))
        here = LocalPartitions(tuple(columns.block(CHECK, n, table) for n, table in enumerate(tables())))
        expected = here.fold(Mixture.summarize, mixture)

        data = source_of(ray.data.from_arrow(tables())).partitions(columns, CHECK)
        with killing(marker) as killed:
            got = data.fold(summarize, mixture, marker)
        assert killed and not psutil.pid_exists(killed[0])
        assert bits(got) == bits(expected)

    @pytest.mark.slow
    def test_killed_within_a_tree(self, cluster, monkeypatch, tmp_path):
        import ray

        from suffice.tree import DecisionTreeClassifier, growth

        def fitted(source):
            table = suffice.rows(source, features=FEATURES, target="label")
            return DecisionTreeClassifier(max_depth=5).fit(table).model_

        expected = bits(fitted(pa.concat_tables(tables())))
        monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 12)
        marker, histograms = tmp_path / "pid", growth.Histograms

        class Waiting:
            """Histograms, of which those of block 6 wait to be killed below the root."""

            @staticmethod
            def of(tree, nodes, classes, n_outputs, block):
                if len(tree.feature) > 1 and block.index[0] == 6 and len(block) and not marker.exists():
                    wait_to_be_killed(marker)
                return histograms.of(tree, nodes, classes, n_outputs, block)

        monkeypatch.setattr(growth, "Histograms", Waiting)
        with killing(marker) as killed:
            model = fitted(ray.data.from_arrow(tables()))
        assert killed and not psutil.pid_exists(killed[0])
        assert bits(model) == expected

    @pytest.mark.slow
    def test_killed_within_a_sweep(self, cluster, monkeypatch, tmp_path):
        """Labels are drawn from the seed, the sweep and the block: those of a lost worker are drawn again."""
        import ray

        from suffice.fitting import gibbs as sampler

        def fitted(source):
            model = BayesianGaussianMixture(n_components=4, solver="gibbs", max_iter=12, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return model.fit(suffice.rows(source, features=FEATURES, weight="whole"))

        expected = bits(fitted(suffice.scan_parquet(write(tmp_path, tables()))))
        marker, summarize_each = tmp_path / "pid", sampler.summarize_each

        def waiting(models, block):
            if models[0].sweep == 7 and block.index[0] == 6 and len(block) and not marker.exists():
                wait_to_be_killed(marker)
            return summarize_each(models, block)

        monkeypatch.setattr(sampler, "summarize_each", waiting)
        with killing(marker) as killed:
            model = fitted(ray.data.from_arrow(tables()))
        assert killed and not psutil.pid_exists(killed[0])
        assert bits(model) == expected


class TestNode:
    """Loss of nodes of a Ray of three: blocks are computed again from how they were made."""

    @pytest.mark.slow
    def test_lost_between_and_inside_folds(self, tmp_path):
        pytest.importorskip("ray")
        with started("_lose_nodes.py", tmp_path, stdout=subprocess.PIPE) as process:
            out, _ = process.communicate(timeout=240)
        assert process.returncode == 0
        found = json.loads([line for line in out.decode().splitlines() if line.startswith("{")][-1])
        assert found["between"] > 0, "the node that was lost between folds held no block"
        assert found["inside"] == 1
        assert found["made"] > 12, "no block was made again"
        assert found["same"]


class TestProcess:
    """`kill -9` of the fitting process itself; the same script again goes on from its checkpoint."""

    @pytest.mark.parametrize(
        ("name", "engine", "kills"),
        [
            ("KMeans", "local", 1),
            pytest.param("GaussianMixture", "local", 2, marks=pytest.mark.slow),
            pytest.param("LogisticRegression", "local", 1, marks=pytest.mark.slow),
            pytest.param("GaussianMixture", "ray", 1, marks=pytest.mark.slow),
            pytest.param("BayesianGaussianMixture", "parquet", 1, marks=pytest.mark.slow),
            pytest.param("FastICA", "parquet", 2, marks=pytest.mark.slow),
            pytest.param("Gibbs", "parquet", 2, marks=pytest.mark.slow),
            pytest.param("Gibbs", "ray", 1, marks=pytest.mark.slow),
        ],
    )
    def test_killed_and_started_again(self, name, engine, kills, tmp_path):
        if engine == "ray":
            pytest.importorskip("ray")
        reference = tmp_path / "reference"
        with started("_fit.py", name, engine, tmp_path / "other.checkpoint", reference) as process:
            assert process.wait(200) == 0
        n_saved, expected = reference.read_text().split("\n", 1)
        assert 8 < int(n_saved) <= ITERATIONS

        checkpoint, result = tmp_path / "fit.checkpoint", tmp_path / "result"
        done = 0
        for _ in range(kills):
            with started("_fit.py", name, engine, checkpoint, result) as process:
                kill_after(process, checkpoint, written=3)
            assert process.returncode == -signal.SIGKILL
            before, done = done, load_value(checkpoint).progress.n_iter
            assert before + 3 <= done < int(n_saved), "it was not killed in the middle"
        with started("_fit.py", name, engine, checkpoint, result) as process:
            assert process.wait(200) == 0
        n_saved_after, got = result.read_text().split("\n", 1)
        if name == "Gibbs":  # its state grows by the draws, and is written after some of the sweeps
            assert int(n_saved_after) <= ITERATIONS - done, "it did not go on from the checkpoint"
        else:
            assert int(n_saved_after) == int(n_saved) - done, "it did not go on from the checkpoint"
        assert got == expected
        assert not checkpoint.exists(), "a fit that has ended leaves no checkpoint"


class started:
    """A script of this folder as a process, of which nothing is left when the block ends."""

    def __init__(self, script, *args, **how):
        command = [sys.executable, str(HERE / script), *map(str, args)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True, **how)
        self.family: set[psutil.Process] = set()

    def __enter__(self):
        threading.Thread(target=self._watch, daemon=True).start()
        return self.process

    def _watch(self):
        """Note who belongs to the process, since orphans no longer tell."""
        while self.process.poll() is None:
            try:
                self.family |= set(psutil.Process(self.process.pid).children(recursive=True))
            except psutil.NoSuchProcess:
                return
            time.sleep(0.05)

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        for orphan in psutil.wait_procs(self.family, timeout=3)[1]:
            orphan.kill()


def kill_after(process, checkpoint, written):
    """Kill when the checkpoint was written so many times; each time it is a new file."""
    seen, first = set(), checkpoint.stat().st_ino if checkpoint.exists() else None
    while len(seen) < written:
        assert process.poll() is None, "it ended before it could be killed"
        try:
            found = checkpoint.stat()
        except FileNotFoundError:
            continue
        if found.st_ino != first or seen:
            seen.add((found.st_ino, found.st_mtime_ns))
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
