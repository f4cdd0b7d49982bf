"""The loops of suffice.loops.counts against what they mean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.loops import counts

K = 3


@pytest.fixture(params=[0, 1, 57])
def rows(request):
    rng = np.random.default_rng(request.param)
    n = request.param
    return rng.poisson(1.0, size=(n, 4)).astype(float), rng.gamma(2.0, size=n), rng.integers(K, size=n)


def test_sums_by_label(rows):
    X, weight, labels = rows
    R = np.eye(K)[labels] * weight[:, None]
    S = sp.csr_array(X)
    order = np.argsort(labels, kind="stable")
    for f, args, more, meant in (
        (counts.add_by_label, (X,), (), X),
        (counts.add_above_by_label, (X, 1.0), (), X > 1.0),
        (counts.add_sparse_by_label, (S.data, S.indices, S.indptr), (order,), X),
    ):
        out = np.ones((K, 4))
        f(*args, weight, labels, *more, out)
        np.testing.assert_allclose(out, 1.0 + R.T @ meant, rtol=1e-13)


def test_squares_by_label(rows):
    X, weight, labels = rows
    points, out = np.arange(12.0).reshape(K, 4), np.ones((K, 4))
    counts.add_squares_by_label(X, weight, labels, points, out)
    R = np.eye(K)[labels] * weight[:, None]
    meant = np.einsum("nk,nkd->kd", R, (X[:, None] - points) ** 2)
    np.testing.assert_allclose(out, 1.0 + meant, rtol=1e-12)


def test_holes_are_counted():
    X = np.array([[np.nan, 1.0], [0.0, np.nan], [2.0, 0.0]])
    out = np.zeros((2, 2))
    assert counts.add_above_by_label(X, 0.0, np.ones(3), np.array([0, 1, 1]), out) == 2
    np.testing.assert_array_equal(out, [[0, 1], [1, 0]])


def test_categories(rows):
    X, weight, labels = rows
    holes = X.copy()
    holes[::5, 1] = np.nan
    most, whole = counts.largest(holes)
    assert whole
    np.testing.assert_array_equal(most, np.fmax.reduce(np.vstack([holes, np.full(4, -1.0)]), axis=0))
    start = np.concatenate([[0], np.cumsum(most + 1)]).astype(np.int64)
    out = np.zeros((K, start[-1]))
    counts.add_categories_by_label(holes, weight, labels, start, out)
    for k in range(K):
        for d in range(4):
            for v in range(int(most[d]) + 1):
                meant = weight[(labels == k) & (holes[:, d] == v)].sum()
                np.testing.assert_allclose(out[k, start[d] + v], meant, rtol=1e-12)
    table = np.random.default_rng(0).normal(size=(start[-1], K))
    meant = np.zeros((len(X), K))
    for n, x in enumerate(holes):
        for d, value in enumerate(x):
            if value == value:
                meant[n] += table[start[d] + int(value)]
    np.testing.assert_allclose(counts.look_up(holes, start, table), meant, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("strange", [-1.0, 0.5, 7.0, np.nan, np.inf])
def test_what_is_not_in_the_table_adds_nothing(strange):
    start, table = np.array([0, 2, 4]), np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(counts.look_up(np.array([[strange, 1.0]]), start, table), table[[3]])
    whole = counts.largest(np.array([[strange, 1.0]]))[1]
    assert whole == (strange not in (-1.0, 0.5))
