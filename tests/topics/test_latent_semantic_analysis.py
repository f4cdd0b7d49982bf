"""Latent semantic analysis: words and documents in one space."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.topics import LatentSemanticAnalysis


def test_words_and_documents_share_a_space():
    X = np.random.default_rng(0).poisson(0.6, size=(80, 30)).astype(float)
    lsa = LatentSemanticAnalysis(30, algorithm="gram").fit(X)
    np.testing.assert_allclose(lsa.word_coordinates_ @ lsa.word_coordinates_.T, X.T @ X, atol=1e-8)
    np.testing.assert_allclose(lsa.similarity(X, metric="dot"), X @ X.T, atol=1e-8)
    few = LatentSemanticAnalysis(5, random_state=0).fit(sp.csr_array(X))
    query = np.zeros((1, 30))
    query[0, [3, 4]] = 1.0
    A, B = few.transform(query), few.transform(X)
    cosine = (A @ B.T) / (np.linalg.norm(A) * np.linalg.norm(B, axis=1))
    np.testing.assert_allclose(few.similarity(query, X), cosine, atol=1e-12)
    empty = few.similarity(np.zeros((1, 30)), X)  # a query of no known word
    assert (empty == 0).all()
    with pytest.raises(ValueError, match="metric='angle' is unknown"):
        few.similarity(query, X, metric="angle")
