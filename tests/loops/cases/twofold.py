"""Arguments for the loops of native/twofold.hpp."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    """K targets, at most four."""
    rng, T = np.random.default_rng((N, D, K)), min(K, 4)
    theta = np.stack([rng.normal(size=(T, D + 1)), 1e-17 * rng.normal(size=(T, D + 1))])
    y, weight = rng.normal(size=(N, T)), rng.choice([0.0, 0.5, 2.0], N)
    out, size = rng.normal(size=(2, T, D + 1)), rng.uniform(size=(T, D + 1))
    X = rng.normal(size=(N, D))
    yield "add_normal_residual", (X, y, weight, theta, out, size)
    missing = X.copy()
    missing[N // 2 :, D // 2] = np.nan
    yield "add_normal_residual", (missing, y, weight, theta, out, size)
    rows = sp.csr_array(np.where(rng.random(X.shape) < 0.5, X, 0.0))
    for index in (np.int32, np.int64):
        entries = rows.data, rows.indices.astype(index), rows.indptr.astype(index)
        yield "add_sparse_normal_residual", (*entries, y, weight, theta, out, size)
