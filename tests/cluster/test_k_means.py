"""k-means: the sums of a pass, empty clusters, initial centres, and scikit-learn's results."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from suffice.cluster import KMeans
from suffice.cluster.k_means import Centers
from suffice.core.blas import one_blas_thread
from suffice.core.blocks import PIECE_BYTES, Rows, cut
from suffice.core.statistics import tree_sum
from suffice.engines.local import LocalPartitions
from suffice.fitting.em import summarize_each

from ..peers._common import IRIS, PAIRS, WEIGHT, assert_equal, assert_same_answers, fitted_pair
from ._common import first, rows, scan

rng = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [3, 16])  # fewer than those whose pieces a loop sums, and more
def test_sums_are_those_of_pieces_in_the_order_of_the_tree(K, weighted, dtype):
    X = rng.normal(size=(200_000, 6)).astype(dtype)
    blocks = cut(Rows(X, None, rng.uniform(size=len(X)) if weighted else None))
    models = Centers(rng.normal(size=(K, 6))), Centers(rng.normal(size=(K, 6)))
    sums = LocalPartitions(blocks).fold(summarize_each, models).parts
    assert models[0].sums_pieces(blocks[0]) == (K == 16)
    assert len(blocks) > 1 and blocks[0].row_bytes * len(blocks[0]) > PIECE_BYTES
    for model, s in zip(models, sums, strict=True):
        pieces = (list(block.pieces(0)) for block in blocks)
        with one_blas_thread:  # as in a fold: the threads of BLAS add products in another order
            expected = tree_sum(tree_sum(map(model.summarize, of_block)) for of_block in pieces)
        assert s.inertia == expected.inertia
        np.testing.assert_array_equal(s.weight, expected.weight)
        np.testing.assert_array_equal(s.offset, expected.offset)


def test_sparse_rows_are_summed_by_piece():
    X = sp.random_array((50, 12), density=0.3, rng=rng, format="csr")
    assert not Centers(rng.normal(size=(16, 12))).sums_pieces(Rows(X))


def test_initial_centers_are_a_function_of_checked_rows():
    X = rows()
    lists = KMeans(2, init=first).fit(X.tolist())
    for other in (X, scan(X)):
        model = KMeans(2, init=first).fit(other)
        np.testing.assert_array_equal(model.cluster_centers_, lists.cluster_centers_)


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize("weights", [False, True])
def test_kmeans(algorithm, weights):
    X, _ = IRIS
    start = X[[0, 60, 120, 149]]
    weight = WEIGHT if weights else None
    pair = []
    for cls in PAIRS["KMeans"]:
        model = cls(4, init=start, n_init=1, tol=0, algorithm=algorithm)
        pair.append(model.fit(X, sample_weight=weight))
    ours, theirs = pair
    assert_equal(ours, theirs, ["cluster_centers_", "inertia_", "labels_"])
    assert_same_answers(ours, theirs, X, ["predict", "transform"])
    np.testing.assert_allclose(ours.score(X), theirs.score(X), rtol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_


def test_kmeans_with_empty_clusters():
    """Two starts on one place: the cluster left without rows takes the row farthest from its centre."""
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]])
    start = np.array([[1.0], [1.0], [10.0]])
    ours, theirs = fitted_pair("KMeans", X, n_clusters=3, init=start, n_init=1, tol=0)
    assert_equal(ours, theirs, ["inertia_"])
    np.testing.assert_allclose(
        np.sort(ours.cluster_centers_, axis=0), np.sort(theirs.cluster_centers_, axis=0)
    )
    # Both are far from all rows.
    X = IRIS[0]
    start = np.vstack([X[0], np.full((2, 4), 100.0)])
    ours, theirs = fitted_pair("KMeans", X, n_clusters=3, init=start, n_init=1, tol=0)
    assert len(np.unique(ours.labels_)) == 3
    # Which far row goes to which empty cluster is arbitrary, so the two may settle in different optima.
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=0.1)


def test_kmeans_warns_of_fewer_distinct_rows_than_clusters():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    for cls in PAIRS["KMeans"]:
        with pytest.warns(ConvergenceWarning, match=r"Number of distinct clusters \(3\) found smaller than"):
            model = cls(4, random_state=0, n_init=1).fit(X)
        assert model.inertia_ == 0.0
        with pytest.warns(ConvergenceWarning, match="distinct clusters"):
            cls(4, random_state=0, n_init=1).fit(X, sample_weight=[1.0, 2.0, 1.0, 1.0, 1.0])


def test_kmeans_seeding_is_as_good():
    """Not the same draws, but as good on average."""
    X, _ = IRIS
    inertia = [
        np.mean([cls(5, n_init=1, random_state=s).fit(X).inertia_ for s in range(15)])
        for cls in PAIRS["KMeans"]
    ]
    assert inertia[0] <= 1.1 * inertia[1]
