"""Arguments for the loops of native/medoids.hpp."""

import numpy as np

from ..reference.medoids import assign


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X, weight = rng.normal(size=(N, D)), rng.integers(3, size=N).astype(float)
    X[N // 2 :: 3] = X[: len(X[N // 2 :: 3])]  # ties
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    for medoid in [rng.permutation(N)[:k] for k in (1 + N % 2, K) if k <= N]:
        M = distance[medoid]
        state = np.zeros(N, np.int64), *np.zeros((2, N)), np.zeros(len(medoid))
        yield "assign", (M, weight, *state)
        assign(M, weight, *state)
        for block in (distance, distance[N // 3 :]):
            yield "swap_block", (block, N - len(block), 0, weight, medoid, M, *state)
        yield "swap_block", (distance, 0, max(N - 2, 0), weight, medoid, M, *state)
