"""k-means in the space of a kernel: its distances, landmarks, and its memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from suffice.cluster import KernelKMeans, KMeans

from ._common import GROUP, X


def test_a_linear_kernel_is_k_means():
    rows = X[:, :2]
    ours = KernelKMeans(3, kernel="linear", random_state=0).fit(rows)
    them = KMeans(3, n_init=10, random_state=0).fit(rows)
    assert ours.inertia_ == pytest.approx(them.inertia_, rel=1e-9)
    assert adjusted_rand_score(ours.labels_, them.labels_) == 1.0
    assert np.array_equal(ours.predict(rows), ours.labels_)


def test_kernels_with_landmarks_and_precomputed():
    K = np.exp(-0.02 * ((X[:, None] - X) ** 2).sum(axis=2))
    exact = KernelKMeans(3, gamma=0.02, random_state=0).fit(X)
    matrix = KernelKMeans(3, kernel="precomputed", random_state=0).fit(K)
    some = KernelKMeans(3, gamma=0.02, landmarks=40, random_state=0).fit(X)
    assert matrix.inertia_ == pytest.approx(exact.inertia_, rel=1e-8)
    for model in (exact, matrix, some):
        assert adjusted_rand_score(model.labels_, GROUP) == 1.0
    W = np.eye(3)[exact.labels_]
    W = W / W.sum(axis=0)
    distance = 1.0 - 2.0 * K @ W + np.einsum("nk,nm,mk->k", W, K, W)
    assert exact.inertia_ == pytest.approx(distance.min(axis=1).sum(), rel=1e-8)


def test_kernels_of_all_rows_are_priced_first(monkeypatch):
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (1e5, "this machine has"))
    with pytest.raises(MemoryError, match=r"landmarks="):
        KernelKMeans(3).fit(X)
