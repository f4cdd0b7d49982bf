"""Fusion of clusters: its optimum, weights, planted groups, and its memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import adjusted_rand_score

from suffice.cluster import FusionClustering

from ._common import PLANE as X
from ._common import PLANE_GROUP as GROUP

rng = np.random.default_rng(0)


def objective(M, rows, weight, alpha, q):
    size = np.linalg.norm(M[:, None] - M, ord=q, axis=2)
    return 0.5 * weight @ ((rows - M) ** 2).sum(axis=1) + 0.5 * alpha * weight @ size @ weight


@pytest.mark.parametrize(("penalty", "q"), [("l1", 1), ("l2", 2)])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_fusion_is_the_optimum(penalty, q, alpha):
    rows, weight = rng.normal(size=(8, 2)) + 3.0, rng.integers(1, 4, 8).astype(float)
    model = FusionClustering(alpha, penalty=penalty).fit(rows, sample_weight=weight)
    value = objective(model.centers_, rows, weight, alpha, q)
    assert model.objective_ == pytest.approx(value)
    for start in (rows, model.centers_ + 0.01 * rng.normal(size=rows.shape)):
        other = minimize(lambda m: objective(m.reshape(8, 2), rows, weight, alpha, q), start.ravel())
        assert value <= other.fun + 1e-6 * abs(value)
    np.testing.assert_allclose(weight @ model.centers_, weight @ rows, rtol=1e-9)


@pytest.mark.parametrize("penalty", ["l0", "l1", "l2"])
def test_fusion_by_weight_is_repetition_and_moves_with_the_rows(penalty):
    rows, times = np.round(rng.normal(size=(10, 2)) * 64) / 64, rng.integers(1, 3, 10)
    weighted = FusionClustering(0.05, penalty=penalty).fit(rows, sample_weight=times)
    repeated = FusionClustering(0.05, penalty=penalty).fit(np.repeat(rows, times, axis=0))
    np.testing.assert_allclose(np.repeat(weighted.centers_, times, axis=0), repeated.centers_, atol=1e-3)
    far = FusionClustering(0.05, penalty=penalty).fit(rows + 2.0**27, sample_weight=times)
    np.testing.assert_allclose(far.centers_ - 2.0**27, weighted.centers_, atol=1e-6)
    assert np.array_equal(far.labels_, weighted.labels_)


def test_counts_of_pairs_find_planted_groups():
    model = FusionClustering(2.0, penalty="l0").fit(X)
    assert adjusted_rand_score(model.labels_, GROUP) == 1.0
    assert (np.diff(model.path_) >= 0).all() and len(model.path_) == 59


def test_differences_of_pairs_are_priced_first(monkeypatch):
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (1e4, "this machine has"))
    with pytest.raises(MemoryError, match=r"centers of KMeans"):
        FusionClustering().fit(X)
