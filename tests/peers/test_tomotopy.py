"""The Gibbs sampler of tomotopy finds topics that tell new documents as well as ours do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from suffice.topics import LatentDirichletAllocation, document_completion

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own, on import
    tp = pytest.importorskip("tomotopy")


def test_held_out_documents():
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(100, 0.05), size=8)
    truth = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=0.1, random_state=0)
    X, _ = truth.sample(900, length=50)
    X, new = X[:600], X[600:]
    theirs = tp.LDAModel(k=8, alpha=0.1, eta=0.05, seed=1)
    theirs.optim_interval = 0
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        theirs.add_doc([str(v) for v in np.repeat(X.indices[a:b], X.data[a:b].astype(int))])
    theirs.train(200, workers=1)
    found = np.full((8, 100), 1e-12)
    for k in range(8):
        found[k, [int(v) for v in theirs.used_vocabs]] = theirs.get_topic_word_dist(k)
    known = LatentDirichletAllocation.from_topics(found, doc_topic_prior=0.1)
    how = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05, "random_state": 0}
    ours = LatentDirichletAllocation(8, solver="gibbs", max_iter=200, **how).fit(X)
    of_theirs, of_ours, best = (document_completion(m, new, random_state=0) for m in (known, ours, truth))
    assert of_ours > of_theirs - 0.02
    assert of_ours > best - 0.05
