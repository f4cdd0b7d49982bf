"""Forests: trees one after the other."""

import numpy as np
import pytest

from suffice.tree import DecisionTreeClassifier, Forest


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 6, 300), rng.integers(0, 4, 300)])
    X[rng.random(300) < 0.1, 0] = np.nan
    return X, rng.integers(0, 3, 300)


def test_trees_are_as_they_were(rows):
    X, y = rows
    trees = [
        DecisionTreeClassifier(max_depth=d, categorical_features=[1, 2]).fit(X[d::2], y[d::2]).model_
        for d in range(1, 5)
    ]
    forest = Forest.of(trees)
    assert len(forest) == 4
    for tree, again in zip(trees, forest, strict=True):
        for name, value in tree.fields().items():
            if name != "bins":
                np.testing.assert_array_equal(getattr(again, name), value)
    leaves = np.stack([tree.leaves(X) for tree in trees], axis=1)
    np.testing.assert_array_equal(forest.leaves(X), leaves + forest.root)
    total = sum(tree.value[tree.leaves(X)] for tree in trees)
    np.testing.assert_array_equal(forest.sum(X), total)


def test_each_tree_may_have_its_output(rows):
    X, y = rows
    trees = [DecisionTreeClassifier(max_depth=2).fit(X[k::2], y[k::2]).model_ for k in range(4)]
    trees = [tree.replace(value=tree.value[:, :1]) for tree in trees]
    sums = Forest.of(trees).sum(X, np.array([0, 1, 0, 1]), 2)
    expected = [
        trees[k].value[trees[k].leaves(X), 0] + trees[k + 2].value[trees[k + 2].leaves(X), 0]
        for k in range(2)
    ]
    np.testing.assert_array_equal(sums, np.stack(expected, axis=1))
