"""The trace of a fit, and why it stopped."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.mixture import GaussianMixture  # noqa: E402
from suffice.plot import ConvergenceDisplay  # noqa: E402

from .geometry import drawn  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


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
