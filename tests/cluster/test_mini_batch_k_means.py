"""k-means by mini-batches: the sample of the initialization."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.cluster import MiniBatchKMeans
from suffice.cluster import mini_batch_k_means as module

from ._common import first, rows


@pytest.fixture
def samples(monkeypatch):
    """The rows among which initial centres are drawn."""
    drawn, in_blocks = [], module.in_blocks
    monkeypatch.setattr(module, "in_blocks", lambda rows: drawn.append(rows.X) or in_blocks(rows))
    return drawn


def test_the_sample_of_sparse_rows_is_sparse(samples):
    """As a dense matrix, its distances took a hundred times as long for a vocabulary of 20,000 words. The
    values decide, not their container."""
    X = sp.random_array((300, 400), density=0.02, rng=np.random.default_rng(0), format="csr")
    models = [MiniBatchKMeans(4, random_state=0).fit(rows) for rows in (X, X.toarray())]
    assert len(samples) == 2 and all(map(sp.issparse, samples))
    assert (samples[0] != samples[1]).nnz == 0
    np.testing.assert_allclose(*(model.cluster_centers_ for model in models), atol=1e-10)


def test_the_sample_of_dense_rows_is_dense(samples):
    X = np.random.default_rng(0).normal(size=(300, 4))
    MiniBatchKMeans(4, random_state=0).fit(X)
    assert isinstance(samples[0], np.ndarray)


def test_initial_centers_of_batches_are_a_function_of_the_sample():
    """As in scikit-learn, the function takes `init_size` rows, and not all of them."""
    seen = []

    def init(X, n_clusters, random_state):
        seen.append(len(X))
        return first(X, n_clusters, random_state)

    MiniBatchKMeans(2, init=init, init_size=20, n_init=1, random_state=0).fit(rows())
    assert seen == [20]
