"""Distances and moments lose no digits far from the origin."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.loops import distances

from .cases.distances import cases

SIZE = 129, 9, 17
ARGUMENTS = {name: arguments for name, arguments in cases(*SIZE) if not name.startswith("sparse")}
PLACES = {  # of X and the points
    "nearest": (0, 1),
    "nearest_of_many": (0, 1),
    "sums_by_label": (0, 3),
    "nearest_sums": (0, 2),
    "weighted_distances": (0, 1),
    "squares_about": (0, 2),
    "mahalanobis": (0, 1),
    "scatters_about": (0, 2),
}


@pytest.mark.parametrize("name", PLACES)
def test_far_from_the_origin(name):
    near = list(ARGUMENTS[name])
    for i in PLACES[name]:
        near[i] = np.round(near[i] * 2**20) / 2**20  # exact at both places
    far = [a + 2.0**26 if i in PLACES[name] else a for i, a in enumerate(near)]
    here, there = getattr(distances, name)(*near), getattr(distances, name)(*far)
    for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (here, there)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
