"""Spectral clustering: scikit-learn's partitions, four criteria, landmarks, new rows; cuts of graphs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn.cluster
from scipy.linalg import block_diag
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, pairwise_kernels
from sklearn.neighbors import kneighbors_graph

import suffice
from suffice.cluster import SpectralClustering, graph_cut, normalized_cut_weights

RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(3), 50)
X = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[GROUP] + RNG.normal(size=(150, 2))
MOONS, MOON = make_moons(400, noise=0.05, random_state=0)
CRITERIA = ("average-weight", "ratio-cut", "normalized-cut", "min-max-cut")


@pytest.mark.parametrize("labels", ["kmeans", "discretize", "cluster_qr"])
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "precomputed"])
def test_partitions_are_those_of_scikit_learn(affinity, labels):
    rows = pairwise_kernels(X, metric="rbf", gamma=0.5) if affinity == "precomputed" else X
    how = {"gamma": 0.5, "affinity": affinity, "assign_labels": labels, "n_neighbors": 60, "random_state": 0}
    ours = SpectralClustering(3, **how).fit(rows)
    them = sklearn.cluster.SpectralClustering(3, **how).fit(rows)
    assert adjusted_rand_score(ours.labels_, them.labels_) == 1.0
    assert adjusted_rand_score(ours.labels_, GROUP) > 0.97


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_moons_are_those_of_scikit_learn():
    how = {"affinity": "nearest_neighbors", "random_state": 0}
    ours = SpectralClustering(2, **how).fit_predict(MOONS)
    assert adjusted_rand_score(ours, MOON) == 1.0
    assert adjusted_rand_score(sklearn.cluster.SpectralClustering(2, **how).fit_predict(MOONS), ours) == 1.0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_bounds_hold_and_new_rows_are_placed(criterion):
    model = SpectralClustering(3, gamma=0.3, criterion=criterion, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, GROUP) > 0.97
    value = graph_cut(model.affinity_matrix_, model.labels_, criterion=criterion)
    assert value <= model.bound_ if criterion == "average-weight" else value >= model.bound_
    assert np.array_equal(model.predict(X), model.labels_)
    assert adjusted_rand_score(model.predict(X + 0.01), model.labels_) > 0.97


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_row_of_weight_two_is_the_row_twice(criterion):
    times = RNG.integers(0, 3, 150)
    how = {"gamma": 0.3, "criterion": criterion, "random_state": 0}
    weighted = SpectralClustering(3, **how).fit(X, sample_weight=times)
    repeated = SpectralClustering(3, **how).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8, atol=1e-10)
    assert adjusted_rand_score(np.repeat(weighted.labels_, times), repeated.labels_) == 1.0


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_planted_groups_are_found_anywhere(shift):
    rows = np.round(X * 1024.0) / 1024.0 + shift
    for how in (
        {"gamma": 0.3},
        {"affinity": "landmarks", "landmarks": 40},
        {"affinity": "nearest_neighbors"},
    ):
        found = SpectralClustering(3, random_state=0, n_neighbors=30, **how).fit_predict(rows)
        assert adjusted_rand_score(found, GROUP) > 0.95


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_landmarks_come_close_to_all_rows():
    rows, ring = make_circles(5000, factor=0.4, noise=0.05, random_state=0)
    exact = SpectralClustering(2, affinity="nearest_neighbors", random_state=0).fit_predict(rows)
    some = SpectralClustering(2, affinity="landmarks", landmarks=300, random_state=0).fit_predict(rows)
    a, b = (normalized_mutual_info_score(ring, labels) for labels in (exact, some))
    assert abs(a - b) <= 0.01 and a > 0.95


@pytest.mark.parametrize("landmarks", [100, 1000])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_outliers_are_no_clusters(landmarks, scale):
    """Rows with heavy tails, in any unit, also where most of them are landmarks."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(3), 400)
    rows = scale * (rng.standard_t(3, size=(1200, 3)) + 15.0 * np.eye(3)[group])
    labels = SpectralClustering(3, affinity="landmarks", landmarks=landmarks, random_state=0).fit_predict(
        rows
    )
    assert normalized_mutual_info_score(labels, group) > 0.95


def test_landmarks_of_a_scan_are_those_of_rows_in_memory():
    table = pa.table(dict(zip("ab", MOONS.T, strict=True)))
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=90))
    how = {"affinity": "landmarks", "landmarks": 100, "random_state": 0}
    here, there = (SpectralClustering(2, **how).fit(rows) for rows in (MOONS, scan))
    assert adjusted_rand_score(here.labels_, MOON) == 1.0
    assert np.array_equal(there.predict(scan), here.labels_)


def test_pairs_are_priced_first(monkeypatch):
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (1e5, "this machine has"))
    with pytest.raises(MemoryError, match=r"affinity='landmarks'"):
        SpectralClustering(3).fit(X)


A = pairwise_kernels(X[:6], metric="rbf")


