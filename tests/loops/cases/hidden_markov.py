"""Arguments for the loop of native/hidden_markov.hpp."""

import numpy as np


def cases(N, D, K):
    """K states, D features; sequences of similar lengths, and of any."""
    rng = np.random.default_rng((N, D, K))
    cuts = np.concatenate([rng.integers(0, N + 1, max(1, N // 5)), rng.integers(0, N + 1, 1).repeat(D)])
    mean, half_precision = 2.0 * rng.normal(size=(K, D)), rng.uniform(0.1, 2.0, (K, D))
    X = mean[rng.integers(K, size=N)] + rng.normal(size=(N, D)) + 10.0
    strange = np.where(rng.random(X.shape) < 0.01, rng.choice([np.nan, np.inf, 1e200], size=(N, D)), X)
    start, transition = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K)
    turned = np.ascontiguousarray(transition.T)
    for cut in cuts, np.arange(4, N, max(4, N // 20)), cuts[:1]:
        offset = np.concatenate([[0], np.sort(cut), [N]]).astype(np.int64)
        S = len(offset) - 1
        for weight in np.ones(S), np.where(rng.random(S) < 0.2, 0.0, rng.uniform(size=S)):
            model = mean + 10.0, half_precision, rng.normal(size=K), start, transition, turned
            yield "expect_diagonal", (X, *model, offset, weight)
            yield "expect_diagonal", (strange, *model, offset, weight)
