"""Stochastic gradient descent: the steps one by one, scikit-learn's, the optimum, streams."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from sklearn import linear_model as peer
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.core.blocks import Rows
from suffice.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from suffice.linear_model.sgd import LinearLoss
from suffice.loops.sgd import LOSSES

from ..versions import since

RATES = ("constant", "optimal", "invscaling", "adaptive")
PENALTIES = ("l2", "l1", "elasticnet", None)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)) * (rng.random((120, 5)) < 0.7)
    scores = X @ [1.0, -2.0, 0.0, 0.5, 1.0] + rng.normal(size=120)
    return X, scores, np.array(["a", "b", "c"])[np.digitize(scores, [-1.0, 1.0])]


def by_hand(model, X, y, epochs):
    """The definition: the penalty of each step on all weights, and the mean of all weights."""
    w, b, owed, t = np.zeros(X.shape[1]), 0.0, 0.0, 1
    paid, weights, intercepts = np.zeros_like(w), [], []
    l1 = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(model.penalty, 0.0)
    alpha = model.alpha if model.penalty else 0.0
    for _ in range(epochs):
        for x, target in zip(X, y, strict=True):
            score = w @ x + b
            eta = {
                "constant": model.eta0,
                "adaptive": model.eta0,
                "optimal": 1.0 / (model.alpha * (model.alpha**-0.75 + t - 1)),
                "invscaling": model.eta0 / t**model.power_t,
            }[model.learning_rate]
            slope = -target * (target * score <= 1.0) if model.loss == "hinge" else score - target
            w = w * (1.0 - (1.0 - l1) * eta * alpha) - eta * slope * x
            b -= eta * slope
            weights.append(w.copy())
            intercepts.append(b)
            owed += l1 * eta * alpha
            felt = x != 0 if sp.issparse(X) else np.ones(len(w), bool)
            moved = np.where(
                w > 0, np.maximum(0.0, w - owed - paid), np.where(w < 0, np.minimum(0.0, w + owed - paid), w)
            )
            moved = np.where(felt & (l1 > 0), moved, w)
            paid += moved - w
            w = moved
            t += 1
    first = int(model.average) - 1
    return (np.mean(weights[first:], 0), np.mean(intercepts[first:])) if model.average else (w, b)


@pytest.mark.parametrize("average", [False, True, 40])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("learning_rate", RATES)
def test_each_step(rows, learning_rate, penalty, average):
    X, scores, _ = rows
    options = {"shuffle": False, "tol": None, "max_iter": 2, "alpha": 0.02, "average": average}
    cases = [(SGDClassifier(), scores > 0, np.where(scores > 0, 1.0, -1.0))]
    if learning_rate != "optimal":  # whose steps are too long for squared errors
        cases.append((SGDRegressor(), scores, scores))
    for model, y, target in cases:
        model.set_params(penalty=penalty, learning_rate=learning_rate, **options).fit(X, y)
        w, b = by_hand(model, X, target, 2)
        np.testing.assert_allclose(model.coef_.ravel(), w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_as_scikit_learn(rows, loss, penalty, sparse):
    X, scores, labels = rows
    X = sp.csr_array(X) if sparse else X
    options = {"loss": loss, "penalty": penalty, "learning_rate": "invscaling", "alpha": 0.01}
    # Before scikit-learn 1.8, the default of eta0 in SGDClassifier was 0.0.
    options |= {"eta0": 0.01, "shuffle": False, "tol": None, "max_iter": 3}
    pairs = [(SGDClassifier, labels), (SGDClassifier, scores > 0)]
    pairs += [(SGDRegressor, scores)] if loss in LOSSES[5:] else []
    for cls, y in pairs:
        ours, theirs = cls(**options).fit(X, y), getattr(peer, cls.__name__)(**options).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-12)
        if cls is SGDClassifier:
            np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        if hasattr(theirs, "predict_proba"):
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-12)


@since("1.8", "introduced passive-aggressive learning rates")
@pytest.mark.parametrize("rate", ["pa1", "pa2"])
def test_passive_aggressive(rows, rate):
    X, scores, _ = rows
    options = {"learning_rate": rate, "penalty": None, "eta0": 0.5, "shuffle": False, "tol": None}
    for cls, y in ((SGDClassifier, scores > 0), (SGDRegressor, scores)):
        loss = "hinge" if cls is SGDClassifier else "epsilon_insensitive"
        ours = cls(loss=loss, max_iter=2, **options).fit(X, y)
        theirs = getattr(peer, cls.__name__)(loss=loss, max_iter=2, **options).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    with pytest.raises(ValueError, match="only works with loss"):
        SGDClassifier(loss="log_loss", learning_rate=rate).fit(X, scores > 0)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradient(rows, loss):
    X, scores, _ = rows
    block = Rows(X, scores, np.random.default_rng(1).random(len(X)))

    def at(theta):
        return LinearLoss(theta[None], loss, 0.1).summarize(block)

    theta = np.linspace(-1.0, 1.0, X.shape[1] + 1)
    assert check_grad(lambda t: at(t).loss, lambda t: at(t).gradient, theta) < 1e-4


def test_the_optimum():
    """The mean of the weights comes near the optimum that other solvers reach exactly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = X @ [1.0, -2.0, 0.0, 0.5] + 3.0 + rng.normal(size=4000)
    options = {"alpha": 0.01, "max_iter": 40, "tol": None, "average": 40_000, "random_state": 0}
    exact = Ridge(alpha=0.01 * len(X)).fit(X, y)
    model = SGDRegressor(eta0=0.02, **options).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.01)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, atol=0.01)
    exact = LogisticRegression(C=1.0 / (0.01 * len(X))).fit(X, y > 3.0)
    model = SGDClassifier(loss="log_loss", **options).fit(X, y > 3.0)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.03)
    gradient = model.statistics_.gradient[:-1] / model.statistics_.weight + 0.01 * model.coef_[0]
    assert np.abs(gradient).max() < 0.01


