"""What doctests of the package need."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the example of `scan_json`, which needs a newer pyarrow than the other functions."""
    for item in items:
        if (
            item.name == "suffice.inputs.stream.scan_json"
            and int(metadata.version("pyarrow").split(".")[0]) < 20
        ):
            item.add_marker(pytest.mark.skip(reason="scan_json needs pyarrow 20"))


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Close the figures that a doctest has drawn."""
    if isinstance(item, pytest.DoctestItem) and "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
