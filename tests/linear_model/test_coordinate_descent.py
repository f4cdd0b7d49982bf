"""Lasso and elastic net: the optimum, paths and folds from one reading, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import linear_model as peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

import suffice
from suffice.core.blocks import Rows
from suffice.core.hashing import example_hashes, uniforms
from suffice.engines.local import LocalPartitions
from suffice.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV, enet_path
from suffice.loops.coordinates import duality_gap

EXACT = {"tol": 1e-12, "max_iter": 100_000}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8)) + 5.0
    y = X[:, :3] @ [1.0, -2.0, 0.5] + rng.normal(size=300) + 4.0
    return X, y, rng.gamma(2.0, size=300)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
@pytest.mark.parametrize("how", [np.asarray, sp.csr_array])
def test_same_as_scikit_learn(rows, how, l1_ratio, positive, fit_intercept, weighted):
    X, y, weight = rows
    params = {"l1_ratio": l1_ratio, "positive": positive, "fit_intercept": fit_intercept, **EXACT}
    weight = weight if weighted else None
    mine = ElasticNet(0.2, **params).fit(how(X), y, weight)
    its = peer.ElasticNet(0.2, **params).fit(X, y, weight)
    np.testing.assert_allclose(mine.coef_, its.coef_, atol=1e-6)
    np.testing.assert_allclose(mine.intercept_, its.intercept_, atol=1e-6)
    assert 0 <= mine.dual_gap_ <= 1e-12 * np.mean(y**2) * 10


def test_at_the_optimum_no_direction_leads_down(rows):
    X, y, weight = rows
    model = ElasticNet(0.3, l1_ratio=0.6, **EXACT).fit(X, y, weight)
    residual = y - model.predict(X)
    slope = X.T @ (weight * residual) / weight.sum() - 0.3 * 0.4 * model.coef_
    on = model.coef_ != 0
    assert 0 < on.sum() < 8
    np.testing.assert_allclose(slope[on], 0.3 * 0.6 * np.sign(model.coef_[on]), rtol=1e-5)
    assert (np.abs(slope[~on]) <= 0.3 * 0.6 + 1e-9).all()
    assert weight @ residual == pytest.approx(0, abs=1e-8)


def test_the_gap_bounds_the_objective(rows):
    """Whatever the coefficients, the objective is above its least value by no more than the gap."""
    X, y, _ = rows
    X, y = X - X.mean(axis=0), y - y.mean()
    A, b, l1, l2 = X.T @ X, X.T @ y, 30.0, 12.0

    def objective(w):
        return 0.5 * ((y - X @ w) ** 2).sum() + l1 * np.abs(w).sum() + 0.5 * l2 * w @ w

    n = len(y)
    best = ElasticNet((l1 + l2) / n, l1_ratio=l1 / (l1 + l2), fit_intercept=False, **EXACT).fit(X, y).coef_
    rng = np.random.default_rng(1)
    for scale in (0.0, 1e-3, 0.1, 1.0):
        w = best + scale * rng.normal(size=8)
        gap = duality_gap(b, y @ y, l1, l2, False, w, A @ w)
        assert objective(w) - objective(best) <= gap + 1e-8 * objective(best)


def test_without_an_absolute_penalty_it_is_ridge(rows):
    X, y, _ = rows
    mine = ElasticNet(0.5, l1_ratio=0.0, tol=1e-16, max_iter=100_000).fit(X, y)
    ridge = suffice.linear_model.Ridge(0.5 * len(y)).fit(X, y)
    np.testing.assert_allclose(mine.coef_, ridge.coef_, rtol=1e-6)


def test_several_targets_are_fitted_each_for_itself(rows):
    X, y, _ = rows
    Y = np.stack([y, -y, X[:, 0]], axis=1)
    model = Lasso(0.1, **EXACT).fit(X, Y)
    for t in range(3):
        np.testing.assert_allclose(model.coef_[t], Lasso(0.1, **EXACT).fit(X, Y[:, t]).coef_, atol=1e-12)
    assert model.sparse_coef_.shape == (3, 8)


def test_it_says_when_it_does_not_converge(rows):
    X, y, _ = rows
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        Lasso(1e-4, tol=1e-12, max_iter=2).fit(X, y)


def test_warm_start_goes_on(rows):
    X, y, _ = rows
    model = Lasso(1e-3, warm_start=True, **EXACT).fit(X, y)
    assert model.n_iter_ > 2
    assert model.fit(X, y).n_iter_ <= 2


def test_the_path_is_scikit_learns(rows):
    X, y, _ = rows
    mine = enet_path(X, y, l1_ratio=0.7, **EXACT)
    its = peer.enet_path(X, y, l1_ratio=0.7, alphas=100, **EXACT)
    for a, b in zip(mine[:2], its[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


def test_a_path_has_one_target(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="2 targets, expected one"):
        enet_path(X, np.stack([y, y], axis=1))


class TestFolds:
    def test_scikit_learns_folds(self, rows):
        X, y, _ = rows
        params = {"l1_ratio": [0.1, 0.7, 1.0], "cv": KFold(4), "tol": 1e-10, "max_iter": 100_000}
        mine, its = ElasticNetCV(**params).fit(X, y), peer.ElasticNetCV(**params).fit(X, y)
        assert (mine.alpha_, mine.l1_ratio_) == (pytest.approx(its.alpha_), its.l1_ratio_)
        for name in ("alphas_", "mse_path_", "coef_", "intercept_"):
            np.testing.assert_allclose(getattr(mine, name), getattr(its, name), rtol=1e-6, atol=1e-8)

    def test_a_path_over_files_reads_them_once(self, rows, tmp_path, monkeypatch):
        X, y, _ = rows
        table = pa.table({f"x{d}": X[:, d] for d in range(8)} | {"y": y})
        pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
        read = []
        given = LocalPartitions.fold

        def fold(self, f, *shared):
            read.append(f)
            return given(self, f, *shared)

        monkeypatch.setattr(LocalPartitions, "fold", fold)
        params = {"l1_ratio": 0.5, "tol": 1e-10, "max_iter": 100_000}
        described = suffice.rows(suffice.scan_parquet(tmp_path), target="y")
        mine = ElasticNetCV(cv=10, random_state=3, **params).fit(described)
        assert len(read) == 1
        folds = uniforms(example_hashes(Rows(X, y), mine.model_.seed))
        split = PredefinedSplit((folds * 10).astype(int))
        its = peer.ElasticNetCV(cv=split, **params).fit(X, y)
        assert mine.mse_path_.shape == (100, 10)
        assert mine.alpha_ == pytest.approx(its.alpha_)
        np.testing.assert_allclose(mine.mse_path_, its.mse_path_, rtol=1e-6)
        np.testing.assert_allclose(mine.coef_, its.coef_, atol=1e-6)

    def test_sparse_rows_have_the_folds_of_dense_ones(self, rows):
        X, y, weight = rows
        X = np.where(np.abs(X) < 4.0, 0.0, X)
        dense, sparse = (LassoCV(random_state=0).fit(how(X), y, weight) for how in (np.asarray, sp.csr_array))
        np.testing.assert_allclose(sparse.mse_path_, dense.mse_path_, rtol=1e-8)

    def test_partial_fit_is_fit(self, rows):
        X, y, weight = rows
        whole = LassoCV(random_state=0).fit(X, y, weight)
        parts = LassoCV(random_state=0)
        for cut in np.array_split(np.arange(len(y)), 4):
            parts.partial_fit(X[cut], y[cut], weight[cut])
        np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)
        np.testing.assert_allclose(parts.mse_path_, whole.mse_path_, rtol=1e-9)

    @pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), [([0, 1], [2, 3]), ([2, 3], [0, 1])]])
    def test_folds_that_do_not_divide_the_rows_are_refused(self, rows, cv):
        X, y, _ = rows
        with pytest.raises(ValueError, match=r"cv must leave out"):
            LassoCV(cv=cv).fit(X, y)

    def test_folds_are_the_same_each_time(self, rows):
        X, y, _ = rows
        first = LassoCV().fit(X, y).mse_path_
        np.testing.assert_array_equal(LassoCV(cv=np.int64(5)).fit(X, y).mse_path_, first)
        assert not np.array_equal(LassoCV(random_state=1).fit(X, y).mse_path_, first)

    def test_one_fold_is_refused(self, rows):
        X, y, _ = rows
        with pytest.raises(ValueError, match="'cv' parameter"):
            LassoCV(cv=1).fit(X, y)

    def test_splits_of_rows_elsewhere_are_refused(self, rows, tmp_path):
        pq.write_table(pa.table({"a": [1.0, 2.0], "y": [1.0, 2.0]}), tmp_path / "rows.parquet")
        described = suffice.rows(suffice.scan_parquet(tmp_path), target="y")
        with pytest.raises(TypeError, match="number of folds"):
            LassoCV(cv=KFold(2)).fit(described)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"l1_ratio": 1.5}, "'l1_ratio' parameter"),
        ({"alpha": -1.0}, "alpha"),
        ({"selection": "last"}, "'selection' parameter"),
    ],
)
def test_what_is_refused(rows, params, message):
    X, y, _ = rows
    with pytest.raises(ValueError, match=message):
        ElasticNet(**params).fit(X, y)
