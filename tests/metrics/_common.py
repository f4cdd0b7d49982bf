"""A table with labels, scores, probabilities, numbers and weights, and predictions of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

rng = np.random.default_rng(0)
N = 5000
X = rng.normal(size=(N, 3))
label = rng.integers(0, 3, N)
other = np.where(rng.random(N) < 0.7, label, rng.integers(0, 3, N))
P = rng.dirichlet(np.ones(3), N)
binary = (X[:, 0] + rng.normal(size=N) > 0.5).astype(np.int64)
score = (X[:, 0] + X[:, 1]).round(2)  # with ties
y = X[:, 0] * 3.0 + 1e4
weight = rng.integers(0, 3, N).astype(np.float64)
NAMES = np.array(["ant", "bee", "cat"])
TABLE = pa.table(
    {
        **{f"x{d}": X[:, d] for d in range(3)},
        **{f"p{d}": P[:, d] for d in range(3)},
        **{"label": NAMES[label], "prediction": NAMES[other], "binary": binary, "score": score},
        **{"y": y, "fit": y + X[:, 1], "w": weight},
    }
)
