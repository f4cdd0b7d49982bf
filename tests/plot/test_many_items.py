"""Pictures of many items, of long names and on small axes: no label covers another."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.additive import AdditiveModel  # noqa: E402
from suffice.naive_bayes import GaussianNB  # noqa: E402
from suffice.plot import (  # noqa: E402
    CoefficientPathDisplay,
    DecisionRegionsDisplay,
    PartialEffectsDisplay,
    SegmentsDisplay,
    TopicMapDisplay,
    TransitionDisplay,
)
from suffice.sampling import MarkovChain  # noqa: E402

from .geometry import boxes, drawn, overlaps  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def topics(count, seed=0):
    rng = np.random.default_rng(seed)
    words = [
        f"{a}{b}" for a in ("con", "per", "over", "under") for b in ("tra", "form", "mission", "ver", "al")
    ]
    components = rng.dirichlet(np.full(len(words), 0.2), size=count)
    return SimpleNamespace(components_=components, feature_names_in_=words, weights_=rng.random(count))


@pytest.mark.parametrize(("count", "size"), [(12, (6.4, 5.2)), (12, (3.2, 3.0)), (60, (6.4, 5.2))])
def test_labels_of_topics(count, size):
    _, ax = plt.subplots(figsize=size)
    display = drawn(TopicMapDisplay.from_estimator(topics(count), ax=ax))
    found = boxes(display, display.labels_)
    assert len(found) >= 0.6 * count
    assert overlaps(found) == 0
    assert (found[:, :2] >= ax.bbox.min).all() and (found[:, 2:] <= ax.bbox.max).all()
    if size == (6.4, 5.2) and count == 12:
        assert all(label.get_text().count(",") == 2 for label in display.labels_)  # all of their words


def test_labels_of_equal_topics():
    same = topics(1).components_.repeat(6, axis=0)
    display = drawn(TopicMapDisplay.from_estimator(SimpleNamespace(components_=same)))
    found = boxes(display, display.labels_)
    assert len(found) == 6 and overlaps(found) == 0


def test_labels_follow_the_figure():
    """Words that have no room on small axes are shown on large ones, and the figure can be pickled."""
    _, ax = plt.subplots(figsize=(1.5, 1.5))
    display = drawn(TopicMapDisplay.from_estimator(topics(12), ax=ax))
    assert overlaps(boxes(display, display.labels_)) == 0
    assert not all(":" in label.get_text() for label in display.labels_)
    again = pickle.loads(pickle.dumps(display))
    again.figure_.set_size_inches(9, 8)
    assert overlaps(boxes(drawn(again), again.labels_)) == 0
    assert all(":" in label.get_text() for label in again.labels_)


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


@pytest.mark.parametrize(("states", "size"), [(15, None), (15, (4.0, 3.4)), (30, (5.0, 4.0))])
def test_cells_of_transitions(states, size):
    matrix = np.random.default_rng(0).dirichlet(np.full(states, 0.3), size=states)
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    display = TransitionDisplay(matrix, [f"B-ORGANISATION{k}" for k in range(states)])
    display = drawn(display.plot(ax))
    found = boxes(display, display.ax_.texts)
    assert len(found) == (states**2 if (states, size) == (15, None) else 0)
    assert not len(found) or overlaps(found) == 0
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert overlaps(boxes(display, axis.get_ticklabels())) == 0


def test_transitions_of_a_chain():
    chain = MarkovChain().fit(np.array([["sun"], ["rain"], ["sun"], ["rain"], ["rain"]]))
    display = TransitionDisplay.from_estimator(chain)
    np.testing.assert_array_equal(display.transition, chain.transition_)
    assert display.labels == ["rain", "sun"]


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


@pytest.mark.parametrize("features", [2, 12])
def test_segments_of_several_features(features):
    """Each feature has its lane, whatever its unit, and the lane its name."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(50, features)) * 10.0 ** np.arange(features)
    signal[3:6, 0] = np.nan
    names = [f"sensor {d}" for d in range(features)]
    display = SegmentsDisplay.from_predictions(signal, np.arange(50) // 10, names=names)
    drawn(display)
    spans = np.array([[np.nanmin(x), np.nanmax(x)] for x in (line.get_ydata() for line in display.lines_)])
    np.testing.assert_allclose(np.diff(spans), 0.9)
    assert (spans[:-1, 0] > spans[1:, 1]).all()  # from the top, and none in another
    ticks = display.ax_.get_yticklabels()
    assert [tick.get_text().split("\n")[0] for tick in ticks] == names
    assert overlaps(boxes(display, ticks)) == 0
    flat = SegmentsDisplay.from_predictions(np.full((4, 2), np.nan), [0, 0, 1, 1])
    assert np.isnan(flat.lines_[0].get_ydata()).all()
    drawn(flat)


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
