"""The path of coefficients is that of the estimators, and no data is read for it."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.linear_model import (  # noqa: E402
    ElasticNetCV,
    Lasso,
    LassoCV,
    LinearRegression,
    Ridge,
    enet_path,
)
from suffice.plot import CoefficientPathDisplay  # noqa: E402

from .geometry import boxes, drawn, overlaps  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 5))
Y = X @ [3.0, -2.0, 0.0, 0.5, 0.0] + RNG.normal(size=80)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "model", [LassoCV(random_state=0), ElasticNetCV(l1_ratio=[0.3, 0.9], random_state=0)], ids=str
)
def test_of_cross_validation(model):
    model.fit(X, Y)
    display = drawn(CoefficientPathDisplay.from_estimator(model))
    at = np.flatnonzero(display.alphas == model.alpha_)
    assert len(at) == 1
    np.testing.assert_allclose(display.coefs[:, at[0]], model.coef_, atol=1e-2)
    assert display.chosen_.get_xdata()[0] == model.alpha_
    assert len(display.lines_) == 5


def test_of_one_penalty():
    for model in (Lasso(0.1).fit(X, Y), Ridge(2.0).fit(X, Y)):
        display = drawn(CoefficientPathDisplay.from_estimator(model, alphas=[model.alpha, 1.0, 1e-3]))
        path = dict(zip(display.alphas, display.coefs.T, strict=True))
        np.testing.assert_allclose(path[model.alpha], model.coef_, rtol=1e-3, atol=1e-6)
    many = CoefficientPathDisplay.from_estimator(Ridge(2.0).fit(X, Y), alphas=30)
    assert np.abs(many.coefs[:, 0]).max() < 0.5 * np.abs(many.coefs[:, -1]).max()
    np.testing.assert_allclose(many.coefs[:, -1], LinearRegression().fit(X, Y).coef_, rtol=1e-3)


def test_of_a_path():
    alphas, coefs, _ = enet_path(X, Y, alphas=20)
    figure, ax = plt.subplots()
    display = drawn(CoefficientPathDisplay.from_path(alphas, coefs, ax=ax, names=list("abcde"), chosen=0.1))
    assert display.ax_ is ax
    assert {text.get_text() for text in ax.texts} == set("abcde")
    assert ax.get_xlim()[0] > ax.get_xlim()[1]  # the penalty falls from left to right
    assert figure is display.figure_


def test_refused():
    with pytest.raises(TypeError, match="penalty"):
        CoefficientPathDisplay.from_estimator(LinearRegression().fit(X, Y))
    with pytest.raises(TypeError, match="fitted"):
        CoefficientPathDisplay.from_estimator(Lasso())
    with pytest.raises(ValueError, match="targets"):
        CoefficientPathDisplay.from_estimator(Ridge().fit(X, np.column_stack([Y, Y])))
    with pytest.raises(ValueError, match="n_features"):
        CoefficientPathDisplay.from_path([1.0, 0.5], np.zeros((3, 4)))


@pytest.mark.parametrize("count", [3, 50])
def test_ends_of_paths(count):
    rng = np.random.default_rng(1)
    alphas = np.geomspace(1.0, 1e-3, 20)
    ends = rng.normal(size=count)
    ends[: count // 2] = 0.5 + 1e-3 * ends[: count // 2]  # many at one place
    coefs = ends[:, None] * np.linspace(0.0, 1.0, 20)
    names = [f"average_of_the_monthly_income_of_household_{d}" for d in range(count)]
    display = drawn(CoefficientPathDisplay.from_path(alphas, coefs, names=names))
    found = boxes(display, display.labels_)
    assert len(found) == min(count, 8) and overlaps(found) == 0
    assert found[:, 2].max() <= display.figure_.bbox.x1  # long names are not cut off
    largest = np.argsort(-np.abs(ends))[: len(found)]
    assert [label.get_text()[-2:] for label in display.labels_] == [names[d][-2:] for d in largest]
    grey = [line.get_color() for line in display.lines_].count("0.75")
    assert grey == count - len(found)
    display.ax_.set_ylim(-50.0, 50.0)
    assert overlaps(boxes(drawn(display), display.labels_)) == 0
