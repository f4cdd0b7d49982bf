"""The loops of suffice.loops.labels, suffice.loops.sparse, suffice.loops.vectors, against what they mean."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.loops.labels import observe
from suffice.loops.sparse import add_transposed_times, times
from suffice.loops.vectors import add_scaled, dot


@pytest.mark.parametrize("shape", [(40, 17, 5), (1, 3, 1), (0, 4, 2)])
def test_sparse_products(shape):
    N, D, K = shape
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.3)
    X, W, G = sp.csr_array(dense), rng.normal(size=(D, K)), rng.normal(size=(N, K))
    np.testing.assert_allclose(times(X.data, X.indices, X.indptr, W), dense @ W, atol=1e-12)
    out = rng.normal(size=(D, K))
    expected = out + dense.T @ G
    add_transposed_times(X.data, X.indices, X.indptr, G, out)
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_vectors(kind):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=1000).astype(kind), rng.normal(size=1000)
    np.testing.assert_allclose(dot(a, b), a.astype(float) @ b, rtol=1e-12)
    expected = b + 0.3 * a.astype(float)
    add_scaled(b, 0.3, a)
    np.testing.assert_allclose(b, expected, rtol=1e-12)


@pytest.mark.parametrize("each", [False, True])
def test_observed_paths(each):
    rng = np.random.default_rng(0)
    offset, K = np.array([0, 3, 3, 7, 8]), 3
    N = offset[-1]
    codes, weight = rng.integers(K, size=N), rng.random(4)
    U, moves = rng.normal(size=(N, K)), rng.normal(size=(N if each else 1, K, K))
    states, pairs = np.zeros((N, K)), np.zeros_like(moves)
    total = observe(codes, offset, weight, U, moves, states, pairs)
    score, at_states, at_pairs = 0.0, np.zeros((N, K)), np.zeros_like(moves)
    for s in range(4):
        for n in range(offset[s], offset[s + 1]):
            score += weight[s] * U[n, codes[n]]
            at_states[n, codes[n]] += weight[s]
            if n > offset[s]:
                place = (n if each else 0, codes[n - 1], codes[n])
                score += weight[s] * moves[place]
                at_pairs[place] += weight[s]
    assert total == pytest.approx(score, rel=1e-12)
    np.testing.assert_allclose(states, at_states, atol=1e-15)
    np.testing.assert_allclose(pairs, at_pairs, atol=1e-15)