@pytest.mark.parametrize(
    ("rows", "how", "message"),
    [
        (A + np.triu(A), {"affinity": "precomputed"}, r"must be symmetric.*0.5 \* \(X"),
        (-A, {"affinity": "precomputed"}, "must not be negative"),
        (sp.csr_array(-A), {"affinity": "precomputed"}, "must not be negative; the least entry"),
        (X, {"affinity": "precomputed"}, "Affinity matrix should be square, got matrix of shape"),
        (X, {"affinity": "linear"}, "Affinities must not be negative.*use 'rbf'"),
        (X, {"affinity": "landmarks", "criterion": "ratio-cut"}, "use 'normalized-cut' and 'kmeans'"),
        (X[:2], {}, "n_samples=2 should be >= n_clusters=3"),
    ],
)
def test_what_is_refused(rows, how, message):
    with pytest.raises(ValueError, match=message):
        SpectralClustering(**{"n_clusters": 3, "random_state": 0, **how}).fit(rows)


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_links_of_one_direction_get_both():
    near = kneighbors_graph(MOONS, 10, include_self=True)
    with pytest.warns(UserWarning, match="Array is not symmetric, and will be converted to symmetric"):
        model = SpectralClustering(2, affinity="precomputed", random_state=0).fit(near)
    both = SpectralClustering(2, affinity="precomputed", random_state=0).fit(0.5 * (near + near.T))
    np.testing.assert_array_equal(model.labels_, both.labels_)
    assert adjusted_rand_score(model.labels_, MOON) == 1.0


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_matrices_that_are_no_affinities(form):
    """Dense or sparse, for the functions and for precomputed affinities."""
    A, labels = np.array([[0.0, 4.0, 1.0], [4.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), [0, 0, 1]
    for wrong, message in (
        (A[:2], r"should be square, got matrix of shape \(2, 3\)"),
        (A - 2.0, "must not be negative; the least entry is -2"),
        (np.triu(A), r"must be symmetric; entries differ by up to 4: pass 0.5 \* \(X \+ X.T\)"),
    ):
        for call in (lambda B: graph_cut(B, labels), normalized_cut_weights):
            with pytest.raises(ValueError, match=f"A {message}"):
                call(form(wrong))
        if form is np.array or "symmetric" not in message:  # a sparse graph gets both directions
            with pytest.raises(ValueError, match=f"Affinity matrix {message}"):
                SpectralClustering(2, affinity="precomputed").fit(form(wrong))
    assert graph_cut(form(A), labels) == pytest.approx(10 / 9)
    with pytest.raises(ValueError, match="labels must have one entry for each row"):
        graph_cut(form(A), [labels])
    with pytest.raises(ValueError, match="Degrees must be positive; that of row 2 is 0"):
        normalized_cut_weights(form(A * [[1.0, 1.0, 0.0]] * [[1.0], [1.0], [0.0]]))


def test_parts_without_links_are_told():
    blocks = block_diag(np.ones((4, 4)), np.ones((5, 5)))
    with pytest.warns(UserWarning, match="2 parts without links"):
        model = SpectralClustering(2, affinity="precomputed", random_state=0).fit(blocks)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1], [4, 5])) == 1.0


def test_one_cluster_and_equal_rows():
    assert not SpectralClustering(1, random_state=0).fit(X).labels_.any()
    assert len(SpectralClustering(2, random_state=0).fit(np.ones((9, 2))).labels_) == 9


def test_cuts_by_hand():
    W = RNG.random((7, 7))
    W = W + W.T
    labels = np.array([0, 0, 1, 1, 1, 2, 2])
    inside = [W[np.ix_(labels == k, labels == k)].sum() for k in range(3)]
    degree = [W[labels == k].sum() for k in range(3)]
    size = np.bincount(labels)
    want = {
        "average-weight": sum(i / n for i, n in zip(inside, size, strict=True)),
        "ratio-cut": sum((d - i) / n for d, i, n in zip(degree, inside, size, strict=True)),
        "normalized-cut": sum((d - i) / d for d, i in zip(degree, inside, strict=True)),
        "min-max-cut": sum((d - i) / i for d, i in zip(degree, inside, strict=True)),
    }
    for criterion, value in want.items():
        assert graph_cut(W, labels, criterion=criterion) == pytest.approx(value)
        assert graph_cut(sp.csr_array(W), labels, criterion=criterion) == pytest.approx(value)
    rows = RNG.random((6, 3))
    np.testing.assert_allclose(
        normalized_cut_weights(rows, affinity="linear"), normalized_cut_weights(rows @ rows.T)
    )
    for bad, message in ((W + np.triu(W), "must be symmetric"), (-W, "must not be negative")):
        with pytest.raises(ValueError, match=message):
            graph_cut(bad, labels)
        with pytest.raises(ValueError, match=message):
            graph_cut(sp.csr_array(bad), labels)
    with pytest.raises(ValueError, match="leave out rows without affinities"):
        normalized_cut_weights(np.diag([1.0, 0.0]))


@pytest.mark.parametrize("assign_labels", ["kmeans", "discretize", "cluster_qr"])
def test_verbose_prints_how_rows_are_labelled(assign_labels, capsys):
    X = np.random.default_rng(0).normal(size=(20, 2)) * 0.01 + np.repeat([[1.0], [-1.0]], 10, axis=0)
    quiet = SpectralClustering(2, assign_labels=assign_labels, random_state=0).fit(X)
    assert not capsys.readouterr().out
    told = SpectralClustering(2, assign_labels=assign_labels, random_state=0, verbose=True).fit(X)
    out = capsys.readouterr().out
    assert f"Computing label assignment using {assign_labels}" in out
    assert ("Iteration 0, inertia" in out) == (assign_labels == "kmeans")
    np.testing.assert_array_equal(told.labels_, quiet.labels_)
