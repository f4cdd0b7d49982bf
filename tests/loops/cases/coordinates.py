"""Arguments for the loops of native/coordinates.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    X, Y = rng.normal(size=(N + D, D)), rng.normal(size=(N + D, K))
    w = rng.normal(size=D)
    for a in (X.T, w):
        a[D // 2] *= D % 2  # a feature without a spread
    A, B = X.T @ X, X.T @ Y
    b, yy, l1 = B[:, 0].copy(), Y[:, 0] @ Y[:, 0], 0.3 * np.abs(B).max()
    for positive in (False, True):
        start = np.abs(w) if positive else w
        yield "duality_gap", (b, yy, l1, 0.5, positive, start, A @ start)
        for most in (2, 1000):
            yield "descend", (A, b, yy, l1, 0.5, positive, 1e-6 * yy, most, start.copy(), np.empty(D))
    W = w[:, None] * np.ones(K)
    yield "descend_jointly", (A, B, (Y * Y).sum(), l1, 0.5, 1e-6 * yy, 1000, W, np.empty((D, K)))
