"""Whitening: three matrices of one covariance, and covariances that are singular."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
from scipy.linalg import sqrtm

from suffice.decomposition import Whitening

KINDS = ["zca", "pca", "cholesky"]
MIX = np.random.default_rng(0).normal(size=(4, 4))


def rows(n=300, seed=1):
    return np.random.default_rng(seed).normal(size=(n, 4)) @ MIX + 3.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_rows_are_white(kind, shift):
    X = np.round(rows() * 2**20) / 2**20 + shift
    model = Whitening(kind).fit(X)
    np.testing.assert_allclose(np.cov(model.transform(X).T), np.eye(4), atol=1e-6 if shift else 1e-12)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12, rtol=1e-15)
    np.testing.assert_allclose(model.whitening_ @ model.dewhitening_, np.eye(4), atol=1e-12)
    assert model.rank_ == 4


def test_each_kind():
    X = rows()
    S = np.cov(X.T)
    zca, pca, triangular = (Whitening(kind).fit(X).whitening_ for kind in KINDS)
    np.testing.assert_allclose(zca, np.linalg.inv(sqrtm(S)), atol=1e-10)
    np.testing.assert_allclose(triangular, np.linalg.inv(np.linalg.cholesky(S)), atol=1e-10)
    peer = sklearn.decomposition.PCA(whiten=True).fit(X)
    np.testing.assert_allclose(
        np.abs(Whitening("pca").fit_transform(X)), np.abs(peer.transform(X)), atol=1e-9
    )
    assert (pca[np.arange(4), np.abs(pca).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_units_are_far_apart(kind):
    """The unit of all features does not matter; that of one matters for eigenvectors."""
    X = rows()
    for unit in (1e-148, 1e148):
        np.testing.assert_allclose(
            Whitening(kind).fit(X * unit).transform(X * unit), Whitening(kind).fit_transform(X), rtol=1e-9
        )
    unit = np.array([1e-9, 1.0, 1e9, 1.0])
    if kind == "cholesky":  # does not depend on units
        np.testing.assert_allclose(
            Whitening(kind).fit_transform(X * unit), Whitening(kind).fit_transform(X), rtol=1e-6, atol=1e-9
        )


def test_singular_covariances():
    """Constant, duplicate and collinear features have no direction of their own."""
    X = rows()
    X = np.column_stack([X, X[:, 1], np.full(len(X), 7.0), X @ [1.0, 2.0, 0.0, 0.0]])
    pca, zca = Whitening("pca").fit(X), Whitening("zca").fit(X)
    assert pca.rank_ == zca.rank_ == 4
    assert pca.whitening_.shape == (4, 7)
    assert zca.whitening_.shape == (7, 7)
    np.testing.assert_allclose(np.cov(pca.transform(X).T), np.eye(4), atol=1e-9)
    P = np.cov(zca.transform(X).T)  # a projection
    np.testing.assert_allclose(P @ P, P, atol=1e-9)
    for model in (pca, zca):
        np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9)
    for bad in (X, X[:, :5], X[:, [0, 5]]):
        with pytest.raises(ValueError, match="use kind='pca' or 'zca'"):
            Whitening("cholesky").fit(bad)
    with pytest.raises(ValueError, match="All features are constant"):
        Whitening().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="at least 2 rows"):
        Whitening().fit(X[:1])
    with pytest.raises(ValueError, match="NaN"):
        Whitening().fit(np.where(X > 3.0, np.nan, X))


def test_more_features_than_rows():
    X = rows(3)
    assert Whitening("pca").fit_transform(X).shape == (3, 2)


def test_weights_and_more_rows():
    X, weight = rows(120), np.random.default_rng(0).integers(0, 4, size=120)
    weighted = Whitening().fit(X, sample_weight=weight)
    repeated = Whitening().fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.whitening_, repeated.whitening_, rtol=1e-10)
    parts = Whitening().partial_fit(X[:50]).partial_fit(X[50:])
    np.testing.assert_allclose(parts.whitening_, Whitening().fit(X).whitening_, rtol=1e-10)
