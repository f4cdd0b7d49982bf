"""The search for nearest rows: by comparison with all, by inner products and by trees, with the same bits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from suffice.core.blocks import Rows
from suffice.core.statistics import tree_sum
from suffice.neighbors import KDTree
from suffice.statistics import nearest
from suffice.statistics.nearest import Minkowski, Queries, search

FIELDS = ("rows", "distance", "row", "vote", "target")


def data(shift=0.0, n=700, d=3, seed=0):
    """Rows with many ties and repetitions, weights of which some are zero, and queries."""
    rng = np.random.default_rng(seed)
    X, queries = (np.round(rng.normal(size=(m, d)), 1) + shift for m in (n, 40))
    weight = rng.integers(0, 3, n) + rng.choice([0.0, 0.5], n)
    return Rows(X, rng.normal(size=n), weight), queries


def expected(rows, query, k, p):
    """By the definition: ranks of (distance, row), and a row as often as its weight."""
    distance = np.zeros(len(rows))
    for d in range(len(query)):
        y = np.abs(rows.X[:, d] - query[d])
        distance = np.maximum(distance, y) if p == np.inf else distance + (y * y if p == 2 else y**p)
    order = sorted(range(len(rows)), key=lambda n: (distance[n], n))
    found = [(distance[n], n, min(1.0, rows.weight[n] - c)) for n in order for c in range(4)]
    return [each for each in found if each[2] > 0][:k]


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS)


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_nearest_rows_are_those_of_the_definition_for_any_blocks(p, shift):
    rows, X = data(shift)
    queries = Queries(X, 7, Minkowski(p))
    whole = queries.summarize(rows)
    for q, query in enumerate(X):
        found = zip(whole.distance[q], whole.row[q], whole.vote[q], strict=True)
        if p != 3.0:  # whose powers may differ in the last bit
            assert list(found) == expected(rows, query, 7, p)
    assert np.array_equal(whole.target[:, :, 0], rows.y[whole.row])
    for cuts in ((), (0, 1, 1, 300), range(0, 700, 13)):
        bounds = [0, *cuts, 700]
        blocks = [rows[slice(a, b)] for a, b in pairwise(bounds)]
        assert same(tree_sum(map(queries.summarize, blocks)), whole)


@pytest.fixture(params=["differences", "products"])
def way(request, monkeypatch):
    """Both ways to compare with all rows by Euclidean distances."""
    monkeypatch.setattr(nearest, "FEW_FEATURES", np.inf if request.param == "differences" else 0)
    monkeypatch.setattr(nearest, "MANY_QUERIES", 0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("p", [1.0, 2.0, 2.5, np.inf])
def test_all_ways_have_the_same_bits(p, shift):
    """Rows by comparison with all and by trees; distances from all rows."""
    rows, X = data(shift)
    known = search(rows.X, rows.weight, X, 7, p)
    for leaf_size in (1, 30):
        found = KDTree.of(rows.X, leaf_size, rows.weight).search(X, 7, p)
        assert all(np.array_equal(a, b) for a, b in zip(found, known, strict=True))
    distance = Minkowski(p).between(X, rows.X)
    assert np.array_equal(np.take_along_axis(distance, known[1], axis=1), known[0])


def test_fewer_rows_than_neighbours_are_filled_up():
    rows, X = data(n=4)
    found = Queries(X, 20, Minkowski(2.0)).summarize(rows)
    there = int(np.ceil(rows.weight).sum())
    assert (found.row[:, :there] >= 0).all() and (found.row[:, there:] == -1).all()
    assert np.isinf(found.distance[:, there:]).all() and not found.vote[:, there:].any()
    nothing = Queries(X, 20, Minkowski(2.0)).summarize(rows[:0])
    assert same(nothing + found, found) and same(found + nothing, found)
    with pytest.raises(TypeError, match="cannot be scaled"):
        found * 2.0


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("spread", [1e-6, 1.0, 1e6])
def test_products_leave_no_near_row_out(spread):
    """Clusters far from each other: the inner products have few digits of the distances within one."""
    rng = np.random.default_rng(1)
    X = 1e7 * rng.integers(0, 3, (3000, 20)) + spread * rng.normal(size=(3000, 20))
    queries, weight = X[::50] + 0.1 * spread, np.ones(3000)
    distance, row, _ = search(X, weight, queries, 5, 2.0)
    exact = ((queries[:, None] - X) ** 2).sum(axis=2)
    assert np.array_equal(row, np.argsort(exact, axis=1, kind="stable")[:, :5])
    np.testing.assert_allclose(distance, np.sort(exact, axis=1)[:, :5], rtol=1e-12)


def test_the_tree_leaves_most_rows_out():
    X = np.random.default_rng(2).uniform(size=(2000, 2))
    tree = KDTree.of(X, leaf_size=4)
    visits = [len(tree.visited(x, k=3)) for x in X[:50]]
    assert np.mean(visits) < 60
    assert sorted(tree.index.tolist()) == list(range(2000))
    distance, row = tree.query(X[:50], k=3)
    assert (row[:, 0] == np.arange(50)).all() and not distance[:, 0].any()


def test_the_tree_of_equal_points():
    tree = KDTree.of(np.ones((100, 2)), leaf_size=1)
    assert tree.query([[1.0, 1.0]], k=4)[1].tolist() == [[0, 1, 2, 3]]
