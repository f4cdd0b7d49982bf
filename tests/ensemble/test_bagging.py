"""Bagging: its samples of rows and features, its members on any source, and what is out of bag."""

from __future__ import annotations

import logging
from functools import wraps

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import ensemble as peer
from sklearn.datasets import make_classification, make_friedman1
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import suffice
from suffice.core import partitions
from suffice.ensemble import BaggingClassifier, BaggingRegressor, bagging
from suffice.fitting.shared import Sharing
from suffice.impute import SimpleImputer
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.naive_bayes import GaussianNB
from suffice.preprocessing import StandardScaler
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor


def classes(n=300, seed=0, **options):
    X, y = make_classification(n, 6, n_informative=4, flip_y=0.1, random_state=seed, **options)
    return X, np.array(["ash", "elm", "oak"])[y]


def stored(value):
    """The bits of the arrays in a value, also in estimators that it stores."""
    if isinstance(value, np.ndarray | float):
        return np.asarray(value).tobytes()
    if isinstance(value, dict):
        return {k: stored(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [stored(v) for v in value]
    return stored(value.fields()) if hasattr(value, "fields") else value


def bits(model):
    return stored([member.model_ for member in model.estimators_])


def counts_of(model, m, n):
    return np.bincount(model.estimators_samples_[m], minlength=n)


@pytest.mark.parametrize("how", [{}, {"max_features": 3}, {"max_samples": 0.5, "bootstrap": False}])
@pytest.mark.parametrize(
    "base", [DecisionTreeClassifier(max_features=2), GaussianNB()], ids=lambda b: type(b).__name__
)
def test_a_member_is_the_estimator_of_its_sample(base, how):
    X, y = classes()
    model = BaggingClassifier(base, 4, random_state=1, **how).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    for m, (member, features) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True)):
        count = counts_of(model, m, len(y))
        alone = type(base)(**member.get_params()).fit(X[:, features], codes, sample_weight=count)
        np.testing.assert_allclose(
            member.predict_proba(X[:, features]), alone.predict_proba(X[:, features]), rtol=1e-12, atol=1e-12
        )
        if how.get("max_features"):
            assert len(set(features)) == 3
    samples = {tuple(counts_of(model, m, len(y))) for m in range(4)}
    assert len(samples) == 4
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    mean = np.mean([member.predict_proba(X[:, features]) for member, features in pairs], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), mean, rtol=1e-12)


def test_out_of_bag_by_hand():
    X, y = make_friedman1(120, noise=1.0, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=120)
    model = BaggingRegressor(Ridge(), 4, random_state=3, oob_score=True).fit(X, y, weight)
    total, n = np.zeros(120), np.zeros(120)
    for m, member in enumerate(model.estimators_):
        out = counts_of(model, m, 120) == 0
        total[out] += member.predict(X[out])
        n[out] += 1
    known = n > 0
    assert 0 < (~known).sum() < 40  # (1 - 1/e)^4 of them
    assert np.isnan(model.oob_prediction_[~known]).all()
    np.testing.assert_allclose(model.oob_prediction_[known], total[known] / n[known], rtol=1e-12)
    error = weight[known].dot((y[known] - total[known] / n[known]) ** 2)
    middle = np.average(y[known], weights=weight[known])
    spread = weight[known].dot((y[known] - middle) ** 2)
    np.testing.assert_allclose(model.oob_score_, 1.0 - error / spread, rtol=1e-12)


@pytest.mark.slow
def test_out_of_bag_accuracy_on_random_labels_is_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.integers(0, 2, 2000)
    model = BaggingClassifier(n_estimators=20, random_state=0, oob_score=True).fit(X, y)
    assert model.score(X, y) > 0.9
    assert abs(model.oob_score_ - 0.5) < 3 * 0.5 / np.sqrt(2000)


BASES = [
    BaggingClassifier(n_estimators=4, max_features=3),
    BaggingRegressor(DecisionTreeRegressor(max_depth=5), 4),
    BaggingClassifier(GaussianNB(), 4, max_features=3),
    BaggingRegressor(LinearRegression(), 4),
    BaggingClassifier(LogisticRegression(), 3),
    BaggingClassifier(LinearSVC(), 2),
]


