"""Faults on Dask: workers killed, stopped and taken away. The same bits come out, or a clear error."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import warnings
from contextlib import contextmanager

import numpy as np
import psutil
import pytest

import suffice
from suffice.engines.local import LocalPartitions
from suffice.families import FullGaussian, Mixture
from suffice.fitting import em
from suffice.inputs import Check
from suffice.inputs.dask import DaskSource
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns

from ._common import FEATURES, bits, tables
from .conftest import DASK

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
engine = pytest.importorskip("suffice.engines.dask")

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180, method="thread")]
CHECK = Check("Test", sparse=False, nan=False, positive=False, strings=False, target=None)
COLUMNS = Columns(DenseColumns(tuple(FEATURES)))


@pytest.fixture(scope="module")
def client():
    """A Dask to be hurt: its nannies start other workers for those that are killed."""
    with started() as client:
        yield client


@contextmanager
def started(**config):
    # A LocalCluster that misses a worker 15 seconds after one of its name was lost closes the nanny.
    config["distributed.deploy.lost-worker-timeout"] = "1 hour"
    with warnings.catch_warnings(), dask.config.set(config):
        warnings.simplefilter("ignore")  # Dask's own, on its way up and down
        with distributed.LocalCluster(**DASK, n_workers=2) as cluster, distributed.Client(cluster) as client:
            yield client


def wait_for_two(client):
    """Two workers that answer: the scheduler may not know yet that one was killed."""
    while len(client.run(os.getpid, on_error="ignore")) < 2:
        client.wait_for_workers(2, timeout=60)


def opened():
    parts = [dask.delayed(table) for table in tables()]
    return DaskSource(parts, None).partitions(COLUMNS, CHECK)


def mixture():
    model = Mixture(np.array([0.4, 0.6]), FullGaussian.start(2, 3))
    return model.replace(component=model.component.replace(mean=np.eye(3)[:2]))


@pytest.fixture(scope="module")
def here():
    return LocalPartitions(tuple(COLUMNS.block(CHECK, n, table) for n, table in enumerate(tables())))


@pytest.fixture(scope="module")
def expected(here):
    return bits(here.fold(Mixture.summarize, mixture()))


class Marker:
    """A file in which the first task to come says who it is."""

    def __init__(self, path):
        self.path = path

    def __call__(self, then):
        """Wraps the E step: the first time that it comes to block 6, it says who it is, and does `then`."""
        path = self.path

        def summarize(model, rows):
            if rows.index[0] == 6 and len(rows) and not path.exists():
                part = path.with_suffix(".part")
                part.write_text(str(os.getpid()))
                part.rename(path)
                then()
            return model.summarize(rows)

        return summarize

    def pid(self):
        end = time.monotonic() + 60
        while not self.path.exists():
            assert time.monotonic() < end
            time.sleep(0.01)
        return int(self.path.read_text())


@pytest.fixture
def marker(tmp_path):
    marker = Marker(tmp_path / "pid")
    yield marker
    if marker.path.exists() and psutil.pid_exists(marker.pid()):  # of those that were stopped
        os.kill(marker.pid(), signal.SIGKILL)


def wait():
    time.sleep(120)


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def test_a_worker_killed_in_a_fold(client, marker, expected):
    def kill():
        os.kill(marker.pid(), signal.SIGKILL)

    data = opened()
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    assert bits(data.fold(marker(wait), mixture())) == expected
    thread.join(10)
    assert not psutil.pid_exists(marker.pid())


@pytest.mark.slow
def test_workers_killed_between_folds(client, here):
    """One after the other, those that hold the blocks: these are made again, and mapped again."""

    def shifted(by, rows):
        return rows.replace(X=rows.X + by)

    class Unlucky(engine.DaskPartitions):
        def fold(self, f, *shared):
            if len(killed) < 2:
                who = client.run(os.getpid)
                holding = max(client.has_what().items(), key=lambda item: len(item[1]))
                assert holding[1]
                killed.append(who[holding[0]])
                os.kill(killed[-1], signal.SIGKILL)
            return super().fold(f, *shared)

    killed: list[int] = []
    by = np.array([0.1, 0.2, 0.3])
    want = em(mixture(), here.map(shifted, by), tol=-1.0, max_iter=4)
    data = opened().map(shifted, by)
    data.fold(lambda rows: rows.X.sum(0))
    got = em(mixture(), Unlucky(data.client, data.runs, data.length), tol=-1.0, max_iter=4)
    assert len(killed) == 2
    assert bits(got) == bits(want)


def test_a_stopped_worker_is_left_and_its_blocks_are_made_again(client, marker, expected):
    wait_for_two(client)
    data = opened()
    data.fold(lambda rows: rows.X.sum(0))
    with suffice.task_timeout(3):
        assert bits(data.fold(marker(stop), mixture())) == expected
    end = time.monotonic() + 60  # its nanny ends it, whatever the fold does meanwhile
    while psutil.pid_exists(marker.pid()):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
def test_a_slow_worker_is_replaced_and_the_cluster_does_not_shrink(client, expected, monkeypatch):
    """Every worker is taken for silent, and speaks before its nanny ends it and starts another."""

    def after_heartbeats(kill):
        async def killed(**how):
            await asyncio.sleep(2)
            await kill(**how)

        return killed

    async def silent(dask_scheduler):
        for worker in dask_scheduler.workers.values():
            worker.last_seen = 0.0
        await engine._replace_silent(1.0, dask_scheduler)

    wait_for_two(client)
    before = set(client.run(os.getpid).values())
    data = opened()
    for nanny in client.cluster.workers.values():
        monkeypatch.setitem(nanny.handlers, "kill", after_heartbeats(nanny.kill))
    client.run_on_scheduler(silent)
    wait_for_two(client)
    time.sleep(2)  # more heartbeats: what was removed, and did not know it, would leave by now
    assert bits(data.fold(Mixture.summarize, mixture())) == expected
    after = set(client.run(os.getpid).values())
    assert len(after) == 2 and not before & after


def test_a_stuck_task_is_sent_to_another_worker(client, marker, expected):
    """Its worker lives, and is heard of."""
    wait_for_two(client)
    data = opened()
    with suffice.task_timeout(2):
        assert bits(data.fold(marker(wait), mixture())) == expected


@pytest.mark.slow
def test_a_task_that_never_ends_is_given_up(client, monkeypatch):
    monkeypatch.setattr(engine, "RUN", 1)

    def never(rows):
        time.sleep(10 * (rows.index[0] == 6 and len(rows) > 0))
        return 0.0

    wait_for_two(client)
    data = opened()
    data.fold(lambda rows: rows.X.sum(0))  # a new worker imports for seconds
    said = r"nor for 1 more.*blocks 6(, [0-9, ]+)? are waited for.*suffice.task_timeout\(10\)"
    with suffice.task_timeout(1), pytest.raises(TimeoutError, match=said):
        data.fold(never)


@pytest.mark.slow
def test_workers_taken_away(expected):
    with started() as client:
        data = opened()
        client.cluster.scale(1)
        assert bits(data.fold(Mixture.summarize, mixture())) == expected
        while len(client.scheduler_info()["workers"]) > 1:
            time.sleep(0.05)
        assert bits(data.fold(Mixture.summarize, mixture())) == expected

        client.cluster.scale(0)
        while client.scheduler_info()["workers"]:  # one that is not yet gone may answer
            time.sleep(0.05)
        with (
            suffice.task_timeout(1),
            pytest.raises(TimeoutError, match=r"Look at the dashboard.*there may be none"),
        ):
            data.fold(Mixture.summarize, mixture())
        with suffice.task_timeout(1), pytest.raises(TimeoutError, match="blocks 0, 1, 2"):
            opened()

        client.cluster.scale(2)
        assert bits(data.fold(Mixture.summarize, mixture())) == expected


@pytest.mark.slow
def test_a_block_that_kills_its_workers_says_what_to_do():
    def kill(rows):
        os.kill(os.getpid(), signal.SIGKILL)

    with started(**{"distributed.scheduler.allowed-failures": 0}):
        with pytest.raises(distributed.KilledWorker) as caught:
            opened().fold(kill)
        assert "make partitions smaller" in caught.value.__notes__[0]


@pytest.mark.slow
def test_a_cluster_that_was_restarted():
    with started() as client:
        data = opened()
        client.restart()
        with pytest.raises(Exception, match=r"fit again|cancel") as caught:
            data.fold(lambda rows: rows.X.sum(0))
        assert "Cancel" in type(caught.value).__name__
