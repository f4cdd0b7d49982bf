"""Displays draw on axes that are given or new, and importing them imports no matplotlib."""

from __future__ import annotations

import subprocess
import sys

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from suffice.plot import ConvergenceDisplay, SegmentsDisplay, TransitionDisplay, TrellisDisplay  # noqa: E402

from ._steps import X  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


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