@pytest.mark.parametrize("model", BASES, ids=lambda m: f"{m._base()}")
def test_files_and_plans_give_the_same(model, tmp_path, monkeypatch, caplog):
    X, y = classes()
    y = y if isinstance(model, BaggingClassifier) else X[:, 0] * X[:, 1] + X[:, 2]
    names = [f"x{d}" for d in range(X.shape[1])]
    table = pa.table({**dict(zip(names, X.T, strict=True)), "y": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=61)
    model.set_params(random_state=0, oob_score=True).fit(X, y)
    score, answer, members = model.oob_score_, model.predict(X), model.estimators_
    rows = suffice.rows(suffice.scan_parquet(tmp_path / "rows.parquet"), target="y")
    monkeypatch.setattr(bagging, "AT_ONCE", 3)
    with caplog.at_level(logging.INFO, logger="suffice"):
        model.fit(rows)
    np.testing.assert_allclose(model.oob_score_, score, rtol=1e-10)
    if isinstance(model, BaggingClassifier):
        np.testing.assert_array_equal(model.predict(rows), answer)
    else:
        np.testing.assert_allclose(model.predict(rows), answer, rtol=1e-10)
    if isinstance(members[0], (DecisionTreeClassifier, DecisionTreeRegressor)):
        expected = stored([member.model_ for member in members])
        assert bits(model) == expected
        monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 13)
        assert bits(model.fit(rows)) == expected
        with suffice.threads(3):
            assert bits(model.fit(X, y)) == expected
    else:
        shared = "up to 3 fits" in caplog.text
        assert shared == (not isinstance(model.estimator_, LinearSVC))


def test_fits_share_passes(tmp_path):
    X, y = classes()
    table = pa.table({**{f"x{d}": X[:, d] for d in range(6)}, "y": y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    scan = suffice.scan_parquet(tmp_path / "rows.parquet")
    passes = []
    fold = Sharing._pass

    def counted(self, calls):
        passes.append(len(calls))
        return fold(self, calls)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sharing, "_pass", counted)
        BaggingClassifier(GaussianNB(), 5, random_state=0).fit(suffice.rows(scan, target="y"))
    alone = len(passes)
    assert set(passes) == {5}
    passes.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sharing, "_pass", counted)
        BaggingClassifier(GaussianNB(), 1, random_state=0).fit(suffice.rows(scan, target="y"))
    assert len(passes) == alone


@pytest.mark.slow
def test_scores_are_those_of_scikit_learn():
    X, y = classes(1500)
    options = {"n_estimators": 30, "random_state": 0, "oob_score": True}
    for how in ({}, {"max_features": 0.5, "max_samples": 0.4}):
        ours = BaggingClassifier(**options, **how).fit(X[:1000], y[:1000])
        theirs = peer.BaggingClassifier(**options, **how).fit(X[:1000], y[:1000])
        error = np.sqrt(2 * 0.1 / 500)
        assert abs(ours.score(X[1000:], y[1000:]) - theirs.score(X[1000:], y[1000:])) < 3 * error
        assert abs(ours.oob_score_ - theirs.oob_score_) < 3 * error
    X, y = make_friedman1(1200, noise=1.0, random_state=0)
    ours = BaggingRegressor(**options).fit(X[:800], y[:800])
    theirs = peer.BaggingRegressor(**options).fit(X[:800], y[:800])
    assert abs(ours.score(X[800:], y[800:]) - theirs.score(X[800:], y[800:])) < 0.03


def test_all_rows_and_features_give_the_estimator():
    X, y = make_friedman1(200, random_state=0)
    model = BaggingRegressor(LinearRegression(), 3, bootstrap=False).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-12)
    both = np.stack([y, -y], axis=1)
    model = BaggingRegressor(LinearRegression(), 3, oob_score=True, random_state=0).fit(X, both)
    assert model.predict(X).shape == model.oob_prediction_.shape == (200, 2)
    assert model.score(X, both) > 0.5


