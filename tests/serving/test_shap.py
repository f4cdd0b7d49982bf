"""SHAP explains the copies that scikit-learn knows: its values add up to our predictions."""

from __future__ import annotations

import numpy as np
import pytest

import suffice
from suffice.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)).astype(np.float32).astype(np.float64)  # scikit-learn's trees take float32
Y = X[:, 0] * X[:, 1] + X[:, 2]
MODELS = [
    DecisionTreeRegressor(max_depth=4),
    RandomForestRegressor(8, max_depth=5, random_state=0),
    DecisionTreeClassifier(max_depth=4),
    RandomForestClassifier(8, max_depth=5, random_state=0),
    GradientBoostingRegressor(n_estimators=8),
    HistGradientBoostingRegressor(max_iter=8),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_values_add_up_to_predictions(model):
    shap = pytest.importorskip("shap")
    labels = hasattr(model, "predict_proba")
    model.fit(X, np.digitize(Y, [-0.5, 0.5]) if labels else Y)
    explainer = shap.TreeExplainer(suffice.as_sklearn(model))
    values = explainer.shap_values(X[:50])
    answers = model.predict_proba(X[:50]) if labels else model.predict(X[:50])
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, answers, atol=1e-6)
    size = np.abs(values).reshape(50, 4, -1).mean(axis=(0, 2))
    assert size[:3].min() > size[3]  # on which the target does not depend
    # The expectation is that of the rows of the nodes.
    if type(model).__name__.endswith("BoostingRegressor"):
        return  # whose trees add up
    trees = [model.model_] if hasattr(model.model_, "value") else list(model.model_)
    mean = np.mean([tree.value[0] for tree in trees], axis=0)
    np.testing.assert_allclose(explainer.expected_value, mean if labels else mean[0], atol=1e-6)
