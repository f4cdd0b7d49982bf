"""Kernel principal components: scikit-learn's results, landmarks at all rows, weights, the inverse."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn import decomposition as theirs
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import suffice
from suffice.core import cost
from suffice.decomposition import PCA, KernelPCA
from suffice.kernels import RBF, Polynomial

from ..laws.registry import recorded_folds

rng = np.random.default_rng(0)
X = rng.normal(size=(250, 4)) @ rng.normal(size=(4, 4))
NEW = X[:60] + 0.1
KERNELS = ["linear", "rbf", "poly", "cosine"]


def close_up_to_sign(a, b, tol=1e-8):
    assert a.shape == b.shape
    sign = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a * sign, b, atol=tol * np.abs(b).max())


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_exact_as_in_scikit_learn(kernel, solver):
    params = {"kernel": kernel, "gamma": 0.1}
    ours = KernelPCA(4, eigen_solver=solver, **params).fit(X)
    peer = theirs.KernelPCA(4, eigen_solver="dense", **params).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-8)
    close_up_to_sign(ours.eigenvectors_, peer.eigenvectors_)
    close_up_to_sign(ours.transform(NEW), peer.transform(NEW))
    every = KernelPCA(**params).fit(X)
    assert every.eigenvalues_.shape == theirs.KernelPCA(**params).fit(X).eigenvalues_.shape


@pytest.mark.parametrize("kernel", KERNELS)
def test_landmarks_at_all_rows_are_exact(kernel):
    weight = rng.integers(1, 4, size=250).astype(float)
    exact = KernelPCA(4, kernel=kernel, gamma=0.1).fit(X, sample_weight=weight)
    sums = KernelPCA(4, kernel=kernel, gamma=0.1, landmarks=250).fit(X, sample_weight=weight)
    np.testing.assert_allclose(sums.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    close_up_to_sign(sums.transform(NEW), exact.transform(NEW))
    if kernel == "linear":
        close_up_to_sign(
            sums.transform(NEW), PCA(4).fit(X[np.repeat(np.arange(250), weight.astype(int))]).transform(NEW)
        )


def test_weights_are_repetitions():
    times = rng.integers(0, 4, size=250)
    again = np.repeat(X, times, axis=0)
    for how in ({}, {"landmarks": 30, "random_state": 0}):
        weighted = KernelPCA(3, kernel="rbf", gamma=0.1, **how).fit(X, sample_weight=times.astype(float))
        repeated = KernelPCA(3, kernel="rbf", gamma=0.1, **how).fit(again)
        np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
        close_up_to_sign(weighted.transform(NEW), repeated.transform(NEW), 1e-9)


def test_precomputed_sparse_and_kernels_as_values():
    K, weight = rbf_kernel(X, gamma=0.1), (np.arange(250) % 3).astype(float)
    for w in (None, weight):
        rows = KernelPCA(3, kernel=RBF(0.1)).fit(X, sample_weight=w)
        gram = KernelPCA(3, kernel="precomputed").fit(K, sample_weight=w)
        close_up_to_sign(gram.transform(K[:9]), rows.transform(X[:9]))
    with pytest.raises(ValueError, match="square"):
        KernelPCA(kernel="precomputed").fit(K[:, :50])
    thin, kernel = sp.random_array((120, 20), density=0.3, rng=0, format="csr"), RBF(0.5) + Polynomial(2)
    for how in ({}, {"landmarks": 40, "random_state": 0}):
        dense = KernelPCA(3, kernel=kernel, **how).fit(thin.toarray()).transform(thin.toarray())
        close_up_to_sign(KernelPCA(3, kernel=kernel, **how).fit(thin).transform(thin), dense)


def test_a_kernel_that_is_not_positive_definite_is_refused():
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        KernelPCA(kernel="precomputed").fit(np.array([[0.0, 1.0], [1.0, 0.0]]) + 5.0 * np.eye(2)[::-1])
    flat = KernelPCA(kernel="linear").fit(np.full((40, 2), 1.0 / 3.0))  # without variance
    assert flat.eigenvalues_.max(initial=0.0) < 1e-14


def test_the_inverse_is_that_of_scikit_learn():
    params = {"kernel": "rbf", "gamma": 0.1, "fit_inverse_transform": True, "alpha": 0.1}
    ours, peer = KernelPCA(3, **params).fit(X), theirs.KernelPCA(3, **params).fit(X)
    found = ours.inverse_transform(ours.transform(NEW))
    np.testing.assert_allclose(found, peer.inverse_transform(peer.transform(NEW)), rtol=1e-6, atol=1e-7)
    with pytest.raises(NotFittedError, match="fit_inverse_transform"):
        KernelPCA(3).fit(X).inverse_transform(NEW)
    for wrong in ({"kernel": "precomputed"}, {"landmarks": 9}):
        with pytest.raises(ValueError, match="Cannot fit_inverse_transform"):
            KernelPCA(3, fit_inverse_transform=True, **wrong).fit(X)
    with pytest.raises(NotImplementedError, match="sparse"):
        KernelPCA(3, fit_inverse_transform=True).fit(sp.csr_array(X))


def test_sums_wherever_the_rows_are(tmp_path):
    table = pa.table({name: x for name, x in zip("abcd", X.T, strict=True)})
    batches = table.to_batches(max_chunksize=33)
    with recorded_folds() as seen:
        here = KernelPCA(3, kernel="rbf", gamma=0.1, landmarks=40, random_state=0).fit(X)
    assert len(seen) == 2
    scan = suffice.scan(lambda: batches)
    there = KernelPCA(3, kernel="rbf", gamma=0.1, landmarks=40, random_state=0).fit(scan)
    np.testing.assert_array_equal(there.X_fit_, here.X_fit_)
    close_up_to_sign(np.asarray(there.transform(scan)), here.transform(X), 1e-9)
    for model in (here, KernelPCA(3, kernel="rbf", gamma=0.1).fit(X)):
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(suffice.load(tmp_path / "model").transform(NEW), model.transform(NEW))


def test_what_does_not_fit_and_too_many_landmarks(monkeypatch):
    with pytest.warns(UserWarning, match="landmarks=900 > n_samples"):
        many = KernelPCA(3, kernel="rbf", gamma=0.1, landmarks=900).fit(X)
    close_up_to_sign(many.transform(NEW), KernelPCA(3, kernel="rbf", gamma=0.1).fit(X).transform(NEW))
    monkeypatch.setattr(cost, "memory_limit", lambda: (1e6, "the limit is"))
    with pytest.raises(MemoryError, match=r"kernels of 250 rows take .* use landmarks="):
        KernelPCA(kernel="rbf").fit(X)
    KernelPCA(kernel="rbf", landmarks=20).fit(X)
