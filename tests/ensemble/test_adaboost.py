"""AdaBoost: against scikit-learn, its bounds, either plan, any order of the rows, and bad input."""

from __future__ import annotations

import logging

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import ensemble as peer
from sklearn import naive_bayes as peer_bayes
from sklearn import tree as peer_tree
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

import suffice
from suffice.core import partitions
from suffice.ensemble import AdaBoostClassifier
from suffice.naive_bayes import GaussianNB
from suffice.tree import DecisionTreeClassifier

from ..laws.registry import bits
from .killed import killed_fit


def rows(n=300, K=2, seed=0):
    X, y = make_classification(n, 6, n_informative=4, n_classes=K, random_state=seed)
    return X.astype(np.float32).astype(np.float64), y  # scikit-learn's trees take float32


def assert_agree(ours, theirs, X):
    assert len(ours.estimators_) == len(theirs.estimators_)
    n = len(ours.estimators_)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n], rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n], rtol=1e-9)
    stages = zip(ours.staged_decision_function(X), theirs.staged_decision_function(X), strict=True)
    for a, b in stages:
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("K", [2, 3])
def test_stumps_agree_with_sklearn(K):
    X, y = rows(K=K)
    weight = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    ours = AdaBoostClassifier(n_estimators=12, learning_rate=0.7).fit(X, y, weight)
    theirs = peer.AdaBoostClassifier(n_estimators=12, learning_rate=0.7, random_state=0).fit(X, y, weight)
    assert_agree(ours, theirs, X)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    for a, b in zip(ours.staged_score(X, y), theirs.staged_score(X, y), strict=True):
        assert a == pytest.approx(b)


@pytest.mark.slow
@pytest.mark.parametrize("K", [2, 3])
def test_50_stumps_agree_with_sklearn(K):
    X, y = rows(20_000, K)
    assert_agree(AdaBoostClassifier().fit(X, y), peer.AdaBoostClassifier(random_state=0).fit(X, y), X)


@pytest.mark.slow
@pytest.mark.parametrize("K", [2, 3])
def test_trees_agree_with_sklearn(K):
    X, y = rows(K=K)
    ours = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=8).fit(X, y)
    theirs = peer.AdaBoostClassifier(
        peer_tree.DecisionTreeClassifier(max_depth=3), n_estimators=8, random_state=0
    )
    assert_agree(ours, theirs.fit(X, y), X)


@pytest.mark.parametrize("base", [GaussianNB(), peer_bayes.GaussianNB()], ids=["suffice", "sklearn"])
def test_other_classifiers_agree_with_sklearn(base):
    X, y = rows(K=3)
    ours = AdaBoostClassifier(base, n_estimators=20).fit(X, y)
    assert_agree(ours, peer.AdaBoostClassifier(peer_bayes.GaussianNB(), n_estimators=20).fit(X, y), X)


def test_what_takes_no_weights_is_refused():
    with pytest.raises(ValueError, match="KNeighborsClassifier doesn't support sample_weight"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(*rows())


# --- bounds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("K", "how"), [(2, {}), (2, {"algorithm": "real"}), (2, {"learning_rate": 0.3}), (3, {})], ids=str
)
def test_bound_holds_and_is_the_exponential_loss(K, how):
    X, y = rows(K=K)
    weight = np.random.default_rng(0).integers(1, 4, size=len(y))
    model = AdaBoostClassifier(n_estimators=10, **how).fit(X, y, weight)
    error = 1.0 - np.array(list(model.staged_score(X, y, weight)))
    assert (error <= model.training_error_bound_).all()
    margin = 0.0
    for m, stage in enumerate(model.training_error_bound_):
        votes = model.model_.votes(m, X)
        if model.algorithm == "real":
            margin = margin + votes[:, 1] * np.where(y == 1, 1, -1)
        else:
            margin = margin + 0.5 * np.where(votes.argmax(axis=1) == y, 1, -1) * model.estimator_weights_[m]
        np.testing.assert_allclose(np.average(np.exp(-margin), weights=weight), stage, rtol=1e-9)


def test_confidences_are_half_the_smoothed_log_odds():
    X, y = rows()
    model = AdaBoostClassifier(n_estimators=1, algorithm="real").fit(X, y)
    tree = model.estimators_[0]
    leaf, smoothing = tree.apply(X), 1.0 / len(y)
    for node in np.unique(leaf):
        plus, minus = (np.mean((leaf == node) & (y == k)) for k in (1, 0))
        half = 0.5 * np.log((plus + smoothing) / (minus + smoothing))
        np.testing.assert_allclose(model.decision_function(X)[leaf == node], half, rtol=1e-9)
    share = 1.0 / (1.0 + np.exp(-2.0 * model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], share, rtol=1e-12)


