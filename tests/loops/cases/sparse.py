"""Arguments for the loops of native/sparse.hpp."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X = sp.random_array((N, D), density=0.6, rng=rng, format="csr")
    W, G, out = rng.normal(size=(D, K)), rng.normal(size=(N, K)), rng.normal(size=(D, K))
    for index in (np.int32, np.int64):
        entries = X.data, X.indices.astype(index), X.indptr.astype(index)
        yield "times", (*entries, W)
        yield "add_transposed_times", (*entries, G, out)
