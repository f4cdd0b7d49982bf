"""One Ray for all tests of a session that ask for it: first with one CPU, then with two."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(scope="session", params=[1, 2], ids=["1-cpu", "2-cpus"])
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
