"""Lasso and elastic net: the optimum, paths and folds from one reading, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn import linear_model as peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit

import suffice
from suffice.engines.local import LocalPartitions
from suffice.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV, enet_path, lasso_path
from suffice.loops.coordinates import duality_gap

from ..versions import number_of_alphas, since

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


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("tol", [1e-4, 1e-12])
def test_without_an_absolute_penalty_it_is_ridge(rows, positive, tol):
    """To all digits, whatever the tolerance: there is an equation to solve, and no path to follow."""
    X, y, _ = rows
    mine = ElasticNet(0.5, l1_ratio=0.0, tol=tol, positive=positive).fit(X, y)
    ridge = suffice.linear_model.Ridge(0.5 * len(y), positive=positive).fit(X, y)
    np.testing.assert_allclose(mine.coef_, ridge.coef_, rtol=1e-10, atol=1e-12)
    assert 0.0 <= mine.dual_gap_ <= 1e-12 * np.mean(y**2)
    if not positive:
        centred = X - X.mean(axis=0)
        slope = centred.T @ (y - y.mean() - centred @ mine.coef_) / len(y) - 0.5 * mine.coef_
        assert np.abs(slope).max() < 1e-12 * np.abs(centred.T @ y / len(y)).max()


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_without_a_penalty_it_is_least_squares(rows, l1_ratio, positive):
    X, y, _ = rows
    mine = ElasticNet(0.0, l1_ratio=l1_ratio, positive=positive).fit(X, y)
    plain = peer.LinearRegression(positive=positive).fit(X, y)
    np.testing.assert_allclose(mine.coef_, plain.coef_, rtol=1e-9, atol=1e-11)
    assert 0.0 <= mine.dual_gap_ <= 1e-12 * np.mean(y**2)
    dependent = np.hstack([X, X[:, :2]])
    assert ElasticNet(0.0, positive=positive).fit(dependent, y).dual_gap_ <= 1e-12 * np.mean(y**2)
    X, y = X - X.mean(axis=0), y - y.mean()
    _, coefs, gaps = enet_path(X, y, alphas=[1.0, 0.1, 0.0], positive=positive)
    assert np.isfinite(gaps).all()
    np.testing.assert_allclose(coefs[:, 2], plain.coef_, rtol=1e-9, atol=1e-11)


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
    its = peer.enet_path(X, y, l1_ratio=0.7, **number_of_alphas(peer.enet_path, 100), **EXACT)
    for a, b in zip(mine[:2], its[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "l1_ratio",
    [
        0.7,
        pytest.param(0.0, marks=since("1.9", "made paths of several targets converge without l1 penalty")),
    ],
)
def test_the_path_of_several_targets_is_scikit_learns(rows, l1_ratio):
    """The targets share the features that are not zero."""
    X, y, _ = rows
    Y = np.stack([y, X[:, 0] - 0.1 * y], axis=1)
    mine, its = (
        path(
            X,
            Y,
            l1_ratio=l1_ratio,
            **(number_of_alphas(path, 30) if l1_ratio else {"alphas": [1.0, 0.1]}),
            **EXACT,
        )
        for path in (enet_path, peer.enet_path)
    )
    assert mine[1].shape == (2, 8, len(mine[0]))
    for a, b in zip(mine[:2], its[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    assert (mine[2] <= 1e-6 * np.mean((Y**2).sum(axis=1))).all()
    if l1_ratio:
        assert ((mine[1][0] == 0) == (mine[1][1] == 0)).all()
        again = enet_path(X, Y, l1_ratio=l1_ratio, alphas=mine[0][-1:], coef_init=mine[1][..., -1], **EXACT)
        np.testing.assert_allclose(again[1][..., 0], mine[1][..., -1], atol=1e-9)
    with pytest.raises(ValueError, match="positive=True is not allowed for multi-output"):
        enet_path(X, Y, positive=True)


class TestFolds:
    params = {"l1_ratio": [0.1, 0.7, 1.0], "tol": 1e-10, "max_iter": 100_000}  # noqa: RUF012

    @staticmethod
    def assert_same(mine, its):
        assert (mine.alpha_, mine.l1_ratio_) == (pytest.approx(its.alpha_), its.l1_ratio_)
        for name in ("alphas_", "mse_path_", "coef_", "intercept_"):
            np.testing.assert_allclose(getattr(mine, name), getattr(its, name), rtol=1e-6, atol=1e-8)

    @pytest.mark.parametrize(
        "cv",
        [
            *(3, KFold(4, shuffle=True, random_state=0)),
            *(pytest.param(cv, marks=pytest.mark.slow) for cv in (None, np.int64(7), KFold(4))),
        ],
        ids=str,
    )
    def test_scikit_learns_folds(self, rows, cv):
        """The same `cv` means the same folds: a number of them, runs of rows."""
        X, y, _ = rows
        mine, its = (cls(cv=cv, **self.params).fit(X, y) for cls in (ElasticNetCV, peer.ElasticNetCV))
        self.assert_same(mine, its)

    def test_weights_do_not_move_folds(self, rows):
        """Rows are counted, whatever they weigh, those of weight zero too."""
        X, y, weight = rows
        weight = np.where(np.arange(len(y)) % 7 == 2, 0.0, weight)
        mine, its = (cls(cv=4, **self.params).fit(X, y, weight) for cls in (ElasticNetCV, peer.ElasticNetCV))
        self.assert_same(mine, its)

    @pytest.mark.parametrize(
        "cv",
        [
            3,
            *(
                pytest.param(cv, marks=pytest.mark.slow)
                for cv in (10, KFold(10, shuffle=True, random_state=1))
            ),
        ],
        ids=str,
    )
    def test_a_path_over_files_has_the_folds_of_arrays(self, rows, tmp_path, monkeypatch, cv):
        """Whatever the blocks; and they are read twice: rows are counted, then summed."""
        X, y, weight = rows
        weight = np.where(np.arange(len(y)) % 11 == 2, 0.0, weight)
        table = pa.table({f"x{d}": X[:, d] for d in range(8)} | {"y": y, "weight": weight})
        for n, part in enumerate((table[:130], table[130:131], table[131:])):
            pq.write_table(part, tmp_path / f"rows-{n}.parquet", row_group_size=37)
        read = []
        given = LocalPartitions.fold

        def fold(self, f, *shared):
            read.append(f)
            return given(self, f, *shared)

        monkeypatch.setattr(LocalPartitions, "fold", fold)
        described = suffice.rows(suffice.scan_parquet(tmp_path), target="y", weight="weight")
        mine = ElasticNetCV(cv=cv, **self.params).fit(described)
        assert len(read) == 2
        self.assert_same(mine, peer.ElasticNetCV(cv=cv, **self.params).fit(X, y, weight))
        in_memory = suffice.rows(table, target="y", weight="weight")
        self.assert_same(ElasticNetCV(cv=cv, **self.params).fit(in_memory), mine)

    def test_sparse_rows_have_the_folds_of_dense_ones(self, rows):
        X, y, weight = rows
        X = np.where(np.abs(X) < 4.0, 0.0, X)
        dense, sparse = (LassoCV().fit(how(X), y, weight) for how in (np.asarray, sp.csr_array))
        np.testing.assert_allclose(sparse.mse_path_, dense.mse_path_, rtol=1e-8)

    def test_folds_are_known_when_all_rows_are(self):
        with pytest.raises(AttributeError) as caught:
            LassoCV().partial_fit([[0.0]], [1.0])
        assert "its folds depend on the number of rows" in str(caught.value.__cause__)

    @pytest.mark.parametrize(
        "cv", [ShuffleSplit(3, random_state=0), [([0, 1], [2, 3]), ([2, 3], [0, 1])], TimeSeriesSplit(3)]
    )
    def test_folds_that_overlap(self, rows, cv):
        X, y, weight = rows
        ours = LassoCV(cv=cv, alphas=20, **EXACT).fit(X, y, weight)
        theirs = peer.LassoCV(cv=cv, **number_of_alphas(peer.LassoCV, 20), **EXACT).fit(X, y, weight)
        np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-6)
        assert ours.alpha_ == pytest.approx(theirs.alpha_)

    def test_groups_go_to_the_splitter(self, rows):
        X, y, _ = rows
        groups = np.arange(len(y)) % 4
        with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
            LassoCV(cv=GroupKFold(4)).fit(X, y, groups=groups)
        with config_context(enable_metadata_routing=True):
            ours = LassoCV(cv=GroupKFold(4), alphas=10).fit(X, y, groups=groups)
            many = number_of_alphas(peer.LassoCV, 10)
            theirs = peer.LassoCV(cv=GroupKFold(4), **many).fit(X, y, groups=groups)
        np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-2)

    def test_one_path_of_alphas_for_all_ratios(self, rows):
        X, y, _ = rows
        model = ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=[0.1, 1.0, 0.5]).fit(X, y)
        assert model.alphas_.tolist() == [1.0, 0.5, 0.1] and model.mse_path_.shape == (2, 3, 5)
        assert ElasticNetCV(l1_ratio=[0.5], alphas=3).fit(X, y).alphas_.shape == (3,)

    def test_few_rows(self, rows):
        X, y, _ = rows
        with pytest.raises(ValueError, match="'cv' parameter"):
            LassoCV(cv=1).fit(X, y)
        for cls in (LassoCV, peer.LassoCV):
            with pytest.raises(
                ValueError, match="n_splits=5 greater than the number of samples: n_samples=3"
            ):
                cls(cv=5).fit(X[:3], y[:3])
        with pytest.raises(ValueError, match="in one fold of 2"):
            LassoCV(cv=2).fit(X[:4], y[:4], [1.0, 1.0, 0.0, 0.0])


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


def test_a_warm_start_at_the_optimum_takes_no_sweep(rows):
    X, y, _ = rows
    model = ElasticNet(alpha=0.1, warm_start=True).fit(X, y)
    assert model.n_iter_ > 0 and model.fit(X, y).n_iter_ == 0


def test_a_gram_matrix_is_compared_with_the_rows(rows):
    X, y, _ = rows
    with pytest.warns(UserWarning, match="recomputing Gram matrix"):
        ElasticNet(precompute=X.T @ X).fit(X, y)
    Z = X - X.mean(axis=0)
    ElasticNet(precompute=Z.T @ Z).fit(Z, y, check_input=False)
    with pytest.raises(ValueError, match="did not pass validation"):
        ElasticNet(precompute=Z.T @ Z + 10.0 * np.eye(Z.shape[1])).fit(Z, y)


def test_paths_as_in_scikit_learn(rows):
    X, y, _ = rows
    for ours, theirs in ((enet_path, peer.enet_path), (lasso_path, peer.lasso_path)):
        alphas, coefs, gaps, sweeps = ours(X, y, alphas=10, return_n_iter=True, **EXACT)
        expected = theirs(X, y, **number_of_alphas(theirs, 10), **EXACT)
        np.testing.assert_allclose(alphas, expected[0])
        np.testing.assert_allclose(coefs, expected[1], atol=1e-6)
        assert len(sweeps) == len(gaps) == 10
        start = ours(X, y, alphas=alphas[-1:], coef_init=coefs[:, -1], return_n_iter=True)
        assert start[-1] == [0]
    assert enet_path(X.astype(np.float32), y, alphas=2)[1].dtype == np.float32
    with pytest.raises(ValueError, match="Unexpected parameters in params"):
        enet_path(X, y, normalize=True)
    with pytest.warns(FutureWarning, match="'n_alphas' was deprecated"):
        assert len(lasso_path(X, y, n_alphas=5)[0]) == 5


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_a_warm_start_from_coefficients_of_another_type(kind):
    """A fit to float32 leaves float32; scikit-learn's users set coefficients by hand."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (50, 3)).astype(kind), rng.normal(size=50)
    model = Lasso(1e-3, warm_start=True, **EXACT).fit(X, y)
    model.coef_ = np.array([1, 1, 1000], dtype=kind)
    np.testing.assert_allclose(model.fit(X, y).coef_, Lasso(1e-3, **EXACT).fit(X, y).coef_, rtol=1e-5)
