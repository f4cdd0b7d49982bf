"""Displays of the weights of linear models, and of the states of chains."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from suffice.feature_extraction.text import CountVectorizer  # noqa: E402
from suffice.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from suffice.plot import StateDiagramDisplay, TopWeightsDisplay  # noqa: E402
from suffice.sampling import MarkovChain  # noqa: E402
from suffice.sequence import ConditionalRandomField, HiddenMarkovModel  # noqa: E402

from .geometry import boxes, drawn, overlaps  # noqa: E402

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def crf():
    names = [f"the_word_before_the_last_in_lower_case={d}" for d in range(30)]
    X = pd.DataFrame((RNG.random((120, 30)) < 0.3).astype(float), columns=names)
    return ConditionalRandomField().fit(X, np.array(["B-ORG", "I-ORG", "O"])[np.arange(120) // 4 % 3])


def test_weights_of_a_random_field(crf):
    display = drawn(TopWeightsDisplay.from_estimator(crf, n_features=6))
    assert [part.get_title("left") for part in display.axes_] == ["B-ORG", "I-ORG", "O"]
    for row, bars, part in zip(crf.coef_, display.bars_, display.axes_, strict=True):
        widths = [bar.get_width() for bar in bars]
        assert widths == [*np.sort(row)[::-1][:3], *np.sort(row)[:3][::-1]]
        largest = part.get_yticklabels()[0].get_text()
        assert len(largest) <= 24 and largest.endswith(f"={row.argmax()}")
        shades = [bar.get_facecolor() for bar in bars]
        assert shades[0] == shades[2] != shades[3] == shades[5]
    labels = [label for part in display.axes_ for label in part.get_yticklabels()]
    assert overlaps(boxes(display, labels)) == 0
    one = TopWeightsDisplay.from_estimator(crf, classes=["O"], ax=plt.subplots()[1])
    assert len(one.axes_) == 1 and (one.coef[0] == crf.coef_[2]).all()
    with pytest.raises(ValueError, match=r"No classes are \['B-PER'\]"):
        TopWeightsDisplay.from_estimator(crf, classes=["B-PER"])


def test_weights_of_a_pipeline_and_of_regression():
    words = ["good fine", "bad poor", "fine good", "poor", "good", "bad"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(words, [1, 0, 1, 0, 1, 0])
    display = drawn(TopWeightsDisplay.from_estimator(model, n_features=4))
    assert [tick.get_text() for tick in display.axes_[0].get_yticklabels()][:2] == ["good", "fine"]
    assert display.titles == ["1"]  # of two classes, the positive one
    X = RNG.normal(size=(30, 3))
    sparse = LinearRegression().fit(X, X @ [2.0, 0.0, 1.0])
    sparse.coef_ = np.array([2.0, 0.0, 1.0])
    bars = TopWeightsDisplay.from_estimator(sparse, ["a", "b", "c"]).bars_[0]
    assert [bar.get_width() for bar in bars] == [2.0, 1.0]  # no bar of zero
    with pytest.raises(ValueError, match="2 names of features, expected 3"):
        TopWeightsDisplay.from_estimator(sparse, ["a", "b"])
    with pytest.raises(TypeError, match="has no coef_"):
        TopWeightsDisplay.from_estimator(LinearRegression())


def test_arrows_are_the_probable_transitions():
    P = np.array([[0.9, 0.1, 0.0], [0.02, 0.48, 0.5], [1.0, 0.0, 0.0]])
    chain = MarkovChain.from_transition(P, states=["calm", "rain", "storm"])
    display = drawn(StateDiagramDisplay.from_estimator(chain))
    assert set(display.arrows_) == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 0)}
    widths = {pair: arrow.get_linewidth() for pair, arrow in display.arrows_.items()}
    assert widths[2, 0] > widths[0, 0] > widths[1, 2] > widths[1, 1] > widths[0, 1]
    assert sorted(label.get_text() for label in display.labels_) == ["0.10", "0.48", "0.50", "0.90", "1.00"]
    assert [name.get_text() for name in display.names_] == ["calm", "rain", "storm"]
    assert set(display.plot(min_probability=0.0).arrows_) == {*widths, (1, 0)}  # zero has no arrow


@pytest.mark.parametrize("states", [1, 2, 6, 20])
@pytest.mark.parametrize("name", ["S", "B-ORGANISATION-"])
def test_texts_of_a_diagram_do_not_overlap(states, name):
    P = RNG.dirichlet(np.ones(states), size=states)
    names = [f"{name}{k}" for k in range(states)]
    display = drawn(StateDiagramDisplay(P, names).plot(min_probability=0.1))
    if states <= 8 or name == "S":  # others are turned, and their boxes are larger than they are
        found = boxes(display, [*display.names_, *display.labels_])
        assert overlaps(found) == 0 and len(found) >= states
    frame = display.figure_.bbox
    for text in display.names_:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


def test_probabilities_do_not_cover_names_on_small_axes():
    _, ax = plt.subplots(figsize=(1.8, 1.8), layout="constrained")
    display = drawn(StateDiagramDisplay(np.full((4, 4), 0.25), ["north"] * 4).plot(ax))
    found = boxes(display, [*display.names_, *display.labels_])
    assert overlaps(found) == 0 and len(found) >= 6


def test_diagram_of_a_hidden_markov_model(crf):
    model = HiddenMarkovModel(2, random_state=0).fit(RNG.normal(size=(30, 1)))
    display = StateDiagramDisplay.from_estimator(model, ax=plt.subplots()[1])
    np.testing.assert_array_equal(display.transition, model.transmat_)
    with pytest.raises(ValueError, match="weights, not probabilities"):
        StateDiagramDisplay.from_estimator(crf)