def test_streams(rows):
    """A scan is visited block by block, as partial_fit does; and a cluster would hold the same blocks."""
    X, _, labels = rows
    parts = [slice(0, 50), slice(50, 120)]
    tables = [pa.record_batch({f"x{d}": X[p, d] for d in range(5)} | {"y": labels[p]}) for p in parts]
    scan = suffice.rows(suffice.scan(lambda: tables), target="y")
    options = {"shuffle": False, "loss": "log_loss"}
    model = SGDClassifier(max_iter=1, tol=None, **options).fit(scan)
    online = SGDClassifier(**options)
    for part in parts:
        online.partial_fit(X[part], labels[part], classes=["a", "b", "c"])
    np.testing.assert_allclose(model.coef_, online.coef_, rtol=1e-12)
    assert model.t_ == online.t_ == 121.0
    assert SGDClassifier(random_state=0, **options | {"shuffle": True}).fit(scan).score(scan) > 0.6


@pytest.mark.parametrize("cls", [SGDClassifier, SGDRegressor])
def test_early_stopping(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=500)
    y = y > 0 if cls is SGDClassifier else y
    model = cls(early_stopping=True, random_state=0, max_iter=200).fit(X, y)
    assert model.converged_ and model.n_iter_ < 100
    assert 500 * 0.85 < (model.t_ - 1.0) / model.n_iter_ < 500 * 0.95  # the others are for validation
    with pytest.raises(ValueError, match="validation_fraction=1e-07 leaves no row"):
        cls(early_stopping=True, validation_fraction=1e-7).fit(X, y)
    with pytest.raises(ValueError, match="early_stopping should be False"):
        cls(early_stopping=True).partial_fit(X, y, **({"classes": [0, 1]} if cls is SGDClassifier else {}))


def test_adaptive_rate_decreases():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = SGDRegressor(learning_rate="adaptive", eta0=0.1, random_state=0).fit(X, X @ [1.0, 2.0])
    assert model.converged_
    assert model._epochs.numbers[0, 4] <= 1e-6


def test_weights(rows):
    """A weight multiplies the step; rows of weight zero are not visited; classes have weights."""
    X, _, labels = rows
    weight = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    options = {"shuffle": False, "max_iter": 2, "tol": None}
    model = SGDClassifier(**options).fit(X, labels, sample_weight=weight)
    assert model.t_ == 2 * (weight > 0).sum() + 1
    some = weight > 0
    same = SGDClassifier(**options).fit(X[some], labels[some], sample_weight=weight[some])
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-12)
    by_class = np.where(labels == "a", 3.0, 1.0)
    a = SGDClassifier(class_weight={"a": 3.0}, **options).fit(X, labels)
    b = SGDClassifier(**options).fit(X, labels, sample_weight=by_class)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)
    with pytest.raises(ValueError, match="class_weight 'balanced' is not supported for partial_fit"):
        SGDClassifier(class_weight="balanced").partial_fit(X, labels, classes=["a", "b", "c"])


def test_overflow_says_what_to_do():
    X = 1e140 * np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="Floating-point under-/overflow occurred at epoch #1"):
        SGDRegressor(random_state=0).fit(X, X[:, 0])


def test_steps_that_are_too_long_are_no_convergence(rows):
    X, scores, _ = rows
    with pytest.warns(ConvergenceWarning, match="far larger than before the first step: standardize"):
        model = SGDRegressor(random_state=0).fit(X + 100.0, scores)
    assert not model.converged_ and model.stopped_because_ == "divergence"


def test_warm_start_and_single_precision(rows):
    X, scores, _ = rows
    model = SGDRegressor(warm_start=True, max_iter=1, tol=None, shuffle=False).fit(X, scores)
    once = model.coef_
    again = SGDRegressor(max_iter=1, tol=None, shuffle=False)
    again.fit(X, scores, coef_init=once, intercept_init=model.intercept_)
    np.testing.assert_allclose(model.fit(X, scores).coef_, again.coef_, rtol=1e-12)
    single = SGDRegressor(max_iter=1, tol=None, shuffle=False).fit(X.astype(np.float32), scores)
    assert single.coef_.dtype == single.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, once, rtol=1e-4, atol=1e-6)
