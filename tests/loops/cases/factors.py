"""Arguments for the loops of native/factors.hpp: N rows of D entries, and K columns of the factor."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    Ht, W = rng.random(size=(D, K)), rng.random(size=(N, K))
    W[::3, : K // 2] = 0.0
    Ht[:, K // 2] *= K % 2  # a column of zeros
    weight = np.arange(N) % 3 / 2
    cross = rng.normal(size=(N, D)) @ Ht
    order = rng.permutation(K)
    for most in 1, 2, 50:
        yield "coordinate_sweeps", (W, Ht.T @ Ht, cross, order, weight, 1e-3, most)
    X = sp.csr_array(rng.poisson(0.7, size=(N, D)).astype(float))
    if X.nnz:
        X.data[0] = 0.0  # an entry that is not stored elsewhere
    W += 0.1
    for kind in np.int32, np.int64:
        entries = X.data, X.indices.astype(kind), X.indptr.astype(kind)
        for most, l1, l2 in (1, 0.0, 0.0), (2, 0.1, 0.0), (50, 0.1, 0.2):
            yield "divergence_updates", (*entries, Ht, Ht.sum(axis=0), l1, l2, 1e-9, 1e-6, most, W)
        yield "ratios", (*entries, Ht, W, 1e-9, weight, np.empty(len(X.data)))
