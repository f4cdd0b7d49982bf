"""Arguments for the loops of native/splines.hpp."""

import numpy as np

from suffice.fitting.splines import NaturalSplines


def equations(rng, N):
    """Of smoothing splines, with weights of zero, as in suffice.loops.splines."""
    A = np.zeros((N, 5, 5))
    A[:, 2, 0] = rng.integers(2, size=N)
    A[:2, 2, 0] = A[-2:, 2, 0] = 1.0
    A[:, 2, 4] = A[:, 2, 0] * rng.normal(size=N)
    A[:-1, 3, :3], A[:-1, 4, :4] = rng.normal(size=(max(N - 1, 0), 3)), rng.normal(size=(max(N - 1, 0), 4))
    return A


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    knots = [np.sort(rng.normal(size=size)) for size in rng.integers(1, K + 1, size=D)]
    s = NaturalSplines.at(knots, rng.integers(2, size=D) > 0)
    X = rng.normal(size=(N, D))
    X[: N // 4] = [k[-1] for k in knots]
    strange = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
    given = s.knots, s.first, s.scale, s.pieces, s.place, s.columns
    for derivative in range(3):
        for rows in (X, strange):
            yield "design", (rows, *given, derivative, rng.normal(size=(N, len(s) + 1)))
    yield "triangles", (equations(rng, N),)
    yield "substitute", (np.eye(5) + 0.1 * rng.normal(size=(N, 5, 5)),)
