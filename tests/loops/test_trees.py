"""The loops of trees against what they mean; and the law of histograms."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.core.blocks import Rows
from suffice.core.statistics import tree_sum
from suffice.loops.trees import (
    GINI,
    NONE_MISSING,
    POISSON,
    SQUARED_ERROR,
    Features,
    add_leaf_values,
    find_split,
    grow,
    leaves_by_table,
    leaves_of_rows,
    mixed,
    preorder,
)
from suffice.statistics import Binned, FeatureBins, FeatureValues, Histograms
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor, growth
from suffice.tree.growth import Limits, Root, root

from .reference import trees as reference


@pytest.mark.parametrize("criterion", [GINI, SQUARED_ERROR])
def test_the_short_loop_is_the_general_one(criterion):
    """The best split of two sums against the gain at every threshold."""
    for seed in range(5):
        rng, n_bins, n = np.random.default_rng(seed), np.array([130]), 90
        codes, group = rng.integers(0, 130, n), rng.integers(0, 2, n)
        hist = np.zeros((131, 2), np.int64)
        if criterion == GINI:
            np.add.at(hist, (codes, group), rng.integers(1, 5, n))
        else:
            np.add.at(hist, codes, rng.integers(1, 5, (n, 2)))
        bins, total = np.flatnonzero(hist.sum(axis=1)), hist.sum(axis=0)
        parent = reference.worth(total, criterion)
        gains = [
            reference.gain(hist[bins[:j]].sum(axis=0), hist[bins[j:]].sum(axis=0), criterion, parent)
            for j in range(1, len(bins))
        ]
        best, feature, below, above, side, left_bins = find_split(
            hist, total, Features(n_bins, np.zeros(1, bool), np.array([0, 131]), np.empty(0)), criterion,
            Limits(0, 0, 1, 0.0, 1, 0, False, 0, np.zeros(1, np.int8)), Root(0),
        )  # fmt: skip
        first = np.flatnonzero(bins == below)[0] + 1
        assert best == pytest.approx(max(gains))
        assert gains[first - 1] == pytest.approx(max(gains))
        assert (feature, above, side, len(left_bins)) == (0, bins[first], NONE_MISSING, 0)


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
def test_the_reference_grows_the_compiled_tree(monkeypatch, options, with_missing):
    """To the bit: nodes, sums, and gains that have no logarithms."""

    def both(*arguments):
        found = grow(*arguments)
        with np.errstate(all="ignore"):
            expected = growth.Grown(*reference.grow(*arguments))
        for name, a, b in zip(expected._fields, found, expected, strict=True):
            if name == "gains" and arguments[4] == POISSON:
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14 * np.max(b))  # differences
            else:
                assert np.array_equal(a, np.reshape(b, a.shape)), name
        return found

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


def test_preorder():
    children = np.array([[1, 2], [3, 4], [-1, -1], [-1, -1], [5, 6], [-1, -1], [-1, -1]])
    assert preorder(children).tolist() == [0, 1, 3, 4, 5, 6, 2]


def test_random_keys_are_those_of_splitmix64():
    with np.errstate(over="ignore"):
        assert int(mixed(np.uint64(0))) == 0xE220A8397B1DCDAF  # the first number of Vigna's splitmix64.c


def test_leaves_by_codes_and_by_values():
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)], axis=1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) ^ np.isin(X[:, 1], [1, 3])
    model = DecisionTreeClassifier(categorical_features=[1]).fit(X, y)
    tree = model.model_
    expected = model.apply(X)
    leaves = np.empty((len(X), 1), np.int64)
    leaves_of_rows(tree.bins.with_codes(X), np.zeros(1, np.int64), *tree.splits, leaves)
    out = leaves[:, 0]
    assert np.array_equal(out, expected)
    for leaf in np.unique(out):
        np.testing.assert_allclose(tree.value[leaf, 1], y[out == leaf].mean())
    total = np.zeros((len(X), 2))
    add_leaf_values(
        tree.bins.with_codes(X), np.zeros(2, np.int64), *tree.splits, tree.value, np.zeros(2, int), total
    )
    assert np.array_equal(total, 2.0 * tree.value[expected])


def test_leaves_by_a_table_of_codes():
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=300), rng.integers(0, 5, 300), rng.normal(size=300)], axis=1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) ^ np.isin(X[:, 1], [1, 3])
    model = DecisionTreeClassifier(categorical_features=[1], max_bins=200).fit(X, y)
    tree = model.model_.replace(bins=model._prepared(model._opened(X, y, None)).bins)
    codes = tree.bins.codes(X)
    assert codes.dtype == np.uint8 and tree.is_leaf.sum() > 3
    expected = tree.leaves_of_codes(np.ascontiguousarray(codes))
    by_row = np.ascontiguousarray(codes.T)
    assert np.array_equal(tree.leaves_of_codes(by_row.T), expected)
    out = np.empty(len(X), np.int64)
    leaves_by_table(by_row, *tree._table, out)
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


def root_split(codes, group, entry, n_bins, criterion, least, max_features):
    """The split of the root: from the rows, and by the reference from their histograms."""
    D = len(codes)
    offset = np.concatenate([[0], np.cumsum(n_bins + 1)])
    features = Features(n_bins, np.zeros(D, bool), offset, np.empty(0))
    limits = Limits(1, 2, least, 0.0, max_features, 0, False, 0, np.zeros(D, np.int8))
    tree = growth.Grown(*grow(codes, group, entry, features, criterion, 2, limits, Root(5)))
    hist = reference.histograms(codes, group, entry, criterion == GINI, offset, 2)
    total = hist[: offset[1]].sum(axis=0)
    with np.errstate(over="ignore"):
        best, d, below, above, *_ = reference.find_split(hist, total, features, criterion, limits, Root(5))
    return (tree.gains[0], tree.feature[0], *tree.edges[0]), (max(best, 0.0), d, below, above)


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("least", [1, 60])
def test_a_search_by_parts_finds_the_split_of_all_bins(classes, least):
    """Of several features, of which the later ones are searched for what is better than the first."""
    rng, n_bins, found, many = np.random.default_rng(3), 3000, 0, 100_000
    for trial in range(60):
        n = many if trial == 0 else int(rng.integers(128, 1500))  # more rows than are sorted at once
        spread = rng.choice([30, 700], (3, 1))
        codes = (rng.normal(size=(3, n)) * spread + n_bins / 2).clip(0, n_bins - 1).astype(np.uint16)
        criterion = GINI if classes else SQUARED_ERROR
        p = 0.5 if n == many else np.where(codes[trial % 3] > 1400, 0.6, 0.5)
        group = (rng.random(n) < p).astype(np.int64)
        entry = rng.integers(1, 4, (n, 1 if classes else 3))
        entry[:, 1:] *= np.rint(100 * rng.normal(size=(n, 1))).astype(np.int64)
        for most in (1, 3):
            split, expected = root_split(codes, group, entry, np.full(3, n_bins), criterion, least, most)
            assert split == expected
            found += split[1] >= 0
    assert found > 100


def test_numbers_out_of_bounds_are_errors():
    codes, n_bins, ones = np.array([[0, 1, 2]], np.uint8), np.array([2]), np.ones((3, 1), np.int64)
    root_split(codes, np.arange(3) % 2, ones, n_bins, GINI, 1, 1)
    for group, entry, most, words in (
        (np.arange(3), ones, 2, "group must be numbers of outputs"),
        (np.arange(3) % 2, 0 * ones, 2, "weights must be positive"),
        (np.arange(3) % 2, ones, 1, "codes must be at most n_bins"),
        (np.arange(2), ones, 2, "must have the rows of codes"),
    ):
        with pytest.raises(ValueError, match=words):
            root_split(codes, group, entry, np.array([most]), GINI, 1, 1)


def test_a_search_by_parts_tells_a_constant_feature():
    n = 200
    group, entry = np.arange(n) % 2, np.ones((n, 1), np.int64)
    codes = np.stack([np.full(n, 7), np.arange(n), np.full(n, 9)]).astype(np.uint16)
    for least in (1, 60):  # one feature is tried: constant ones do not count
        split, expected = root_split(codes, group, entry, np.full(3, 999), GINI, least, 1)
        assert split == expected and split[1] == 1


def test_bins_of_many_values_have_about_one_weight():
    x = np.random.default_rng(0).normal(size=(60_000, 1))
    rows, categorical = Rows(x, None, np.ones(len(x))), np.zeros(1, bool)
    parts = [FeatureValues.of(categorical, 255, rows[part]) for part in rows.parts(7_000)]
    bins = FeatureBins.of(categorical, tree_sum(parts), 255)
    count = np.bincount(bins.codes(x)[0])
    assert len(count) == 255
    assert 0.9 < count.min() / (len(x) / 255) < count.max() / (len(x) / 255) < 1.1
