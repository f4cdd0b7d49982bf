"""Bayesian ridge regression: scikit-learn's results, from moments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.datasets import load_diabetes

from suffice.linear_model import BayesianRidge, Ridge

from ..versions import since

X, y = load_diabetes(return_X_y=True)
weight = np.random.default_rng(0).integers(0, 4, size=len(X)).astype(float)
NAMES = ("coef_", "intercept_", "alpha_", "lambda_", "sigma_", "n_iter_", "X_offset_", "X_scale_")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"fit_intercept": False, "tol": 1e-8},
        {"alpha_init": 0.5, "lambda_init": 1e-3, "max_iter": 3},
        {"alpha_1": 2.0, "alpha_2": 0.1, "lambda_1": 3.0, "lambda_2": 0.5},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "sample_weight",
    [
        pytest.param(None, id="plain"),
        pytest.param(weight, id="weights", marks=since("1.7", "corrected the weights of BayesianRidge")),
    ],
)
def test_as_scikit_learn(params, sample_weight):
    params = {**params, "compute_score": True}
    model = BayesianRidge(**params).fit(X, y, sample_weight=sample_weight)
    peer = linear_model.BayesianRidge(**params).fit(X, y, sample_weight=sample_weight)
    for name in NAMES:
        np.testing.assert_allclose(getattr(model, name), getattr(peer, name), rtol=1e-6, atol=1e-9)
    # The last of scikit-learn's scores has the coefficients of the iteration before.
    np.testing.assert_allclose(model.scores_[:-1], peer.scores_[:-1], rtol=1e-6)
    np.testing.assert_allclose(model.scores_[-1], peer.scores_[-1], rtol=1e-2)
    for ours, theirs in zip(model.predict(X, return_std=True), peer.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@since("1.7", "corrected the covariance of BayesianRidge for fewer rows than features")
def test_fewer_rows_than_features():
    model, peer = (cls().fit(X[:6], y[:6]) for cls in (BayesianRidge, linear_model.BayesianRidge))
    for name in NAMES:
        np.testing.assert_allclose(getattr(model, name), getattr(peer, name), rtol=1e-6, atol=1e-9)


def test_the_score_is_the_marginal_likelihood():
    """At the precisions that were found, as a normal density of all targets."""
    from scipy.stats import multivariate_normal

    model = BayesianRidge(compute_score=True, fit_intercept=False, tol=1e-12, **NO_PRIOR).fit(X[:40], y[:40])
    covariance = np.eye(40) / model.alpha_ + X[:40] @ X[:40].T / model.lambda_
    expected = multivariate_normal(np.zeros(40), covariance).logpdf(y[:40])
    np.testing.assert_allclose(model.scores_[-1], expected, rtol=1e-9)
    assert (np.diff(model.scores_[1:]) > -1e-6).all()


NO_PRIOR = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}


def test_is_ridge_with_the_ratio_of_precisions():
    model = BayesianRidge().fit(X, y)
    ridge = Ridge(alpha=model.lambda_ / model.alpha_).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-8)


def test_parts_sparse_rows_and_repetitions():
    full = BayesianRidge().fit(X, y, sample_weight=weight)
    parts = BayesianRidge()
    for rows in (slice(0, 100), slice(100, None)):
        parts.partial_fit(sp.csr_array(X[rows]), y[rows], sample_weight=weight[rows])
    repeated = BayesianRidge().fit(*(np.repeat(a, weight.astype(int), axis=0) for a in (X, y)))
    for other in (parts, repeated):
        np.testing.assert_allclose(other.coef_, full.coef_, rtol=1e-8)
        np.testing.assert_allclose(other.alpha_, full.alpha_, rtol=1e-8)
    sparse = full.predict(sp.csr_array(X[:5]), return_std=True)
    np.testing.assert_allclose(sparse, full.predict(X[:5], return_std=True), rtol=1e-12)


@pytest.mark.parametrize("priors", [{}, NO_PRIOR], ids=["default", "none"])
def test_degenerate_data_has_finite_results(priors):
    constant = np.ones((5, 2))
    for rows, targets in ((X[:20], np.full(20, 3.0)), (constant, y[:5]), (X[:20], X[:20, 0])):
        model = BayesianRidge(compute_score=True, **priors).fit(rows, targets)
        for name in ("coef_", "sigma_", "alpha_", "lambda_", "scores_"):
            assert np.isfinite(getattr(model, name)).all(), name
        mean, std = model.predict(rows, return_std=True)
        assert np.isfinite(mean).all()
        assert (std >= 0).all()
