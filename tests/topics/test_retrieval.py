"""Ranked documents: scores, ties, and queries that do not fit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import cosine_similarity

import suffice
from suffice.topics import rank_documents

from ..laws.registry import cut_at
from ._common import X

rng = np.random.default_rng(0)


@pytest.mark.parametrize("measure", ["cosine", "inner"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_ranks(measure, form):
    query = rng.poisson(0.5, size=25)
    scores = cosine_similarity(X, query[None])[:, 0] if measure == "cosine" else X @ query
    order = np.argsort(-scores, kind="stable")
    for sizes in ((1000,), (7, 1, 13)):
        with cut_at(*sizes):
            places, found = rank_documents(query, form(X), measure=measure, n_best=20)
        np.testing.assert_allclose(found, scores[order[:20]], atol=1e-15)
        np.testing.assert_allclose(scores[places], found, atol=1e-15)
    tied = rank_documents([1.0, 0.0], [[1, 0], [0, 1], [2, 0], [0, 0]], n_best=9)
    assert tied[0].tolist() == [0, 2, 1, 3]
    assert tied[1].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_ranks_of_a_described_table():
    texts = pa.table({"t": ["red wine", "white wine", "red red rose"]})
    documents = suffice.documents(texts, text="t")
    vectorizer = suffice.feature_extraction.CountVectorizer().fit(documents)
    query = vectorizer.transform(["red"])
    places, _ = rank_documents(query, vectorizer.transform(documents), n_best=2)
    assert places.tolist() == [2, 0]


def test_queries_that_do_not_fit():
    with pytest.raises(ValueError, match=r"shape \(1, 3\), expected \(1, 25\)"):
        rank_documents([1, 2, 3], X)
    with pytest.raises(ValueError, match="measure='x' is unknown"):
        rank_documents(X[0], X, measure="x")
    with pytest.raises(ValueError, match="n_best=0"):
        rank_documents(X[0], X, n_best=0)
    assert (rank_documents(np.zeros(25), X, n_best=2)[1] == 0).all()
