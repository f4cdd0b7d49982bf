"""The tiers of tests: quick, which a contributor runs before each commit; common; slow."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

# Ray starts its workers with niceness 15: whatever else runs on the machine would starve them.
os.environ.setdefault("RAY_worker_niceness", "0")

TESTS = Path(__file__).parent
# Left out: engines, peers, the canon, scikit-learn's checks, attacks and pages, which the common run has.
QUICK = (
    *("additive", "cluster", "core", "decision", "decomposition", "ensemble/test_adaboost.py", "families"),
    *("feature_extraction", "inputs", "textbook"),
    *(f"loops/test_{topic}.py" for topic in ("buckets", "counts", "factors", "graph", "labels", "topics")),
    *("fitting", "kernels", "linear_model", "mixture", "naive_bayes", "neighbors", "plot", "preprocessing"),
    *("ranking", "sampling", "sequence", "statistics", "svm", "topics", "tree/test_cart.py"),
    *(f"laws/test_{law}.py" for law in ("blocks", "families", "house", "registry", "shards", "sums")),
)
# Tests of each estimator with each check, or of each source with models. The common run has one in four of
# them, drawn by a hash of their names, so that every estimator and every check has some. The others are slow.
MATRICES = {
    *(f"contract/test_{what}.py" for what in ("callbacks", "parameters", "sklearn_checks")),
    *(f"laws/test_{law}.py" for law in ("blocks", "checkpoints", "families", "fitting", "memory")),
    *(f"laws/test_{law}.py" for law in ("numerics", "shift_and_scale", "storage", "sums")),
    *("docs/test_reference.py", "peers/test_sklearn.py", "serving/test_interchange.py"),
    *(f"engines/test_{of}.py" for of in ("cache", "dask", "ray", "sources", "streams")),
    "model_selection/test_grid_search.py",
}
SHARE = 4


def is_quick(path):
    folders = [TESTS.parent / "src", *(TESTS / part for part in QUICK)]
    return any(path.is_relative_to(folder) for folder in folders)


def pytest_ignore_collect(collection_path, config):
    """With `-m quick`, files without quick tests are not imported, nor is what only they need."""
    if config.option.markexpr == "quick" and collection_path.is_file() and not is_quick(collection_path):
        return True
    return None


def pytest_collection_modifyitems(items):
    matrices = {TESTS / part for part in MATRICES}
    for item in items:
        if item.path in matrices and "[" in item.name and crc32(item.nodeid.encode()) % SHARE:
            item.add_marker("slow")
    paths = {item.path for item in items}  # hundreds, of tens of thousands of tests
    quick = {path for path in paths if is_quick(path)}
    for item in items:
        if item.path in quick and not item.get_closest_marker("slow"):
            item.add_marker("quick")


@pytest.fixture(autouse=True)
def own_draws(request, monkeypatch):
    """Each test draws from the `rng` of its module anew, so that its draws do not depend on other tests."""
    if isinstance(getattr(request.module, "rng", None), np.random.Generator):
        monkeypatch.setattr(request.module, "rng", np.random.default_rng(crc32(request.node.nodeid.encode())))


@pytest.fixture(scope="module")
def ray_here():
    """A small Ray of two CPUs, or the one that runs, e.g. for the tests of engines."""
    ray = pytest.importorskip("ray")
    started = not ray.is_initialized()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own, on its way up
        if started:
            how = {"object_store_memory": 200 << 20, "logging_level": "ERROR", "log_to_driver": False}
            ray.init(num_cpus=2, include_dashboard=False, **how)
        pytest.importorskip("ray.data").DataContext.get_current().enable_progress_bars = False
    yield ray
    if started:
        ray.shutdown()


@pytest.fixture
def many_iterations(monkeypatch):
    """Quantile regression and linear support vector machines of few rows are one program, in one iteration:
    these are too many for it."""
    from suffice.linear_model import quantile
    from suffice.svm import linear

    monkeypatch.setattr(quantile, "NEAREST", 50)
    monkeypatch.setattr(linear, "ENTRIES", 0)
