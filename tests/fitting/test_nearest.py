"""The nearest of many points, found by products in float32 and differences where these do not tell."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.fitting import nearest as module
from suffice.fitting.nearest import nearest
from suffice.loops import distances


def expected(X, points):
    distance = ((X[:, None] - points) ** 2).sum(axis=2)
    return distance.argmin(axis=1), distance.min(axis=1)


@pytest.mark.parametrize("scale", [2.0**-500, 1.0, 2.0**100])
@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("spread", [3.0, 1e-6])  # far below the rounding of float32
def test_nearest_of_many_are_those_of_differences(scale, shift, spread):
    rng = np.random.default_rng(0)
    points = np.round(spread * rng.normal(size=(40, 5)) * 2**20) / 2**20  # shifted without rounding
    X = np.concatenate([np.round(rng.normal(size=(1300, 5)) * 2**20) / 2**20, points])
    labels, distance = nearest(scale * (X + shift), scale * (points + shift))
    assert module.MANY <= 40
    right, least = expected(X, points)
    assert np.array_equal(labels, right)
    np.testing.assert_allclose(distance, least * scale**2, rtol=1e-12)
    assert not distance[1300:].any()


def test_rows_in_the_middle_of_two_points():
    """Their scores are equal to float32."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(40, 5))
    a, b = points[rng.integers(40, size=(2, 2000))]
    X = (a + b) / 2 + 1e-10 * (a - b)
    assert np.array_equal(nearest(X, points)[0], expected(X, points)[0])


def test_of_equal_points_the_first():
    rng = np.random.default_rng(1)
    X, points = rng.normal(size=(700, 3)), rng.normal(size=(20, 3))
    labels, _ = nearest(X, np.concatenate([points, points]))
    assert labels.max() < 20
    assert np.array_equal(labels, expected(X, points)[0])
    same = nearest(X, np.tile(points[:1], (40, 1)))
    assert not same[0].any()
    np.testing.assert_allclose(same[1], expected(X, points[:1])[1])


def test_huge_and_missing_values_do_not_mislead():
    points = np.arange(40.0)[:, None] * [[1.0, 2.0]]
    X = np.array([[1e30, 0.0], [-1e60, 1e60], [3.1, 6.0], [np.inf, 0.0], [np.nan, 0.0]])
    labels, distance = nearest(np.tile(X, (200, 1)), points)
    assert np.array_equal(labels[:3], expected(X[:3], points)[0])
    assert np.array_equal(labels, np.tile(labels[:5], 200))
    assert not np.isfinite(distance[3:5]).any()


def test_no_bit_depends_on_the_place_of_a_row():
    rng = np.random.default_rng(2)
    X, points = rng.normal(size=(5000, 7)), rng.normal(size=(33, 7))
    loop = distances.nearest_of_many
    labels, distance = loop(X, points)
    for start in (1, 100, 511, 4990):
        some, of_some = loop(X[start:], points)
        assert np.array_equal(some, labels[start:])
        assert np.array_equal(of_some, distance[start:])
