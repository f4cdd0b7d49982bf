"""Displays draw what they say, on axes that are given or new, and importing them imports no matplotlib."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.mixture import GaussianMixture  # noqa: E402
from suffice.plot import (  # noqa: E402
    ConvergenceDisplay,
    SegmentsDisplay,
    TransitionDisplay,
    TrellisDisplay,
)
from suffice.sequence import ConditionalRandomField, HiddenMarkovModel  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


rng = np.random.default_rng(0)
STATE = np.repeat([0, 1, 0, 2, 1], 8)
X = np.array([0.0, 4.0, 8.0])[STATE, None] + rng.normal(size=(40, 1))
NAME = np.array(["calm", "rain", "storm"])[STATE]


@pytest.fixture(scope="module")
def hmm():
    return HiddenMarkovModel(transition_prior=1.5).fit(X, NAME)


@pytest.fixture(scope="module")
def crf():
    return ConditionalRandomField().fit(X, NAME)


def drawn(display):
    """The display, after a renderer went through all of it."""
    display.figure_.canvas.draw()
    assert display.ax_.figure is display.figure_
    return display


def test_importing_is_light():
    code = "import sys, suffice.plot; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "False"


def test_axes_are_those_given(hmm):
    _, ax = plt.subplots()
    for display in (
        TrellisDisplay.from_estimator(hmm, X, ax=ax),
        TransitionDisplay.from_estimator(hmm, ax=ax),
        SegmentsDisplay.from_estimator(hmm, X, ax=ax),
        ConvergenceDisplay.from_estimator(hmm, ax=ax),
    ):
        assert display.ax_ is ax and display.figure_ is ax.figure
    assert len(plt.get_fignums()) == 1
    again = display.plot()
    assert again is display and again.ax_ is not ax


@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_trellis(kind, request):
    model = request.getfixturevalue(kind)
    display = drawn(TrellisDisplay.from_estimator(model, [X]))
    np.testing.assert_array_equal(display.image_.get_array(), model.predict_proba(X).T)
    path = display.line_.get_ydata()
    np.testing.assert_array_equal(np.array(display.labels)[path], model.predict(X))
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["calm", "rain", "storm"]


def test_trellis_of_one_sequence_with_probabilities(hmm):
    with pytest.raises(ValueError, match="X has 2 sequences, expected one"):
        TrellisDisplay.from_estimator(hmm, [X, X])
    with pytest.raises(TypeError, match="no predict_proba"):
        TrellisDisplay.from_estimator(LinearRegression(), X)
    assert not hasattr(drawn(TrellisDisplay.from_predictions(hmm.predict_proba(X))), "line_")


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


def test_segments(hmm):
    holes = X.copy()
    holes[5:9] = np.nan
    display = drawn(SegmentsDisplay.from_estimator(hmm, holes, NAME))
    assert display.labels == ["calm", "rain", "storm"]
    assert len(display.strips_) == 6
    for strip, name in zip(display.strips_[3:], display.labels, strict=True):  # the strip of the truth
        covered = np.zeros(40, bool)
        for bar in strip.get_paths():
            start, stop = bar.vertices[:, 0].min() + 0.5, bar.vertices[:, 0].max() + 0.5
            covered[int(start) : int(stop)] = True
        np.testing.assert_array_equal(covered, name == NAME)
    low = display.ax_.transAxes.inverted().transform(
        display.ax_.transData.transform([(0.0, np.nanmin(holes))])
    )[0, 1]
    assert low > 0.2  # the signal is above both strips
    assert min(display.ax_.get_yticks()) >= np.nanmin(holes) - 1.0


def steps_by_color(display, n, row):
    """The colour of each step in one of two strips: 0 is that of the decoded states, 1 that of the truth."""
    half, out = len(display.strips_) // 2, np.full(n, None)
    for strip in display.strips_[row * half : (row + 1) * half]:
        for bar in strip.get_paths():
            start, stop = bar.vertices[:, 0].min() + 0.5, bar.vertices[:, 0].max() + 0.5
            out[int(start) : int(stop)] = str(strip.get_facecolor()[0])
    return out


@pytest.mark.parametrize("turn", [[0, 1, 2], [2, 0, 1], [1, 0, 2]])
@pytest.mark.parametrize("names", [np.arange(3), np.array(["calm", "rain", "storm"])])
def test_segments_match_the_colors_of_states_without_names(turn, names):
    state = np.repeat([0, 1, 2, 1], 10)
    decoded = np.array(turn)[state]
    decoded[[3, 14]] = decoded[25]  # two errors
    display = SegmentsDisplay.from_predictions(state.astype(float), decoded, true=names[state], match=True)
    ours, truth = (steps_by_color(drawn(display), 40, row) for row in (0, 1))
    assert [n for n in range(40) if ours[n] != truth[n]] == [3, 14]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [str(name) for name in names]


def test_segments_with_more_states_than_labels():
    state, label = np.repeat([5, 0, 7], 10), np.repeat(["a", "b", "b"], [10, 10, 10])
    label[20:22] = "a"
    display = SegmentsDisplay.from_predictions(state.astype(float), state, true=label, match=True)
    texts = [text.get_text() for text in drawn(display).ax_.get_legend().get_texts()]
    assert texts == ["a", "b", "state 7"]
    with pytest.raises(ValueError, match="match=True needs the true labels"):
        SegmentsDisplay.from_predictions(state, state, match=True)


def test_segments_of_hidden_states_match_the_truth():
    rng = np.random.default_rng(0)
    state = np.repeat([2, 0, 1, 2, 0], 20)
    rows = 5.0 * state[:, None] + rng.normal(size=(100, 1))
    for seed in range(3):
        model = HiddenMarkovModel(3, n_init=5, random_state=seed).fit(rows)
        display = drawn(SegmentsDisplay.from_estimator(model, rows, state))
        assert (steps_by_color(display, 100, 0) == steps_by_color(display, 100, 1)).mean() > 0.95


def test_segments_must_fit():
    with pytest.raises(ValueError, match=r"states has the shape \(2,\), expected \(3,\)"):
        SegmentsDisplay.from_predictions([1.0, 2.0, 3.0], ["a", "b"])
    many = SegmentsDisplay.from_predictions(np.arange(12.0), np.arange(12))  # more labels than colours
    assert len(drawn(many).strips_) == 12


def test_convergence():
    X = np.random.default_rng(0).normal(size=(100, 2))
    done = GaussianMixture(2, random_state=0).fit(X)
    display = drawn(ConvergenceDisplay.from_estimator(done))
    np.testing.assert_array_equal(display.line_.get_ydata(), done.trace_)
    label = display.line_.get_label()
    assert label == f"GaussianMixture, stopped at {done.n_iter_}: {done.stopped_because_}"
    assert display.end_.get_marker() == "o"
    with pytest.warns(Warning, match="converge"):
        cut = GaussianMixture(2, random_state=0, max_iter=2, tol=0.0).fit(X)
    other = drawn(ConvergenceDisplay.from_estimator(cut, ax=display.ax_, name="two"))
    assert other.line_.get_label() == "two, stopped at 2: max_iter"
    assert other.end_.get_marker() == "X"
    assert other.line_.get_color() != display.line_.get_color()
    broken = drawn(ConvergenceDisplay.from_predictions([1.0, 2.0, np.nan]))
    assert broken.end_.get_xdata().tolist() == [2]
    with pytest.raises(TypeError, match="has no trace_"):
        ConvergenceDisplay.from_estimator(LinearRegression())
