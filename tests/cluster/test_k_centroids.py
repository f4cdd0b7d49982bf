"""Centres that suit a metric: each is the best of its rows, and the loss never rises."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

import suffice
from suffice.cluster import KCentroids, KMeans

from ._common import GROUP, X

rng = np.random.default_rng(1)
CODES = np.where(rng.random((180, 4)) < 0.9, GROUP[:, None] + [0, 1, 2, 3], rng.integers(0, 5, (180, 4)))
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
        others = [*mine, *(center * (1.0 + 0.01 * rng.normal(size=len(center))) for _ in range(20))]
        assert loss <= min(sum(divergence(metric, x, other) for x in mine) for other in others) * (1 + 1e-9)


@pytest.mark.parametrize("metric", DATA)
def test_weights_and_blocks(metric):
    rows, how = DATA[metric], {"metric": metric, "random_state": 0, **HOW.get(metric, {})}
    times = rng.integers(0, 3, 180)
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
