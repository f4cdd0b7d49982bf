"""k-means: the sums of a pass, empty clusters, initial centres, and scikit-learn's results."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.cluster import KMeans
from suffice.cluster.k_means import Centers
from suffice.core.blocks import PIECE_BYTES, Rows, cut
from suffice.core.statistics import tree_sum
from suffice.engines.local import LocalPartitions
from suffice.fitting.em import summarize_each

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
