"""Shared by the laws."""

from __future__ import annotations

import pytest


@pytest.fixture
def many_iterations(monkeypatch):
    """Quantile regression of few rows is one linear program, in one iteration: these are too many for it."""
    from suffice.linear_model import quantile

    monkeypatch.setattr(quantile, "NEAREST", 50)
