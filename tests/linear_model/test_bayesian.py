"""Bayesian linear regression: the posterior by other ways, and the evidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import BayesianRidge

from suffice.linear_model import BayesianLinearRegression, Ridge

PRIOR = np.array([[3.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 2.0]])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + 2.0
    return X, X @ [1.0, -2.0, 0.0] + 0.5 * rng.normal(size=40) + 3.0


def test_the_mean_is_ridge(rows):
    X, y = rows
    model = BayesianLinearRegression(prior_precision=6.0, noise_precision=4.0).fit(X, y)
    ridge = Ridge(6.0 / 4.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, ridge.intercept_, rtol=1e-10)


def test_the_evidence_is_the_density_of_the_targets(rows):
    X, y = rows
    mean, noise = np.array([1.0, 0.0, -1.0]), 4.0
    how = {"prior_mean": mean, "prior_precision": PRIOR, "noise_precision": noise, "fit_intercept": False}
    model = BayesianLinearRegression(**how).fit(X, y)
    covariance = X @ np.linalg.inv(PRIOR) @ X.T + np.eye(40) / noise
    assert model.log_evidence_ == pytest.approx(multivariate_normal(X @ mean, covariance).logpdf(y))


def test_a_flat_intercept_is_the_limit_of_wide_ones(rows):
    """A column of ones with a precision that tends to zero, whose constant is taken out of the evidence."""
    X, y = rows
    flat = BayesianLinearRegression(prior_precision=PRIOR, noise_precision=4.0).fit(X, y)
    wide, small = np.zeros((4, 4)), 1e-9
    wide[:3, :3], wide[3, 3] = PRIOR, small
    X1 = np.hstack([X, np.ones((40, 1))])
    ones = BayesianLinearRegression(prior_precision=wide, noise_precision=4.0, fit_intercept=False).fit(X1, y)
    np.testing.assert_allclose(ones.coef_, [*flat.coef_, flat.intercept_], rtol=1e-6)
    new = np.array([[0.0, 5.0, 1.0]])
    for a, b in zip(
        flat.predict(new, return_std=True), ones.predict([[0.0, 5.0, 1.0, 1.0]], return_std=True), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert flat.log_evidence_ + 0.5 * np.log(small / (2 * np.pi)) == pytest.approx(
        ones.log_evidence_, abs=1e-5
    )


def test_the_evidence_is_largest_where_it_says(rows):
    X, y = rows
    best = BayesianLinearRegression(prior_precision="evidence", noise_precision="evidence").fit(X, y)
    for factor in (0.9, 1.1):
        for name in ("prior_precision", "noise_precision"):
            how = {"prior_precision": best.prior_precision_, "noise_precision": best.noise_precision_}
            how[name] *= factor
            assert BayesianLinearRegression(**how).fit(X, y).log_evidence_ < best.log_evidence_
    # Its evidence is of targets minus their mean, as if that were known.
    peer = BayesianRidge(max_iter=1000, tol=1e-12, alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0).fit(X, y)
    np.testing.assert_allclose(best.coef_, peer.coef_, rtol=1e-2)


def test_one_row_after_the_other(rows):
    X, y = rows
    whole = BayesianLinearRegression(noise_precision=4.0).fit(X, y)
    parts = BayesianLinearRegression(noise_precision=4.0)
    for n in range(len(y)):
        parts.partial_fit(X[n : n + 1], y[n : n + 1])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_allclose(parts.covariance_, whole.covariance_, rtol=1e-9)


def test_draws_have_the_mean_and_covariance_of_the_posterior(rows):
    X, y = rows
    model = BayesianLinearRegression(prior_precision=PRIOR, noise_precision=1.0).fit(X, y)
    drawn = model.sample(40_000, random_state=0)
    np.testing.assert_allclose(
        drawn.mean(axis=0), model.coef_, atol=5 * np.sqrt(model.covariance_.max() / 4e4)
    )
    np.testing.assert_allclose(np.cov(drawn.T), model.covariance_, atol=0.05 * model.covariance_.max())
    density = multivariate_normal(model.coef_, model.covariance_)
    assert model.log_posterior(drawn[0]) == pytest.approx(density.logpdf(drawn[0]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"prior_precision": -1.0}, "'prior_precision' parameter"),
        ({"prior_precision": "best"}, "'evidence'"),
        ({"prior_precision": [1.0, 2.0]}, r"expected one of"),
        (
            {"prior_precision": [1.0, 2.0, 3.0], "noise_precision": "evidence"},
            "requires prior_precision to be a number",
        ),
        ({"prior_mean": [0.0, 1.0]}, "expected a number or"),
        ({"noise_precision": [1.0]}, "'noise_precision' parameter"),
    ],
)
def test_what_is_refused(rows, params, message):
    with pytest.raises(ValueError, match=message):
        BayesianLinearRegression(**params).fit(*rows)
