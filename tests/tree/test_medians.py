"""Trees of the absolute error: against scikit-learn, and by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import tree as peer

from suffice.ensemble import RandomForestRegressor
from suffice.loops.medians import median_errors
from suffice.tree import DecisionTreeRegressor


def rows(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).astype(np.float32).astype(np.float64)
    return X, X[:, 0] + rng.normal(size=n)


def tree(**options) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(criterion="absolute_error", **options)


def test_errors_of_growing_sets_by_enumeration():
    rng = np.random.default_rng(1)
    value = np.unique(rng.integers(-50, 50, 20))
    rank, weight = rng.integers(0, len(value), 60), rng.integers(1, 5, 60)
    expected = [min((weight[:n] * np.abs(value[rank[:n]] - c)).sum() for c in value) for n in range(1, 61)]
    assert median_errors(rank, weight, value).tolist() == expected


@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"max_leaf_nodes": 6}], ids=str)
def test_is_the_tree_of_scikit_learn(options):
    X, y = rows()
    both = np.stack([y, X[:, 1]], axis=1)
    for target in (y, both):
        ours = tree(**options).fit(X, target)
        theirs = peer.DecisionTreeRegressor(criterion="absolute_error", random_state=0, **options)
        theirs.fit(X, target)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
        assert ours.tree_.node_count == theirs.tree_.node_count
    if "max_depth" in options:  # else nodes are in another order, or have equal splits
        np.testing.assert_allclose(ours.tree_.impurity, theirs.tree_.impurity, rtol=1e-9, atol=1e-12)


def test_known_impurities():
    X, y = [[3], [5], [3], [8], [5]], [6, 7, 3, 4, 3]
    model = tree(max_leaf_nodes=2).fit(X, y)
    assert model.tree_.impurity.tolist() == [1.4, 1.5, 4.0 / 3.0]
    assert model.tree_.value.ravel().tolist() == [4.0, 4.5, 4.0]
    model.fit(X, y, [0.6, 0.3, 0.1, 1.0, 0.3])
    np.testing.assert_allclose(model.tree_.impurity, [2.5 / 2.3, 0.3 / 0.7, 1.2 / 1.6], rtol=1e-7)


def test_weights_are_repetitions_and_the_order_does_not_matter():
    X, y = rows()
    rng = np.random.default_rng(2)
    X[rng.random(X.shape) < 0.2] = np.nan
    weight, order = rng.integers(0, 3, len(y)), rng.permutation(len(y))
    again = np.repeat(np.arange(len(y)), weight)
    for options in ({"max_depth": 4}, {"max_features": 2, "splitter": "random", "random_state": 3}):
        expected = tree(**options).fit(X, y, weight).predict(X)
        np.testing.assert_array_equal(tree(**options).fit(X[again], y[again]).predict(X), expected)
        model = tree(**options).fit(X[order], y[order], weight[order])
        np.testing.assert_array_equal(model.predict(X), expected)
        assert len(np.unique(expected)) > 4


def test_missing_values_take_the_better_side():
    X, y = np.array([[0.0], [1.0], [np.nan], [5.0], [6.0]]), np.array([1.0, 1.0, 9.0, 9.0, 9.0])
    model = tree().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.get_n_leaves() == 2
    only = tree().fit([[1.0], [1.0], [np.nan]], [2.0, 2.0, 7.0])
    assert only.predict([[3.0], [np.nan]]).tolist() == [2.0, 7.0]


def test_of_forests_and_errors():
    X, y = rows()
    model = RandomForestRegressor(5, criterion="absolute_error", random_state=0).fit(X, y)
    median = np.mean([member.predict(X) for member in model], axis=0)
    np.testing.assert_allclose(model.predict(X), median, rtol=1e-12)
    assert np.isin(model[0].tree_.value[model[0].tree_.children_left < 0].ravel(), y).mean() > 0.5
    with pytest.raises(ValueError, match="no monotonicity constraints: use criterion='squared_error'"):
        tree(monotonic_cst=[1, 0, 0]).fit(X, y)
