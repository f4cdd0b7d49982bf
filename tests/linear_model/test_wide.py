"""Least squares with more features than moments are summed of: texts, beside scikit-learn's solvers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn import linear_model as theirs

import suffice
from suffice.linear_model import LinearRegression, Ridge, RidgeClassifier
from suffice.linear_model.wide import FEW_FEATURES, FEW_ROWS

D = FEW_FEATURES + 500


def texts(n: int, width: int = 20, seed: int = 0) -> sp.csr_array:
    """Rows of some of many features, the first of which are frequent; the last are in no row."""
    rng = np.random.default_rng(seed)
    at = (D * 0.9 * rng.random((n, width)) ** 3).astype(int)
    X = sp.csr_array((rng.gamma(2.0, size=at.size), at.ravel(), np.arange(0, at.size + 1, width)), (n, D))
    X.sum_duplicates()
    return X


def numbers(n: int, T: int | None = None) -> np.ndarray:
    return np.random.default_rng(1).normal(size=n if T is None else (n, T)) + 3.0


def dense_solution(X, y, alpha, weight=None, fit_intercept=True):
    """The coefficients by a singular value decomposition."""
    Z, y = X.toarray() if sp.issparse(X) else X, y.reshape(len(y), -1)
    weight = np.ones(len(y)) if weight is None else weight
    mean, of_y = weight @ Z / weight.sum(), weight @ y / weight.sum()
    if not fit_intercept:
        mean, of_y = 0.0 * mean, 0.0 * of_y
    root = np.sqrt(weight)[:, None]
    U, s, axes = np.linalg.svd(root * (Z - mean), full_matrices=False)
    keep = s > 1e-9 * s[0]
    coef = axes[keep].T @ ((s[keep] / (s[keep] ** 2 + alpha))[:, None] * (U.T[keep] @ (root * (y - of_y))))
    return coef.T, of_y - mean @ coef


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 1e-6])
@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("n", [40, FEW_ROWS + 100])
def test_ridge_is_exact(n, kind, alpha, fit_intercept):
    X, y = texts(n), numbers(n, 2)
    X = X if kind == "sparse" else X.toarray() + 5.0
    weight = np.random.default_rng(2).integers(0, 3, n).astype(float)
    model = Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, y, weight)
    assert model.statistics_.diagonal  # no matrix of features
    coef, intercept = dense_solution(X, y, alpha, weight, fit_intercept)
    assert np.allclose(model.coef_, coef, rtol=1e-6, atol=1e-8 * np.abs(coef).max())
    assert np.allclose(model.intercept_, intercept, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("n", [300, FEW_ROWS + 100])
def test_linear_regression_has_the_minimum_norm(n):
    X, y = texts(n), numbers(n)
    model = LinearRegression().fit(X, y)
    assert model.statistics_.diagonal
    coef, intercept = dense_solution(X, y, 0.0)
    assert np.allclose(model.coef_, coef[0], rtol=1e-6, atol=1e-8 * np.abs(coef).max())
    assert np.allclose(model.intercept_, intercept)
    assert model.rank_ == np.linalg.matrix_rank(X.toarray() - X.mean(axis=0))
    assert len(model.singular_) == D


@pytest.mark.parametrize("n", [200, FEW_ROWS + 100])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_ridge_classifier_of_texts(n, class_weight):
    X = texts(n)
    y = np.array(["a", "b", "c"])[(X @ np.random.default_rng(3).normal(size=(D, 3))).argmax(axis=1)]
    model = RidgeClassifier(class_weight=class_weight).fit(X, y)
    reference = theirs.RidgeClassifier(class_weight=class_weight, tol=1e-13).fit(X, y)
    assert model.statistics_.diagonal
    assert np.allclose(model.coef_, reference.coef_, rtol=1e-5, atol=1e-8)
    assert (model.predict(X) == reference.predict(X)).all()


def test_a_penalty_per_target():
    X, y = texts(300), numbers(300, 3)
    model = Ridge(alpha=[0.1, 10.0, 0.1]).fit(X, y)
    for t, alpha in enumerate([0.1, 10.0, 0.1]):
        assert np.allclose(model.coef_[t], dense_solution(X, y[:, t], alpha)[0][0])


@pytest.mark.parametrize("n", [100, FEW_ROWS + 100])
def test_blocks_that_are_read_in_each_pass(n):
    X, y = texts(n).toarray(), numbers(n)
    names = [f"x{j}" for j in range(D)]

    def batches():
        for part in np.array_split(np.arange(n), 3):
            yield pa.record_batch([*X[part].T, y[part]], names=[*names, "y"])

    scan = suffice.rows(suffice.scan(batches), target="y")
    in_memory, streamed = Ridge().fit(X, y), Ridge().fit(scan)
    assert np.allclose(streamed.coef_, in_memory.coef_, rtol=1e-9, atol=1e-12)


def test_dense_rows_that_are_more_than_the_features_are_fitted_from_moments():
    X = np.random.default_rng(0).normal(size=(D + 100, D))
    assert not Ridge().fit(X, numbers(D + 100)).statistics_.diagonal


def test_partial_fit_keeps_moments():
    X, y = texts(200), numbers(200)
    parts = Ridge().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    model = Ridge().fit(X, y)
    assert np.allclose(parts.coef_, model.coef_)
    with pytest.raises(ValueError, match="keeps no moments that partial_fit could add to"):
        model.partial_fit(X, y)
