"""Effects of boosted trees: they add up to the score, and are those of the features that trees split by."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification

from suffice.ensemble import (
    AdaBoostClassifier,
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    boosting_effects,
)
from suffice.naive_bayes import GaussianNB
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = make_classification(400, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
HOLES = X.copy()
HOLES[::7, 0] = np.nan
THREE = DecisionTreeClassifier(max_leaf_nodes=3)
MODELS = {
    "stumps": (AdaBoostClassifier(n_estimators=20), 1),
    "real": (AdaBoostClassifier(THREE, n_estimators=15, algorithm="real"), 2),
    "stagewise": (ForwardStagewiseRegressor(DecisionTreeRegressor(max_leaf_nodes=4), n_estimators=15), 3),
    "labels": (ForwardStagewiseClassifier(THREE, n_estimators=15), 2),
    "logistic": (ForwardStagewiseClassifier(loss="logistic", n_estimators=15), 1),
    "boosting": (HistGradientBoostingClassifier(max_leaf_nodes=3, max_iter=10), 2),
    "numbers": (GradientBoostingRegressor(max_depth=1, n_estimators=10), 1),
}


def total(found, rows):
    return found.intercept + sum(effect(rows) for effect in found.effects.values())


def score(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_effects_add_up_to_the_score(name, n_classes):
    model, order = MODELS[name]
    if n_classes == 3 and isinstance(model, ForwardStagewiseClassifier):
        pytest.skip("of two classes")
    model.fit(HOLES, np.minimum(Y, n_classes - 1))
    found = boosting_effects(model, order=order)
    rng = np.random.default_rng(1)
    others = rng.normal(scale=2.0, size=(500, 5))
    others[rng.random((500, 5)) < 0.1] = np.nan
    for rows in (HOLES, others):
        np.testing.assert_allclose(total(found, rows), score(model, rows), atol=1e-10)
    assert max(map(len, found.effects)) == order
    for features, effect in found.effects.items():
        for d, cells in zip(features, effect.cells, strict=True):  # a threshold belongs to the cell below it
            rows = np.zeros((len(cells), 5))
            rows[:, d] = cells
            np.testing.assert_allclose(total(found, rows), score(model, rows), atol=1e-10)


def test_categories_and_unknown_ones():
    rng = np.random.default_rng(0)
    color, number = rng.choice(["blue", "green", "red"], 300), rng.normal(size=300)
    rows = np.array([color, number], dtype=object).T
    y = 2.0 * (color == "red") * (number > 0) + number
    base = DecisionTreeRegressor(max_leaf_nodes=3, categorical_features=[0])
    model = ForwardStagewiseRegressor(base, n_estimators=12).fit(rows, y)
    found = boosting_effects(model)
    assert (0, 1) in found.effects
    effect = found.effects[0, 1]
    assert effect.cells[0].tolist() == ["blue", "green", "red"]
    assert effect.value.shape == (4, len(effect.cells[1]) + 2)
    others = np.array([["red", 0.3], ["violet", -1.0], [None, np.nan], ["blue", np.nan]], dtype=object)
    for part in (rows, others):
        np.testing.assert_allclose(total(found, part), model.predict(part), atol=1e-12)


def test_trees_without_a_split_are_the_intercept():
    model = ForwardStagewiseRegressor(n_estimators=3).fit(np.ones((10, 2)), np.full(10, 4.0))
    found = boosting_effects(model)
    assert found.effects == {} and found.intercept == 4.0


def test_refused():
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match=r"order=2: raise order, or boost trees with max_leaf_nodes=3"):
        boosting_effects(deep)
    with pytest.raises(TypeError, match="are not trees"):
        boosting_effects(AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, Y))
    with pytest.raises(TypeError, match="are not trees"):
        boosting_effects(ForwardStagewiseClassifier(GaussianNB(), n_estimators=2).fit(X, Y > 0))
    with pytest.raises(TypeError, match="RandomForestClassifier is not a boosted ensemble"):
        boosting_effects(RandomForestClassifier(2).fit(X, Y))
