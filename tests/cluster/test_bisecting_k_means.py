"""Bisecting k-means: each split refines the clusters before it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

import suffice
from suffice.cluster import BisectingKMeans

from ._common import GROUP, X


def test_bisections_are_a_tree():
    fits = [BisectingKMeans(k, random_state=0, n_init=3).fit(X) for k in range(1, 7)]
    assert all(np.diff([model.inertia_ for model in fits]) < 0)
    for a, b in pairwise(fits):  # each partition refines the one before
        assert len(set(zip(a.labels_, b.labels_, strict=True))) == len(set(b.labels_))
    three = fits[2]
    assert adjusted_rand_score(three.labels_, GROUP) == 1.0
    means = [X[three.labels_ == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(three.cluster_centers_, means)
    assert three.score(X) == pytest.approx(-three.inertia_)
    assert np.array_equal(three.predict(X), three.labels_)


def test_a_function_seeds_the_splits():
    """It takes the rows of the cluster that is split, also of a scan."""
    seen = []

    def ends(rows, n_clusters, random_state):
        assert n_clusters == 2 and isinstance(random_state, np.random.RandomState)
        seen.append(len(rows))
        return rows[[rows[:, 0].argmin(), rows[:, 0].argmax()]]

    model = BisectingKMeans(3, init=ends).fit(X)
    assert adjusted_rand_score(model.labels_, GROUP) == 1.0
    assert seen[0] == len(X) and seen[1] in [len(X) - n for n in np.bincount(model.labels_)]
    table = pa.table({f"x{d}": X[:, d] for d in range(X.shape[1])})
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=50))
    far = BisectingKMeans(3, init=ends).fit(scan)
    np.testing.assert_allclose(far.cluster_centers_, model.cluster_centers_)
    with pytest.raises(ValueError, match="does not match the number of clusters 2"):
        BisectingKMeans(3, init=lambda rows, k, random_state: rows[:3]).fit(X)
