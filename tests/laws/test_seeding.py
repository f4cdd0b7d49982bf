"""Seeding: draws are of the rows themselves, so order, blocks and workers change none of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import suffice
from suffice.core.blocks import Rows
from suffice.core.hashing import row_hashes, uniforms
from suffice.core.randomness import Purpose
from suffice.engines.local import LocalPartitions
from suffice.fitting.seeding import NOBODY, SEEDINGS, draw

from .registry import N, bits, table

each_seeding = pytest.mark.parametrize("how", SEEDINGS.values(), ids=SEEDINGS)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(12.0),
        np.arange(12) / 2,
        -np.arange(12.0),
        10.0 ** np.arange(-6, 6),
        1e8 + np.arange(12),
        [0.0, 1.0],
    ],
    ids=["whole", "half", "negative", "powers", "far", "flags"],
)
def test_hashes_tell_rows_apart(values):
    """Rows of few plain values, as counts and categories are: they set the highest bits of a float alone."""
    X = np.array(list(product(values, repeat=3)))
    for seed in range(5):
        hashes = row_hashes(X, Purpose.SEEDING, seed)
        assert len(np.unique(hashes)) == len(X)
        u = uniforms(hashes)
        assert ((u > 0) & (u < 1)).all()
        if len(X) > 1000:
            np.testing.assert_allclose(np.histogram(u, bins=8, range=(0, 1))[0] / len(X), 1 / 8, atol=0.04)
            assert abs(np.corrcoef(u, uniforms(row_hashes(X, Purpose.SEEDING, seed + 100)))[0, 1]) < 0.1


def test_hashes_are_of_values():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    h = row_hashes(X, Purpose.SEEDING, 3)
    assert h[0] == h[1] == h[2] != h[3]
    assert (h == row_hashes(np.asfortranarray(X), Purpose.SEEDING, 3)).all()


@each_seeding
@pytest.mark.parametrize("support", ["real", "count", "binary"])
def test_draws_do_not_depend_on_order_or_blocks(how, support):
    X, _ = table(support)
    weight = np.random.default_rng(0).integers(1, 4, size=N).astype(float)
    whole = how(LocalPartitions((Rows(X, None, weight),)), 4, 7)
    order = np.random.default_rng(1).permutation(N)
    assert bits(how(LocalPartitions((Rows(X[order], None, weight[order]),)), 4, 7)) == bits(whole)
    blocks = tuple(Rows(X[n : n + 30], None, weight[n : n + 30], (n // 30,)) for n in range(0, N, 30))
    again = np.repeat(np.arange(N), weight.astype(int))
    same = [how(LocalPartitions(blocks), 4, 7), how(suffice.partition(X[again]), 4, 7)]
    for found in same:
        # Sums of potentials may round differently, but no two candidates are that close.
        np.testing.assert_array_equal(found, whole)


@each_seeding
def test_seeds_matter_and_repeat(how):
    X, _ = table("real")
    data = suffice.partition(X)
    draws = [bits(how(data, 3, seed)) for seed in (1, 1, 2, 3, 4)]
    assert draws[0] == draws[1]
    assert len(set(map(str, draws))) > 2


@each_seeding
def test_chosen_rows_are_rows_of_the_data_and_differ(how):
    X, _ = table("real")
    found = how(suffice.partition(X), 8, 0)
    assert all((row == X).all(axis=1).any() for row in found)
    assert len(np.unique(found, axis=0)) == 8


@each_seeding
def test_fewer_rows_than_are_asked_for(how):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 50, axis=0)
    found = how(suffice.partition(X), 5, 0)
    assert found.shape == (5, 2)
    assert len(np.unique(found, axis=0)) == 2


def test_draws_are_in_proportion_to_weight_times_squared_distance():
    """Over many seeds: how often each of six rows is drawn first."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [5.0], [8.0]])
    weight = np.array([1.0, 3.0, 1.0, 2.0, 0.5, 1.0])
    rows = Rows(X, None, weight)
    for chosen, rate in ((NOBODY, weight), (X[:1], weight * X[:, 0] ** 2)):
        first = [draw(70, seed, 0, chosen, rows).first(1)[0, 0] for seed in range(4000)]
        share = np.array([np.mean(np.equal(first, x)) for x in X[:, 0]])
        np.testing.assert_allclose(share, rate / rate.sum(), atol=0.03)


def test_far_rows_are_found_far_from_the_origin():
    """Three tight groups at 1e8: k-means++ takes one row of each."""
    rng = np.random.default_rng(0)
    X = 1e8 + np.repeat([[0.0], [50.0], [100.0]], 60, axis=0) + rng.normal(scale=0.5, size=(180, 1))
    for name in ("k-means++", "k-means||"):
        for seed in range(5):
            found = np.sort(SEEDINGS[name](suffice.partition(X), 3, seed)[:, 0]) - 1e8
            np.testing.assert_allclose(found, [0, 50, 100], atol=3)
