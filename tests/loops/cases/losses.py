"""Arguments for the loops of native/losses.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    f = rng.normal(size=N) * 30.0
    f[::7] = np.resize([np.inf, -np.inf, 800.0, -800.0, 0.0, np.nan], len(f[::7]))
    yield "squared_error", (rng.normal(size=N), f, np.empty(N), np.empty(N))
    y = rng.integers(0, 2, N)
    for labels, class_weight in ((y, np.array([1.0, 2.5])), (0 * y, np.array([2.0]))):
        yield "log_loss", (labels, f, class_weight, np.empty(N), np.empty(N), np.empty(N))
    value, g, h = rng.normal(size=N), rng.normal(size=(N, K)), rng.random((N, K))
    value[N // 2 : N // 2 + 2] = [np.nan, np.inf][: len(value[N // 2 : N // 2 + 2])]
    none, weight, group = np.empty(0), rng.random(N) * 3.0, rng.integers(0, 3, N)
    unit, most = float(1 << 20), 5.0 * (1 << 20)
    for of_rows in ((none, none.astype(np.int64)), (weight, group)):
        for curvature in (h, h[:, :0].copy()):
            for largest in (K, 0):
                yield "add_stage", (
                    value, g, curvature, *of_rows, unit, most, unit, unit * (largest > 0),
                    np.arange(3), np.arange(3), np.arange(K), np.zeros((largest, 2)),
                )  # fmt: skip
