"""Forward stagewise models: each stage against enumeration or numerical search, and against AdaBoost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn import linear_model as peer

import suffice
from suffice.ensemble import AdaBoostClassifier, ForwardStagewiseClassifier, ForwardStagewiseRegressor
from suffice.linear_model import LogisticRegression, Ridge
from suffice.tree import DecisionTreeRegressor

from .test_adaboost import rows

LOSS = {
    "squared": lambda y, f: (y - f) ** 2,
    "absolute": lambda y, f: np.abs(y - f),
    "exponential": lambda y, f: np.exp(-y * f),
    "logistic": lambda y, f: np.logaddexp(0.0, -y * f),
}


def numbers():
    X, y = rows(120)
    return X, X[:, 0] * X[:, 1] + y + 3.0


@pytest.mark.parametrize("loss", LOSS)
def test_coefficients_minimize_the_loss(loss):
    labels = loss in ("exponential", "logistic")
    X, y = rows(120) if labels else numbers()
    cls = ForwardStagewiseClassifier if labels else ForwardStagewiseRegressor
    weight = np.random.default_rng(0).integers(1, 4, size=len(y))
    model = cls(loss=loss, n_estimators=4).fit(X, y, weight)
    signs = 2.0 * y - 1.0 if labels else y
    score = np.zeros(len(y))
    stages = model.staged_decision_function(X) if labels else model.staged_predict(X)
    terms = zip(model.estimators_, model.estimator_weights_, model.train_score_, stages, strict=True)
    for learner, beta, train, stage in terms:
        b = learner.predict(X)
        b = 2.0 * b - 1.0 if loss == "exponential" else b

        def of(beta, score=score, b=b):
            return np.average(LOSS[loss](signs, score + beta * b), weights=weight)

        best = minimize_scalar(of, bounds=(0.0, 50.0), method="bounded", options={"xatol": 1e-10})
        assert of(beta) <= best.fun * (1.0 + 1e-9)
        score = score + beta * b
        np.testing.assert_allclose(stage, score, rtol=1e-12)
        np.testing.assert_allclose(train, of(beta, score, 0.0 * b), rtol=1e-9)
    assert (np.diff(model.train_score_) <= 0.0).all()


def test_exponential_loss_is_adaboost():
    X, y = rows()
    ours = ForwardStagewiseClassifier(n_estimators=10).fit(X, y)
    boosted = AdaBoostClassifier(n_estimators=10).fit(X, y)
    np.testing.assert_allclose(2.0 * ours.estimator_weights_, boosted.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.train_score_, boosted.training_error_bound_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), boosted.predict(X))


def test_trees_are_fitted_to_residuals():
    X, y = numbers()
    model = ForwardStagewiseRegressor(n_estimators=3, learning_rate=0.5).fit(X, y)
    score = np.zeros(len(y))
    for _ in range(3):
        score += 0.5 * DecisionTreeRegressor(max_depth=1).fit(X, y - score).predict(X)
    np.testing.assert_allclose(model.predict(X), score, rtol=1e-10)


@pytest.mark.parametrize("base", [Ridge(alpha=100.0), peer.Ridge(alpha=100.0)], ids=["suffice", "sklearn"])
def test_other_base_learners(base):
    """Shrunken lines add up to that of least squares."""
    X, y = numbers()
    X, y = X - X.mean(axis=0), y - y.mean()
    model = ForwardStagewiseRegressor(base, n_estimators=60).fit(X, y)
    line = peer.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), line.predict(X), atol=1e-3)


def test_probabilities_are_of_the_log_odds():
    """With one leaf for each value of a feature, the classes have the shares that they have there."""
    X = np.repeat([0.0, 1.0], 50)[:, None]
    y = np.concatenate([np.arange(50) < 10, np.arange(50) < 40]).astype(int)
    for loss in ("exponential", "logistic"):
        model = ForwardStagewiseClassifier(loss=loss, n_estimators=50).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]])[:, 1], [0.2, 0.8], atol=1e-6)


def test_bad_input():
    X, y = rows(K=3)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        ForwardStagewiseClassifier().fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        ForwardStagewiseClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="'exponential' takes a classifier as estimator; got Ridge"):
        ForwardStagewiseClassifier(Ridge()).fit(X, y > 0)
    with pytest.raises(ValueError, match="'logistic' takes a regressor as estimator; got LogisticRegression"):
        ForwardStagewiseClassifier(LogisticRegression(), loss="logistic").fit(X, y > 0)


def test_what_cannot_be_improved_ends_the_fit():
    X = np.arange(6.0)[:, None]
    for loss in ("squared", "absolute"):
        model = ForwardStagewiseRegressor(loss=loss).fit(X, np.zeros(6))
        assert model.stopped_because_ == "no better term"
        assert (model.predict(X) == 0.0).all()
    model = ForwardStagewiseClassifier().fit(X, X[:, 0] > 2)
    assert model.score(X, X[:, 0] > 2) == 1.0
    same = ForwardStagewiseClassifier().fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert same.estimator_weights_.tolist() == [0.0]


def test_saved_and_loaded(tmp_path):
    X, y = numbers()
    model = ForwardStagewiseRegressor(n_estimators=4).fit(X, y)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict(X), model.predict(X))
