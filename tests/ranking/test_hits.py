"""HITS: the first singular vectors of the links."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.ranking import HITS


def graph(seed=0, n=40, m=300):
    rng = np.random.default_rng(seed)
    return (rng.random(m) ** 2 * n).astype(int), (rng.random(m) ** 1.5 * n).astype(int)


@pytest.mark.parametrize("weighted", [False, True])
def test_hits_are_the_first_singular_vectors(weighted):
    source, target = graph(1)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(source)) if weighted else None
    hits = HITS(tol=1e-13).fit((source, target), sample_weight=weight)
    A = np.zeros((len(hits.nodes_),) * 2)
    number = {node: n for n, node in enumerate(hits.nodes_.tolist())}
    for n, (a, b) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        A[number[a], number[b]] += 1.0 if weight is None else weight[n]
    U, _, V = np.linalg.svd(A)
    np.testing.assert_allclose(hits.hubs_, np.abs(U[:, 0]) / np.abs(U[:, 0]).sum(), atol=1e-12)
    np.testing.assert_allclose(hits.authorities_, np.abs(V[0]) / np.abs(V[0]).sum(), atol=1e-12)
    assert hits.rank(1)[0] == hits.nodes_[hits.authorities_.argmax()]
    assert hits.converged_


def test_hits_of_two_parts_as_strong():
    """Which start from equal scores, and so stay equal."""
    hits = HITS().fit((["a", "b"], ["b", "a"]))
    np.testing.assert_allclose(hits.hubs_, 0.5)


def test_hits_without_links():
    with pytest.raises(ValueError, match="neither hubs nor authorities"):
        HITS().fit(sp.csr_array((3, 3)))
