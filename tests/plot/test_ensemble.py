"""Displays of ensembles: the importances of features, and the losses of the stages."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.metrics import hinge_loss, log_loss  # noqa: E402

from suffice.ensemble import (  # noqa: E402
    AdaBoostClassifier,
    ForwardStagewiseRegressor,
    RandomForestClassifier,
)
from suffice.linear_model import Ridge  # noqa: E402
from suffice.plot import ImportancesDisplay, StagedLossDisplay  # noqa: E402
from suffice.tree import DecisionTreeClassifier  # noqa: E402

from .geometry import drawn  # noqa: E402

X, Y = make_classification(400, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_importances_are_sorted_and_have_the_spread_of_the_trees():
    forest = RandomForestClassifier(15, random_state=0).fit(X, Y)
    display = drawn(ImportancesDisplay.from_estimator(forest, top=4, names=list("abcdef")))
    order = np.argsort(-forest.feature_importances_)[:4]
    assert [bar.get_width() for bar in display.bars_] == forest.feature_importances_[order].tolist()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [*np.array(list("abcdef"))[order]]
    assert "2 more features" in display.ax_.get_xlabel()
    by_tree = np.array([tree.feature_importances_ for tree in forest.estimators_])
    ends = np.array([part[:, 0] for part in display.spread_.get_segments()])
    np.testing.assert_array_equal(ends, np.quantile(by_tree, [0.25, 0.75], axis=0)[:, order].T)
    alone = ImportancesDisplay.from_estimator(AdaBoostClassifier(n_estimators=5).fit(X, Y))
    assert alone.spread_ is None and len(alone.bars_) == 6
    with pytest.raises(TypeError, match="no feature_importances_"):
        ImportancesDisplay.from_estimator(Ridge().fit(X, Y))


def test_staged_losses():
    model = AdaBoostClassifier(n_estimators=12).fit(X[:300], Y[:300])
    train = StagedLossDisplay.from_estimator(model, X[:300], Y[:300], name="training")
    np.testing.assert_allclose(train.losses, 1.0 - np.array(list(model.staged_score(X[:300], Y[:300]))))
    test = StagedLossDisplay.from_estimator(model, X[300:], Y[300:], name="validation", ax=train.ax_)
    drawn(test)
    assert test.ax_ is train.ax_
    assert train.line_.get_color() != test.line_.get_color()
    assert test.best == 1 + test.losses.argmin()
    assert test.best_.get_xdata()[0] == test.best
    assert train.ax_.get_ylabel() == "misclassification rate"
    weight = np.arange(100.0)
    rated = StagedLossDisplay.from_estimator(
        model, X[300:], Y[300:], response_method="predict_proba", sample_weight=weight
    )
    last = log_loss(Y[300:], model.predict_proba(X[300:]), sample_weight=weight)
    assert rated.losses[-1] == pytest.approx(last)
    hinge = StagedLossDisplay.from_estimator(
        model, X, Y, response_method="decision_function", loss=hinge_loss
    )
    assert hinge.ax_.get_ylabel() == "hinge loss"
    regression = ForwardStagewiseRegressor(n_estimators=3).fit(X, X[:, 0])
    np.testing.assert_allclose(
        StagedLossDisplay.from_estimator(regression, X, X[:, 0]).losses, regression.train_score_
    )
    with pytest.raises(ValueError, match="no default loss"):
        StagedLossDisplay.from_estimator(model, X, Y, response_method="decision_function")
    with pytest.raises(TypeError, match="no staged_predict"):
        StagedLossDisplay.from_estimator(DecisionTreeClassifier().fit(X, Y), X, Y)
