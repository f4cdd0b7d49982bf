"""Arguments for the loops of native/elementary.hpp."""

import numpy as np


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 2e-308, 1e308, -1.0, -2.0, 1.0, 710.0, -745.0]
    x = np.concatenate([np.resize(ends, N), rng.normal(size=N) * np.exp(rng.uniform(-700, 700, N))])[1:]
    yield "exp", (x,)
    yield "exp", (rng.uniform(-745.2, 709.8, N),)
    for name in "log", "log1p", "digamma", "log_gamma":
        yield name, (x,)
        yield name, (rng.uniform(0, 3, N),)
