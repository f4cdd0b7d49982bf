"""Proportional odds: beside statsmodels, beside logistic regression, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from suffice.core.blocks import Rows
from suffice.linear_model import LogisticRegression, ProportionalOdds
from suffice.linear_model.proportional_odds import CumulativeLogits


def table(n=300, classes=4, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    latent = X @ np.array([1.0, -2.0, 0.5])[:d] + rng.logistic(size=n)
    ends = np.quantile(latent, np.arange(1, classes) / classes)
    return X, np.searchsorted(ends, latent), rng.integers(0, 4, size=n).astype(float)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_as_statsmodels(solver):
    statsmodels = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    X, y, _ = table()
    theirs = statsmodels.OrderedModel(y, X, distr="logit")
    found = theirs.fit(method="bfgs", disp=False, gtol=1e-9)
    model = ProportionalOdds(C=np.inf, solver=solver, tol=1e-9, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, found.params[:3], rtol=1e-5)
    ends = theirs.transform_threshold_params(found.params[3:])[1:-1]
    np.testing.assert_allclose(model.thresholds_, ends, rtol=1e-5)
    np.testing.assert_allclose(model.trace_[-1] * len(y), -found.llf, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), found.predict(X), atol=1e-6)


def test_two_classes_are_a_logistic_regression():
    X, y, weight = table(classes=2)
    ours = ProportionalOdds(C=0.3, tol=1e-10).fit(X, y, weight)
    plain = LogisticRegression(C=0.3, solver="newton", tol=1e-10).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, plain.coef_[0], rtol=1e-8)
    np.testing.assert_allclose(-ours.thresholds_, plain.intercept_, rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X), atol=1e-9)


def test_derivatives_are_those_of_the_definition():
    X, y, weight = table(n=40)
    rng = np.random.default_rng(1)
    theta = np.concatenate([rng.normal(size=3), [-2.0, 0.1, 0.4]])
    at = CumulativeLogits(theta, np.arange(4), np.array([1.0, 2.0, 0.5, 1.0]), curvature=True)
    below = np.column_stack([np.zeros(40), expit(at.thresholds - (X @ at.coef)[:, None]), np.ones(40)])
    np.testing.assert_allclose(at.cumulative(X), below[:, 1:-1])
    np.testing.assert_allclose(np.exp(at.log_proba(X)), np.diff(below, axis=1), rtol=1e-12)
    s = at.summarize(Rows(X, y, weight))
    p = np.diff(below, axis=1)[np.arange(40), y]
    np.testing.assert_allclose(s.loss, -(weight * at.class_weight[y]) @ np.log(p), rtol=1e-12)
    for j, step in enumerate(1e-5 * np.eye(6)):
        up, down = (at.replace(theta=theta + sign * step).summarize(Rows(X, y, weight)) for sign in (1, -1))
        np.testing.assert_allclose((up.loss - down.loss) / 2e-5, s.gradient[j], rtol=1e-6)
        np.testing.assert_allclose((up.gradient - down.gradient) / 2e-5, s.hessian[j], rtol=1e-5, atol=1e-6)


def test_sparse_huge_and_far_scores():
    X, y, _ = table()
    dense = ProportionalOdds(tol=1e-9).fit(np.where(np.abs(X) < 0.5, 0.0, X), y)
    csr = ProportionalOdds(tol=1e-9).fit(sp.csr_array(np.where(np.abs(X) < 0.5, 0.0, X)), y)
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-9)
    far = dense.predict_log_proba(np.array([[1e4, 0.0, 0.0], [-1e4, 0.0, 0.0]]))
    assert np.isfinite(far).all()
    np.testing.assert_allclose(np.exp(far).sum(axis=1), 1.0)
    single = ProportionalOdds(tol=1e-6).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, ProportionalOdds(tol=1e-6).fit(X, y).coef_, rtol=1e-5)


def test_a_class_between_that_is_never_likeliest():
    """Thresholds come close to each other, and stay in order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = np.where(rng.random(2000) < 0.002, 1, np.where(X[:, 0] + rng.logistic(size=2000) > 0, 2, 0))
    for solver in ("newton", "lbfgs"):
        model = ProportionalOdds(solver=solver, tol=1e-8, max_iter=500).fit(X, y)
        assert model.converged_ and (np.diff(model.thresholds_) > 0).all()
        np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), np.bincount(y) / 2000, atol=2e-3)


def test_wrong_parameters():
    X, y, _ = table(n=30)
    with pytest.raises(ValueError, match="'solver' parameter"):
        ProportionalOdds(solver="sgd").fit(X, y)
    with pytest.raises(ValueError, match="'C' parameter"):
        ProportionalOdds(C=0).fit(X, y)
