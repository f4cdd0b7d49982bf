"""Arguments for the loops of native/plsa.hpp: N documents of D words, and K topics."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X = sp.csr_array(rng.poisson(rng.gamma(0.5, 4.0, size=(N, D))).astype(float))
    if X.nnz:
        X.data[0] = 0.0  # an entry that is not stored elsewhere
    A = rng.dirichlet(np.full(D, 0.3), size=K).T.copy()
    A[D // 2] *= D % 2  # a word of no topic
    theta = rng.dirichlet(np.full(K, 2.0), size=N)
    theta[::3, : K // 2] = 0.0
    weight = np.arange(N) % 3 / 2
    for kind in np.int32, np.int64:
        entries = X.data, X.indices.astype(kind), X.indptr.astype(kind)
        for power in 1.0, 0.6:
            for most in 1, 4, 40:
                yield "fold_in", (*entries, A, power, most, 1e-6, theta)
            counts, log_sums = rng.random(size=(D, K)), np.empty(N)
            yield "expect", (*entries, A, power, theta, weight, counts, log_sums)
        if N > 100:
            yield "expect", (*entries, A, 1.0, theta, np.zeros(N), np.zeros((0, K)), np.empty(N))
