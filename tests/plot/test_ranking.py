"""The picture of how scores came to rest."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.plot import RankDisplay  # noqa: E402
from suffice.ranking import HITS, PageRank  # noqa: E402

LINKS = [0, 0, 1, 2], [1, 2, 2, 0]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_shows_the_trace_and_the_tolerance():
    rank = PageRank(tol=1e-6).fit(LINKS)
    display = RankDisplay.from_estimator(rank)
    display.figure_.canvas.draw()
    np.testing.assert_array_equal(display.line_.get_ydata(), rank.trace_)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, rank.n_iter_ + 1))
    assert display.tolerance_.get_ydata()[0] == 1e-6
    assert display.ax_.get_yscale() == "log"
    assert f"{rank.n_iter_} iterations" in display.ax_.get_legend().get_texts()[0].get_text()


def test_several_share_axes():
    first = RankDisplay.from_estimator(PageRank().fit(LINKS), name="a")
    second = RankDisplay.from_estimator(HITS().fit(LINKS), ax=first.ax_, name="b")
    assert second.ax_ is first.ax_
    assert second.line_.get_color() != first.line_.get_color()


def test_bounds_alone():
    display = RankDisplay.from_predictions([1.0, 0.1, 0.0])
    display.figure_.canvas.draw()  # the zero is left out
    assert not hasattr(display, "tolerance_")


def test_what_has_no_scores_of_nodes():
    with pytest.raises(TypeError, match="LinearRegression"):
        RankDisplay.from_estimator(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))
    with pytest.raises(TypeError, match="fitted"):
        RankDisplay.from_estimator(PageRank())
