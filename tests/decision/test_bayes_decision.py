"""Decisions by loss and by probability: beside enumeration, on every container, around any classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from suffice.decision import BayesDecision, conditional_risk, excess_risk_bound, expected_risk
from suffice.linear_model import LogisticRegression, Perceptron
from suffice.naive_bayes import GaussianNB, MultinomialNB
from suffice.sequence import ConditionalRandomField

LOSS = np.array([[0.0, 2.0, 5.0], [1.0, 0.0, 1.0], [4.0, 3.0, 0.0]])


@parametrize_with_checks([BayesDecision(GaussianNB())])
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_least_mean_loss_by_enumeration():
    X, y = load_iris(return_X_y=True)
    for how in ({"loss": LOSS}, {"loss": LOSS, "reject_cost": 0.4}, {"reject_cost": 0.05}, {}):
        model = BayesDecision(GaussianNB(), **how).fit(X, y)
        P = GaussianNB().fit(X, y).predict_proba(X)
        loss = how.get("loss", 1.0 - np.eye(3))
        found = model.predict(X)
        for p, action, risk in zip(P, found, model.conditional_risk(X), strict=True):
            means = [sum(p[c] * loss[c, a] for c in range(3)) for a in range(3)]
            if "reject_cost" in how:
                means.append(how["reject_cost"])
            np.testing.assert_allclose(risk, means, atol=1e-12)
            assert action == [0, 1, 2, -1][int(np.argmin(risk))]
        assert (model.predict_proba(X) == P).all()
        if "reject_cost" not in how:
            np.testing.assert_allclose(model.mean_loss(X, y), loss[y, found].mean())
        assert model.score(X, y) == (found == y).mean()


def test_chow():
    """Rows are rejected whose most probable class is less probable than one less the cost."""
    X, y = load_iris(return_X_y=True)
    P = GaussianNB().fit(X, y).predict_proba(X)
    for cost in (0.001, 0.1, 0.4, 0.9):
        model = BayesDecision(GaussianNB(), reject_cost=cost).fit(X, y)
        assert ((model.predict(X) == -1) == (P.max(axis=1) < 1 - cost)).all()
        assert model.mean_loss(X, y) <= BayesDecision(GaussianNB()).fit(X, y).mean_loss(X, y) + 0.02
    assert (BayesDecision(GaussianNB(), reject_cost=0.9).fit(X, y).predict(X) >= 0).all()


def test_without_losses_it_is_the_classifier():
    X, y = load_iris(return_X_y=True)
    for model in (
        LogisticRegression(max_iter=300),
        GaussianNB(),
        Theirs(max_iter=500),
        RandomForestClassifier(5, random_state=0),
    ):
        ours = BayesDecision(model).fit(X, y)
        assert (ours.predict(X) == model.fit(X, y).predict(X)).all()
        assert ours.score(X, y) == model.score(X, y)


def test_actions_that_are_no_classes():
    X, y = load_iris(return_X_y=True)
    loss = [[0.0, 1.0], [1.0, 0.2], [1.0, 0.0]]
    model = BayesDecision(GaussianNB(), loss=loss, actions=["keep", "cut"], reject_cost=0.3).fit(X, y)
    assert model.actions_.tolist() == ["keep", "cut", "reject"]
    P = model.predict_proba(X)
    assert (
        model.predict(X) == model.actions_[np.column_stack([P @ loss, np.full(150, 0.3)]).argmin(axis=1)]
    ).all()


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], [3, 5, 7], [True, False, False], np.array(["a", "bb", 3], object)]
)
def test_labels_return_as_they_came(labels):
    X, y = load_iris(return_X_y=True)
    y = np.asarray(labels)[y]
    if y.dtype == object:
        y = y.astype(str).astype(object)
    model = BayesDecision(GaussianNB(), reject_cost=0.02).fit(X, y)
    found = model.predict(X)
    assert set(found.tolist()) <= {*y.tolist(), model.actions_[-1]}
    assert (found == y).mean() > 0.7
    named = BayesDecision(
        GaussianNB(), reject_cost=0.02, reject_label="?" if y.dtype.kind in "OU" else 99
    ).fit(X, y)
    assert named.predict(X).dtype == named.actions_.dtype


def test_every_container(tmp_path):
    """In memory, sparse, as tables, and as a Parquet scan, answers in columns beside."""
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(["p", "q", "r"])[y])
    pq.write_table(
        pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "0.parquet", row_group_size=40
    )
    scan = suffice.rows(suffice.scan_parquet(tmp_path), target="kind")
    how = {"loss": LOSS, "reject_cost": 0.3}
    here = BayesDecision(GaussianNB(), **how).fit(frame[list("abcd")], frame["kind"])
    there = BayesDecision(GaussianNB(), **how).fit(scan)
    assert there.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(there.mean_loss(scan), here.mean_loss(frame[list("abcd")], frame["kind"]))
    assert there.score(scan) == here.score(frame[list("abcd")], frame["kind"])
    folder = tmp_path / "out"
    there.predict(suffice.scan_parquet(tmp_path / "0.parquet"), to=folder)
    found = pq.read_table(folder)
    assert (found["prediction"].to_numpy() == here.predict(frame[list("abcd")])).all()
    there.conditional_risk(suffice.scan_parquet(tmp_path / "0.parquet"), to=tmp_path / "risk")
    risks = pq.read_table(tmp_path / "risk")
    assert risks.column_names[-4:] == ["risk_p", "risk_q", "risk_r", "risk_reject"]
    np.testing.assert_allclose(risks["risk_q"].to_numpy(), here.conditional_risk(frame[list("abcd")])[:, 1])
    sparse = BayesDecision(LogisticRegression(max_iter=300), **how).fit(sp.csr_array(X), y)
    dense = BayesDecision(LogisticRegression(max_iter=300), **how).fit(X, y)
    assert (sparse.predict(sp.csr_array(X)) == dense.predict(X)).all()


def test_sequences():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (3, 5, 2, 4)]
    y = [np.where(x[:, 0] > 0, "up", "down") for x in X]
    model = BayesDecision(ConditionalRandomField(), loss=[[0.0, 1.0], [9.0, 0.0]], reject_cost=0.2).fit(X, y)
    P = model.predict_proba(X)
    for part, p in zip(model.predict(X), P, strict=True):
        costs = np.column_stack([p @ [[0.0, 1.0], [9.0, 0.0]], np.full(len(p), 0.2)])
        assert (part == np.array(["down", "up", "reject"])[costs.argmin(axis=1)]).all()
    with pytest.raises(TypeError, match="sequences"):
        model.mean_loss(X, y)


def test_inside_and_around_scikit_learn():
    X, y = load_iris(return_X_y=True)
    fitted = GaussianNB().fit(X, y)
    frozen = BayesDecision(FrozenEstimator(fitted), loss=LOSS).fit(X[:3], [0, 1, 2])
    assert frozen.estimator_.estimator is fitted
    piped = make_pipeline(StandardScaler(), BayesDecision(LogisticRegression(), loss=LOSS)).fit(X, y)
    assert piped.score(X, y) > 0.9
    search = GridSearchCV(
        BayesDecision(LogisticRegression(max_iter=500), loss=LOSS),
        {"estimator__C": [0.01, 1.0]},
        scoring=lambda model, X, y: -model.mean_loss(X, y),
        cv=3,
    ).fit(X, y)
    assert search.best_params_ == {"estimator__C": 1.0}
    calibrated = BayesDecision(CalibratedClassifierCV(LinearSVC(), cv=3), reject_cost=0.2).fit(X, y)
    assert set(calibrated.predict(X)) == {-1, 0, 1, 2}


def test_rows_that_only_the_classifier_understands():
    texts, y = ["cold wet", "warm dry", "wet cold", "dry warm dry"] * 5, np.array(["no", "yes"] * 10)
    model = BayesDecision(make_pipeline(CountVectorizer(), MultinomialNB()), loss=[[0, 1], [5, 0]])
    assert model.fit(texts, y).score(texts, y) == 1.0
    assert model.mean_loss(texts, y, sample_weight=np.arange(20)) == 0.0
    assert model.mean_loss(texts, y[::-1]) == pytest.approx(3.0)
    frame = pd.DataFrame({"n": np.arange(20.0), "word": texts})
    columns = make_column_transformer((StandardScaler(), ["n"]), (OneHotEncoder(), ["word"]))
    scores = cross_val_score(BayesDecision(make_pipeline(columns, Theirs())), frame, y, cv=2)
    assert (scores >= 0.9).all()


def test_weights_and_more_reach_the_classifier():
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 3, size=150).astype(float)
    model = BayesDecision(GaussianNB(), loss=LOSS).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(150), weight.astype(int))
    twin = BayesDecision(GaussianNB(), loss=LOSS).fit(X[again], y[again])
    np.testing.assert_allclose(model.conditional_risk(X), twin.conditional_risk(X), atol=1e-9)
    np.testing.assert_allclose(model.mean_loss(X, y, weight), twin.mean_loss(X[again], y[again]))


# --- several classes by two: scikit-learn's ------------------------------------------------------------


@pytest.mark.parametrize("model", [LogisticRegression(), Perceptron(shuffle=False)], ids=str)
def test_one_against_the_rest_and_one_against_one_wrap_ours(model):
    X, y = load_iris(return_X_y=True)
    rest, pairs = OneVsRestClassifier(model).fit(X, y), OneVsOneClassifier(model).fit(X, y)
    assert [len(rest.estimators_), len(pairs.estimators_)] == [3, 3]
    assert rest.score(X, y) > 0.6
    assert pairs.score(X, y) > 0.8
    if isinstance(model, Perceptron):  # which is one against the rest by itself
        np.testing.assert_allclose(rest.decision_function(X), model.fit(X, y).decision_function(X))


# --- functions -----------------------------------------------------------------------------------------


def test_risks_by_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(20):
        joint, loss = rng.dirichlet(np.ones(12)).reshape(4, 3), rng.random((3, 5))
        P = joint / joint.sum(axis=1, keepdims=True)
        action = conditional_risk(P, loss).argmin(axis=1)
        risks = [
            sum(joint[x, c] * loss[c, a[x]] for x in range(4) for c in range(3))
            for a in np.ndindex(5, 5, 5, 5)
        ]
        np.testing.assert_allclose(expected_risk(action, joint, loss), min(risks))
        np.testing.assert_allclose(expected_risk(action, 7 * joint, loss), min(risks))


def test_the_loss_of_estimates_is_bounded():
    rng = np.random.default_rng(1)
    closest = 0.0
    for n in range(400):
        K, A = (2, 2) if n % 2 else (3, 4)
        weight, P, Q = rng.dirichlet(np.ones(3)), *(rng.dirichlet(np.ones(K), size=3) for _ in range(2))
        loss = None if n % 2 else rng.random((K, A))
        joint = weight[:, None] * P
        best, plugged = (expected_risk(conditional_risk(R, loss).argmin(axis=1), joint, loss) for R in (P, Q))
        bound = excess_risk_bound(P, Q, weight, loss)
        assert -1e-12 <= plugged - best <= bound + 1e-12
        closest = max(closest, (plugged - best) / bound)
        if n % 2:
            np.testing.assert_allclose(bound, 2 * weight @ np.abs(P[:, 1] - Q[:, 1]))
    assert closest > 0.7


def test_expected_risk_of_examples():
    assert expected_risk([0, 1, 1], [0, 1, 0]) == pytest.approx(1 / 3)
    assert expected_risk([0, 2, 1], [0, 1, 0], LOSS) == pytest.approx((0.0 + 1.0 + 2.0) / 3)
    assert expected_risk([3, 0], [0, 0]) == 0.5


def test_what_is_refused():
    X, y = load_iris(return_X_y=True)
    for how, words in (
        ({"loss": np.ones((2, 3))}, r"shape \(2, 3\), expected \(3, n_actions\)"),
        ({"loss": np.ones((3, 4))}, "name the actions"),
        ({"loss": np.full((3, 3), np.nan)}, "'loss' parameter"),
        ({"reject_cost": np.inf}, "'reject_cost' parameter"),
        ({"reject_cost": 0.1, "reject_label": 2}, "already"),
    ):
        with pytest.raises(ValueError, match=words):
            BayesDecision(GaussianNB(), **how).fit(X, y)
    with pytest.raises(TypeError, match="CalibratedClassifierCV"):
        BayesDecision(Perceptron()).fit(X, y)
    model = BayesDecision(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match="none of"):
        model.mean_loss(X, y + 7)
    with pytest.raises(ValueError, match="one for each"):
        expected_risk([0, 1], [[0.5, 0.5]])
    with pytest.raises(ValueError, match="the same"):
        excess_risk_bound([[0.5, 0.5]], [[0.5, 0.25, 0.25]])


def test_it_is_saved_with_its_classifier(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = BayesDecision(GaussianNB(), loss=[[0, 1, 1], [2, 0, 1], [1, 1, 0]], reject_cost=0.2).fit(X, y)
    model.save(tmp_path / "model.suffice")
    loaded = suffice.load(tmp_path / "model.suffice")
    assert (loaded.predict(X) == model.predict(X)).all()
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert loaded.get_params()["reject_cost"] == 0.2


def test_a_classifier_of_others_is_not_saved(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = BayesDecision(Theirs(max_iter=1000)).fit(X, y)
    with pytest.raises(TypeError, match=r"got LogisticRegression: use joblib\.dump"):
        model.save(tmp_path / "model.suffice")
    assert not list(tmp_path.iterdir())
