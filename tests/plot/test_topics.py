"""Displays of topics draw the heaviest words, and put like topics near each other."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from scipy.spatial.distance import jensenshannon  # noqa: E402

from suffice.decomposition import PCA  # noqa: E402
from suffice.plot import TopicMapDisplay, TopicsDisplay  # noqa: E402
from suffice.plot.topics import _divergences  # noqa: E402


class Model:
    """Any model with topics."""

    def __init__(self, components, **fitted):
        self.components_ = np.array(components)
        self.__dict__.update(fitted)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


TOPICS = Model([[0.5, 0.3, 0.2, 0.0], [0.0, 0.1, 0.2, 0.7]], weights_=np.array([0.75, 0.25]))
NAMES = ["ash", "elm", "oak", "tin"]


def test_words_as_bars():
    display = TopicsDisplay.from_estimator(TOPICS, NAMES, n_words=3)
    display.figure_.canvas.draw()
    assert [[t.get_text() for t in ax.get_yticklabels()] for ax in display.axes_] == [
        ["ash", "elm", "oak"],
        ["tin", "oak", "elm"],
    ]
    assert [bar.get_width() for bar in display.bars_[1]] == [0.7, 0.2, 0.1]
    assert [ax.get_title("left") for ax in display.axes_] == ["topic 0  75%", "topic 1  25%"]
    _, ax = plt.subplots()
    other = TopicsDisplay.from_estimator(TOPICS, topics=[1], n_words=99, ax=ax)
    assert other.ax_ is ax and len(other.axes_) == 1
    assert [t.get_text() for t in other.axes_[0].get_yticklabels()] == ["3", "2", "1", "0"]


def test_many_topics_and_signs():
    many = Model(np.random.default_rng(0).random((40, 9)))
    assert len(TopicsDisplay.from_estimator(many).axes_) == 15
    signed = TopicsDisplay.from_estimator(Model([[0.1, -0.9, 0.3]]), n_words=2)
    assert [bar.get_width() for bar in signed.bars_[0]] == [0.9, 0.3]
    colors = [bar.get_facecolor() for bar in signed.bars_[0]]
    assert colors[0] != colors[1]
    with pytest.raises(TypeError, match="PCA has no components_"):
        TopicsDisplay.from_estimator(PCA())


def test_map():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(6), size=3)
    np.testing.assert_allclose(
        _divergences(P), [[jensenshannon(p, q) ** 2 for q in P] for p in P], atol=1e-12
    )
    display = TopicMapDisplay.from_estimator(Model(P, feature_names_in_=list("abcdef")), n_words=2)
    display.figure_.canvas.draw()
    # three points are shown in the plane as they are
    apart = np.linalg.norm(display.positions[:, None] - display.positions, axis=2)
    np.testing.assert_allclose(apart, np.sqrt(_divergences(P)), atol=1e-9)
    assert display.explained_ratio == pytest.approx(1.0)
    heaviest = "abcdef"[P[0].argmax()]
    assert display.labels[0].startswith(f"0: {heaviest}, ")
    np.testing.assert_allclose(display.weights, 1.0 / 3.0)
    _, ax = plt.subplots()
    assert TopicMapDisplay.from_estimator(TOPICS, n_words=0, ax=ax).ax_ is ax
    assert TopicMapDisplay.from_estimator(Model([[0.5, 0.5]])).positions.tolist() == [[0.0, 0.0]]
    with pytest.raises(ValueError, match="negative weights"):
        TopicMapDisplay.from_estimator(Model([[0.5, -0.5]]))
