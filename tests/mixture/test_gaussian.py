"""Gaussian mixtures: poor data, and scikit-learn's results."""

from __future__ import annotations

import numpy as np
import pytest
from packaging.version import Version
from sklearn.exceptions import ConvergenceWarning

from suffice.mixture import GaussianMixture

from ..laws.registry import fit
from ..peers._common import IRIS, PAIRS, assert_equal, assert_same_answers, fitted_pair
from ..versions import SKLEARN

KINDS = ("full", "tied", "diag", "spherical")
RNG = np.random.default_rng(0)
X = np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 20, axis=0) + RNG.normal(size=(40, 3))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["constant", "duplicate", "missing"])
def test_columns_that_add_nothing(kind, column):
    added = {"constant": np.full(40, 5.0), "duplicate": X[:, 0], "missing": np.full(40, np.nan)}[column]
    rows = np.column_stack([X, added])
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(rows)
    assert np.isfinite(model.means_).all() and np.isfinite(model.score(rows))
    labels = model.predict(rows)
    assert labels[0] != labels[-1] and (labels == np.repeat(labels[[0, -1]], 20)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_component_is_the_gaussian(kind):
    model = GaussianMixture(1, covariance_type=kind, random_state=0).fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
    assert not model.predict(X).any()


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_different_rows_than_components_are_told(kind):
    rows = np.repeat(X[:2], 15, axis=0)
    with pytest.warns(
        ConvergenceWarning, match=r"Number of distinct clusters \(2\) found smaller than n_com"
    ):
        model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(rows)
    assert np.isfinite(model.score(rows))
    assert model.weights_.min() >= 0.0 and model.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_gaussian_mixture(kind):
    X, y = IRIS
    means = np.stack([X[y == k].mean(axis=0) for k in range(3)])
    precision = {
        "full": np.tile(np.eye(4), (3, 1, 1)),
        "tied": np.eye(4),
        "diag": np.ones((3, 4)),
        "spherical": np.ones(3),
    }
    start = {"weights_init": np.full(3, 1 / 3), "means_init": means, "precisions_init": 2.0 * precision[kind]}
    ours, theirs = fitted_pair(
        "GaussianMixture", X, n_components=3, covariance_type=kind, tol=1e-6, max_iter=500, **start
    )
    names = [
        "weights_",
        "means_",
        "covariances_",
        "precisions_",
        "precisions_cholesky_",
        "n_iter_",
        "converged_",
    ]
    assert_equal(ours, theirs, names, 1e-7)
    np.testing.assert_allclose(ours.lower_bound_, theirs.lower_bound_, rtol=1e-9)
    if Version("1.7") <= SKLEARN:  # which introduced lower_bounds_
        np.testing.assert_allclose(ours.lower_bounds_, theirs.lower_bounds_, rtol=1e-9)
    assert_same_answers(ours, theirs, X, ["predict", "predict_proba", "score_samples"], 1e-7)
    for name in ("aic", "bic", "score"):
        np.testing.assert_allclose(getattr(ours, name)(X), getattr(theirs, name)(X), rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_gaussian_mixture_of_one(kind):
    """One component needs no start: the same numbers with default options."""
    X, _ = IRIS
    ours, theirs = fitted_pair("GaussianMixture", X, covariance_type=kind)
    assert_equal(ours, theirs, ["weights_", "means_", "covariances_", "precisions_", "lower_bound_"], 1e-7)
    X_ours, k = ours.sample(5)
    X_theirs, _ = theirs.sample(5)
    assert X_ours.shape == X_theirs.shape
    assert k.shape == (5,)


def test_gaussian_mixture_step_by_step():
    """With `warm_start` each call goes on, and compares its objective with that of the call before."""
    X, y = IRIS
    start = {"means_init": np.stack([X[y == k].mean(axis=0) for k in range(3)]), "random_state": 0}
    start |= {"weights_init": np.full(3, 1 / 3), "precisions_init": np.tile(np.eye(4), (3, 1, 1))}
    whole, _ = fitted_pair("GaussianMixture", X, n_components=3, **start)
    pair = [cls(3, warm_start=True, max_iter=1, **start) for cls in PAIRS["GaussianMixture"]]
    ours, theirs = pair
    for _ in range(whole.n_iter_):
        assert not getattr(ours, "converged_", False)
        for model in pair:
            fit(model, X)
        np.testing.assert_allclose(ours.lower_bound_, theirs.lower_bound_, rtol=1e-9)
        assert ours.converged_ == theirs.converged_
    assert ours.converged_
    np.testing.assert_allclose(ours.means_, whole.means_, rtol=1e-9)


def test_fewer_distinct_rows_than_components_warn_as_in_scikit_learn():
    rows = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    for cls in PAIRS["GaussianMixture"]:
        with pytest.warns(ConvergenceWarning, match=r"Number of distinct clusters \(3\) found smaller than"):
            cls(4, random_state=0).fit(rows)
