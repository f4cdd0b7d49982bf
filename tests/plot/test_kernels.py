"""Margins and kernel matrices: what is drawn is what the machine and the kernel compute."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.datasets import load_iris, make_moons  # noqa: E402

from suffice.kernels import RBF, Linear, Subsequences  # noqa: E402
from suffice.plot import KernelMatrixDisplay, MarginDisplay  # noqa: E402
from suffice.svm import SVC, LinearSVC, OneClassSVM  # noqa: E402

X, Y = make_moons(60, noise=0.2, random_state=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_margin_of_a_kernel_machine():
    labels = np.array(["no", "yes"])[Y]
    model = SVC(C=10.0).fit(X, labels)
    display = MarginDisplay.from_estimator(model, X, labels, grid=30)
    at = [[display.horizontal[7], display.vertical[21]]]
    assert display.score[21, 7] == pytest.approx(model.decision_function(at)[0])
    np.testing.assert_array_equal(display.support, X[model.support_])
    assert list(display.lines_.levels) == [-1.0, 0.0, 1.0]
    assert [len(dots.get_offsets()) for dots in display.points_] == [30, 30]
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["no", "yes", "boundary", "margin", f"{len(model.support_)} support vectors"]


def test_margin_of_a_linear_machine_and_of_two_features_by_name():
    """Its support vectors are the rows on the margin or inside of it, which have all of its weight."""
    frame = pd.DataFrame({"a": X[:, 0], "b": 0.1 * X[:, 0] ** 2, "c": X[:, 1]})
    model = LinearSVC(loss="hinge", penalize_intercept=False, tol=1e-8, max_iter=10_000).fit(frame, Y)
    display = MarginDisplay.from_estimator(model, frame, Y, features=("a", "c"), grid=20)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("a", "c")
    inside = np.where(Y == 1, 1, -1) * model.decision_function(frame) <= 1.0 + 1e-6
    np.testing.assert_array_equal(display.support, frame[["a", "c"]][inside])
    assert 0 < len(display.support) < len(Y)
    at = pd.DataFrame({"a": [display.horizontal[3]], "b": [frame["b"].mean()], "c": [display.vertical[5]]})
    assert display.score[5, 3] == pytest.approx(model.decision_function(at)[0])


def test_margins_that_cannot_be_drawn():
    rows, species = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="SVC has 3 classes, expected a classifier of two"):
        MarginDisplay.from_estimator(SVC().fit(rows, species), rows, species)
    with pytest.raises(TypeError, match="OneClassSVM has 0 classes"):
        MarginDisplay.from_estimator(OneClassSVM().fit(X), X, Y)


def test_rows_of_a_class_are_side_by_side():
    order = np.random.default_rng(0).permutation(60)
    display = KernelMatrixDisplay.from_kernel(RBF(1.0), X[order], Y[order])
    drawn = np.asarray(display.image_.get_array())
    sides = Y[order][display.order]
    assert (np.diff(sides) >= 0).all()
    rows = X[order][display.order]
    np.testing.assert_allclose(drawn, RBF(1.0)(rows), rtol=1e-12)
    assert len(display.lines_) == 2 and display.lines_[0].get_xdata()[0] == 29.5
    with pytest.raises(ValueError, match="X has 60 rows, and y has 59 classes"):
        KernelMatrixDisplay.from_kernel("rbf", X, Y[1:])


def test_without_classes_similar_rows_are_side_by_side():
    display = KernelMatrixDisplay.from_kernel(Linear(), [[3.0], [-1.0], [2.0], [0.0]])
    places = np.array([3.0, -1.0, 2.0, 0.0])[display.order]
    assert (np.diff(places) > 0).all() or (np.diff(places) < 0).all()
    assert display.image_.get_clim() == (-9.0, 9.0)  # zero is white
    strings = KernelMatrixDisplay.from_kernel(Subsequences(2), ["abc", "abd", "xyz"])
    assert strings.matrix.shape == (3, 3)
