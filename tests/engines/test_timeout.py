"""Patience: tasks of which none ends are sent once more, then given up; on Ray with a stopped worker."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import psutil
import pytest

import suffice
from suffice.engines.local import LocalPartitions
from suffice.engines.timeout import blocks_of, in_order, seconds
from suffice.inputs import Check, source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns
from suffice.statistics import moments

from ._common import FEATURES, bits, tables

CHECK = Check("Test", sparse=False, nan=False, positive=False, strings=False, target=None)


class Tasks:
    """Tasks that end as a script says: which have ended, by how often it was asked with time to wait."""

    def __init__(self, *script):
        self.script, self.asked, self.again = [set(s) for s in script], 0, []

    def ended(self, numbers, wait):
        now = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += wait > 0 and not now & set(numbers)
        return [n for n in numbers if n in now]

    def run(self, n):
        return in_order(n, self.ended, self.again.append, lambda left: blocks_of(left, 1), "Look.")


def test_those_that_end_are_given_in_order():
    tasks = Tasks({2}, {2, 0}, {0, 1, 2})
    assert list(tasks.run(3)) == [0, 1, 2]
    assert tasks.again == []


def test_those_that_do_not_end_are_sent_again_once():
    tasks = Tasks({1}, {1}, {1}, {0, 1, 2})
    assert list(tasks.run(3)) == [0, 1, 2]
    assert tasks.again == [[0, 2]]


def test_each_that_ends_starts_the_timeout_again():
    tasks = Tasks(set(), {2}, {2}, {2, 1}, {2, 1}, {0, 1, 2})
    assert list(tasks.run(3)) == [0, 1, 2]
    assert tasks.again == [[0, 1], [0]]


def test_given_up_in_words():
    tasks = Tasks({1}, {1}, {1})
    with (
        suffice.task_timeout(5),
        pytest.raises(
            TimeoutError, match=r"for 5 seconds, nor for 5 more.*blocks 0, 2 are.*Look.*task_timeout\(50\)"
        ),
    ):
        list(tasks.run(3))
    assert tasks.again == [[0, 2]]


def test_the_timeout_is_restored():
    before = seconds()
    with suffice.task_timeout(3), suffice.task_timeout(2.5):
        assert seconds() == 2.5
    assert seconds() == before == 600
    with (
        pytest.raises(ValueError, match=r"task_timeout takes a positive number of seconds; got 0"),
        suffice.task_timeout(0),
    ):
        pass


def test_blocks_in_words():
    assert blocks_of([0, 3], 1) == "blocks 0, 3"
    assert blocks_of([0, 3], 4) == "blocks 0 to 3, 12 to 15"
    assert blocks_of(list(range(10)), 1) == "blocks 0, 1, 2, 3, 4, 5, 6, 7 and 2 other tasks"


@pytest.mark.timeout(180, method="thread")  # what a signal raises is lost inside ray.get
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.parametrize("home", [0, 1 << 28])
def test_a_stopped_worker_of_ray(home, cluster, monkeypatch, tmp_path):
    """With another CPU its task runs there, to the same bits; without, the fold gives up in words.

    The timeout is long, and waiting ends when the worker has stopped: no load of the machine is a timeout.
    """
    import ray.data

    from suffice.engines import ray as engine

    monkeypatch.setattr(engine, "RUN", 4)
    monkeypatch.setattr(engine, "HOME_BYTES", home)
    marker = tmp_path / "pid"
    sent_again = []

    def summed(rows):
        if rows.index[0] == 6 and len(rows) and not marker.exists():
            part = marker.with_suffix(".part")
            part.write_text(str(os.getpid()))
            part.rename(marker)
            os.kill(os.getpid(), signal.SIGSTOP)
        return moments(rows.X, rows.weight)

    def is_stopped():
        return marker.exists() and psutil.Process(int(marker.read_text())).status() == psutil.STATUS_STOPPED

    def ended_soon(n, ended, again, what, look):
        def ended_or_stopped(numbers, wait):
            end = time.monotonic() + wait
            while not (now := ended(numbers, min(wait, 0.1))) and time.monotonic() < end:
                # Nothing that is left can end without a CPU: of one, each wait is over; of two, the first.
                if is_stopped() and (cluster == 1 or not sent_again):
                    break
            return now

        def noted_again(numbers):
            sent_again.append(numbers)
            again(numbers)

        return in_order(n, ended_or_stopped, noted_again, what, look)

    columns = Columns(DenseColumns(tuple(FEATURES)))
    data = source_of(ray.data.from_arrow(tables())).partitions(columns, CHECK)
    assert data.fold(lambda rows: np.array([len(rows)])) == sum(map(len, tables()))
    try:
        with monkeypatch.context() as patch, suffice.task_timeout(60):
            patch.setattr(engine, "in_order", ended_soon)
            if cluster == 1:
                said = r"nor for 60 more.*blocks 4 to 7.* are waited for.*ray list tasks"
                with pytest.raises(TimeoutError, match=said):
                    data.fold(summed)
            else:
                got = data.fold(summed)
        if cluster > 1:
            blocks = tuple(columns.block(CHECK, n, table) for n, table in enumerate(tables()))
            assert bits(got) == bits(LocalPartitions(blocks).fold(lambda rows: moments(rows.X, rows.weight)))
        assert 1 in sent_again[0]  # blocks 4 to 7
    finally:
        assert is_stopped()
        pid = int(marker.read_text())
        os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while psutil.pid_exists(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert data.fold(lambda rows: np.array([len(rows)])) == sum(map(len, tables()))  # Ray goes on
