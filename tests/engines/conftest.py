"""One Ray for all tests of a session that ask for it, with one CPU, then with two; one Spark of each kind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

# A task costs Spark a tenth of a second and more: what shows the most is in the common run, the rest is slow.
ON_SPARK = {
    "test_same_bits_on_spark[PCA-classic]",
    "test_same_bits_on_spark[LogisticRegression-classic]",
    "test_a_bad_block_is_refused_by_its_number[classic]",
    "test_a_worker_is_killed_in_a_fold[classic]",
    "test_blocks_are_given_back_and_the_session_is_as_it_was[classic]",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"cluster", "spark", "dask_client"}:
            item.add_marker(pytest.mark.cluster)
        if "spark" in fixtures and item.name not in ON_SPARK:
            item.add_marker(pytest.mark.slow)


CPUS = [pytest.param(2, id="2-cpus"), pytest.param(1, marks=pytest.mark.slow, id="1-cpu")]


def pytest_generate_tests(metafunc):
    """With one CPU, tasks that wait for each other would wait for ever: the tests of the engine try it. What
    another file asks of Ray does not know how many there are."""
    given = [name for mark in metafunc.definition.iter_markers("parametrize") for name in mark.args[0]]
    if "cluster" in metafunc.fixturenames and "cluster" not in given:
        both = metafunc.module.__name__.endswith(("test_ray", "test_faults"))
        metafunc.parametrize("cluster", CPUS if both else CPUS[:1], indirect=True)


@pytest.fixture(scope="session")
def cluster(request):
    """A real Ray on this machine, and how many CPUs it has."""
    import ray

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own, on its way up
        ray.init(
            num_cpus=request.param,
            include_dashboard=False,
            object_store_memory=200 << 20,
            logging_level="ERROR",
            log_to_driver=False,
        )
        import ray.data

        ray.data.DataContext.get_current().enable_progress_bars = False
    yield request.param
    ray.shutdown()


# A task that was lost is run again four times, as on a cluster; local[2] would not.
SPARK = {
    "spark.master": "local[2,4]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "3",
}


@pytest.fixture(scope="session", params=["classic", "connect"])
def spark(request, tmp_path_factory):
    """A real Spark on this machine: in a JVM of this process, or a server of Spark Connect on loopback."""
    pytest.importorskip("pyspark")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        warnings.simplefilter("ignore")  # Spark's own, of versions of pandas
        log = tmp_path_factory.mktemp("spark") / "log"
        with (classic_spark if request.param == "classic" else connected_spark)(log) as session:
            yield session


@contextmanager
def classic_spark(log):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in SPARK.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@contextmanager
def connected_spark(log):
    import pyspark
    from pyspark.sql.connect.session import SparkSession

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(pyspark.__file__).parent
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    given = SPARK | {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    settings = [part for key, value in given.items() for part in ("--conf", f"{key}={value}")]
    command = [str(home / "bin" / "spark-submit"), "--class", server, *settings, "spark-internal"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env=os.environ | {"SPARK_HOME": str(home)},
        )
    try:
        end = time.monotonic() + 120
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None and time.monotonic() < end, log.read_text()[-2000:]
            time.sleep(0.2)
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        yield session
        session.stop()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.fixture(scope="session")
def dask_client():
    """A real Dask on this machine: a scheduler here and two worker processes, of one thread each."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's own, on its way up and down
        with (
            distributed.LocalCluster(**DASK, n_workers=2) as workers,
            distributed.Client(workers, set_as_default=False) as client,
        ):
            yield client


DASK = {
    "threads_per_worker": 1,
    "host": "127.0.0.1",
    "dashboard_address": None,
    "silence_logs": "CRITICAL",
}
