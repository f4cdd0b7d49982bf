"""X-means: the number of clusters that it finds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from suffice.cluster import XMeans

from ._common import GROUP, X

rng = np.random.default_rng(1)
GRIDS = [(1,), (5,), (1, 1), (2, 1), (2, 2), (3, 3), (5, 2), (1, 1, 1), (2, 2, 2)]
SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(5)]


def grid(*sizes):
    """Places 4 apart on a grid."""
    axes = np.meshgrid(*(4.0 * np.arange(n) for n in sizes))
    return np.stack(axes, axis=-1).reshape(-1, len(sizes))


def uniform_at(places, n, seed, side=1.0):
    """n rows of each of several uniform cubes."""
    rng = np.random.default_rng(seed)
    return np.concatenate([place + side * rng.uniform(-0.5, 0.5, (n, len(place))) for place in places])


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_x_means_finds_the_number(shift):
    model = XMeans(random_state=0).fit(X + shift)
    assert model.n_clusters_ == 3 and adjusted_rand_score(model.labels_, GROUP) == 1.0
    assert XMeans(random_state=0).fit(rng.normal(size=(300, 2)) + shift).n_clusters_ == 1
    assert XMeans(max_clusters=2, random_state=0).fit(X).n_clusters_ == 2
    assert XMeans(random_state=0).fit(np.ones((9, 2))).n_clusters_ == 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "sizes", GRIDS[:5] + [pytest.param(sizes, marks=pytest.mark.slow) for sizes in GRIDS[5:]]
)
def test_x_means_counts_the_cubes_of_a_grid(sizes, seed):
    """No two halves of the corners of a square are better than one cluster, and one uniform cube is none."""
    places = grid(*sizes)
    model = XMeans(random_state=seed).fit(uniform_at(places, 60, seed))
    assert model.n_clusters_ == len(places)
    found = np.abs(model.cluster_centers_[:, None] - places).max(axis=2)
    assert (found.min(axis=0) < 0.3).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_x_means_counts_squares_of_other_sides_and_numbers(seed):
    places = grid(2, 2)
    parts = [
        uniform_at(places[[k]], n, seed, side)
        for k, (n, side) in enumerate([(40, 0.3), (200, 1), (80, 2), (90, 1)])
    ]
    assert XMeans(random_state=seed).fit(np.concatenate(parts)).n_clusters_ == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("D", [1, 2, 3])
@pytest.mark.parametrize("draw", ["uniform", "normal"])
def test_x_means_does_not_split_one_cloud(draw, D, seed):
    rows = getattr(np.random.default_rng(seed), draw)(size=(3000, D))
    assert XMeans(random_state=seed).fit(rows).n_clusters_ == 1
