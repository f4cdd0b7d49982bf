"""The trellis shows the probabilities of states and the decoded path."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.plot import TrellisDisplay  # noqa: E402

from ._steps import X  # noqa: E402
from .geometry import drawn  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


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
