"""The quick tier: what a contributor runs before each commit."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

# Ray starts its workers with niceness 15: whatever else runs on the machine would starve them.
os.environ.setdefault("RAY_worker_niceness", "0")

TESTS = Path(__file__).parent
# Left out: engines, peers, the canon, scikit-learn's checks, attacks and pages, which the common run has.
QUICK = (
    *("additive", "core", "decision", "decomposition", "fitting", "linear_model", "naive_bayes", "plot"),
    *("preprocessing", "ranking", "sampling", "sequence", "statistics", "svm", "topics"),
    *(f"laws/test_{law}.py" for law in ("blocks", "families", "house", "registry", "sums")),
)


def pytest_collection_modifyitems(items):
    folders = [TESTS.parent / "src", *(TESTS / part for part in QUICK)]
    paths = {item.path for item in items}  # hundreds, of tens of thousands of tests
    quick = {path for path in paths if any(path.is_relative_to(folder) for folder in folders)}
    for item in items:
        if item.path in quick and not item.get_closest_marker("slow"):
            item.add_marker("quick")


@pytest.fixture(params=["compiled", "numpy"])
def form(request):
    """Tests of loops run twice: with the compiled form on small data too, and with the NumPy form, if any."""
    from suffice.core.small import always_compiled

    with always_compiled() if request.param == "compiled" else nullcontext():
        yield request.param
