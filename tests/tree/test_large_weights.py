"""Weights whose sum is too large for whole numbers are refused: they would be rounded to zero."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

X = np.arange(40.0)[:, None]
y = (X[:, 0] > 20).astype(int)
MODELS = [
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    RandomForestClassifier(3, random_state=0),
    AdaBoostClassifier(n_estimators=2),
    GradientBoostingRegressor(n_estimators=2),
    HistGradientBoostingClassifier(max_iter=2),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_totals(model):
    model.fit(X, y, np.full(40, 2.0**46))  # 40 times this is below 2^52
    assert model.score(X, y) > 0.3
    for weight in (2.0**47, 1e38):
        with pytest.raises(ValueError, match=r"sum of sample_weight is .*2\^52.*divide the weights"):
            model.fit(X, y, np.full(40, weight))
