"""Partial effects are drawn as they are, with their bands."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.additive import AdditiveModel  # noqa: E402
from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.plot import PartialEffectsDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 5))
    return AdditiveModel(n_knots=6).fit(X, np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=200))


def test_curves_are_the_effects(model):
    display = PartialEffectsDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    assert len(display.axes_) == len(display.lines_) == len(display.bands_) == 5
    assert [ax.get_xlabel() for ax in display.axes_] == ["x0", "x1", "x2", "x3", "x4"]
    x, y = display.lines_[0].get_data()
    rows = np.full((len(x), 5), 0.5)
    rows[:, 0] = x
    value, error = model.partial_effects(rows, return_std=True)
    np.testing.assert_allclose(y, value[:, 0])
    np.testing.assert_allclose(display.errors[0], error[:, 0])
    corners = display.bands_[0].get_paths()[0].vertices
    np.testing.assert_allclose(corners[:, 1].max(), (value + 1.959964 * error)[:, 0].max(), rtol=1e-6)


def test_some_features_on_given_axes(model):
    _, axes = plt.subplots(1, 2)
    display = PartialEffectsDisplay.from_estimator(model, features=[3, "x0"][:1] + [0], level=0.5, ax=axes)
    assert display.names == ["x3", "x0"]
    assert (display.axes_ == axes).all()
    with pytest.raises(ValueError, match="ax has 2 axes, expected 5"):
        PartialEffectsDisplay.from_estimator(model, ax=axes)
    with pytest.raises(TypeError, match="no partial effects"):
        PartialEffectsDisplay.from_estimator(LinearRegression())


def test_effects_have_their_own_scale():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 5))
    model = AdditiveModel(n_knots=6).fit(X, np.sin(6.0 * X[:, 0]) + 100.0 * X[:, 1])
    display = PartialEffectsDisplay.from_estimator(model)
    share = [
        np.ptp(line.get_ydata()) / np.ptp(ax.get_ylim())
        for ax, line in zip(display.axes_, display.lines_, strict=True)
    ]
    assert min(share[:2]) > 0.5
    assert [bool(ax.get_ylabel()) for ax in display.axes_] == [True, False, False, False, True]
    shared = PartialEffectsDisplay.from_estimator(model, sharey=True)
    assert len({ax.get_ylim() for ax in shared.axes_}) == 1
