"""Support vector regression: the conditions of its optimum."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.svm import SVR

from ._common import X, target, weight


def test_conditions_of_an_optimum_of_a_regression():
    """The duality gap, with weights: there is one minimum."""
    weights = weight + 0.5
    model = SVR(epsilon=0.2, C=2.0, tol=1e-8).fit(X, target, weights)
    rest = target - model.predict(X)
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    square = beta @ (model.predict(X) - model.intercept_)
    primal = 0.5 * square + 2.0 * weights @ np.maximum(0.0, np.abs(rest) - 0.2)
    dual = beta @ target - 0.2 * np.abs(beta).sum() - 0.5 * square
    assert 0.0 <= primal - dual + 1e-9 < 1e-5 * primal
    assert (np.abs(beta) <= 2.0 * weights).all() and beta.sum() == pytest.approx(0.0, abs=1e-9)
