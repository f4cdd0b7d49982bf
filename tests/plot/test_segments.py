"""Segments show the states of steps, above or below the signal, in matching colors."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.plot import SegmentsDisplay  # noqa: E402
from suffice.sequence import HiddenMarkovModel  # noqa: E402

from ._steps import NAME, X  # noqa: E402
from .geometry import boxes, drawn, overlaps  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


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
