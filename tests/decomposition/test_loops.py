"""Loops over rows of factors, beside what they mean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.special import xlogy

from suffice.loops.factors import coordinate_sweeps, divergence_updates, ratios

pytestmark = pytest.mark.usefixtures("form")


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 37])
@pytest.mark.parametrize("K", [1, 4, 7])
def test_coordinate_sweeps_end_at_least_squares(rows, K):
    rng = np.random.default_rng([rows, K])
    H, X = rng.random((K, 12)), rng.normal(size=(rows, 12))
    F = rng.random((rows, K))
    first, weight = F.copy(), rng.random(rows)
    gram, cross, order = H @ H.T, X @ H.T, rng.permutation(K)
    slopes = coordinate_sweeps(F, gram, cross, order, weight, 1e-13, 20_000)
    expected = np.array([nnls(H.T, x)[0] for x in X]).reshape(rows, K)
    np.testing.assert_allclose(F, expected, atol=1e-8)
    total = 0.0
    for f, c, w in zip(first, cross, weight, strict=True):
        for k in order:
            slope = gram[k] @ f - c[k]
            total += w * abs(slope if f[k] > 0 else min(slope, 0.0))
            f[k] = max(f[k] - slope / gram[k, k], 0.0)
    assert slopes == pytest.approx(total)


def csr(rng, rows):
    X = sp.random_array((rows, 9), density=0.5, rng=rng, format="csr")
    return X.data, X.indices, X.indptr, X.toarray()


def test_divergence_updates_are_those_of_lee_and_seung():
    rng = np.random.default_rng(0)
    data, indices, indptr, X = csr(rng, 6)
    H, W = rng.random((3, 9)), rng.random((6, 3))
    l1, l2 = 0.1, 0.2
    expected = W * (X / (W @ H) @ H.T) / (H.sum(axis=1) + l1 + l2 * W)
    divergence_updates(data, indices, indptr, H.T.copy(), H.sum(axis=1), l1, l2, 1e-12, 0.0, 1, W)
    np.testing.assert_allclose(W, expected, rtol=1e-12)


def test_ratios():
    rng = np.random.default_rng(0)
    data, indices, indptr, X = csr(rng, 6)
    H, W, weight = rng.random((3, 9)), rng.random((6, 3)), rng.random(6)
    out = np.empty_like(data)
    total = ratios(data, indices, indptr, H.T.copy(), W, 1e-12, weight, out)
    mean = W @ H
    np.testing.assert_allclose(out, (X / mean)[X > 0], rtol=1e-12)
    assert total == pytest.approx(weight @ (xlogy(X, X / mean) - X).sum(axis=1))
