"""What doctests of the package need."""

from __future__ import annotations

import sys

import pytest


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Close the figures that a doctest has drawn."""
    if isinstance(item, pytest.DoctestItem) and "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
