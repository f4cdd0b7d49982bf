"""Kernels as values: closure, normalization, centering, files, and estimators that take them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import KernelCenterer

import suffice
from suffice.core.storage import StorageError, load_value, save_value
from suffice.decomposition import BilinearNMF
from suffice.kernels import (
    RBF,
    Centered,
    Exponential,
    KernelColumns,
    KernelExpansion,
    Linear,
    Normalized,
    Polynomial,
    Precomputed,
    Sigmoid,
    Subsequences,
    vectors,
)
from suffice.kernels.vectors import Function, Named
from suffice.linear_model import KernelPerceptron
from suffice.sequence import MaxMarginMarkovNetwork

from ._common import NESTED


@pytest.fixture(autouse=True)
def rows_stay_sparse(monkeypatch):
    monkeypatch.setattr(vectors, "SMALL", 0)


def test_no_rows(X):
    for kernel in (NESTED, Sigmoid(), Named("chi2"), Function(lambda A, B: A @ B.T), Subsequences(2)):
        rows = ["ab"] * 9 if isinstance(kernel, Subsequences) else np.abs(X)
        assert kernel(rows[:0], rows).shape == (0, 9)
        assert kernel(rows, rows[:0]).shape == (9, 0)
        assert kernel.diagonal(rows[:0]).shape == (0,)


def test_kernels_add_multiply_and_scale(X, Z):
    k, m = RBF(0.3), Polynomial(2)
    assert_array_equal((k + m)(X, Z), k(X, Z) + m(X, Z))
    assert_array_equal((k * m)(X, Z), k(X, Z) * m(X, Z))
    assert_array_equal((2 * k)(X, Z), 2 * k(X, Z))
    assert_array_equal((k * np.float32(0.5))(X, Z), 0.5 * k(X, Z))
    assert_array_equal(Exponential(m)(X, Z), np.exp(m(X, Z)))
    assert 2 * k == k * 2.0
    assert k != RBF(0.4)
    assert_allclose(NESTED.diagonal(X), NESTED(X).diagonal(), rtol=1e-13)
    with pytest.raises(TypeError):
        _ = k + 1
    with pytest.raises(ValueError, match="must be finite"):
        _ = np.inf * k


def test_normalized_rows_have_length_one(X, Z):
    K = Normalized(Polynomial(3))(X, Z)
    plain = Polynomial(3)
    assert_allclose(K, plain(X, Z) / np.sqrt(np.outer(plain.diagonal(X), plain.diagonal(Z))), rtol=1e-13)
    assert_allclose(Normalized(Polynomial(3))(X).diagonal(), 1.0)
    with pytest.raises(ValueError, match="not positive definite"):
        Normalized(-1.0 * Linear())(X)


def test_centered_rows_have_mean_zero(rng, X, Z):
    kernel = RBF(0.3)
    centerer = KernelCenterer().fit(kernel(X))
    assert_allclose(Centered(kernel)(X), centerer.transform(kernel(X)), atol=1e-14)
    about = Centered(kernel).with_rows(X)
    # Of the Gram matrix of Z with X, the mean in feature space is that of X on both sides.
    assert_allclose(about(Z, X), centerer.transform(kernel(Z, X)), atol=1e-14)
    assert_allclose(about.diagonal(Z), about(Z).diagonal(), atol=1e-14)
    assert_allclose(Centered(Linear(), X)(Z), (Z - X.mean(0)) @ (Z - X.mean(0)).T, atol=1e-14)
    weight = rng.integers(3, size=len(X))
    repeated = (2.0 * Centered(kernel)).with_rows(np.repeat(X, weight, axis=0))
    assert_allclose((2.0 * Centered(kernel)).with_rows(X, weight)(Z), repeated(Z), atol=1e-14)
    with pytest.raises(ValueError, match="no points to center at"):
        Centered(kernel)(X, Z)


def test_kernels_are_stored(tmp_path, X, Z):
    kernels = [NESTED, Centered(Sigmoid()).with_rows(X), Named("chi2", 0.5), KernelColumns(RBF(), X)]
    for kernel in kernels:
        save_value(kernel, tmp_path / "kernel")
        same = load_value(tmp_path / "kernel")
        rows = (np.abs(Z),) if isinstance(kernel, KernelColumns) else (np.abs(Z), np.abs(X))
        assert_array_equal(same(*rows), kernel(*rows))
    words = np.array(["cat", "car"], dtype=object)
    save_value(KernelExpansion(Normalized(Subsequences(2)), words, np.ones(2)), tmp_path / "kernel")
    assert_allclose(load_value(tmp_path / "kernel")(["cat"]), [1.0 + 0.0625 / 0.140625])
    with pytest.raises(TypeError, match="cannot be stored"):
        save_value(Function(np.dot), tmp_path / "kernel")


def test_files_hold_valid_kernels(tmp_path):
    bad = RBF(1.0)
    object.__setattr__(bad, "gamma", -1.0)
    save_value(bad, tmp_path / "kernel")
    with pytest.raises(StorageError, match="gamma must be"):
        load_value(tmp_path / "kernel")


@pytest.mark.parametrize("kernel", [NESTED, Centered(RBF(0.3)), Normalized(Polynomial(2))], ids=str)
def test_estimators_take_kernels(kernel, rng, tmp_path):
    X = rng.normal(size=(40, 2))
    y = (np.linalg.norm(X, axis=1) > 1.1).astype(int)
    K, new = kernel.with_rows(X)(X), kernel.with_rows(X)(X[:7] + 0.1, X)
    model = KernelPerceptron(kernel=kernel, shuffle=False).fit(X, y)
    same = KernelPerceptron(kernel=Precomputed(), shuffle=False).fit(K, y)
    assert_allclose(model.decision_function(X[:7] + 0.1), same.decision_function(new), atol=1e-10)
    model.save(tmp_path / "perceptron")
    loaded = suffice.load(tmp_path / "perceptron")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert repr(loaded.kernel) == repr(kernel)

    concepts = BilinearNMF(2, kernel=kernel, random_state=0, tol=1e-3).fit(X)
    start = {"W": concepts.concept_weights_ + 0.1, "V": concepts.embedding_ + 0.1}
    concepts = BilinearNMF(2, kernel=kernel, init="custom", tol=1e-3).fit(X, **start)
    same = BilinearNMF(2, kernel="precomputed", init="custom", tol=1e-3).fit(K, **start)
    assert_allclose(concepts.transform(X[:7] + 0.1), same.transform(new), atol=1e-8)

    smo = dict(solver="smo", random_state=0, tol=1e-6, max_iter=5000)
    chain = MaxMarginMarkovNetwork(2.0, kernel=kernel, **smo).fit([X[:20], X[20:]], [y[:20], y[20:]])

    def gram(A, B):
        return kernel.with_rows(X)(A, B)

    same = MaxMarginMarkovNetwork(2.0, kernel=gram, **smo).fit([X[:20], X[20:]], [y[:20], y[20:]])
    assert_allclose(chain.objective_, same.objective_, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_repeat_rows_with_a_centered_kernel(rng):
    X, weight = rng.normal(size=(30, 2)), rng.integers(1, 4, size=30)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    how = dict(kernel=Centered(RBF(0.5)), max_iter=1, tol=None)
    weighted = KernelPerceptron(**how).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(30), weight)
    assert_allclose(
        weighted.model_.kernel.kernel(X),
        KernelPerceptron(**how).fit(X[again], y[again]).model_.kernel.kernel(X),
    )
