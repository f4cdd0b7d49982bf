"""Agglomerative clustering: SciPy's trees, weights as repetition, small clusters, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import sklearn.cluster
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

import suffice
import suffice.cluster.agglomerative
from suffice.cluster import AgglomerativeClustering

RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(3), 60)
X = np.array([[0.0, 0.0, 0.0], [15.0, 0.0, 0.0], [0.0, 15.0, 0.0]])[GROUP] + RNG.normal(size=(180, 3))
LINKAGES = ("ward", "complete", "average", "single", "centroid")


@pytest.mark.parametrize("how", LINKAGES)
@pytest.mark.parametrize("rows", [2, 3, 180, 600])
def test_trees_are_those_of_scipy(how, rows):
    points = RNG.normal(size=(rows, 3)) * [1.0, 2.0, 0.1]
    model = AgglomerativeClustering(2, linkage=how).fit(points)
    Z = linkage(points, how)
    np.testing.assert_allclose(model.distances_, Z[:, 2], rtol=1e-10)
    assert np.array_equal(model.children_, np.sort(Z[:, :2], axis=1))


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "precomputed"])
@pytest.mark.parametrize("how", ["complete", "average", "single"])
def test_other_metrics_are_those_of_scipy(how, metric):
    given = squareform(pdist(X)) if metric == "precomputed" else X
    name = {"manhattan": "cityblock", "precomputed": "euclidean"}.get(metric, metric)
    model = AgglomerativeClustering(3, linkage=how, metric=metric).fit(given)
    np.testing.assert_allclose(model.distances_, linkage(X, how, metric=name)[:, 2], rtol=1e-9)
    assert np.array_equal(model.predict(given), model.labels_)


@pytest.mark.parametrize("how", LINKAGES)
def test_a_row_of_weight_two_is_the_row_twice(how):
    times = RNG.integers(0, 4, len(X))
    weighted = AgglomerativeClustering(3, linkage=how).fit(X, sample_weight=times)
    repeated = AgglomerativeClustering(3, linkage=how).fit(np.repeat(X, times, axis=0))
    twice = repeated.distances_ == 0.0
    assert twice.sum() == times.sum() - (times > 0).sum()
    np.testing.assert_allclose(weighted.distances_, repeated.distances_[~twice], rtol=1e-10)
    assert adjusted_rand_score(np.repeat(weighted.labels_, times), repeated.labels_) == 1.0
    assert np.array_equal(weighted.labels_[times == 0], weighted.predict(X[times == 0]))
    assert weighted.n_leaves_ == len(weighted.leaf_weights_) == (times > 0).sum()


@pytest.mark.parametrize("how", LINKAGES)
def test_partitions_are_those_of_scikit_learn(how):
    ours = AgglomerativeClustering(4, linkage=how).fit_predict(X)
    if how != "centroid":
        them = sklearn.cluster.AgglomerativeClustering(4, linkage=how).fit_predict(X)
        assert adjusted_rand_score(ours, them) == 1.0
    for shift in (1e4, 1e8):
        moved = AgglomerativeClustering(3, linkage=how).fit_predict(X + shift)
        assert adjusted_rand_score(moved, GROUP) == 1.0


def test_a_threshold_cuts_where_scikit_learn_does():
    for height in (0.5, 3.0, 30.0, 1e9):
        how = {"n_clusters": None, "distance_threshold": height}
        ours = AgglomerativeClustering(**how).fit(X)
        them = sklearn.cluster.AgglomerativeClustering(**how).fit(X)
        assert ours.n_clusters_ == them.n_clusters_ == len(np.unique(ours.labels_))
        assert adjusted_rand_score(ours.labels_, them.labels_) == 1.0


def test_connected_rows_are_merged_by_scikit_learn():
    links = kneighbors_graph(X, 10).tolil()
    links[0, 100] = links[0, 150] = 1.0  # the groups have links
    links = (links + links.T).tocsr()
    for how in ("ward", "average"):
        ours = AgglomerativeClustering(5, linkage=how, connectivity=links).fit(X)
        them = sklearn.cluster.AgglomerativeClustering(5, linkage=how, connectivity=links).fit(X)
        assert adjusted_rand_score(ours.labels_, them.labels_) == 1.0
        assert ours.n_connected_components_ == them.n_connected_components_
    with pytest.raises(ValueError, match="takes no sample_weight"):
        AgglomerativeClustering(connectivity=links).fit(X, sample_weight=np.arange(180.0))


@pytest.mark.parametrize("how", LINKAGES)
def test_small_clusters_are_merged_with_their_weights(how, monkeypatch):
    model = AgglomerativeClustering(3, linkage=how, micro_clusters=40, random_state=0).fit(X)
    assert model.n_leaves_ == 40 and model.leaf_weights_.sum() == 180.0
    assert adjusted_rand_score(model.labels_, GROUP) == 1.0
    table = pa.table(dict(zip("abc", X.T, strict=True)))
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=50))
    streamed = AgglomerativeClustering(3, linkage=how, micro_clusters=40, random_state=0).fit(scan)
    np.testing.assert_allclose(streamed.distances_, model.distances_, rtol=1e-10)
    assert np.array_equal(streamed.predict(scan), model.labels_)
    monkeypatch.setattr(suffice.cluster.agglomerative, "MERGED_ROWS", 100)
    monkeypatch.setattr(suffice.cluster.base, "FEW", 40)
    auto = AgglomerativeClustering(3, linkage=how, random_state=0).fit(scan)
    assert np.array_equal(auto.distances_, streamed.distances_)


def test_rows_of_a_scan_are_gathered():
    table = pa.table(dict(zip("abc", X.T, strict=True)))
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=50))
    here, there = AgglomerativeClustering(3).fit(X), AgglomerativeClustering(3).fit(scan)
    assert np.array_equal(here.distances_, there.distances_)
    assert np.array_equal(there.predict(scan), here.labels_)


def test_pairs_are_priced_first(monkeypatch):
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (1e6, "this machine has"))
    for how in ("complete", "average"):
        with pytest.raises(MemoryError, match=r"distances of 180 rows take .* linkage='ward'"):
            AgglomerativeClustering(linkage=how).fit(X)
    with pytest.raises(MemoryError, match=r"micro_clusters=1000"):
        AgglomerativeClustering(linkage="single", metric="manhattan").fit(X)
    for how in ("ward", "centroid", "single"):
        AgglomerativeClustering(linkage=how).fit(X)


ASYMMETRIC = squareform(pdist(X[:6])) + np.triu(np.ones((6, 6)))


@pytest.mark.parametrize(
    ("rows", "how", "message"),
    [
        (X, {"n_clusters": None}, "Exactly one of n_clusters and distance_threshold"),
        (X, {"metric": "manhattan"}, "manhattan was provided as metric. Ward can only work with euclidean"),
        (X[:2], {"n_clusters": 3}, "n_samples=2 should be >= n_clusters=3"),
        (ASYMMETRIC, {"metric": "precomputed", "linkage": "average"}, r"must be symmetric.*0.5 \* \(X"),
        (-ASYMMETRIC, {"metric": "precomputed", "linkage": "average"}, "must not be negative"),
        (X, {"metric": "precomputed", "linkage": "average"}, "should be square, got matrix of shape"),
        (np.zeros((4, 2)), {"metric": "cosine", "linkage": "average"}, "Rows of zeros have no direction"),
        (X, {"metric": "manhattan", "linkage": "single", "micro_clusters": 9}, "use micro_clusters=None"),
        (X, {"linkage": "centroid", "connectivity": np.ones((180, 180))}, "use 'ward' or 'average'"),
    ],
)
def test_what_is_refused(rows, how, message):
    with pytest.raises(ValueError, match=message):
        AgglomerativeClustering(**how).fit(rows)


def test_infinite_distances_are_refused():
    D = squareform(pdist(X[:6]))
    D[0, 1] = D[1, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        AgglomerativeClustering(metric="precomputed", linkage="single").fit(D)


@pytest.mark.parametrize("how", LINKAGES)
def test_equal_rows_and_one_cluster(how):
    same = AgglomerativeClustering(1, linkage=how).fit(np.ones((7, 2)))
    assert not same.distances_.any() and not same.labels_.any()
    two = np.repeat([[0.0], [5.0]], 10, axis=0)
    model = AgglomerativeClustering(2, linkage=how).fit(two)
    assert np.array_equal(model.labels_, np.repeat([0, 1], 10))
    assert AgglomerativeClustering(1, linkage=how).fit([[3.0]]).labels_.tolist() == [0]
