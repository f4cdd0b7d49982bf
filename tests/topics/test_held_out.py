"""Held-out documents: completion, and probabilities from left to right."""

from __future__ import annotations

import numpy as np
import pytest

import suffice
from suffice.topics import LatentDirichletAllocation, document_completion, left_to_right

from ..decomposition._common import corpus, lda, quiet


def test_document_completion_prefers_the_truth():
    X, truth = corpus(400)
    Y = corpus(200)[1].sample(200, length=60)[0]
    found = quiet(lda(topic_word_prior=0.08, doc_topic_prior=0.2), X)
    nothing = LatentDirichletAllocation.from_topics(np.full((4, 50), 1 / 50))
    of_truth, of_found, of_nothing = (
        document_completion(m, Y, random_state=0) for m in (truth, found, nothing)
    )
    np.testing.assert_allclose(of_nothing, -np.log(50))
    assert of_nothing < of_found < of_truth + 0.01
    with pytest.raises(ValueError, match="no word to predict"):
        document_completion(truth, Y, observed_fraction=1.0)


def test_left_to_right_prefers_the_truth():
    X, truth = corpus(100, length=15)
    nothing = LatentDirichletAllocation.from_topics(np.full((4, 50), 1 / 50))
    ours, empty = (left_to_right(m, X, random_state=0) for m in (truth, nothing))
    np.testing.assert_allclose(empty, -X.sum(axis=1) * np.log(50), rtol=1e-12)
    assert ours.sum() > empty.sum()
    assert (ours > truth.evidence_lower_bound(X) - 1.0).all()
    with suffice.threads(1):
        assert (left_to_right(truth, X, random_state=0) == ours).all()
