"""Divisive clustering: planted groups, precomputed distances, and metrics that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from suffice.cluster import DivisiveClustering

from ._common import PLANE as X
from ._common import PLANE_GROUP as GROUP


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("how", [{}, {"micro_clusters": 30}, {"metric": "manhattan"}])
def test_splits_find_planted_groups_anywhere(how, shift):
    model = DivisiveClustering(3, random_state=0, **how).fit(X + shift)
    assert adjusted_rand_score(model.labels_, GROUP) == 1.0
    assert model.diameters_[0] >= model.diameters_[1]
    assert np.array_equal(model.predict(X + shift), model.labels_)


def test_splits_of_precomputed_distances_and_of_all_rows():
    D = cdist(X, X)
    matrix, rows = DivisiveClustering(5, metric="precomputed").fit(D), DivisiveClustering(5).fit(X)
    assert adjusted_rand_score(matrix.labels_, rows.labels_) == 1.0
    np.testing.assert_allclose(matrix.diameters_, rows.diameters_)
    assert rows.diameters_[0] == pytest.approx(D.max())
    full = DivisiveClustering(None).fit(np.repeat(X[:10], 3, axis=0))
    assert full.n_clusters_ == 10 and len(full.splits_) == 9  # equal rows stay together


@pytest.mark.parametrize(
    ("metric", "kind", "message"),
    [
        ("euclidian", ValueError, "metric='euclidian'.*Unknown Distance Metric"),
        (lambda a: 1.0, TypeError, "metric=<function.*1 positional argument"),
        (lambda a, b: "far", ValueError, "metric=<function.*'far'"),
    ],
)
def test_metrics_that_measure_no_distance(metric, kind, message):
    with pytest.raises(kind, match=f"{message}.*or a function of two rows that returns a number"):
        DivisiveClustering(2, metric=metric).fit(X[:20])
