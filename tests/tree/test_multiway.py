"""ID3 and C4.5: against a plain recursion, with missing values, from any source, pruned."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import suffice
from suffice.tree import (
    MultiwayTreeClassifier,
    export_rules,
    export_text,
    impurity,
    information_gain,
    information_gain_ratio,
)
from suffice.tree import multiway as module

rng = np.random.default_rng(0)
X = rng.integers(4, size=(300, 4)).astype(float)
Y = np.where(rng.random(300) < 0.2, 2, (X[:, 0] > 1) ^ (X[:, 2] == 3)).astype(int)
ALL = [0, 1, 2, 3]


def plain(X, y, weight, score, names):
    """ID3 or C4.5 by recursion, rows with missing values shared out: nested (feature, {category: child})."""
    classes = np.bincount(y, weight, minlength=3)
    found = {d: score(X[:, d], y, weight) for d in names}
    best = max(found, key=lambda d: (round(found[d], 9), -d), default=None)
    if (classes > 0).sum() < 2 or best is None or found[best] < 1e-9:
        return classes
    x = X[:, best]
    children, known = {}, weight[~np.isnan(x)].sum()
    for value in np.unique(x[~np.isnan(x)]):
        share = weight[x == value].sum() / known
        if share:
            part = weight * np.where(np.isnan(x), share, x == value)
            keep = part > 0
            children[value] = plain(X[keep], y[keep], part[keep], score, [d for d in names if d != best])
    return best, children


def nested(tree, node=0):
    if tree.is_leaf[node]:
        return tree.count[node]
    d = tree.feature[node]
    return int(d), {tree.bins.categories[d][b]: nested(tree, c) for b, c in tree.branches_of(node)}


def assert_same_tree(a, b):
    if isinstance(a, tuple):
        assert a[0] == b[0]
        assert a[1].keys() == b[1].keys()
        for value in a[1]:
            assert_same_tree(a[1][value], b[1][value])
    else:
        np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(
    ("criterion", "score"),
    [("information_gain", information_gain), ("gain_ratio", information_gain_ratio)],
)
def test_is_the_recursion_of_the_books(criterion, score, missing):
    holes = np.where(rng.random(X.shape) < missing, np.nan, X)
    weight = rng.uniform(0.5, 2.0, size=len(X))
    model = MultiwayTreeClassifier(criterion=criterion, categorical_features=ALL).fit(holes, Y, weight)
    assert_same_tree(nested(model.model_), plain(holes, Y, weight, score, ALL))
    leaves = model.model_.is_leaf
    np.testing.assert_allclose(model.model_.weight[leaves].sum(), weight.sum())


def test_numbers_are_split_at_the_threshold_with_the_largest_gain():
    x = np.round(rng.normal(size=80), 1)
    y = (x + 0.3 * rng.normal(size=80) > 0.4).astype(int)
    model = MultiwayTreeClassifier(max_depth=1).fit(x[:, None], y)
    values = np.unique(x)
    middles = (values[1:] + values[:-1]) / 2
    gain = [information_gain(x <= t, y) for t in middles]
    assert np.isclose(model.model_.threshold[0], middles[np.argmax(gain)])
    left, right = model.predict_proba([[-9.0], [9.0]])
    share = (x <= model.model_.threshold[0]).mean()
    np.testing.assert_allclose(model.predict_proba([[np.nan]])[0], share * left + (1 - share) * right)


def test_numbers_are_split_again_and_categories_are_not():
    x = rng.random((200, 1))
    y = (np.floor(4 * x[:, 0]) % 2).astype(int)
    assert MultiwayTreeClassifier().fit(x, y).score(x, y) == 1.0
    tree = MultiwayTreeClassifier(categorical_features=[0, 1]).fit(X[:, :2], Y)
    assert tree.get_depth() <= 2


def test_missing_and_unknown_values_are_shared_among_the_branches():
    model = MultiwayTreeClassifier(categorical_features=[0]).fit(X[:, :1], Y)
    shares = np.bincount(Y) / len(Y)  # of one split, that of the root
    np.testing.assert_allclose(model.predict_proba([[np.nan], [17.0]]), [shares, shares])


def test_limits():
    full = MultiwayTreeClassifier(categorical_features=ALL).fit(X, Y)
    assert MultiwayTreeClassifier(max_depth=2, categorical_features=ALL).fit(X, Y).get_depth() == 2
    gain = max(information_gain(x, Y) for x in X.T)
    assert clone(full).set_params(epsilon=gain).fit(X, Y).get_n_leaves() > 1
    assert clone(full).set_params(epsilon=gain + 1e-6).fit(X, Y).get_n_leaves() == 1
    tree = clone(full).set_params(min_samples_leaf=20).fit(X, Y).model_
    for node in np.flatnonzero(~tree.is_leaf):
        assert (tree.weight[tree.children(node)] >= 20).sum() >= 2


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.0, 8.0, 100.0])
def test_pruning_finds_the_best_subtree(alpha):
    model = MultiwayTreeClassifier(max_depth=2, categorical_features=[0, 2]).fit(X[:150], Y[:150])
    tree = model.model_
    inner = np.flatnonzero(~tree.is_leaf)
    costs = []
    for chosen in product([False, True], repeat=len(inner)):
        to_leaf = tree.is_leaf.copy()
        to_leaf[inner] = chosen
        costs.append(tree._cut(to_leaf).cost(alpha))
    pruned = model.prune(alpha)
    assert np.isclose(pruned.cost(alpha), min(costs))
    assert pruned.cost(alpha) <= model.cost(alpha)
    again = clone(model).set_params(alpha=alpha).fit(X[:150], Y[:150])
    np.testing.assert_array_equal(again.predict_proba(X), pruned.predict_proba(X))
    assert model.get_n_leaves() == tree.is_leaf.sum()  # it did not change


def test_cost_is_that_of_the_leaves():
    model = MultiwayTreeClassifier(max_depth=1, categorical_features=[0]).fit(X[:, :1], Y)
    counts = [np.bincount(Y[X[:, 0] == v], minlength=3) for v in range(4)]
    cost = sum(c.sum() * impurity(c, "entropy") for c in counts)
    assert np.isclose(model.cost(), cost)
    assert np.isclose(model.cost(2.5), cost + 4 * 2.5)


def test_same_tree_from_a_scan(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    words = np.array(["ash", "elm", "oak", "yew"])[X[:, :2].astype(int)].astype(object)
    words[::7, 0] = None
    columns = {"a": words[:, 0], "b": words[:, 1], "c": X[:, 2], "y": Y}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=64)
    scan = suffice.rows(suffice.scan_parquet(tmp_path / "rows.parquet"), features=["a", "b", "c"], target="y")
    model = MultiwayTreeClassifier(categorical_features=["a", "b"]).fit(scan)
    monkeypatch.setattr(module, "HISTOGRAM_BYTES", 1000)  # so that a level takes several folds
    table = np.column_stack([words, X[:, 2].astype(object)])
    here = MultiwayTreeClassifier(categorical_features=[0, 1]).fit(table, Y)
    for name in ("feature", "threshold", "branches"):
        np.testing.assert_array_equal(getattr(here.model_, name), getattr(model.model_, name))
    np.testing.assert_allclose(here.model_.count, model.model_.count, rtol=1e-12)


def test_from_dtype_and_rules():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"job": ["a", "b", "c"] * 4, "income": np.arange(12.0)})
    y = np.where((frame.job == "b") & (frame.income > 5.0), "no", "yes")
    model = MultiwayTreeClassifier(categorical_features="from_dtype").fit(frame, y)
    assert export_rules(model).splitlines() == [
        "if job = a then yes (1 of 4)",
        "if job = b and income <= 5.5 then yes (1 of 2)",
        "if job = b and income > 5.5 then no (1 of 2)",
        "if job = c then yes (1 of 4)",
    ]
    assert export_text(model).splitlines()[:3] == [
        "|--- job = a",
        "|   |--- class: yes",
        "|--- job = b",
    ]
    assert "truncated branch of depth 2" in export_text(model, max_depth=0)
