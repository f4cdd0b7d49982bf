"""Huber's regression: its objective is the least there is, and scikit-learn's is no less."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn import linear_model as theirs
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

import suffice
from suffice.linear_model import HuberRegressor, LinearRegression
from suffice.linear_model.huber import HuberLine
from suffice.linear_model.residuals import Columns

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 3.0 + RNG.normal(size=300)
Y[:40] += RNG.normal(scale=30.0, size=40)
WEIGHT = RNG.gamma(2.0, size=300)
EACH = [{}, {"fit_intercept": False}, {"alpha": 10.0, "epsilon": 1.1}, {"epsilon": 3.0, "alpha": 0.0}]
each_way = pytest.mark.parametrize("params", EACH, ids=str)


def objective(model, X=X, y=Y, weight=WEIGHT):
    """As the definition reads."""
    z, e = np.abs(y - X @ model.coef_ - model.intercept_) / model.scale_, model.epsilon
    of_rows = np.where(z <= e, z**2, 2.0 * e * z - e**2)
    return model.scale_ * weight @ (1.0 + of_rows) + model.alpha * model.coef_ @ model.coef_


@each_way
def test_scikit_learn(params):
    ours = HuberRegressor(tol=1e-10, **params).fit(X, Y, sample_weight=WEIGHT)
    peer = theirs.HuberRegressor(tol=1e-12, max_iter=10_000, **params).fit(X, Y, sample_weight=WEIGHT)
    assert objective(ours) <= objective(peer) * (1.0 + 1e-12)
    assert objective(ours) == pytest.approx(objective(peer), rel=1e-8)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)  # where L-BFGS-B ends
    assert ours.scale_ == pytest.approx(peer.scale_, rel=1e-3)
    assert (ours.outliers_ == peer.outliers_).mean() > 0.99
    assert ours.converged_
    assert ours.n_iter_ < 15


@each_way
def test_no_neighbour_is_better(params):
    """By the definition alone, without derivatives."""
    model = HuberRegressor(tol=1e-10, **params).fit(X, Y, sample_weight=WEIGHT)
    best = objective(model)

    def at(v):
        other = HuberRegressor(**params)
        other.coef_, other.scale_ = v[:4], float(np.exp(v[5]))
        other.intercept_ = v[4] if model.fit_intercept else 0.0
        return objective(other)

    start = np.concatenate([model.coef_, [model.intercept_, np.log(model.scale_)]])
    found = minimize(at, start, method="Powell", options={"xtol": 1e-9, "ftol": 1e-14})
    assert found.fun >= best * (1.0 - 1e-11)


def test_lines_with_outliers_only():
    """All other residuals are zero, and so in the end is the scale."""
    y = X @ np.ones(4) + 2.0
    y[:60] += np.random.default_rng(1).normal(scale=30.0, size=60)
    model = HuberRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, 1.0, atol=1e-6)
    assert model.converged_
    assert model.scale_ < 1e-5
    exact = HuberRegressor(alpha=0.0).fit(X, X @ np.ones(4) + 2.0)
    np.testing.assert_allclose(exact.coef_, 1.0, rtol=1e-9)


def test_far_and_sparse():
    near = HuberRegressor(tol=1e-9).fit(X, Y)
    far = HuberRegressor(tol=1e-9).fit(X + 2.0**26, Y + 2.0**20)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6)
    thin = np.where(np.abs(X) < 0.8, 0.0, X)
    for fit_intercept in (True, False):
        dense, sparse = (
            HuberRegressor(tol=1e-9, fit_intercept=fit_intercept).fit(rows, Y)
            for rows in (thin, sp.csr_array(thin))
        )
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9)
        np.testing.assert_allclose(sparse.predict(sp.csr_array(thin)), dense.predict(thin), rtol=1e-9)


def test_files(tmp_path):
    table = pa.table({f"x{d}": X[:, d] for d in range(4)} | {"y": Y, "w": WEIGHT})
    for n in range(3):
        pq.write_table(table.slice(100 * n, 100), tmp_path / f"{n}.parquet")
    here = HuberRegressor().fit(X, Y, sample_weight=WEIGHT)
    there = HuberRegressor().fit(suffice.rows(suffice.scan_parquet(tmp_path), target="y", weight="w"))
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    assert not hasattr(there, "outliers_")


def test_a_column_is_a_target():
    flat = HuberRegressor().fit(X, Y).outliers_
    for column in (Y[:, None], pd.DataFrame({"y": Y})):
        with pytest.warns(DataConversionWarning):
            found = HuberRegressor().fit(X, column).outliers_
        np.testing.assert_array_equal(found, flat)


def test_warm_start_and_large_epsilon():
    model = HuberRegressor(warm_start=True).fit(X, Y)
    again = model.n_iter_
    assert model.fit(X, Y).n_iter_ < again
    wide = HuberRegressor(epsilon=1e6, alpha=0.0, tol=1e-12).fit(X, Y)
    line = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(wide.coef_, line.coef_, rtol=1e-8)
    assert wide.scale_ == pytest.approx(np.sqrt(np.mean((Y - line.predict(X)) ** 2)))


def test_refused():
    with pytest.raises(ValueError, match="epsilon"):
        HuberRegressor(epsilon=0.9).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        HuberRegressor(max_iter=1).fit(X, Y)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("apart", [False, True])
def test_sums_about_a_centre(fit_intercept, sparse, apart):
    """As of the columns themselves, written out."""
    center = np.array([5.0, -3.0, 0.0, 40.0]) * fit_intercept
    line = HuberLine(np.zeros(4 + fit_intercept + 1), center, fit_intercept, apart, 1.35, -20.0)
    Z = np.hstack([X - center, np.ones((300, int(fit_intercept)))])
    columns = Columns.of(line, sp.csr_array(X) if sparse else X)
    theta = np.arange(1.0, Z.shape[1] + 1.0)
    np.testing.assert_allclose(columns.times(theta), Z @ theta, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(columns.sums(WEIGHT), Z.T @ WEIGHT, rtol=1e-9)
    np.testing.assert_allclose(columns.squares(WEIGHT), Z.T @ (WEIGHT[:, None] * Z), rtol=1e-9)


@pytest.mark.parametrize("apart", [1e-3, 1e-7, 1e-9])
@pytest.mark.parametrize("params", [{"alpha": 0.0}, {"alpha": 0.0, "fit_intercept": False}, {}], ids=str)
def test_columns_that_nearly_depend_on_others(apart, params):
    """It converges to the optimum that it has in orthogonal columns of the same span."""
    rng = np.random.default_rng(1)
    rows, difference = rng.normal(size=(300, 3)), rng.normal(size=300)
    rows[:, 1] = rows[:, 0] + apart * difference
    y = 100.0 * difference + rows[:, 2] + 2.0 * rng.normal(size=300)
    model = HuberRegressor(**params).fit(rows, y)
    assert model.converged_
    if params.get("alpha") == 0.0:
        center = rows.mean(axis=0) if model.fit_intercept else 0.0
        Q = np.linalg.svd(rows - center, full_matrices=False)[0] * np.sqrt(300)
        plain = HuberRegressor(**params).fit(Q, y)
        ones = np.ones(300)
        found, least = objective(model, rows, y, ones), objective(plain, Q, y, ones)
        assert found == pytest.approx(least, rel=max(1e-8, 1e-14 / apart))
    else:  # the penalty leaves little of what the difference says
        peer = theirs.HuberRegressor(tol=1e-12, max_iter=100_000).fit(rows, y)
        ours, its = (objective(m, rows, y, np.ones(300)) for m in (model, peer))
        assert ours <= its * (1.0 + 1e-9)


def test_a_warm_start_at_the_optimum_takes_no_iteration():
    model = HuberRegressor(warm_start=True).fit(X, Y)
    coef = model.coef_
    assert model.n_iter_ > 0 and model.fit(X, Y).n_iter_ == 0 and model.converged_
    np.testing.assert_array_equal(model.coef_, coef)
