"""Regions are what is predicted there; and scikit-learn's displays take our classifiers."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.calibration import CalibrationDisplay  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.inspection import DecisionBoundaryDisplay  # noqa: E402

from suffice.decision import BayesDecision  # noqa: E402
from suffice.linear_model import LinearRegression, LogisticRegression, Perceptron  # noqa: E402
from suffice.naive_bayes import GaussianNB  # noqa: E402
from suffice.plot import DecisionRegionsDisplay  # noqa: E402

X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        Perceptron(),
        BayesDecision(GaussianNB(), reject_cost=0.2),
        BayesDecision(GaussianNB(), loss=[[0, 1], [1, 0], [2, 0]], actions=["keep", "cut"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("names", [None, np.array(["p", "q", "r"])])
def test_regions_are_predictions(model, names):
    y = Y if names is None else names[Y]
    model.fit(X[:, 2:], y)
    shown = None if hasattr(model, "actions") and model.actions is not None else y
    display = DecisionRegionsDisplay.from_estimator(model, X[:, 2:], shown, grid=30)
    display.figure_.canvas.draw()
    for i, j in ((0, 0), (7, 25), (29, 29), (15, 12)):
        at = [[display.horizontal[j], display.vertical[i]]]
        assert display.names[display.region[i, j]] == model.predict(at)[0]
    assert display.surface_.get_array().size == 900
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == [str(name) for name in getattr(model, "actions_", model.classes_)]
    assert len(display.points_) == (0 if shown is None else 3)
    assert (display.rejected is not None) == (getattr(model, "reject_cost", None) is not None)


def test_two_of_several_features_and_names():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LogisticRegression(max_iter=500).fit(frame, Y)
    _, ax = plt.subplots()
    display = DecisionRegionsDisplay.from_estimator(model, frame, Y, features=(2, 3), grid=20, ax=ax)
    assert display.ax_ is ax
    at = X.mean(axis=0)
    at[2], at[3] = display.horizontal[4], display.vertical[9]
    named = DecisionRegionsDisplay.from_estimator(model, frame, Y, features=("c", "d"), grid=20)
    np.testing.assert_array_equal(named.region, display.region)
    assert display.region[9, 4] == model.predict(pd.DataFrame([at], columns=list("abcd")))[0]


def test_what_is_refused():
    with pytest.raises(TypeError, match="not a fitted classifier"):
        DecisionRegionsDisplay.from_estimator(LinearRegression().fit(X, Y), X)
    model = GaussianNB().fit(X[:, :2], Y)
    with pytest.raises(ValueError, match="expected only"):
        DecisionRegionsDisplay.from_estimator(model, X[:, :2], Y + 5, grid=5)
    with pytest.raises(ValueError, match=r"No feature is 'a'.*from 0 to 1; there are no names"):
        DecisionRegionsDisplay.from_estimator(model, X[:, :2], features=("a", "b"), grid=5)
    acts = BayesDecision(GaussianNB(), loss=np.eye(3)[:, :2], actions=["go", "stay"]).fit(X[:, :2], Y)
    with pytest.raises(ValueError, match="leave y out"):
        DecisionRegionsDisplay.from_estimator(acts, X[:, :2], Y, grid=5)
    assert DecisionRegionsDisplay.from_estimator(acts, X[:, :2], grid=5).codes is None


def test_displays_of_scikit_learn_take_ours():
    model = GaussianNB().fit(X[:, 2:], Y)
    DecisionBoundaryDisplay.from_estimator(model, X[:, 2:], grid_resolution=10)
    two = LogisticRegression().fit(X[50:, :2], Y[50:] == 2)
    assert CalibrationDisplay.from_estimator(two, X[50:, :2], Y[50:] == 2, n_bins=3).line_ is not None


def test_regions_have_axis_names_and_a_legend_beside():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 3)), np.arange(150) % 15
    display = DecisionRegionsDisplay.from_estimator(GaussianNB().fit(X, y), X, y, features=(2, 0), grid=10)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x2", "x0")
    display.figure_.canvas.draw()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.x0 >= display.ax_.bbox.x1
    assert legend.x1 <= display.figure_.bbox.x1
    assert len(set(map(tuple, (dots.get_facecolor()[0] for dots in display.points_)))) == 15
