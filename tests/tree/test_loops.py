"""The loops of trees, compiled and as Python runs them, against what they mean; and the law of histograms."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.core.blocks import Rows
from suffice.core.statistics import tree_sum
from suffice.loops.trees import (
    GINI,
    PARTS,
    SQUARED_ERROR,
    add_histograms,
    add_leaf_values,
    add_parts,
    best_by_parts,
    best_of_feature,
    best_of_two,
    fill,
    gain,
    grow,
    leaves_by_table,
    leaves_of_codes,
    leaves_of_rows,
    mixed,
    occupied,
    preorder,
    worth,
)
from suffice.statistics import Binned, FeatureBins, FeatureValues, Histograms
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor, growth
from suffice.tree.growth import root

FORMS = [lambda loop: loop.dispatcher, lambda loop: loop.python]
IDS = ["compiled", "python"]


def a_histogram(seed, n_bins=130, n=90, classes=True):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_bins + 1, n).astype(np.min_scalar_type(n_bins))
    group = rng.integers(0, 2, n)
    entry = rng.integers(1, 5, (n, 1 if classes else 3))
    return codes, group, entry, np.zeros((n_bins + 1, 2), np.int64)


@pytest.mark.parametrize("form", FORMS, ids=IDS)
@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize(
    ("n", "n_bins"), [(20, 130), (60, 700), (90, 130)], ids=["insertion", "radix", "dense"]
)
def test_fill_adds_and_lists_the_bins(form, classes, n, n_bins):
    codes, group, entry, expected = a_histogram(0, n_bins, n, classes)
    rows = np.random.default_rng(1).permutation(n).astype(np.int32)
    bins, hist, dense = np.empty(n, np.int64), np.full((n, 2), -1), np.zeros_like(expected)
    m = form(fill)(
        codes, rows, group[rows], entry[rows], classes, n_bins, dense, np.empty(n, np.uint32),
        np.empty(n, np.uint32), np.empty((2, 257), np.int32), hist, bins,
    )  # fmt: skip
    assert not dense.any()  # for the next feature
    assert np.array_equal(bins[:m], np.unique(codes))
    if classes:
        np.add.at(expected, (codes, group), entry[:, 0])
    else:
        np.add.at(expected, codes, entry[:, :2])
    assert np.array_equal(hist[:m], expected[bins[:m]])
    folded = np.empty_like(hist)
    other = np.empty_like(bins)
    assert form(occupied)(expected, classes, folded, other) == m
    assert np.array_equal(folded[:m], hist[:m])
    assert np.array_equal(other[:m], bins[:m])


@pytest.mark.parametrize("form", FORMS, ids=IDS)
@pytest.mark.parametrize("criterion", [GINI, SQUARED_ERROR])
def test_the_short_loop_is_the_general_one(form, criterion):
    """`best_of_two` against `gain` at every threshold."""
    for seed in range(5):
        codes, group, entry, hist = a_histogram(seed, classes=criterion == GINI)
        if criterion == GINI:
            np.add.at(hist, (codes, group), entry[:, 0])
        else:
            np.add.at(hist, codes, entry[:, :2])
        hist[-1] = 0
        bins, total = np.flatnonzero(hist.sum(axis=1)), hist.sum(axis=0)
        parent = form(worth)(total, criterion)
        gains = [
            form(gain)(hist[bins[:j]].sum(axis=0), hist[bins[j:]].sum(axis=0), criterion, parent)
            for j in range(1, len(bins))
        ]
        best, first = form(best_of_two)(hist, bins, len(bins) - 1, 0, 0, *total, criterion, 1)
        assert best == pytest.approx(max(gains))
        assert gains[first - 1] == pytest.approx(max(gains))
        found = form(best_of_feature)(
            hist, bins, len(bins), len(hist) - 1, total, parent, criterion, 1, True, 0, -np.inf, np.inf
        )
        assert found == (best, first, 0)


GROWN = {
    "all": {},
    "some": {"max_features": 2, "random_state": 0},
    "random": {"splitter": "random", "random_state": 0},
    "categories": {"categorical_features": [2]},
    "monotone": {"monotonic_cst": [1, 0, 0, -1]},
    "best first": {"max_leaf_nodes": 9, "min_samples_leaf": 3},
}


@pytest.mark.parametrize("with_missing", [False, True])
@pytest.mark.parametrize("options", GROWN.values(), ids=GROWN)
def test_numpy_grows_the_compiled_tree(monkeypatch, options, with_missing):
    """To the bit: nodes, sums and gains."""

    def both(*arguments):
        expected = grow.dispatcher(*arguments)
        with np.errstate(all="ignore"):
            found = grow.python(*arguments)
        for a, b in zip(expected, found, strict=True):
            assert np.array_equal(a, b)
        return expected

    monkeypatch.setattr(growth, "grow", both)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 2] = rng.integers(0, 6, 300)
    noisy = X[:, 0] + rng.normal(size=300)
    weight = rng.integers(0, 3, 300)
    if with_missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    DecisionTreeRegressor(**options).fit(X, noisy, sample_weight=weight)
    DecisionTreeRegressor(criterion="poisson", **options).fit(X, np.exp(noisy))
    DecisionTreeClassifier(**options).fit(X, noisy > 0.0, sample_weight=weight)
    if "monotonic_cst" not in options:
        DecisionTreeClassifier(**options).fit(X, rng.integers(0, 4, 300))


@pytest.mark.parametrize("form", FORMS, ids=IDS)
def test_preorder(form):
    children = np.array([[1, 2], [3, 4], [-1, -1], [-1, -1], [5, 6], [-1, -1], [-1, -1]])
    assert form(preorder)(children).tolist() == [0, 1, 3, 4, 5, 6, 2]


@pytest.mark.parametrize("form", FORMS, ids=IDS)
def test_random_keys_are_those_of_splitmix64(form):
    with np.errstate(over="ignore"):
        assert (
            int(form(mixed)(np.uint64(0))) == 0xE220A8397B1DCDAF
        )  # the first number of Vigna's splitmix64.c


def test_leaves_by_codes_and_by_values():
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)], axis=1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) ^ np.isin(X[:, 1], [1, 3])
    model = DecisionTreeClassifier(categorical_features=[1]).fit(X, y)
    tree = model.model_
    expected = model.apply(X)
    for form in (leaves_of_rows.dispatcher, leaves_of_rows.python, leaves_of_rows.numpy):
        leaves = np.empty((len(X), 1), np.int64)
        form(tree.bins.with_codes(X), np.zeros(1, np.int64), *tree.splits, leaves)
        out = leaves[:, 0]
        assert np.array_equal(out, expected)
        for leaf in np.unique(out):
            np.testing.assert_allclose(tree.value[leaf, 1], y[out == leaf].mean())
    for form in (add_leaf_values.dispatcher, add_leaf_values.python, add_leaf_values.numpy):
        total = np.zeros((len(X), 2))
        form(
            tree.bins.with_codes(X), np.zeros(2, np.int64), *tree.splits, tree.value, np.zeros(2, int), total
        )
        assert np.array_equal(total, 2.0 * tree.value[expected])


def test_leaves_by_a_table_of_codes():
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)], axis=1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) ^ np.isin(X[:, 1], [1, 3])
    model = DecisionTreeClassifier(categorical_features=[1], max_bins=200).fit(X, y)
    tree = model.model_.replace(bins=model._prepared(X, y, None).bins)
    codes = tree.bins.codes(X)
    assert codes.dtype == np.uint8 and tree.is_leaf.sum() > 3
    expected = tree.leaves_of_codes(np.ascontiguousarray(codes))
    by_row = np.ascontiguousarray(codes.T)
    assert np.array_equal(tree.leaves_of_codes(by_row.T), expected)
    for form in (leaves_by_table.dispatcher, leaves_by_table.python, leaves_by_table.numpy):
        out = np.empty(len(X), np.int64)
        form(by_row.reshape(-1), 3, *tree._table, out)
        assert np.array_equal(out, expected)
    nodes = np.flatnonzero(tree.is_leaf)[1:3]
    part, inside = tree.leading_to(nodes), np.isin(expected, nodes)
    assert (~part.is_leaf).sum() < (~tree.is_leaf).sum()
    for layout in (codes, by_row.T):
        found = part.leaves_of_codes(layout)
        assert np.array_equal(found[inside], expected[inside]) and not np.isin(found[~inside], nodes).any()


def blocks(n=150):
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, 4, n), rng.integers(0, 9, n)]).astype(np.uint8)
    return Binned(codes.T, rng.integers(0, 3, n), None, (0,), rng.integers(1, 9, (n, 1)))


def test_histograms_of_blocks_add_up_exactly():
    none = np.empty(0)
    values = (np.arange(3.0), np.arange(8.0))
    tree = root(FeatureBins(np.zeros(2, bool), values, values, (none, none)))
    rows = blocks()
    whole = Histograms.of(tree, np.zeros(1, np.int64), True, 3, rows)
    count = np.zeros((4 + 9, 3), np.int64)
    for d, offset in ((0, 0), (1, 4)):
        np.add.at(count, (offset + rows.X[:, d].astype(int), rows.y), rows.entry[:, 0])
    assert np.array_equal(whole.count[0], count)
    assert np.array_equal(whole.sums[0], count[:4].sum(axis=0))
    assert (whole.rows[0], whole.low[0], whole.high[0]) == (150, 0, 2)
    order = np.random.default_rng(2).permutation(150)
    parts = [
        Histograms.of(tree, np.zeros(1, np.int64), True, 3, rows[order[a:b]])
        for a, b in ((0, 0), (0, 70), (70, 150))
    ]
    total = parts[0] + parts[1] + parts[2]
    onto = Histograms.of(tree, np.zeros(1, np.int64), True, 3, rows[order[70:]], onto=parts[1])
    for name, value in whole.fields().items():
        assert np.array_equal(getattr(total, name), value)
        assert np.array_equal(getattr(onto, name), value)
    assert add_histograms.numpy is None and leaves_of_codes.numpy is not None


def searched_by_parts(codes, group, entry, n_bins, total, criterion, least, best, ratio, space):
    """The split of the second of two features, of which the first is constant."""
    rows, by_row = np.arange(len(codes), dtype=np.int32), np.stack([np.zeros_like(codes), codes], axis=1)
    shift, parts = np.empty(2, np.int64), np.empty((2, PARTS + 1, 2), np.int64)
    goal = add_parts.dispatcher(
        by_row, rows, group, entry, np.array([PARTS + 1, n_bins]), total, criterion == GINI, least, best,
        np.arange(2), shift, parts,
    )  # fmt: skip
    return best_by_parts.dispatcher(
        codes, rows, group, entry, n_bins, total, criterion, least, goal, *ratio, shift[1], parts[1], *space,
        np.empty((2, 257), np.int32),
    )  # fmt: skip


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("least", [1, 60])
def test_a_search_by_parts_finds_the_split_of_all_bins(classes, least):
    rng, n_bins, found = np.random.default_rng(3), 3000, 0
    for trial in range(60):
        n = int(rng.integers(128, 1500))
        codes = (
            (rng.normal(size=n) * rng.choice([30, 700]) + n_bins / 2).clip(0, n_bins - 1).astype(np.uint16)
        )
        criterion = GINI if classes else SQUARED_ERROR
        group = (rng.random(n) < np.where(codes > 1400, 0.6, 0.5)).astype(np.int64)
        entry = rng.integers(1, 4, (n, 1 if classes else 3))
        entry[:, 1:] *= np.rint(100 * rng.normal(size=(n, 1))).astype(np.int64)
        ratio = np.array([0.0, 1.0]) if classes else np.sort(entry[:, 1] / entry[:, 0])[[0, -1]]
        hist = np.zeros((n_bins + 1, 2), np.int64)
        np.add.at(hist, (codes, group) if classes else codes, entry[:, 0] if classes else entry[:, :2])
        total, bins = hist.sum(axis=0), np.unique(codes)
        best, first = best_of_two.dispatcher(hist, bins, len(bins) - 1, 0, 0, *total, criterion, least)
        limit = 1 << 16 if trial % 3 else n // 4  # space for the rows of a few parts
        space = np.empty(limit, np.int32), np.empty(limit, np.uint32), np.empty(limit, np.uint32)
        for so_far in (-1.0, best / 2, best, 2 * best):
            g, below, above, varies = searched_by_parts(
                codes, group, entry, n_bins, total, criterion, least, so_far, ratio, space
            )
            if varies < 0:  # the rows of too many parts are left
                assert limit < n
            elif so_far <= best:
                assert (g, below, above, varies) == (best, bins[first - 1], bins[first], 1)
                found += 1
            else:
                assert g <= best
    assert found > 100


def test_a_search_by_parts_tells_a_constant_feature():
    n = 200
    group, entry = np.arange(n) % 2, np.ones((n, 1), np.int64)
    space = np.empty(n, np.int32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    *_, varies = searched_by_parts(
        np.full(n, 7, np.uint16), group, entry, 999, np.array([100, 100]), GINI, 1, -1.0, (0.0, 1.0), space
    )
    assert varies == 0


def test_bins_of_many_values_have_about_one_weight():
    x = np.random.default_rng(0).normal(size=(60_000, 1))
    rows, categorical = Rows(x, None, np.ones(len(x))), np.zeros(1, bool)
    parts = [FeatureValues.of(categorical, 255, rows[part]) for part in rows.parts(7_000)]
    bins = FeatureBins.of(categorical, tree_sum(parts), 255)
    count = np.bincount(bins.codes(x)[0])
    assert len(count) == 255
    assert 0.9 < count.min() / (len(x) / 255) < count.max() / (len(x) / 255) < 1.1
