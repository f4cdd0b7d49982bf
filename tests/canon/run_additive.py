"""Smoothing splines, additive models, projection pursuit."""

import numpy as np
from scipy.special import expit

from suffice.additive import (
    AdditiveModel,
    GeneralizedAdditiveModel,
    ProjectionPursuitClassifier,
    ProjectionPursuitRegressor,
    SmoothingSpline,
)
from suffice.linear_model import LinearRegression, LogisticRegression

from ._canon import example
from ._numeric import column, stopped


@example("stats601-and-slides/smoothing-spline-small")
def _(given):
    x, y = column(given["x"]), given["y"]
    spline = SmoothingSpline(given["lambda"]).fit(x, y)
    inside, outside = spline.predict([[1.5], [6.0]])
    return {
        "fitted": spline.predict(x),
        "prediction_at_1.5": inside,
        "prediction_at_6_linear_extrapolation": outside,
        "effective_df_trace_of_smoother": spline.df_,
        "lambda_to_infinity": SmoothingSpline(np.inf).fit(x, y).predict(x),
        "lambda_to_0": SmoothingSpline(0.0).fit(x, y).predict(x),
    }


@example("stats601-and-slides/backfitting-properties")
def _(_given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + rng.normal(size=200)
    ok = True
    for cycles in (1, 2, 5, 500):
        model = AdditiveModel(alpha=[0.1, 1.0, 10.0], solver="backfitting", max_iter=cycles)
        stopped(model, X, y)
        ok &= np.isclose(model.intercept_, y.mean())
        ok &= np.allclose(model.partial_effects(X).mean(axis=0), 0.0, atol=1e-9)
    ok &= bool((np.diff(model.trace_) <= 1e-12).all())
    lines = AdditiveModel(alpha=np.inf, solver="backfitting").fit(X, y)
    return bool(ok and np.allclose(lines.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-6))


@example("stats601-and-slides/gam-local-scoring")
def _(_given):
    X = np.random.default_rng(0).normal(size=(40, 2))

    def alpha(share):
        start = stopped(GeneralizedAdditiveModel("binomial", max_iter=0), X, np.arange(40) < 40 * share)
        assert not start.model_.coef.any()
        return start.intercept_

    y = X[:, 0] + np.random.default_rng(1).logistic(size=40) > 0
    lines = GeneralizedAdditiveModel("binomial", alpha=np.inf, solver="backfitting", tol=1e-12).fit(X, y)
    peer = LogisticRegression(C=np.inf, solver="newton", tol=1e-10).fit(X, y)
    assert np.allclose(lines.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    curves = GeneralizedAdditiveModel("binomial", alpha=0.1, solver="backfitting").fit(X, y)
    assert (np.diff(curves.trace_) <= 1e-12).all()
    return {"alpha_start": alpha(0.5), "alpha_start_for_mean_0.25": alpha(0.25)}


@example("stats601-and-slides/projection-pursuit-limits")
def _(_given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, -0.5, 0.2] + rng.logistic(size=300) > 0
    plain = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    for terms in (1, 2):  # lines: the sum of terms is one line, that of logistic regression
        lines = ProjectionPursuitClassifier(terms, alpha=1e12, tol=1e-13).fit(X, y)
        assert np.allclose(lines.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    one = ProjectionPursuitClassifier(1, alpha=1.0).fit(X, y)
    assert np.isclose(np.linalg.norm(one.directions_), 1.0)
    # Of directions that are the axes, the terms are those of an additive model.
    u = rng.uniform(-2.0, 2.0, size=(400, 2))
    z = np.sin(2.0 * u[:, 0]) + u[:, 1] ** 2
    pursuit = ProjectionPursuitRegressor(2, random_state=0).fit(u, z)
    axes = np.abs(pursuit.directions_)
    return bool(np.allclose(np.sort(axes.max(axis=1)), 1.0, atol=0.01))


@example("stats601-and-slides/projection-pursuit-regression-recovery")
def _(_given):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 4))
    W = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, -1.0, 1.0]])
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    y = np.sin(1.5 * X @ W[0]) + (X @ W[1]) ** 2 / 2.0
    model = ProjectionPursuitRegressor(2, random_state=0).fit(X, y)
    left = np.var(y - model.predict(X)) / np.var(y)
    return bool(left < 0.05 and (np.abs(model.directions_ @ W.T).max(axis=0) > 0.99).all())


@example("stats601-and-slides/single-index-recovery")
def _(_given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    w = rng.normal(size=5)
    w /= np.linalg.norm(w)
    y = (X @ w) ** 2 + 0.1 * rng.normal(size=500)
    model = ProjectionPursuitRegressor(1).fit(X, y)
    classes = rng.random(500) < expit(3.0 * (X @ w) ** 2 - 2.0)
    found = ProjectionPursuitClassifier(1).fit(X, classes)
    assert abs(found.directions_[0] @ w) > 0.95
    return bool(abs(model.directions_[0] @ w) > 0.99)