def test_confidence_rated_predictions_of_many_classes():
    X, y = rows(1000, 3)
    model = AdaBoostClassifier(n_estimators=30, algorithm="real").fit(X, y)
    assert np.isnan(model.training_error_bound_).all()
    assert model.score(X, y) > AdaBoostClassifier(n_estimators=1).fit(X, y).score(X, y) + 0.1
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# --- plans ---------------------------------------------------------------------------------------------


def folded(monkeypatch):
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1 << 10)


CASES = {
    "stumps": {},
    "real": {"algorithm": "real"},
    "categories": {
        "estimator": DecisionTreeClassifier(max_depth=1, criterion="entropy", categorical_features=[3])
    },
    "constraint": {"estimator": DecisionTreeClassifier(max_depth=1, monotonic_cst=[1, 0, 0, 0, 0, 0])},
    "trees": {
        "estimator": DecisionTreeClassifier(max_depth=2, class_weight="balanced", max_features=3),
        "random_state": 3,
    },
}


def mixed(n, holes, K=2):
    rng = np.random.default_rng(0)
    X, y = rows(n, K)
    X[:, 3] = rng.integers(5, size=n)
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def check_same_bits(X, y, how, monkeypatch):
    rng = np.random.default_rng(1)
    model = AdaBoostClassifier(n_estimators=8, **how)
    expected = bits(model.fit(X, y).model_)
    order = rng.permutation(len(y))
    assert bits(model.fit(X[order], y[order]).model_) == expected
    weight = rng.integers(3, size=len(y))
    again = np.repeat(np.arange(len(y)), weight)
    weighted = bits(model.fit(X, y, weight).model_)
    assert bits(model.fit(X[again], y[again]).model_) == weighted
    with monkeypatch.context() as patch:
        folded(patch)
        assert bits(model.fit(X, y).model_) == expected
        assert bits(model.fit(X[again], y[again]).model_) == weighted


