"""Displays of topics draw the heaviest words, and put like topics near each other."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from scipy.spatial.distance import jensenshannon  # noqa: E402

from suffice.decomposition import PCA  # noqa: E402
from suffice.plot import TopicMapDisplay, TopicsDisplay  # noqa: E402
from suffice.plot.topics import _divergences  # noqa: E402

from .geometry import boxes, drawn, overlaps  # noqa: E402


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
