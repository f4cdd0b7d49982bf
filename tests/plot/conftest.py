"""Models of the steps of `_steps`."""

from __future__ import annotations

import pytest

from suffice.sequence import ConditionalRandomField, HiddenMarkovModel

from ._steps import NAME, X


@pytest.fixture(scope="module")
def hmm():
    return HiddenMarkovModel(transition_prior=1.5).fit(X, NAME)


@pytest.fixture(scope="module")
def crf():
    return ConditionalRandomField().fit(X, NAME)
