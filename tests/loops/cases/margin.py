"""Arguments for the loops of native/margin.hpp."""

import numpy as np
import scipy.sparse as sp


def cases(N, D, K):
    """K states, or a few; some sequences are empty."""
    rng, K = np.random.default_rng((N, D, K)), min(K, 9)
    offset = np.concatenate([[0], np.sort(rng.integers(0, N + 1, 2 + N // 4)), [N]])
    S = len(offset) - 1
    codes, order, scale = rng.integers(K, size=N), rng.permutation(S), rng.uniform(0.1, 1.0, S)
    X = sp.random_array((N, D), density=0.6, rng=rng, format="csr")
    W, T = rng.normal(size=(D, K)), rng.normal(size=(K, K))
    cost = 1.0 - np.eye(K)
    late_W, late_T = np.zeros((D, K)), np.zeros((K, K))
    share, moves, into = np.eye(K)[codes], np.zeros((S, K, K)), np.zeros((N, K, K))
    for s in range(S):
        for n in range(offset[s] + 1, offset[s + 1]):
            moves[s, codes[n - 1], codes[n]] += 1.0
            into[n, codes[n - 1], codes[n]] = 1.0
    for index in (np.int32, np.int64):
        entries = X.data, X.indices.astype(index), X.indptr.astype(index)
        rows = *entries, offset, codes
        yield "perceptron", (*rows, scale, order, W, T, late_W, late_T, 3)
        yield "perceptron", (*rows, np.ones(S), order, late_W, late_T, late_W, late_T, 0)  # paths that tie
        yield "frank_wolfe", (*rows, cost, scale, order, W, T, share, moves, np.zeros(S))
    F = rng.normal(size=(N, D + 2))
    gram = F @ F.T
    U = rng.normal(size=(K, N))
    # After an exact step both paths have one score, and rounding chooses; small scales give whole steps.
    for tries, c in (0, scale), (1, scale), (3, 1e-3 * scale):
        yield "smo", (gram, offset, codes, cost, c, order, U, T, share, into, tries)
