"""Displays of transitions show their probabilities, and no text covers another."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402

from suffice.plot import StateDiagramDisplay, TransitionDisplay  # noqa: E402
from suffice.sampling import MarkovChain  # noqa: E402
from suffice.sequence import ConditionalRandomField, HiddenMarkovModel  # noqa: E402

from .geometry import boxes, drawn, overlaps  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_transition_numbers(hmm, crf):
    display = drawn(TransitionDisplay.from_estimator(hmm))
    np.testing.assert_array_equal(display.image_.get_array(), hmm.transmat_)
    assert [t.get_text() for t in display.ax_.texts][:2] == [f"{v:.2f}" for v in hmm.transmat_[0, :2]]
    weights = drawn(TransitionDisplay.from_estimator(crf))
    np.testing.assert_array_equal(weights.image_.get_array(), crf.transitions_)
    assert weights.image_.norm.vmin == -weights.image_.norm.vmax  # zero is in the middle
    assert not drawn(TransitionDisplay.from_estimator(crf, include_values=False)).ax_.texts
    with pytest.raises(TypeError, match="neither transmat_ nor transitions_"):
        TransitionDisplay.from_estimator(HiddenMarkovModel(2))


def test_transitions_of_labels():
    """No move leads from one sequence into the next; of what is never left there are none."""
    parts = [["a", "b", "a"], ["c"], ["b", "b"]]
    expected = [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(TransitionDisplay.from_predictions(parts).transition, expected)
    flat = TransitionDisplay.from_predictions(np.concatenate(parts), [1, 1, 1, 2, 3, 3])
    np.testing.assert_array_equal(flat.transition, expected)
    one = TransitionDisplay.from_predictions(["a", "b", "a"])
    np.testing.assert_array_equal(one.transition, [[0.0, 1.0], [1.0, 0.0]])


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


RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def long_names():
    names = [f"the_word_before_the_last_in_lower_case={d}" for d in range(30)]
    X = pd.DataFrame((RNG.random((120, 30)) < 0.3).astype(float), columns=names)
    return ConditionalRandomField().fit(X, np.array(["B-ORG", "I-ORG", "O"])[np.arange(120) // 4 % 3])


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


def test_diagram_of_a_hidden_markov_model(long_names):
    model = HiddenMarkovModel(2, random_state=0).fit(RNG.normal(size=(30, 1)))
    display = StateDiagramDisplay.from_estimator(model, ax=plt.subplots()[1])
    np.testing.assert_array_equal(display.transition, model.transmat_)
    with pytest.raises(ValueError, match="weights, not probabilities"):
        StateDiagramDisplay.from_estimator(long_names)
