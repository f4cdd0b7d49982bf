"""Rows in groups, for the tests of several ways to find them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import suffice

GROUP = np.repeat(np.arange(3), 60)
X = np.array([[0.0, 2.0, 9.0], [15.0, 0.0, 1.0], [1.0, 15.0, 1.0]])[GROUP]
X = X + np.random.default_rng(0).normal(size=(180, 3))

PLANE_GROUP = np.repeat(np.arange(3), 20)
PLANE = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 60.0]])[PLANE_GROUP]
PLANE = PLANE + np.random.default_rng(0).normal(size=(60, 2))


def rows(n=60):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(m, 1.0, (n // 2, 2)) for m in (0.0, 10.0)])


def scan(X):
    return suffice.scan(lambda: [pa.record_batch({"a": X[:, 0], "b": X[:, 1]})])


def first(X, n_clusters, random_state):
    assert isinstance(X, np.ndarray) and X.dtype.kind == "f"
    return X[:: len(X) // n_clusters][:n_clusters]
