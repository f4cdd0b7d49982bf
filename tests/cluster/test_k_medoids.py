"""k-medoids: local optima under swaps, weights, samples, precomputed distances."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import suffice
from suffice.cluster import KMedoids

RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(3), 50)
X = np.array([[0.0, 0.0], [15.0, 0.0], [0.0, 15.0]])[GROUP] + RNG.normal(size=(150, 2))


def best_swap(D, weight, medoids):
    """The least loss after a swap, by trying all of them."""
    found = np.inf
    for k in range(len(medoids)):
        for c in range(len(D)):
            other = medoids.copy()
            other[k] = c
            found = min(found, weight @ D[:, other].min(axis=1))
    return found


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "sqeuclidean", "precomputed"])
@pytest.mark.parametrize("init", ["k-means++", "build", "random"])
def test_no_swap_lowers_the_loss(metric, init):
    rows = RNG.normal(size=(60, 3))
    weight = RNG.integers(1, 4, 60).astype(float)
    D = cdist(rows, rows, {"manhattan": "cityblock", "precomputed": "euclidean"}.get(metric, metric))
    model = KMedoids(4, metric=metric, init=init, random_state=0)
    model.fit(D if metric == "precomputed" else rows, sample_weight=weight)
    loss = weight @ D[:, model.medoid_indices_].min(axis=1)
    assert model.inertia_ == pytest.approx(loss, rel=1e-12)
    assert best_swap(D, weight, model.medoid_indices_) >= loss * (1 - 1e-12)
    assert np.array_equal(model.predict(D if metric == "precomputed" else rows), model.labels_)


def test_a_row_of_weight_two_is_the_row_twice():
    times = RNG.integers(0, 3, len(X))
    start = np.flatnonzero(times)[[0, 40, 80]]
    again = np.repeat(np.arange(len(X)), times)
    weighted = KMedoids(3, init=start).fit(X, sample_weight=times)
    repeated = KMedoids(3, init=np.searchsorted(again, start)).fit(X[again])
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)
    assert adjusted_rand_score(np.repeat(weighted.labels_, times), repeated.labels_) == 1.0


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_planted_groups_are_found_anywhere(shift):
    for how in ({}, {"sample_size": 60}):
        model = KMedoids(3, random_state=0, **how).fit(X + shift)
        assert adjusted_rand_score(model.labels_, GROUP) == 1.0


def test_samples_are_costed_over_all_rows(monkeypatch):
    table = pa.table(dict(zip("ab", X.T, strict=True)))
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=40))
    here, there = (KMedoids(3, sample_size=50, random_state=0).fit(rows) for rows in (X, scan))
    assert np.array_equal(here.cluster_centers_, there.cluster_centers_)
    assert here.inertia_ == pytest.approx(cdist(X, here.cluster_centers_).min(axis=1).sum())
    assert (here.cluster_centers_[:, None] == X).all(axis=2).any(axis=1).all()  # medoids are rows
    monkeypatch.setattr("suffice.cluster.k_medoids.EXACT_ROWS", 100)
    monkeypatch.setattr("suffice.cluster.k_medoids.SAMPLE", 50)
    assert np.array_equal(KMedoids(3, random_state=0).fit(scan).cluster_centers_, here.cluster_centers_)


def test_a_distance_may_be_a_function():
    model = KMedoids(3, metric=lambda a, b: abs(a - b).max(), random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, GROUP) == 1.0


def test_few_and_equal_rows():
    assert KMedoids(1, random_state=0).fit([[3.0]]).inertia_ == 0.0
    with pytest.warns(ConvergenceWarning, match=r"Number of distinct clusters \(1\) found smaller"):
        same = KMedoids(2, random_state=0).fit(np.ones((5, 2)))
    assert same.inertia_ == 0.0 and not same.labels_.any()
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        KMedoids(3).fit(X[:2])


@pytest.mark.parametrize(
    ("rows", "how", "message"),
    [
        (X, {"n_clusters": 2, "init": [0, 0]}, "numbers of 2 different rows"),
        (X, {"n_clusters": 2, "init": [0, 999]}, "numbers of 2 different rows"),
        (X, {"metric": "precomputed"}, "should be square, got matrix of shape"),
        (cdist(X, X), {"metric": "precomputed", "sample_size": 9}, "use sample_size=None"),
        (np.zeros((9, 2)), {"metric": "cosine"}, "Rows of zeros have no direction"),
    ],
)
def test_what_is_refused(rows, how, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**how).fit(rows)


def test_a_search_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        KMedoids(3, init=[0, 1, 2], max_iter=1).fit(X)


def test_loss_is_that_of_the_kmedoids_package():
    kmedoids = pytest.importorskip("kmedoids")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, start = rng.normal(size=(300, 4)), rng.choice(300, 5, replace=False)
        them = kmedoids.fasterpam(cdist(rows, rows), start.astype(np.uint64), n_cpu=1)
        assert KMedoids(5, init=start).fit(rows).inertia_ == pytest.approx(them.loss, rel=1e-12)
