"""The loops of suffice.loops.topics against what they mean, written in SciPy and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import digamma, gammaln

from suffice.loops import topics as loops


def random_problem(K=7, V=40, N=30, seed=0):
    rng = np.random.default_rng(seed)
    word = rng.gamma(0.5, size=(V, K)) + 1e-3
    eta = rng.uniform(0.01, 1.0, V)
    alpha = rng.uniform(0.05, 1.5, K)
    counts = sp.csr_array(rng.poisson(0.4, size=(N, V)).astype(float))
    return word, eta, alpha, counts


def test_words_of_dirichlet_topics():
    word, eta, _, _ = random_problem()
    V, K = word.shape
    total = word.sum(axis=0)
    B, top = np.empty((V, K)), np.empty(V)
    parts = slice(0, 13), slice(13, V)
    bound = sum(loops.dirichlet_words(word[p], eta[p], -digamma(total), B[p], top[p]) for p in parts)
    log_phi = digamma(word) - digamma(total)
    ours, held = np.log(B) + top[:, None], log_phi > -300.0
    np.testing.assert_allclose(ours[held], log_phi[held], rtol=1e-11)
    assert (ours[~held] < -300.0).all()  # what is smaller is as good as zero
    want = ((eta[:, None] - word) * log_phi + gammaln(word) - gammaln(eta)[:, None]).sum(axis=0)
    np.testing.assert_allclose(bound, want, rtol=1e-11)
    assert B.max() <= 1.0 + 1e-12


def inferred(word, alpha, counts, tol, max_iter):
    """The E step as the paper has it, a document at a time."""
    log_phi = digamma(word) - digamma(word.sum(axis=0))
    gammas, bounds, expected = [], [], np.zeros_like(word)
    for row in counts.toarray():
        gamma = alpha + row.sum() / len(alpha)
        for _ in range(max_iter):
            log_theta = digamma(gamma) - digamma(gamma.sum())
            r = np.exp(log_theta + log_phi)
            r /= r.sum(axis=1, keepdims=True)
            old, gamma = gamma, alpha + row @ r
            if np.abs(gamma - old).mean() <= tol:
                break
        log_theta = digamma(gamma) - digamma(gamma.sum())
        joint = np.exp(log_theta + log_phi)
        expected += row[:, None] * joint / joint.sum(axis=1, keepdims=True)
        bound = (row * np.log(joint.sum(axis=1))).sum() + (alpha - gamma) @ log_theta
        bound += gammaln(gamma).sum() - gammaln(gamma.sum()) - gammaln(alpha).sum() + gammaln(alpha.sum())
        gammas.append(gamma)
        bounds.append(bound)
    return np.array(gammas), np.array(bounds), expected


@pytest.mark.parametrize("K", [1, 3, 16, 37])
@pytest.mark.parametrize(("tol", "max_iter"), [(1e-3, 100), (0.0, 7), (0.0, 0)])
def test_infer(K, tol, max_iter):
    word, eta, alpha, counts = random_problem(K)
    V, N = len(word), counts.shape[0]
    B, top = np.empty((V, K)), np.empty(V)
    loops.dirichlet_words(word, eta, -digamma(word.sum(axis=0)), B, top)
    gamma, theta, log_theta = (np.empty((N, K)) for _ in range(3))
    out, bounds = np.zeros((V, K)), []
    for part in slice(0, 11), slice(11, N):
        rows = counts[part]
        places, ratio = (rows.indices, rows.indptr), np.empty(rows.nnz)
        given = rows.data, *places, B, top, alpha, tol, max_iter
        bounds.append(loops.infer(*given, gamma[part], theta[part], ratio, log_theta[part]))
        loops.add_counts(ratio, *places, theta[part], np.ones(len(bounds[-1])), out)
    want, want_bounds, expected = inferred(word, alpha, counts, tol, max_iter)
    np.testing.assert_allclose(gamma, want, rtol=1e-10)
    np.testing.assert_allclose(np.concatenate(bounds), want_bounds, rtol=1e-10)
    np.testing.assert_allclose(out * B, expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(
        log_theta, digamma(want) - digamma(want.sum(axis=1))[:, None], rtol=1e-9, atol=1e-13
    )


def test_rising():
    for a in (1e-3, 0.5, 3.0, 1e4):
        for n in (0, 1, 2, 12, 13, 500):
            np.testing.assert_allclose(loops.rising(a, n), gammaln(a + n) - gammaln(a), rtol=1e-9, atol=1e-12)


def test_draws_are_uniform_and_independent():
    """Of one token in each document, where all topics are alike."""
    K, T = 16, 20_000
    doc, topic, n_dk = np.arange(T, dtype=np.int32), np.zeros(T, np.int16), np.zeros((T, K), np.uint8)
    n_dk[:, 0], counts, total = 1, np.full((1, K), 1 << 24, np.int32), np.full(K, 1 << 40)
    words, start = np.array([0]), np.array([0, T])
    loops.sweep(words, start, doc, topic, n_dk, counts, counts, total, np.ones(K), np.ones(1), 3)
    assert (np.abs(np.bincount(topic, minlength=K) - T / K) < 4 * np.sqrt(T / K)).all()
    assert abs(np.corrcoef(topic[1:], topic[:-1])[0, 1]) < 0.03
