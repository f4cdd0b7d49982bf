"""Definitions and features of clusters, sums of squares, and dissimilarities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from suffice.cluster import describe_clusters, dissimilarity, is_cluster, sums_of_squares

from ._common import PLANE as X
from ._common import PLANE_GROUP as GROUP

rng = np.random.default_rng(0)


def test_definitions_of_a_cluster():
    D = cdist(X[:20], X[:20])
    off = D[~np.eye(20, dtype=bool)].reshape(20, 19)
    for kind, value in (
        ("max", off.max()),
        ("neighbor", off.min(axis=1).max()),
        ("mean", off.mean(axis=1).max()),
        ("pair-mean", off.mean()),
    ):
        for rows, metric in ((X[:20], "euclidean"), (D, "precomputed")):
            assert is_cluster(rows, value * (1 + 1e-9), kind=kind, metric=metric)
            assert not is_cluster(rows, value * (1 - 1e-9), kind=kind, metric=metric)
    assert not is_cluster(X[:20], 1e9, kind="pair-mean", largest=0.9 * off.max())
    assert is_cluster(X[:1], 0.0)
    with pytest.raises(ValueError, match="is not one of"):
        is_cluster(X, 1.0, kind="round")
    with pytest.raises(ValueError, match="must be symmetric"):
        is_cluster(D + np.triu(D), 1.0, metric="precomputed")


def test_features_of_clusters():
    times = rng.integers(0, 3, 60)
    a = describe_clusters(X, GROUP, sample_weight=times)
    b = describe_clusters(np.repeat(X, times, axis=0), np.repeat(GROUP, times))
    for name in ("weights", "centers", "scatters", "covariances"):
        np.testing.assert_allclose(a[name], b[name], err_msg=name)
    for k in range(3):
        mine = X[(k == GROUP) & (times > 0)]
        assert a.diameters[k] == pytest.approx(cdist(mine, mine).max())
        np.testing.assert_allclose(
            b.covariances[k], np.cov(np.repeat(X, times, 0)[np.repeat(GROUP, times) == k].T)
        )
    for wrong in ({"labels": GROUP[:, None]}, {"sample_weight": np.ones((60, 1))}):
        with pytest.raises(ValueError, match=r"must have one entry for each row; got shape \(60, 1\)"):
            describe_clusters(**{"X": X, "labels": GROUP, **wrong})
    with pytest.raises(ValueError, match=r"X has shape \(3,\), and Z \(3,\)"):
        dissimilarity([1.0, 2.0, 3.0])
    one = describe_clusters([[1.0, 2.0]], [0])
    assert one.diameters[0] == 0.0 and np.isnan(one.covariances).all()


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_sums_of_squares_add_up(shift):
    weight = rng.random(60)
    of_means = sums_of_squares(X + shift, GROUP, sample_weight=weight)
    of_pairs = sums_of_squares(X + shift, GROUP, sample_weight=weight, metric="sqeuclidean")
    for name in ("within", "between", "total"):
        assert of_means[name] == pytest.approx(of_pairs[name], rel=1e-6)
    assert of_means.within + of_means.between == pytest.approx(of_means.total)


def test_dissimilarities_of_columns():
    rows = np.array([[0.0, "a", "x"], [3.0, "b", "x"], [4.0, "a", "x"]], dtype=object)
    D = dissimilarity(rows, kinds=["absolute", "mismatch", "mismatch"], weights=[0.5, 0.3, 0.2])
    np.testing.assert_allclose(D, [[0.0, 1.8, 2.0], [1.8, 0.0, 0.8], [2.0, 0.8, 0.0]])
    assert not dissimilarity(rows[:, 2:], kinds="mismatch").any()  # a column of one category
    np.testing.assert_allclose(dissimilarity(X, X[:3]) * 2, cdist(X, X[:3], "sqeuclidean"))
    own = dissimilarity(X, kinds=lambda a, b: np.minimum(abs(a - b), 1.0))
    assert own.max() <= 1.0
    for how, message in (
        ({"weights": [0.5, 0.6]}, "sum one"),
        ({"weights": [1.5, -0.5]}, "must not be negative"),
        ({"kinds": ["squared"]}, "each of the 2 columns"),
        ({"kinds": "cubed"}, "is not one of 'squared'"),
    ):
        with pytest.raises(ValueError, match=message):
            dissimilarity(X, **how)
    with pytest.raises(ValueError, match="must be finite"):
        dissimilarity(X, kinds=lambda a, b: 0.0 * (a - b) + np.inf)
