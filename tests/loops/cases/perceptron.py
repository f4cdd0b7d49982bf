"""Arguments for the loops of native/perceptron.hpp."""

import numpy as np
import scipy.sparse as sp

from suffice.loops.perceptron import Rule


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X, S = rng.normal(size=(N, D)), sp.random_array((N, D), density=0.4, rng=rng, format="csr")
    codes = rng.integers(1 + K, size=N)
    order = rng.permutation(N)[: N - N // 8]
    gram = X @ X.T + 1.0
    for i, (P, pocket, vote) in enumerate([(1, True, True), (K, False, True), (K, True, False)]):
        weight = rng.choice([0.0, 0.5, 1.0, 2.5], size=N) if i else np.ones(N)
        rule = Rule(0.3, 0.1, 0.1, pocket, vote)
        active = rng.random(P) < 0.8 if i else np.ones(P, bool)
        rows = codes, weight, order, rule, active
        numbers = *rng.uniform(size=(4, P)), np.full(P, -1.0)
        W, late, kept = rng.normal(size=(3, D, P))
        yield "primal", (X, *rows, W, late, kept, *numbers)
        for index in np.int32, np.int64:
            entries = S.data, S.indices.astype(index), S.indptr.astype(index)
            yield "sparse_primal", (*entries, *rows, W, late, kept, *numbers)
        W, late, kept = rng.normal(size=(3, P, N))
        yield "dual", (gram, *rows, W, late, kept, W @ gram, *numbers)
