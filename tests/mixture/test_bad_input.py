"""Gaussian mixtures of poor data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from suffice.mixture import GaussianMixture

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
