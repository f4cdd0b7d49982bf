"""Principal components: scikit-learn's results, and those of sparse rows."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.decomposition import PCA

from ..peers._common import IRIS, PAIRS, assert_equal, assert_same_answers, fitted_pair
from ._common import SPARSE, X


@pytest.mark.parametrize("n_components", [None, 2, 0.9, 0.9999, "mle"], ids=str)
@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "auto"])
def test_pca(n_components, solver):
    X = IRIS[0] @ np.random.default_rng(0).normal(size=(4, 4))
    ours, theirs = fitted_pair("PCA", X, n_components=n_components, svd_solver=solver)
    names = ["components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"]
    names += ["mean_", "n_components_", "n_samples_", "noise_variance_"]
    assert_equal(ours, theirs, names)
    answers = ["transform", "score_samples"]
    assert_same_answers(ours, theirs, X, answers, 1e-7)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-9)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6)
    Z = theirs.transform(X)
    np.testing.assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), atol=1e-9)
    np.testing.assert_allclose(ours.score(X), theirs.score(X), rtol=1e-8)


def test_pca_counts_the_components_of_minkas_likelihood():
    """Of rows of a lower rank, what is left over is no noise: the likelihood is largest at the rank."""
    rng = np.random.default_rng(0)
    for rank, D, noise in ((9, 10, 0.0), (1, 3, 0.0), (4, 6, 1e-9), (3, 6, 1e-5), (3, 6, 0.1), (2, 2, 0.0)):
        X = rng.normal(size=(50, rank)) @ rng.normal(size=(rank, D)) + noise * rng.normal(size=(50, D))
        for solver in ("full", "covariance_eigh"):  # with which theirs counts rounding as components
            ours, theirs = fitted_pair(
                "PCA", X, None, {"svd_solver": "full"}, n_components="mle", svd_solver=solver
            )
            assert ours.n_components_ == theirs.n_components_, (rank, D, noise, solver)
            small = PAIRS["PCA"][0]("mle", svd_solver=solver).fit(2.0**-40 * X)
            assert small.n_components_ == ours.n_components_  # whatever the unit of the rows


def test_pca_whitened():
    X = IRIS[0]
    ours, theirs = fitted_pair("PCA", X, n_components=2, whiten=True)
    assert_same_answers(ours, theirs, X, ["transform"], 1e-7)
    Z = theirs.transform(X)
    np.testing.assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), atol=1e-8)
    # scikit-learn 1.9 multiplies whitened components by the variance once more in get_covariance, so that its
    # model of the rows is another one; ours is the model without whitening, which is what the rows have.
    plain = PAIRS["PCA"][1](2).fit(X)
    np.testing.assert_allclose(ours.get_covariance(), plain.get_covariance(), atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), plain.score_samples(X), rtol=1e-7)


def test_pca_with_more_features_than_rows():
    X = np.random.default_rng(0).normal(size=(8, 20))
    ours, theirs = fitted_pair("PCA", X, n_components=5)
    names = ["components_", "explained_variance_", "explained_variance_ratio_", "mean_", "noise_variance_"]
    assert_equal(ours, theirs, names, 1e-7)


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
def test_components_of_sparse_rows_are_those_of_dense_rows(solver):
    dense, sparse = PCA(3).fit(X), PCA(3, svd_solver=solver).fit(SPARSE)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-12)
    np.testing.assert_allclose(sparse.transform(SPARSE), dense.transform(X), atol=1e-12)
    np.testing.assert_allclose(sparse.score_samples(SPARSE), dense.score_samples(X))
    np.testing.assert_allclose(sparse.reconstruction_error(SPARSE), dense.reconstruction_error(X))
    with pytest.raises(TypeError, match='while "full" was passed'):
        PCA(3, svd_solver="full").fit(SPARSE)
