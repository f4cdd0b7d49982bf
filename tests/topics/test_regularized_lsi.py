"""Regularized latent semantic indexing: sparse topics."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.topics import RegularizedLSI

from ..decomposition._common import parts


def test_regularized_topics_are_sparse_and_settle():
    X = parts(300, 50, 5)
    dense, sparse = (
        RegularizedLSI(5, topic_penalty=p, document_penalty=1.0, random_state=0, max_iter=500).fit(X)
        for p in (0.1, 20.0)
    )
    assert (sparse.components_ == 0).mean() > (dense.components_ == 0).mean()
    assert sparse.converged_ and (np.diff(sparse.trace_) <= 1e-12 * sparse.trace_[0]).all()
    again = RegularizedLSI(5, topic_penalty=20.0, document_penalty=1.0, random_state=0, max_iter=500)
    np.testing.assert_allclose(again.fit(sp.csr_array(X)).trace_, sparse.trace_, rtol=1e-9)
    nothing = RegularizedLSI(3, topic_penalty=1e9, random_state=0).fit(X)
    assert (nothing.components_ == 0).all() and (nothing.transform(X) == 0).all()
    with pytest.raises(ValueError, match="n_components=60 must not be more than n_features=50"):
        RegularizedLSI(60).fit(X)
