"""Arguments for the loops of native/sgd.hpp."""

import numpy as np
import scipy.sparse as sp

from suffice.loops.sgd import LOSSES, RATES, Rule


def rules():
    """Of each loss and each rate, with each penalty, with and without a mean."""
    for loss in range(len(LOSSES)):
        for rate in {loss % 4, {"hinge": 4, "epsilon_insensitive": 5}.get(LOSSES[loss], loss % 4)}:
            l2, l1 = [(0.1, 0.0), (0.0, 0.02), (0.03, 0.01)][loss % 3]
            before = 20.0 if RATES[rate] == "optimal" else 0.0
            average = float(loss % 4 * 2)
            yield Rule(loss, 0.1, 0.1, l2, l1, rate, 0.01, 0.3, before, float(loss != 2), average)
    yield Rule(0, 0.1, 0.1, 200.0, 0.0, 0, 0.01, 0.3, 0.0, 1.0, 1.0)  # no weights are left


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    Y, scores = rng.choice([-1.0, 1.0], (N, K)), rng.normal(scale=2.0, size=(N, K))
    weight = rng.uniform(size=N)
    scores[::11] = 1.0
    for loss in range(len(LOSSES)):
        yield "losses", (loss, 0.5, Y, scores, weight, np.empty((N, K)))
    if K:
        yield "losses", (4, 0.5, Y, np.where(scores > 2.0, np.nan, 400.0 * scores), weight, np.empty((N, K)))
    X, order = rng.normal(size=(N, D)), rng.permutation(N)[: N - N // 8]
    S = sp.random_array((N, D), density=0.4, rng=rng, format="csr")
    kinds = [(np.float64, np.int32), (np.float64, np.int64), (np.float32, np.int32), (np.float32, np.int64)]
    for i, rule in enumerate(rules()):
        y = Y[:, 0] if rule.loss < 5 else scores[:, 0]
        w, total, paid = rng.normal(size=(3, D)) * [[1.0], [1.0], [0.0]]
        rest = y.copy(), weight, order, rule, w, total, paid, np.array([0.1, 0.2, 1.0, 0.0, 0.01])
        kind, index = kinds[i % 4]
        yield "epoch", (X.astype(kind), *rest)
        yield "sparse_epoch", (S.data.astype(kind), S.indices.astype(index), S.indptr.astype(index), *rest)
