"""Generalized linear models: the optimum, by scikit-learn's solvers, by differences and by closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs
from scipy.optimize import minimize
from sklearn.metrics import d2_tweedie_score

from suffice.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from suffice.losses import Gamma, Poisson, SquaredError, Tweedie, TweedieIdentity, tweedie

rng = np.random.default_rng(0)
N, D = 400, 3
X = rng.normal(size=(N, D))
MEAN = np.exp(X @ [0.3, -0.5, 0.2] + 1.0)
COUNTS, AMOUNTS = rng.poisson(MEAN).astype(float), rng.gamma(2.0, MEAN / 2.0)
SUMS = np.array([rng.gamma(2.0, 1.0, int(n)).sum() for n in COUNTS])  # many are zero
WEIGHT = rng.integers(0, 3, N).astype(float)

MODELS = {
    "poisson": (PoissonRegressor, {}, COUNTS),
    "gamma": (GammaRegressor, {}, AMOUNTS),
    "compound": (TweedieRegressor, {"power": 1.5}, SUMS),
    "inverse Gaussian": (TweedieRegressor, {"power": 3.0}, AMOUNTS),
    "normal": (TweedieRegressor, {"power": 0.0}, X @ [1.0, 2.0, -1.0] - 3.0 + rng.normal(size=N)),
    "extreme": (TweedieRegressor, {"power": -1.0, "link": "identity"}, AMOUNTS + 10.0),
    "log of normal": (TweedieRegressor, {"power": 0.0, "link": "log"}, AMOUNTS + 1.0),
    "Poisson sums": (TweedieRegressor, {"power": 1.0, "link": "identity"}, COUNTS + 20.0),
    "gamma sums": (TweedieRegressor, {"power": 2.0, "link": "identity"}, AMOUNTS + 20.0),
}
each_model = pytest.mark.parametrize("name", MODELS)
each_solver = pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky"])


def made(name, **how):
    cls, options, y = MODELS[name]
    return cls(**options, **how), getattr(theirs, cls.__name__)(**options, **how), y


# With the identity link and no intercept, the means of some rows are negative at every point.
FITS = [
    (name, fit_intercept)
    for name, (_, options, _) in MODELS.items()
    for fit_intercept in (True, False)
    if fit_intercept or options.get("link") != "identity"
]


@pytest.mark.parametrize(("name", "fit_intercept"), FITS)
@each_solver
def test_the_optimum_of_scikit_learn(name, solver, fit_intercept):
    model, _, y = made(name, alpha=0.1, tol=1e-8, max_iter=1000, solver=solver, fit_intercept=fit_intercept)
    # Its Newton's method is that of the Hessian, and not defined where this is not positive.
    _, peer, _ = made(name, alpha=0.1, tol=1e-10, max_iter=10_000, fit_intercept=fit_intercept)
    model.fit(X, y, WEIGHT)
    peer.fit(X, y, WEIGHT)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-5)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-5)
    np.testing.assert_allclose(model.score(X, y, WEIGHT), peer.score(X, y, WEIGHT), atol=1e-8)


@each_model
def test_no_point_is_lower(name):
    """The objective of the docstring, by another optimizer from the solution."""
    model, _, y = made(name, alpha=0.1, tol=1e-9, max_iter=1000)
    model.fit(X, y, WEIGHT)
    loss = model._loss()

    def objective(theta):
        f = (X @ theta[:-1] + theta[-1])[:, None]
        return WEIGHT @ loss.value(y, f) / WEIGHT.sum() + 0.05 * theta[:-1] @ theta[:-1]

    at = np.append(model.coef_, model.intercept_)
    best = minimize(objective, at, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-12})
    assert objective(at) <= best.fun + 1e-9


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        (SquaredError(), AMOUNTS),
        (Poisson(), COUNTS),
        (Gamma(), AMOUNTS),
        (Tweedie(1.3), SUMS),
        *((TweedieIdentity(p), AMOUNTS) for p in (-1.0, 1.0, 1.5, 2.0, 3.0)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_derivatives_of_losses(loss, y):
    f = rng.uniform(0.5, 2.0, (N, 1))
    g, h = loss.derivatives(y, f)
    step = 1e-6
    slope = (loss.value(y, f + step) - loss.value(y, f - step)) / (2 * step)
    np.testing.assert_allclose(g[:, 0], slope, rtol=1e-6, atol=1e-6)
    if isinstance(loss, Poisson):  # the others have a constant curvature, or the expected one
        bend = (loss.derivatives(y, f + step)[0] - loss.derivatives(y, f - step)[0]) / (2 * step)
        np.testing.assert_allclose(h, bend, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("power", [-1.0, 0.0, 1.0, 1.5, 2.0, 3.0])
def test_losses_are_half_deviances(power):
    """But for a number that does not depend on the score."""
    from sklearn.metrics import mean_tweedie_deviance

    for link in ("identity", "log"):
        loss = tweedie(power, link)
        for n in range(5):
            y = AMOUNTS[[n]]
            scores = np.array([[0.7], [1.9]])
            values = [loss.value(y, f[None])[0] for f in scores]
            halves = [0.5 * mean_tweedie_deviance(y, loss.predicted(f[None]), power=power) for f in scores]
            np.testing.assert_allclose(np.diff(values), np.diff(halves), rtol=1e-9)


def test_without_features_the_mean_is_predicted():
    for name in ("poisson", "gamma", "compound", "inverse Gaussian", "normal"):
        model, _, y = made(name, tol=1e-10)
        zeros = np.zeros((N, 1))
        model.fit(zeros, y, WEIGHT)
        np.testing.assert_allclose(model.predict(zeros[:1]), np.average(y, weights=WEIGHT), rtol=1e-8)
        assert abs(model.score(zeros, y, WEIGHT)) < 1e-8


@each_model
def test_score_is_the_share_of_deviance(name):
    model, _, y = made(name, alpha=0.1)
    model.fit(X, y)
    power = model._power()
    np.testing.assert_allclose(model.score(X, y), d2_tweedie_score(y, model.predict(X), power=power))


@each_model
def test_sparse_and_repeated_rows(name):
    model, again, y = made(name, alpha=0.1, tol=1e-9, max_iter=500)
    model.fit(X, y, WEIGHT)
    again = type(model)(**model.get_params())
    np.testing.assert_allclose(again.fit(sp.csr_array(X), y, WEIGHT).coef_, model.coef_, atol=1e-7)
    copies = np.repeat(np.arange(N), WEIGHT.astype(int))
    np.testing.assert_allclose(again.fit(X[copies], y[copies]).coef_, model.coef_, atol=1e-7)


def test_exposure_is_a_weight():
    """Rates with the exposure as weight have the optimum of counts with its logarithm as offset."""
    exposure = rng.uniform(0.5, 3.0, N)
    counts = rng.poisson(MEAN * exposure)
    model = PoissonRegressor(alpha=0.0, tol=1e-9, max_iter=500).fit(X, counts / exposure, exposure)
    f = X @ model.coef_ + model.intercept_ + np.log(exposure)
    error = np.exp(f) - counts
    np.testing.assert_allclose(np.append(X.T @ error, error.sum()) / N, 0.0, atol=1e-7)


def test_a_far_step_is_shortened():
    """Scores of thousands overflow the mean: no NaN, and the optimum."""
    far = X * [1e3, 1.0, 1e-3] + [1e5, 0.0, 0.0]
    for solver in ("lbfgs", "newton-cholesky"):
        model = PoissonRegressor(alpha=0.0, solver=solver, tol=1e-8, max_iter=1000).fit(far, COUNTS)
        near = PoissonRegressor(alpha=0.0, solver=solver, tol=1e-8, max_iter=1000).fit(X, COUNTS)
        assert model.converged_
        np.testing.assert_allclose(model.predict(far), near.predict(X), rtol=1e-5)


def test_large_counts():
    """The curvature is the mean: 10^8 here, and nothing overflows."""
    y = rng.poisson(1e8 * MEAN).astype(float)
    model = PoissonRegressor(alpha=0.0, max_iter=1000).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, [0.3, -0.5, 0.2], atol=1e-3)


def test_weights_of_zero_hide_what_is_not_finite():
    """The mean of a row without weight may overflow."""
    Z, y = np.vstack([X, [[1e6, 0.0, 0.0]]]), np.append(COUNTS, 1.0)
    w = np.append(np.ones(N), 0.0)
    model = PoissonRegressor(tol=1e-8, max_iter=500).fit(Z, y, w)
    np.testing.assert_allclose(
        model.coef_, PoissonRegressor(tol=1e-8, max_iter=500).fit(X, COUNTS).coef_, 1e-5
    )


def test_warm_start():
    model = PoissonRegressor(alpha=0.1, tol=1e-6, warm_start=True).fit(X, COUNTS)
    assert model.fit(X, COUNTS).n_iter_ <= 1


@pytest.mark.parametrize(
    ("model", "low"),
    [
        (PoissonRegressor(), "y >= 0"),
        (GammaRegressor(), "y > 0"),
        (TweedieRegressor(power=1.5), "y >= 0"),
        (TweedieRegressor(power=2.5), "y > 0"),
    ],
    ids=repr,
)
def test_targets_out_of_range(model, low):
    y = COUNTS.copy() + 1.0
    y[3] = -1.0
    with pytest.raises(ValueError, match=rf"out of the valid range of the loss.*{low}. Got -1"):
        model.fit(X, y)


def test_zeros_alone_have_no_maximum():
    with pytest.raises(ValueError, match=r"All targets are zero.*sum\(y\) > 0"):
        PoissonRegressor().fit(X, np.zeros(N))
    assert np.isfinite(PoissonRegressor(fit_intercept=False).fit(X, np.zeros(N)).coef_).all()


def test_parameters_are_refused_by_fit():
    """And not by the tags, which others read before."""
    model = TweedieRegressor(power="1.5")
    assert not model.__sklearn_tags__().target_tags.positive_only
    with pytest.raises(ValueError, match="power"):
        model.fit(X, COUNTS)
