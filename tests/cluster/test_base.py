"""Clusterings of poor data: one cluster, fewer different rows than clusters, columns that say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from suffice.cluster import (
    AgglomerativeClustering,
    BisectingKMeans,
    DivisiveClustering,
    FusionClustering,
    KCentroids,
    KernelKMeans,
    KMeans,
    KMedoids,
    MiniBatchKMeans,
    SpectralClustering,
    XMeans,
)

RNG = np.random.default_rng(0)
X = np.repeat([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]], 20, axis=0) + RNG.normal(size=(40, 3))
TWO = np.repeat(X[:2], 15, axis=0)

BY_NUMBER = {
    "KMeans": lambda K: KMeans(K, random_state=0),
    "MiniBatchKMeans": lambda K: MiniBatchKMeans(K, random_state=0, n_init=3),
    "KMedoids": lambda K: KMedoids(K, random_state=0),
    "KMedoids, samples": lambda K: KMedoids(K, random_state=0, sample_size=25),
    "KCentroids": lambda K: KCentroids(K, random_state=0, metric="manhattan"),
    "BisectingKMeans": lambda K: BisectingKMeans(K, random_state=0),
    "KernelKMeans": lambda K: KernelKMeans(K, random_state=0),
    "DivisiveClustering": lambda K: DivisiveClustering(K),
    "SpectralClustering, landmarks": lambda K: SpectralClustering(
        K, affinity="landmarks", landmarks=20, random_state=0
    ),
    "AgglomerativeClustering": lambda K: AgglomerativeClustering(K),
    "SpectralClustering": lambda K: SpectralClustering(K, gamma=0.05, random_state=0),
}
OTHERS = {
    "XMeans": lambda K: XMeans(random_state=0),
    "FusionClustering": lambda K: FusionClustering(0.05),
}
# A tree is cut into as many clusters as asked for, and places of equal rows differ by rounding.
ALWAYS_AS_MANY = ("AgglomerativeClustering", "SpectralClustering")


@pytest.mark.parametrize("name", BY_NUMBER)
def test_one_cluster_has_all_rows(name):
    assert not BY_NUMBER[name](1).fit(X).labels_.any()


@pytest.mark.parametrize("name", [name for name in BY_NUMBER if name not in ALWAYS_AS_MANY])
def test_fewer_different_rows_than_clusters_are_told(name):
    with pytest.warns(ConvergenceWarning, match=r"Number of distinct clusters \(2\) found smaller than n_cl"):
        model = BY_NUMBER[name](3).fit(TWO)
    assert len(np.unique(model.labels_)) == 2
    assert (model.labels_ == np.tile(model.labels_[[0, -1]], (15, 1)).T.ravel()).all()


@pytest.mark.parametrize("name", ALWAYS_AS_MANY)
def test_equal_rows_may_be_parted_but_not_joined(name):
    labels = BY_NUMBER[name](3).fit(TWO).labels_
    assert not set(labels[:15]) & set(labels[15:])


@pytest.mark.parametrize("column", ["constant", "duplicate"])
@pytest.mark.parametrize("name", [*BY_NUMBER, *OTHERS])
def test_columns_that_add_nothing(name, column):
    """A constant column changes no partition, and neither does a copy of the rows' only direction."""
    added = np.full((40, 1), 5.0) if column == "constant" else X[:, :1]
    model = (BY_NUMBER | OTHERS)[name](2).fit(np.hstack([X, added]))
    labels = model.labels_
    assert len(np.unique(labels)) >= 2
    assert not set(labels[:20]) & set(labels[20:])  # both groups stay apart


@pytest.mark.parametrize("name", [*BY_NUMBER, *OTHERS])
def test_a_column_without_numbers_is_refused(name):
    rows = X.copy()
    rows[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN in row 0, column 1, and .* takes no missing values"):
        (BY_NUMBER | OTHERS)[name](2).fit(rows)


@pytest.mark.parametrize("cls", [AgglomerativeClustering, DivisiveClustering, KMedoids])
def test_infinite_distances_are_refused(cls):
    D = np.abs(X[:6, :1] - X[:6, 0])
    D[0, 1] = D[1, 0] = np.inf
    how = {"linkage": "average"} if cls is AgglomerativeClustering else {}
    with pytest.raises(ValueError, match="infinity"):
        cls(2, metric="precomputed", **how).fit(D)
