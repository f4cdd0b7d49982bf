"""Centres that suit a metric: each is the best of its rows, and the loss never rises."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

import suffice
from suffice.cluster import BisectingKMeans, KCentroids, KernelKMeans, KMeans, XMeans

RNG = np.random.default_rng(0)
GROUP = np.repeat(np.arange(3), 60)
X = np.array([[0.0, 2.0, 9.0], [15.0, 0.0, 1.0], [1.0, 15.0, 1.0]])[GROUP] + RNG.normal(size=(180, 3))
CODES = np.where(RNG.random((180, 4)) < 0.9, GROUP[:, None] + [0, 1, 2, 3], RNG.integers(0, 5, (180, 4)))
MIXED = np.column_stack([X[:, :2], CODES[:, :2]])
DATA = {
    "manhattan": X,
    "sqeuclidean": X,
    "cosine": X,
    "kullback-leibler": np.abs(X),
    "itakura-saito": np.exp(X / 5.0),
    "hamming": CODES.astype(float),
    "prototypes": MIXED,
}
HOW = {"prototypes": {"categorical_features": [2, 3]}}


def divergence(metric, x, c):
    """By the definition, of one row and one centre."""
    if metric == "prototypes":
        return ((x[:2] - c[:2]) ** 2).sum() + 0.5 * MIXED[:, :2].var(axis=0).mean() * (x[2:] != c[2:]).sum()
    return {
        "manhattan": lambda: np.abs(x - c).sum(),
        "sqeuclidean": lambda: ((x - c) ** 2).sum(),
        "cosine": lambda: 1.0 - x @ c / np.sqrt((x @ x) * (c @ c)),
        "kullback-leibler": lambda: (x * np.log(x / c) - x + c).sum(),
        "itakura-saito": lambda: (x / c - np.log(x / c) - 1.0).sum(),
        "hamming": lambda: (x != c).sum(),
    }[metric]()


@pytest.mark.parametrize("metric", DATA)
def test_losses_are_those_of_the_definition_and_do_not_rise(metric):
    rows = DATA[metric]
    model = KCentroids(3, metric=metric, n_init=3, random_state=0, **HOW.get(metric, {})).fit(rows)
    D = np.array([[divergence(metric, x, c) for c in model.cluster_centers_] for x in rows])
    np.testing.assert_allclose(model.transform(rows), D, rtol=1e-8, atol=1e-10)
    assert model.inertia_ == pytest.approx(D.min(axis=1).sum())
    assert (np.diff(model.trace_) <= 1e-9 * model.trace_[0]).all()
    assert adjusted_rand_score(model.labels_, GROUP) > 0.9


@pytest.mark.parametrize("metric", DATA)
def test_centres_are_the_best_of_their_rows(metric):
    rows = DATA[metric]
    model = KCentroids(3, metric=metric, n_init=3, random_state=0, **HOW.get(metric, {})).fit(rows)
    for k, center in enumerate(model.cluster_centers_):
        mine = rows[model.labels_ == k]
        loss = sum(divergence(metric, x, center) for x in mine)
        others = [*mine, *(center * (1.0 + 0.01 * RNG.normal(size=len(center))) for _ in range(20))]
        assert loss <= min(sum(divergence(metric, x, other) for x in mine) for other in others) * (1 + 1e-9)


@pytest.mark.parametrize("metric", DATA)
def test_weights_and_blocks(metric):
    rows, how = DATA[metric], {"metric": metric, "random_state": 0, **HOW.get(metric, {})}
    times = RNG.integers(0, 3, 180)
    if metric == "prototypes":
        how["gamma"] = 3.0
    weighted = KCentroids(3, **how).fit(rows, sample_weight=times)
    repeated = KCentroids(3, **how).fit(np.repeat(rows, times, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-10, atol=1e-12)
    table = pa.table({f"x{d}": x for d, x in enumerate(rows.T)})
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=50))
    streamed, whole = KCentroids(3, **how).fit(scan), KCentroids(3, **how).fit(rows)
    np.testing.assert_allclose(streamed.cluster_centers_, whole.cluster_centers_, rtol=1e-10, atol=1e-12)


def test_squared_distances_are_k_means():
    start = X[[0, 60, 120]]
    ours = KCentroids(3, metric="sqeuclidean", init=start, tol=1e-15).fit(X)
    them = KMeans(3, init=start, n_init=1, tol=0.0).fit(X)
    np.testing.assert_allclose(ours.cluster_centers_, them.cluster_centers_, rtol=1e-12)


def test_medians_are_found_far_from_the_origin():
    rows = np.round(X * 1024.0) / 1024.0
    near, far = (KCentroids(3, init=rows[[0, 60, 120]] + s).fit(rows + s) for s in (0.0, 2.0**27))
    np.testing.assert_allclose(far.cluster_centers_ - 2.0**27, near.cluster_centers_, atol=1e-6)


@pytest.mark.parametrize(
    ("metric", "rows", "message"),
    [
        ("cosine", np.zeros((9, 2)), "needs rows that are not zero: leave out"),
        ("itakura-saito", np.zeros((9, 2)), "needs positive numbers; got 0 in column 0"),
        ("hamming", X, "whole numbers from 0 to 4095; those of column 0.*OrdinalEncoder"),
        ("prototypes", X, "needs categorical_features"),
        ("manhattan", X[:5], "n_samples=5 should be >= n_clusters=8"),
    ],
)
def test_what_is_refused(metric, rows, message):
    with pytest.raises(ValueError, match=message):
        KCentroids(metric=metric).fit(rows)


def test_columns_of_one_category():
    rows = np.column_stack([CODES[:, 0], np.zeros(180)])
    model = KCentroids(3, metric="hamming", random_state=0, n_init=3).fit(rows)
    assert not model.cluster_centers_[:, 1].any() and model.inertia_ <= 40


# --- bisecting k-means, X-means, kernels ---------------------------------------------------------------


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


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_x_means_finds_the_number(shift):
    model = XMeans(random_state=0).fit(X + shift)
    assert model.n_clusters_ == 3 and adjusted_rand_score(model.labels_, GROUP) == 1.0
    assert XMeans(random_state=0).fit(RNG.normal(size=(300, 2)) + shift).n_clusters_ == 1
    assert XMeans(max_clusters=2, random_state=0).fit(X).n_clusters_ == 2
    assert XMeans(random_state=0).fit(np.ones((9, 2))).n_clusters_ == 1


def grid(*sizes):
    """Places 4 apart on a grid."""
    axes = np.meshgrid(*(4.0 * np.arange(n) for n in sizes))
    return np.stack(axes, axis=-1).reshape(-1, len(sizes))


def uniform_at(places, n, seed, side=1.0):
    """n rows of each of several uniform cubes."""
    rng = np.random.default_rng(seed)
    return np.concatenate([place + side * rng.uniform(-0.5, 0.5, (n, len(place))) for place in places])


GRIDS = [(1,), (5,), (1, 1), (2, 1), (2, 2), (3, 3), (5, 2), (1, 1, 1), (2, 2, 2)]
SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(5)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "sizes", GRIDS[:5] + [pytest.param(sizes, marks=pytest.mark.slow) for sizes in GRIDS[5:]]
)
def test_x_means_counts_the_cubes_of_a_grid(sizes, seed):
    """No two halves of the corners of a square are better than one cluster, and one uniform cube is none."""
    places = grid(*sizes)
    model = XMeans(random_state=seed).fit(uniform_at(places, 60, seed))
    assert model.n_clusters_ == len(places)
    found = np.abs(model.cluster_centers_[:, None] - places).max(axis=2)
    assert (found.min(axis=0) < 0.3).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_x_means_counts_squares_of_other_sides_and_numbers(seed):
    places = grid(2, 2)
    parts = [
        uniform_at(places[[k]], n, seed, side)
        for k, (n, side) in enumerate([(40, 0.3), (200, 1), (80, 2), (90, 1)])
    ]
    assert XMeans(random_state=seed).fit(np.concatenate(parts)).n_clusters_ == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("D", [1, 2, 3])
@pytest.mark.parametrize("draw", ["uniform", "normal"])
def test_x_means_does_not_split_one_cloud(draw, D, seed):
    rows = getattr(np.random.default_rng(seed), draw)(size=(3000, D))
    assert XMeans(random_state=seed).fit(rows).n_clusters_ == 1


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
