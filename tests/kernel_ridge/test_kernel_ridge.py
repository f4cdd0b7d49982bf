"""Kernel ridge regression: scikit-learn's results, landmarks at all rows, sums wherever the rows are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn import kernel_ridge as theirs
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import check_random_state

import suffice
from suffice.core import cost
from suffice.core.blocks import Rows
from suffice.core.randomness import Purpose
from suffice.fitting.shared import divide
from suffice.kernel_ridge import KernelRidge, kernel_ridge
from suffice.kernels import RBF, Polynomial
from suffice.model_selection import GridSearch

from ..laws.registry import cut_at, recorded_folds

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
Y = np.stack([np.sin(X[:, 0]) * X[:, 1], X[:, 2] ** 2], axis=1) + 0.1 * rng.normal(size=(200, 2))
KERNELS = ["linear", "rbf", "poly", "laplacian", "cosine"]


def close(a, b, tol=1e-8):
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol * np.abs(b).max())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_exact_as_in_scikit_learn(kernel, weighted):
    weight = rng.uniform(0.1, 3.0, size=200) if weighted else None
    params = {"kernel": kernel, "gamma": 0.4}
    for alpha, y in ((0.5, Y[:, 0]), (2.0, Y), ([0.1, 3.0], Y)):
        ours = KernelRidge(alpha, **params).fit(X, y, weight)
        peer = theirs.KernelRidge(alpha, **params).fit(X, y, weight)
        assert ours.dual_coef_.shape == peer.dual_coef_.shape
        close(ours.dual_coef_, peer.dual_coef_)
        close(ours.predict(X[:50]), peer.predict(X[:50]))
        assert ours.score(X, y) == pytest.approx(peer.score(X, y), rel=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_landmarks_at_all_rows_are_exact(kernel):
    weight = rng.integers(1, 4, size=200).astype(float)
    for alpha in (1e-3, [0.1, 3.0]):
        exact = KernelRidge(alpha, kernel=kernel, gamma=0.4).fit(X, Y, weight)
        sums = KernelRidge(alpha, kernel=kernel, gamma=0.4, landmarks=200).fit(X, Y, weight)
        close(sums.predict(X + 0.1), exact.predict(X + 0.1))


def test_landmarks_minimize_the_penalized_squares():
    """The gradient of the objective in the coefficients of the landmarks is zero."""
    weight = rng.uniform(0.1, 3.0, size=200)
    model = KernelRidge(0.3, kernel="rbf", landmarks=25, random_state=0).fit(X, Y, weight)
    K, Z = rbf_kernel(X, model.X_fit_), rbf_kernel(model.X_fit_)
    gradient = K.T @ (weight[:, None] * (K @ model.dual_coef_ - Y)) + 0.3 * Z @ model.dual_coef_
    assert np.abs(gradient).max() < 1e-9 * np.abs(K.T @ (weight[:, None] * Y)).max()
    np.testing.assert_allclose(model.predict(X), K @ model.dual_coef_, rtol=1e-10)


def test_weights_are_repetitions():
    times = rng.integers(0, 4, size=200)
    again = np.repeat(np.arange(200), times)
    for how in ({}, {"landmarks": 20, "random_state": 0}):
        weighted = KernelRidge(0.2, kernel="rbf", **how).fit(X, Y, times.astype(float))
        repeated = KernelRidge(0.2, kernel="rbf", **how).fit(X[again], Y[again])
        close(weighted.predict(X), repeated.predict(X), 1e-9)


def test_precomputed():
    K, weight = rbf_kernel(X, gamma=0.4), (np.arange(200) % 3).astype(float)
    for w in (None, weight):
        rows = KernelRidge(0.2, kernel="rbf", gamma=0.4).fit(X, Y, w)
        gram = KernelRidge(0.2, kernel="precomputed").fit(K, Y, w)
        close(gram.predict(K[:9]), rows.predict(X[:9]))
    with pytest.raises(ValueError, match="square"):
        KernelRidge(kernel="precomputed").fit(K[:, :50], Y)
    with pytest.raises(ValueError, match="precomputed kernel has none"):
        KernelRidge(kernel="precomputed", landmarks=9).fit(K, Y)


def test_sparse_rows_and_kernels_as_values():
    rows = sp.random_array((150, 30), density=0.2, rng=0, format="csr")
    y, kernel = rows @ rng.normal(size=30), RBF(0.5) + 0.1 * Polynomial(2)
    for how in ({}, {"landmarks": 40, "random_state": 0}):
        dense = KernelRidge(0.1, kernel=kernel, **how).fit(rows.toarray(), y)
        sparse = KernelRidge(0.1, kernel=kernel, **how).fit(rows, y)
        close(sparse.predict(rows), dense.predict(rows.toarray()), 1e-9)

    def wide(A, B, power):
        return (A @ B.T) ** power

    squares = KernelRidge(0.1, kernel=wide, kernel_params={"power": 2}).fit(X, Y)
    close(
        squares.predict(X), KernelRidge(0.1, kernel="poly", degree=2, coef0=0, gamma=1).fit(X, Y).predict(X)
    )


def test_sums_wherever_the_rows_are(tmp_path):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y[:, 0]})
    batches = table.to_batches(max_chunksize=33)
    here = KernelRidge(0.1, kernel="rbf", landmarks=30, random_state=0).fit(X, Y[:, 0])
    scan = suffice.rows(suffice.scan(lambda: batches), target="y")
    there = KernelRidge(0.1, kernel="rbf", landmarks=30, random_state=0)
    there.fit(scan)
    np.testing.assert_array_equal(there.X_fit_, here.X_fit_)
    close(there.predict(scan), here.predict(X), 1e-9)
    here.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict(X), here.predict(X))
    with recorded_folds() as seen, cut_at(7, 50):
        parts = KernelRidge(0.1, kernel="rbf", landmarks=30, random_state=0).fit(X, Y[:, 0])
    assert len(seen) == 2
    close(parts.predict(X), here.predict(X), 1e-9)
    exact = KernelRidge(0.1, kernel="rbf").fit(scan)  # gathered
    close(exact.predict(scan), KernelRidge(0.1, kernel="rbf").fit(X, Y[:, 0]).predict(X), 1e-9)


def test_pairs_that_do_not_fit_are_refused_before_they_take_memory(monkeypatch):
    monkeypatch.setattr(cost, "memory_limit", lambda: (1e6, "the limit is"))
    called = []

    def kernel(A, B):
        called.append(A.shape)
        return A @ B.T

    with pytest.raises(MemoryError, match=r"kernels of 200 rows take .* use landmarks="):
        KernelRidge(kernel=kernel).fit(X, Y)
    assert not called
    KernelRidge(kernel=kernel, landmarks=20).fit(X, Y)


def test_more_landmarks_than_rows_and_singular_systems():
    with pytest.warns(UserWarning, match="landmarks=900 > n_samples"):
        many = KernelRidge(0.1, kernel="rbf", landmarks=900).fit(X, Y)
    close(many.predict(X), KernelRidge(0.1, kernel="rbf").fit(X, Y).predict(X))
    with pytest.warns(UserWarning, match="Singular matrix"):
        flat = KernelRidge(0.0).fit(X, X @ [1.0, 2.0, 3.0])  # 200 equations of rank 3
    close(flat.predict(X), X @ [1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="not positive definite"):
        indefinite = KernelRidge(0.1, kernel="sigmoid").fit(X, Y)
    with pytest.warns(UserWarning, match="Singular matrix"):
        peer = theirs.KernelRidge(0.1, kernel="sigmoid").fit(X, Y)
    close(indefinite.predict(X), peer.predict(X), 1e-6)
    with pytest.raises(ValueError, match="penalties do not correspond"):
        KernelRidge([1.0, 2.0, 3.0]).fit(X, Y)
    with pytest.raises(ValueError, match="penalties do not correspond"):
        KernelRidge([1.0, 2.0, 3.0], landmarks=9).fit(X, Y)


def test_moments_of_kernels_give_those_of_features(monkeypatch):
    """Up to a condition of the landmarks that both sides of the bound have here."""
    weight = rng.uniform(0.1, 3.0, size=200)
    for gamma, direct in ((8.0, True), (0.05, False)):
        how = {"kernel": RBF(gamma), "landmarks": 20, "random_state": 0}
        ours = KernelRidge(1e-3, **how).fit(X, Y, weight)
        assert ours.model_.of_kernels == direct
        with monkeypatch.context() as patch:
            patch.setattr(kernel_ridge, "CONDITION", 0.0)
            other = KernelRidge(1e-3, **how).fit(X, Y, weight)
        close(ours.predict(X), other.predict(X), 1e-9)


@pytest.mark.parametrize("landmarks", [25, 200])
def test_conjugate_gradients_reach_the_direct_solution(landmarks, monkeypatch):
    """Falkon, for landmarks that are too many for the products of their kernels."""
    weight = rng.uniform(0.1, 3.0, size=200)
    for alpha in (1.0, 1e-3, [0.1, 3.0]):
        how = {"alpha": alpha, "kernel": "rbf", "landmarks": landmarks, "random_state": 0}
        direct = KernelRidge(**how).fit(X, Y, weight)
        with monkeypatch.context() as patch, recorded_folds() as seen:
            patch.setattr(kernel_ridge, "MANY", 8)
            steps = KernelRidge(**how).fit(X, Y, weight)
        assert 4 < len(seen) < 60
        assert any(fold.f.__name__ == "product" for fold in seen)
        close(steps.predict(X + 0.1), direct.predict(X + 0.1))
        assert steps.score(X, Y) == pytest.approx(direct.score(X, Y), rel=1e-8)
    assert "alpha" in KernelRidge(landmarks=25).one_fit
    assert not KernelRidge(landmarks=10**4).one_fit


@pytest.mark.parametrize("several", [False, True])
def test_a_grid_of_penalties_is_one_sum(several):
    """One pass samples the landmarks, from all rows, and one sums the moments of each fold. With all rows as
    landmarks, scores are those of a fit for each penalty and fold."""
    y, grid = Y if several else Y[:, 0], {"alpha": [1e-3, 0.1, 10.0]}
    weight = np.random.default_rng(3).integers(1, 4, size=len(X)).astype(float)
    for landmarks, tol in ((30, None), (len(X), 1e-6)):
        base = KernelRidge(kernel="rbf", landmarks=landmarks, random_state=0)
        search = GridSearch(base, grid, cv=3, random_state=0).fit(X, y, sample_weight=weight)
        assert search.n_passes_ == 2
        again = clone(base).set_params(**search.best_params_).fit(X, y, weight)
        close(search.predict(X), again.predict(X), 1e-9)
        assert search.best_estimator_.dual_coef_.shape == again.dual_coef_.shape
        scatter = search.best_estimator_.statistics_.scatter  # of features whose signs LAPACK chooses
        close(np.abs(scatter), np.abs(again.statistics_.scatter), 1e-9)
        fold = divide(
            3, Purpose.FOLDS, (int(check_random_state(0).randint(np.iinfo(np.int32).max)), 0), Rows(X, y)
        ).part
        scores = [search.cv_results_[f"split{f}_test_score"] for f in range(3)]
        for f, n in product(range(3), range(3)) if tol else ():
            rest, out = fold != f, fold == f
            alone = KernelRidge(grid["alpha"][n], kernel="rbf").fit(X[rest], y[rest], weight[rest])
            assert scores[f][n] == pytest.approx(alone.score(X[out], y[out], weight[out]), abs=tol)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y[:, 0]})
    scan = suffice.rows(suffice.scan(lambda: table.to_batches(max_chunksize=37)), target="y")
    here, there = (
        GridSearch(base, grid, cv=3, random_state=0).fit(*rows) for rows in ((X, Y[:, 0]), (scan,))
    )
    close(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], 1e-9)


def test_penalties_that_do_not_fit_are_failures():
    base, grid = KernelRidge(kernel="rbf", landmarks=20, random_state=0), {"alpha": [0.1, [1.0, 2.0, 3.0]]}
    with pytest.raises(ValueError, match="penalties do not correspond"):
        GridSearch(base, grid, cv=3, random_state=0, error_score="raise").fit(X, Y)
    with pytest.warns(FitFailedWarning, match="3 of 6 fits failed"):
        search = GridSearch(base, grid, cv=3, random_state=0, error_score=np.nan).fit(X, Y)
    assert search.best_params_ == {"alpha": 0.1}
