"""Arguments for the loops of native/log_linear.hpp."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    codes, weight = rng.integers(K, size=N), np.where(rng.random(N) < 0.2, 0.0, rng.uniform(size=N))
    for scale in 1.0, 300.0:
        yield "errors", (scale * rng.normal(size=(N, K)), rng.normal(size=K), codes, weight)
    S = sp.random_array((N, D), density=0.3, rng=rng, format="csr")
    order, shrink = rng.integers(N, size=2 * N) if N else codes, rng.uniform(size=D + 1)
    for columns in {1, K}:
        before, (start, drift) = rng.uniform(size=(N, columns)), rng.normal(size=(2, D + 1, columns))
        for index, every, intercept in (np.int32, 1, True), (np.int64, 7, False):
            entries = S.data, S.indices.astype(index), S.indptr.astype(index)
            rows = order, weight, before
            yield "svrg_epoch", (*entries, *rows, start, drift, shrink, 0.01, every, intercept)
