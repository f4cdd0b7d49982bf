"""Ridge regression with a penalty chosen by cross-validation."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn import linear_model as peer
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

import suffice
from suffice.linear_model import Ridge, RidgeCV

ALPHAS = np.geomspace(1e-2, 1e3, 8)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) + 2.0
    y = X @ rng.normal(size=(6, 2)) * [0.2, 2.0] + rng.normal(size=(60, 2))
    return X, y, rng.uniform(0.5, 2.0, size=60)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"scoring": "neg_mean_absolute_error"}])
def test_leaving_out_one_row_as_scikit_learn_does(rows, form, options):
    X, y, weight = rows
    ours, theirs = (
        cls(ALPHAS, store_cv_results=True, **options).fit(form(X), y, weight)
        for cls in (RidgeCV, peer.RidgeCV)
    )
    assert ours.alpha_ == theirs.alpha_ and ours.best_score_ == pytest.approx(theirs.best_score_)
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)


def priced_error(y, prediction, price, sample_weight=None):
    weight = price if sample_weight is None else price * sample_weight
    return np.average(np.abs(y - prediction), weights=weight)


@pytest.mark.parametrize("cv", [None, KFold(3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_metadata_of_the_scorer(rows, cv, weighted):
    """Rows of weight zero keep their place beside their price."""
    X, y, weight = rows
    weight = np.where(np.arange(60) % 7, weight, 0.0)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(priced_error, greater_is_better=False)
        scorer.set_score_request(price=True, sample_weight=weighted)
        ours, theirs = (
            cls(ALPHAS, scoring=scorer, cv=cv).fit(X, y[:, 0], sample_weight=w, price=np.arange(60.0))
            for cls, w in ((RidgeCV, weight), (peer.RidgeCV, weight + 1e-12))  # theirs divides by weights
        )
    assert ours.alpha_ == theirs.alpha_ and ours.best_score_ == pytest.approx(theirs.best_score_)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_copies_that_are_left_out_together(rows, fit_intercept, seed):
    """The errors of a row are those of a fit to repeated rows without any copy of it; zero is absence."""
    X, Y, _ = rows
    y, weight = Y[:, 0], np.random.default_rng(seed).integers(0, 4, size=60)
    options = {"fit_intercept": fit_intercept, "store_cv_results": True}
    weighted = RidgeCV(ALPHAS, **options).fit(X, y, weight)
    row = np.repeat(np.arange(60), weight)
    squares = np.zeros((60, len(ALPHAS)))
    for n in np.flatnonzero(weight):
        rest = row[row != n]
        for a, alpha in enumerate(ALPHAS):
            refit = Ridge(alpha, fit_intercept=fit_intercept).fit(X[rest], y[rest])
            squares[n, a] = weight[n] * (refit.predict(X[[n]])[0] - y[n]) ** 2
    np.testing.assert_allclose(weighted.cv_results_, squares[weight > 0], rtol=1e-8)
    best = int(squares.sum(axis=0).argmin())
    assert weighted.alpha_ == ALPHAS[best]
    assert weighted.best_score_ == pytest.approx(-squares[:, best].sum() / np.count_nonzero(weight))
    repeated = Ridge(weighted.alpha_, fit_intercept=fit_intercept).fit(X[row], y[row])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_repetitions_in_folds_of_copies(rows, seed):
    X, Y, _ = rows
    y, weight = Y[:, 0], np.random.default_rng(seed).integers(0, 4, size=60)
    fold, row = np.arange(60) % 4, np.repeat(np.arange(60), weight)
    weighted, repeated = (
        RidgeCV(ALPHAS, cv=PredefinedSplit(folds)).fit(*data)
        for folds, data in ((fold, (X, y, weight)), (fold[row], (X[row], y[row])))
    )
    assert weighted.alpha_ == repeated.alpha_
    assert weighted.best_score_ == pytest.approx(repeated.best_score_, rel=1e-9)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)


def test_errors_are_those_of_refits(rows):
    X, y, _ = rows
    model = RidgeCV([3.0, 4.0], store_cv_results=True).fit(X, y[:, 0])
    for n in (0, 17):
        others = np.arange(60) != n
        left_out = Ridge(3.0).fit(X[others], y[others, 0]).predict(X[n : n + 1]) - y[n, 0]
        assert model.cv_results_[n, 0] == pytest.approx(left_out[0] ** 2)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_more_features_than_rows(fit_intercept):
    """Residuals, and one minus leverages, are small. Their ratios keep their digits."""
    rng = np.random.default_rng(0)
    X, y, alphas = rng.normal(size=(10, 50)), rng.normal(size=10), [1e-5, 1.0]
    options = {"fit_intercept": fit_intercept, "store_cv_results": True}
    ours = RidgeCV(alphas, **options).fit(X, y)
    for n in range(10):
        left_out = Ridge(1e-5, fit_intercept=fit_intercept).fit(np.delete(X, n, 0), np.delete(y, n))
        assert ours.cv_results_[n, 0] == pytest.approx((left_out.predict(X[[n]])[0] - y[n]) ** 2, rel=1e-9)
    again = RidgeCV(alphas, **options).fit(np.vstack([X, X]), np.append(y, y), np.repeat([1.0, 0.0], 10))
    np.testing.assert_allclose(again.cv_results_[:10], ours.cv_results_, rtol=1e-9)


def test_a_penalty_for_each_target(rows):
    X, y, _ = rows
    ours, theirs = (cls(ALPHAS, alpha_per_target=True).fit(X, y) for cls in (RidgeCV, peer.RidgeCV))
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    assert len(set(ours.alpha_)) == 2
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_)


@pytest.mark.parametrize("cv", [3, KFold(4, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_folds(rows, cv, scoring):
    X, y, _ = rows
    ours, theirs = (cls(ALPHAS, cv=cv, scoring=scoring).fit(X, y) for cls in (RidgeCV, peer.RidgeCV))
    assert ours.alpha_ == theirs.alpha_ and ours.best_score_ == pytest.approx(theirs.best_score_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_)


@pytest.mark.parametrize("cv", [None, 4])
def test_files(tmp_path, rows, cv):
    X, y, weight = rows
    names = [f"x{d}" for d in range(6)]
    table = pa.table({**dict(zip(names, X.T, strict=True)), "y": y[:, 0], "w": weight})
    for k in range(3):
        pq.write_table(table.slice(20 * k, 20), tmp_path / f"{k}.parquet")
    scan = suffice.rows(suffice.scan_parquet(tmp_path), features=names, target="y", weight="w")
    ours, inside = RidgeCV(ALPHAS, cv=cv).fit(scan), RidgeCV(ALPHAS, cv=cv).fit(X, y[:, 0], weight)
    assert ours.alpha_ == inside.alpha_
    np.testing.assert_allclose(ours.coef_, inside.coef_)


def test_refused(rows):
    X, y, _ = rows
    for options, message in (
        ({"alphas": [1.0, -1.0]}, r"alphas\[1\] == -1.0, must be > 0.0"),
        ({"cv": 3, "store_cv_results": True}, "cv!=None and store_cv_results=True are incompatible"),
        ({"cv": 3, "alpha_per_target": True}, "cv!=None and alpha_per_target=True are incompatible"),
        ({"alphas": np.ones((2, 2))}, "of 1 axis"),
    ):
        with pytest.raises(ValueError, match=message):
            RidgeCV(**options).fit(X, y)