def test_same_bits_by_either_plan_in_any_order_and_with_weights(monkeypatch):
    check_same_bits(*mixed(3000, True), {}, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("n", [400, 30_000])
@pytest.mark.parametrize(("holes", "K"), [(False, 2), (True, 2), (True, 3)])
@pytest.mark.parametrize("name", CASES)
def test_same_bits(name, holes, K, n, monkeypatch):
    if (name, K) == ("constraint", 3):
        pytest.skip("constraints are for two classes")
    check_same_bits(*mixed(n, holes, K), CASES[name], monkeypatch)


def test_parquet_in_other_row_groups_gives_the_same_bits(tmp_path, monkeypatch):
    X, y = rows()
    table = pa.table({**{f"x{d}": x for d, x in enumerate(X.T)}, "y": y})
    model = AdaBoostClassifier(n_estimators=20)  # more rounds than blocks are stored after
    expected = bits(model.fit(X, y).model_)
    folded(monkeypatch)
    for size in (61, 1000):
        pq.write_table(table, tmp_path / "rows.parquet", row_group_size=size)
        scan = suffice.scan_parquet(tmp_path / "rows.parquet")
        assert bits(model.fit(suffice.rows(scan, target="y")).model_) == expected


def test_plan_is_logged(monkeypatch, caplog):
    X, y = rows()
    with caplog.at_level(logging.INFO, "suffice"):
        AdaBoostClassifier(n_estimators=1).fit(X, y)
        assert "300 rows are gathered" in caplog.text
        folded(monkeypatch)
        AdaBoostClassifier(n_estimators=1).fit(X, y)
        assert "300 rows stay where they are" in caplog.text


def test_stump_is_one_pass(monkeypatch):
    from suffice.engines.local import LocalPartitions

    folded(monkeypatch)
    seen, plain = [], LocalPartitions.fold
    monkeypatch.setattr(LocalPartitions, "fold", lambda self, f, *s: (seen.append(f), plain(self, f, *s))[1])
    AdaBoostClassifier(n_estimators=7).fit(*rows())
    assert len(seen) == 7 + 1  # and one for the bins


# --- what ends a fit, and bad input --------------------------------------------------------------------


def test_error_of_zero_ends_the_fit():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    for how in ({}, {"algorithm": "real"}):
        model = AdaBoostClassifier(**how).fit(X, y)
        assert len(model.estimators_) == 1
        assert model.estimator_weights_.tolist() == [1.0]
        assert model.estimator_errors_.tolist() == [0.0]
        assert model.stopped_because_ == "no errors"
        assert model.converged_
        assert model.score(X, y) == 1.0


def test_error_of_a_guess_ends_the_fit():
    X, y = np.zeros((5, 1)), np.array([0, 0, 1, 1, 1])
    model = AdaBoostClassifier().fit(X, y)  # then the classes have equal weights
    assert model.estimator_errors_.tolist() == [0.4]
    assert model.stopped_because_ == "error of a guess"
    with pytest.raises(ValueError, match=r"error of 0\.5.*worse than random"):
        AdaBoostClassifier().fit(X[:4], y[:4])


def test_one_class_and_one_row():
    for X, y in ((np.zeros((5, 2)), np.ones(5)), (np.zeros((1, 2)), np.ones(1))):
        model = AdaBoostClassifier().fit(X, y)
        assert (model.predict(X) == 1).all()
        assert (model.predict_proba(X) == 1.0).all()


def test_features_that_are_constant_missing_or_infinite():
    X, y = rows()
    more = np.column_stack([np.zeros(300), np.full(300, np.nan), X])
    model, plain = (AdaBoostClassifier(n_estimators=5).fit(part, y) for part in (more, X))
    np.testing.assert_array_equal(model.decision_function(more), plain.decision_function(X))
    with pytest.raises(ValueError, match="infinity"):
        AdaBoostClassifier().fit(np.where(X > 2.0, np.inf, X), y)


def test_zero_weights_are_absent_and_sparse_rows_are_taken():
    X, y = rows()
    weight = (np.arange(300) % 3 > 0).astype(float)
    model = AdaBoostClassifier(n_estimators=5)
    expected = bits(model.fit(X[weight > 0], y[weight > 0]).model_)
    assert bits(model.fit(X, y, weight).model_) == expected
    assert bits(model.fit(sp.csr_array(X[weight > 0]), y[weight > 0]).model_) == expected
    with pytest.raises(ValueError, match="zero for every row"):
        model.fit(X, y, np.zeros(300))


def test_categories_that_are_strings_and_unseen_ones():
    rng = np.random.default_rng(0)
    kind = rng.choice(np.array(["a", "b", "c"], object), size=200)
    y = np.where((kind == "b") ^ (rng.random(200) < 0.1), "yes", "no")
    X = np.column_stack([kind, rng.normal(size=200)])
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, categorical_features=[0])).fit(X, y)
    assert model.predict(np.array([["b", 0.0], ["a", 0.0]], object)).tolist() == ["yes", "no"]
    assert model.predict(np.array([["z", 0.0]], object)).shape == (1,)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("n", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_first_stump_is_the_tree(n, K):
    """That `DecisionTreeClassifier` grows, with missing values on either side, categories and weights."""
    X, y = mixed(n, True, K)
    X[y == 0, 1] = np.nan  # which go with one class
    weight = np.random.default_rng(2).integers(3, size=n)
    for columns in ([0, 2], [0, 1, 2], [3, 2]):
        base = DecisionTreeClassifier(max_depth=1, categorical_features=[0] if columns[0] == 3 else None)
        model = AdaBoostClassifier(base, n_estimators=1).fit(X[:, columns], y, weight)
        assert bits(model.model_.forest[0]) == bits(base.fit(X[:, columns], y, weight).model_)


def test_estimators_are_fitted_trees():
    X, y = rows()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    roots = model.model_.forest.nodes.weight[model.model_.forest.root]
    np.testing.assert_allclose(roots, len(y), rtol=1e-9)  # the mean weight is 1 in each round
    winner = np.array([tree.predict(X) for tree in model.estimators_])
    score = model.estimator_weights_ @ np.where(winner == 1, 1.0, -1.0)
    np.testing.assert_array_equal(model.predict(X), (score > 0).astype(int))


@pytest.mark.slow
@pytest.mark.parametrize("base", [None, DecisionTreeClassifier(max_depth=2)], ids=["stumps", "trees"])
def test_process_killed_between_rounds_goes_on_to_the_same_bits(base, tmp_path):
    X, y = rows()
    path, model = tmp_path / "checkpoint", AdaBoostClassifier(base, n_estimators=9)
    whole = clone(model).fit(X, y)
    killed_fit(model, X, y, path)
    again = model.set_params(checkpoint=path).fit(X, y)
    assert again.n_iter_ == 9
    assert bits(again.model_) == bits(whole.model_)
    assert not path.exists()


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=["trees", "classifiers"])
def test_saved_and_loaded(base, tmp_path):
    X, y = rows()
    model = AdaBoostClassifier(base, n_estimators=4).fit(X, y)
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert len(loaded.estimators_) == len(model.estimators_)