def test_votes_of_members_without_probabilities():
    X, y = classes()
    model = BaggingClassifier(LinearSVC(), 5, random_state=0).fit(X, y)
    share = model.predict_proba(X)
    np.testing.assert_allclose(share * 5, np.round(share * 5))
    decision = np.mean([member.decision_function(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.decision_function(X), decision)
    assert not hasattr(BaggingClassifier(GaussianNB()), "decision_function")


@pytest.mark.parametrize(
    "base",
    [KNeighborsClassifier(3), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=lambda b: type(b).__name__,
)
def test_estimators_without_weights_see_repeated_rows(base):
    X, y = classes(80)
    model = BaggingClassifier(base, 3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    assert len(counts_of(model, 0, 80)) == 80
    if isinstance(base, KNeighborsClassifier):
        assert model.estimators_[0].n_samples_fit_ == len(model.estimators_samples_[0])
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        model.fit(X, y, np.linspace(0.5, 1.5, 80))


def test_a_sample_may_lack_a_class():
    X = np.arange(40.0)[:, None]
    y = np.array(["a"] * 39 + ["b"])
    model = BaggingClassifier(GaussianNB(var_smoothing=1e-3), 8, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in model.estimators_} == {1, 2}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    lacks = BaggingClassifier(LogisticRegression(), 8, random_state=0)
    with pytest.raises(ValueError, match=r"one class|seen 1 of 2 classes|2 classes"):
        lacks.fit(X, y).decision_function(X)


def test_sparse_rows_and_names():
    import pandas as pd

    X, y = classes(60)
    whole = BaggingClassifier(n_estimators=3, max_features=4, random_state=0).fit(X, y)
    rows = sp.csr_array(X)
    again = BaggingClassifier(n_estimators=3, max_features=4, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(whole.predict_proba(X), again.predict_proba(rows))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    again.fit(frame, y)
    np.testing.assert_array_equal(whole.predict_proba(X), again.predict_proba(frame))
    names = [frame.columns[f].tolist() for f in again.estimators_features_]
    assert [member.feature_names_in_.tolist() for member in again.estimators_] == names


def test_categories():
    import pandas as pd

    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], size=200)
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "x": rng.normal(size=200), "z": rng.normal(size=200)})
    y = (kind == "b").astype(int)
    base = DecisionTreeClassifier(categorical_features="from_dtype")
    model = BaggingClassifier(base, 5, max_features=2, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.9


def test_missing_values_of_a_pipeline_that_fills_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] > 0
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = BaggingClassifier(make_pipeline(SimpleImputer(), LogisticRegression()), random_state=0).fit(X, y)
    assert filled.score(X, y) > 0.9
    with pytest.raises(ValueError, match="NaN"):
        BaggingClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    with pytest.raises(ValueError, match="BaggingClassifier takes no missing values"):
        BaggingClassifier(LogisticRegression()).fit(X, y)


def test_warm_start_adds_members():
    X, y = classes()
    for base in (None, GaussianNB()):
        whole = BaggingClassifier(base, 6, random_state=0).fit(X, y)
        model = BaggingClassifier(base, 4, random_state=0, warm_start=True).fit(X, y)
        assert bits(whole._with_values({"n_estimators": 4})) == bits(model)
        assert bits(model.set_params(n_estimators=6).fit(X, y)) == bits(whole)
        with pytest.warns(UserWarning, match="without increasing n_estimators"):
            model.fit(X, y)
        with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal"):
            model.set_params(n_estimators=2).fit(X, y)


def test_a_resumed_fit_has_the_same_bits(tmp_path, monkeypatch):
    X, y = classes()
    expected = bits(BaggingClassifier(GaussianNB(), 6, random_state=0).fit(X, y))
    path = tmp_path / "fit.checkpoint"
    model = BaggingClassifier(GaussianNB(), 6, random_state=0, checkpoint=path)
    fits = []

    @wraps(GaussianNB.fit)  # which says that it takes weights
    def interrupted(self, *arguments):
        if len(fits) == 3:
            raise KeyboardInterrupt
        fits.append(1)
        return fit(self, *arguments)

    fit = GaussianNB.fit
    with monkeypatch.context() as patch:
        patch.setattr(GaussianNB, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert path.exists()
    assert bits(model.fit(X, y)) == expected
    assert not path.exists()


def test_a_file_holds_the_members(tmp_path):
    X, y = classes(100)
    for base in (None, GaussianNB()):
        model = BaggingClassifier(base, 3, max_features=2, random_state=0, oob_score=True).fit(X, y)
        model.save(tmp_path / "model.suffice")
        again = suffice.load(tmp_path / "model.suffice")
        np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
        np.testing.assert_array_equal(model.oob_decision_function_, again.oob_decision_function_)


def test_errors():
    X, y = classes(50)
    with pytest.raises(ValueError, match="only available if bootstrap=True"):
        BaggingClassifier(bootstrap=False, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="only available if warm_start=False"):
        BaggingClassifier(warm_start=True, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="must be <= n_samples=50"):
        BaggingClassifier(max_samples=51).fit(X, y)
    with pytest.raises(ValueError, match="max_features must be <= n_features"):
        BaggingClassifier(max_features=7).fit(X, y)
    with pytest.raises(ValueError, match="takes a classifier as estimator"):
        BaggingClassifier(Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="takes a regressor as estimator"):
        BaggingRegressor(GaussianNB()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="infinity"):
        BaggingClassifier().fit(np.where(X > 2.0, np.inf, X), y)
    one = BaggingClassifier(n_estimators=3, oob_score=True).fit([[1.0]], ["a"])
    assert np.isnan(one.oob_score_)
    assert one.predict([[5.0]]).tolist() == ["a"]
    with pytest.raises(ValueError, match="zero"):
        BaggingClassifier().fit(X, y, np.zeros(50))


def test_subclasses_with_a_fit_of_arrays():
    """They get arrays, and need not return themselves."""

    class Counted(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.n_rows_ = len(X)

    X = np.random.default_rng(0).normal(size=(60, 3))
    model = BaggingClassifier(Counted(), n_estimators=3, random_state=0).fit(X, X[:, 0] > 0)
    assert all(member.n_rows_ > 0 for member in model.estimators_)
    assert model.score(X, X[:, 0] > 0) > 0.8
