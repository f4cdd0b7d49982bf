"""Kernel logistic regression: conditions of the optimum, landmarks, sums wherever the rows are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.metrics.pairwise import rbf_kernel

import suffice
from suffice.core import cost
from suffice.fitting import solvers
from suffice.kernels import RBF, Polynomial
from suffice.linear_model import KernelLogisticRegression

from ..laws.registry import cut_at

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
TWO = np.where(np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=150) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[
    np.digitize(X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.normal(size=150), [0.4, 1.3])
]
TIGHT = {"tol": 1e-11, "max_iter": 1000}


def close(a, b, tol=1e-7):
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol * np.abs(b).max())


@pytest.fixture(params=["newton", "lbfgs"])
def solver(request, monkeypatch):
    monkeypatch.setattr(solvers, "FEW", 10**9 if request.param == "newton" else 0)
    return request.param


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two classes", "three"])
def test_conditions_of_the_optimum(labels, solver):
    """C s (1(y = c) - p) are the coefficients, with or without an intercept: STATS 601 5.7, 5.9."""
    weight = rng.uniform(0.1, 3.0, size=150)
    for intercept in (True, False):
        model = KernelLogisticRegression(2.0, kernel=RBF(2.0), fit_intercept=intercept, **TIGHT)
        P = model.fit(X, labels, weight).predict_proba(X)
        error = weight[:, None] * ((labels[:, None] == model.classes_) - P)
        expected = 2.0 * (error if len(model.classes_) > 2 else error[:, 1:])
        close(model.dual_coef_, expected.T, 1e-6)
        assert np.abs(error.sum(axis=0)).max() < 1e-7 * weight.sum() or not intercept
        assert model.converged_
        assert model.intercept_.any() == intercept


def test_two_classes_as_scikit_learn_finds_them_on_features():
    """Logistic regression on a factor of the kernel matrix has the same scores."""
    K = rbf_kernel(X, gamma=0.5)
    values, Q = np.linalg.eigh(K)
    peer = Theirs(C=3.0, tol=1e-12, max_iter=10**5).fit(Q * np.sqrt(values), TWO)
    model = KernelLogisticRegression(3.0, gamma=0.5, **TIGHT).fit(X, TWO)
    close(model.decision_function(X), peer.decision_function(Q * np.sqrt(values)), 1e-5)


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two classes", "three"])
def test_landmarks_at_all_rows_are_exact(labels, solver):
    weight = rng.integers(1, 4, size=150).astype(float)
    for kernel in (RBF(0.5), RBF(5.0), Polynomial(3)):
        exact = KernelLogisticRegression(2.0, kernel=kernel, **TIGHT).fit(X, labels, weight)
        sums = KernelLogisticRegression(2.0, kernel=kernel, landmarks=150, **TIGHT).fit(X, labels, weight)
        close(sums.predict_proba(X + 0.1), exact.predict_proba(X + 0.1), 1e-5)


def test_landmarks_minimize_the_penalized_loss():
    """The gradient of the objective in the coefficients of the landmarks is zero."""
    model = KernelLogisticRegression(2.0, landmarks=20, gamma=0.5, random_state=0, **TIGHT).fit(X, TWO)
    K, Z = rbf_kernel(X, model.X_fit_, gamma=0.5), rbf_kernel(model.X_fit_, gamma=0.5)
    f = K @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-9)
    gradient = 2.0 * K.T @ (expit(f) - (TWO == "yes")) + Z @ model.dual_coef_[0]
    assert np.abs(gradient).max() < 1e-7
    few = KernelLogisticRegression(2.0, landmarks=20, gamma=0.5, random_state=0).fit(X, TWO)
    assert few.score(X, TWO) > 0.7


def test_far_from_the_origin():
    near = KernelLogisticRegression(**TIGHT).fit(np.round(X, 3) + 1.0, TWO)
    far = KernelLogisticRegression(**TIGHT).fit(np.round(X, 3) + 2.0**20, TWO)
    close(far.predict_proba(X + 2.0**20), near.predict_proba(X + 1.0), 1e-6)


def test_weights_are_repetitions():
    times = rng.integers(0, 4, size=150)
    again = np.repeat(np.arange(150), times)
    for how in ({}, {"landmarks": 20, "random_state": 0}):
        weighted = KernelLogisticRegression(**how, **TIGHT).fit(X, THREE, times.astype(float))
        repeated = KernelLogisticRegression(**how, **TIGHT).fit(X[again], THREE[again])
        close(weighted.predict_proba(X), repeated.predict_proba(X), 1e-6)
    balanced = KernelLogisticRegression(class_weight="balanced", **TIGHT).fit(X, THREE, times.astype(float))
    totals = np.array([times[c == THREE].sum() for c in "abc"])
    shares = (times.sum() / (3 * totals))[np.searchsorted(["a", "b", "c"], THREE)]
    by_hand = KernelLogisticRegression(**TIGHT).fit(X, THREE, times * shares)
    close(balanced.predict_proba(X), by_hand.predict_proba(X), 1e-6)


def test_precomputed_and_sparse():
    K, weight = rbf_kernel(X, gamma=0.4), (np.arange(150) % 3).astype(float)
    gone = np.where(THREE == "a", 0.0, weight)  # a class whose rows are only columns
    for w, labels in ((None, THREE), (weight, TWO), (gone, THREE)):
        rows = KernelLogisticRegression(gamma=0.4, **TIGHT).fit(X, labels, w)
        gram = KernelLogisticRegression(kernel="precomputed", **TIGHT).fit(K, labels, w)
        close(gram.predict_proba(K[:9]), rows.predict_proba(X[:9]), 1e-6)
    with pytest.raises(ValueError, match="square"):
        KernelLogisticRegression(kernel="precomputed").fit(K[:, :50], TWO)
    with pytest.raises(ValueError, match="precomputed kernel has none"):
        KernelLogisticRegression(kernel="precomputed", landmarks=9).fit(K, TWO)
    for how in ({}, {"landmarks": 20, "random_state": 0}):
        dense = KernelLogisticRegression(**how, **TIGHT).fit(X, TWO)
        sparse = KernelLogisticRegression(**how, **TIGHT).fit(sp.csr_array(X), TWO)
        close(sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X), 1e-6)


def test_sums_wherever_the_rows_are(tmp_path):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": THREE})
    batches = table.to_batches(max_chunksize=33)
    here = KernelLogisticRegression(landmarks=30, random_state=0, **TIGHT).fit(X, THREE)
    scan = suffice.rows(suffice.scan(lambda: batches), target="y")
    there = KernelLogisticRegression(landmarks=30, random_state=0, **TIGHT).fit(scan)
    np.testing.assert_array_equal(there.X_fit_, here.X_fit_)
    close(there.predict_proba(scan), here.predict_proba(X))
    here.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict_proba(X), here.predict_proba(X))
    with cut_at(7, 50):
        parts = KernelLogisticRegression(landmarks=30, random_state=0, **TIGHT).fit(X, THREE)
    close(parts.predict_proba(X), here.predict_proba(X))
    exact = KernelLogisticRegression(**TIGHT).fit(scan)  # gathered
    close(exact.predict_proba(scan), KernelLogisticRegression(**TIGHT).fit(X, THREE).predict_proba(X), 1e-6)


def test_what_cannot_be_fitted(monkeypatch):
    with pytest.raises(ValueError, match="only one class"):
        KernelLogisticRegression().fit(X, np.ones(150))
    with pytest.raises(ValueError, match="Each class must have a positive weight"):
        KernelLogisticRegression(class_weight={"a": 1.0, "b": 0.0, "c": 1.0}).fit(X, THREE)
    for how in ({}, {"landmarks": 60}):
        with pytest.raises(ValueError, match="not positive definite"):
            KernelLogisticRegression(kernel="sigmoid", **how).fit(X, TWO)
    with pytest.warns(UserWarning, match="landmarks=900 > n_samples"):
        KernelLogisticRegression(landmarks=900).fit(X, TWO)
    monkeypatch.setattr(cost, "memory_limit", lambda: (5e5, "the limit is"))
    called = []

    def kernel(A, B):
        called.append(A.shape)
        return A @ B.T

    with pytest.raises(MemoryError, match=r"kernels of 150 rows take .* use landmarks="):
        KernelLogisticRegression(kernel=kernel).fit(X, TWO)
    assert not called
    KernelLogisticRegression(kernel=kernel, landmarks=20).fit(X, TWO)
