"""Rows of numbers."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.normal(size=(9, 4))


@pytest.fixture
def Z(rng):
    return rng.normal(size=(5, 4))
