"""Sums of losses of linear scores: derivatives of dense and CSR rows, with and without an intercept."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.core.blocks import Rows
from suffice.linear_model import LogisticRegression
from suffice.linear_model.glm import GeneralizedLinear
from suffice.linear_model.logistic import LogLinear
from suffice.losses import Gamma, Poisson, SquaredError, Tweedie

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 3)) * (rng.random((70, 3)) < 0.7)
CODES, AMOUNTS = rng.integers(3, size=70), rng.gamma(2.0, size=70)
WEIGHT = rng.integers(0, 3, 70).astype(float)


def log_linear(K, **how):
    weights = np.arange(1.0, K + 1.0)
    return LogLinear(rng.normal(size=(1 if K == 2 else K, 4)), np.arange(K), weights, **how), CODES % K


def generalized(loss, **how):
    return GeneralizedLinear(0.3 * rng.normal(size=(1, 4)), loss, **how), AMOUNTS


MODELS = {
    "two classes": partial(log_linear, 2),
    "classes": partial(log_linear, 3),
    **{
        type(loss).__name__: partial(generalized, loss)
        for loss in (SquaredError(), Poisson(), Gamma(), Tweedie(1.5))
    },
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_derivatives_match_differences(name, as_rows, fit_intercept):
    model, y = MODELS[name](fit_intercept=fit_intercept, curvature=True)
    block = Rows(as_rows(X), y, WEIGHT)
    s, step = model.summarize(block), 1e-5
    theta = model.theta.ravel()
    for p in range(len(theta)):
        move = step * np.eye(len(theta))[p]
        up, down = (model.at(theta + sign * move).summarize(block) for sign in (1, -1))
        is_fixed = not fit_intercept and p % 4 == 3
        slope = 0.0 if is_fixed else (up.loss - down.loss) / (2 * step)
        curve = (0.0 if is_fixed else 1.0) * (up.gradient - down.gradient) / (2 * step)
        np.testing.assert_allclose(s.gradient[p], slope, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(s.hessian[p], curve, rtol=1e-5, atol=1e-6)
    plain = model.replace(curvature=False).summarize(block)  # by other loops, some of them
    np.testing.assert_allclose(plain.gradient, s.gradient, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(plain.loss, s.loss, rtol=1e-12)


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("sign", ["both", "negative", "few"])
def test_weights_of_squares_may_be_negative(as_rows, sign):
    """Curvatures are, by rounding, and differences of curvatures are."""
    model = GeneralizedLinear(np.zeros((1, 4)), SquaredError())
    w = rng.normal(size=70)
    w = {"both": w, "negative": -np.abs(w), "few": np.where(np.arange(70) % 5 == 0, w, 0.0)}[sign]
    Z = np.column_stack([X, np.ones(70)])
    np.testing.assert_allclose(model.squares(as_rows(X), w), Z.T @ (w[:, None] * Z), atol=1e-12)


def test_probabilities_above_one_by_rounding():
    """p (1 - p) is then negative, and its root is not a number."""
    far = rng.normal(size=(500, 4)) * 30.0
    y = (far @ rng.normal(size=(4, 3))).argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(solver="newton", C=10.0, tol=1e-6).fit(far, y)
    assert model.converged_
