"""Kernels of rows of numbers: scikit-learn's numbers, far from the origin too, and functions of users."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from suffice.kernel_approximation import Nystroem
from suffice.kernels import (
    RBF,
    Laplacian,
    Polynomial,
    Sigmoid,
    as_kernel,
    vectors,
)
from suffice.kernels.vectors import Function, Named


@pytest.fixture(autouse=True)
def rows_stay_sparse(monkeypatch):
    monkeypatch.setattr(vectors, "SMALL", 0)


@pytest.mark.parametrize("name", sorted(PAIRWISE_KERNEL_FUNCTIONS))
@pytest.mark.parametrize("params", [{}, {"gamma": 0.3, "degree": 2, "coef0": 0.5}], ids=["default", "set"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_names_are_those_of_scikit_learn(name, params, form, X, Z):
    if "chi2" in name:
        X, Z, form = np.abs(X), np.abs(Z), np.asarray  # scikit-learn has none of sparse rows
    kernel = as_kernel(name, params)
    want = pairwise_kernels(X, Z, metric=name, filter_params=True, **params)
    assert_allclose(kernel(form(X), form(Z)), want, rtol=1e-12, atol=1e-14)
    assert_allclose(
        kernel(form(X)), pairwise_kernels(X, metric=name, filter_params=True, **params), atol=1e-14
    )
    assert_allclose(kernel.diagonal(form(X)), kernel(form(X)).diagonal(), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_distances_far_from_the_origin(form, rng):
    """Rows far from zero, and two groups far from each other: the kernel is that of differences."""
    near = rng.normal(size=(30, 3))
    near[7] = near[3]
    for X in (near + 1e8, np.where(np.arange(30)[:, None] % 2, near + 1e8, near - 1e8)):
        want = np.exp(-0.5 * cdist(X, X, "sqeuclidean"))
        K = RBF(0.5)(form(X))
        assert_allclose(K, want, rtol=1e-11, atol=1e-300)
        assert (K.diagonal() == 1.0).all()
        assert_array_equal(K, K.T)
        assert_allclose(RBF(0.5)(form(X), form(X[:4])), want[:, :4], rtol=1e-11, atol=1e-300)
    assert_allclose(RBF(0.5)(sp.csr_array(X), X), want, rtol=1e-11, atol=1e-300)


def intersection(x, z, power=1):
    return np.minimum(x, z).sum() ** power


@pytest.mark.parametrize("n_features", [1, 2, 3, 4])
def test_functions_of_two_rows(rng, n_features):
    X, Z = rng.random((4, n_features)), rng.random((n_features, n_features))
    both = np.concatenate([X, Z])
    assert_allclose(Function(lambda x, z: x @ z)(X, Z), X @ Z.T)  # also where X @ Z has this shape
    assert_allclose(as_kernel(intersection)(X, Z), np.minimum(X[:, None], Z).sum(axis=2))
    params = {"power": 2}
    assert_allclose(as_kernel(intersection, params)(both), np.minimum(both[:, None], both).sum(axis=2) ** 2)
    for name, kind in (("KernelRidge", "kernel_ridge"), ("KernelPCA", "decomposition")):
        ours, theirs = (
            getattr(import_module(f"{package}.{kind}"), name)(kernel=intersection).fit(both, both[:, 0])
            for package in ("suffice", "sklearn")
        )
        answer = "predict" if name == "KernelRidge" else "transform"
        assert_allclose(np.abs(getattr(ours, answer)(X)), np.abs(getattr(theirs, answer)(X)), atol=1e-8)
    landmarks = Nystroem(intersection, kernel_params=params, n_components=len(both)).fit_transform(both)
    assert_allclose(landmarks @ landmarks.T, as_kernel(intersection, params)(both), atol=1e-8)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: as_kernel("gauss"), "kernel='gauss' is unknown: use one of"),
        (lambda: as_kernel("rbf", {"sigma": 1.0}), r"has \['sigma'\]; expected some of"),
        (lambda: as_kernel(RBF(), {"gamma": 1.0}), "needs the name of a kernel"),
        (lambda: RBF(-1.0), "gamma must be finite and non-negative; got -1.0"),
        (lambda: Laplacian("scale"), "gamma must be finite and non-negative; got 'scale'"),
        (lambda: Polynomial(-1), "degree must be"),
        (lambda: Sigmoid(coef0=np.nan), "coef0 must be finite"),
        (lambda: Named("chi3"), "no kernel 'chi3'"),
        (lambda: RBF()([1.0]), "got 1D array"),
        (lambda: RBF()([[1.0]], [[1.0, 2.0]]), "X has 1 features, and Z has 2"),
    ],
)
def test_refusals(make, text):
    with pytest.raises(ValueError, match=text):
        make()
