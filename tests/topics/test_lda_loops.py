"""The loops of suffice.loops.topics against what they mean, written in SciPy and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import digamma, gammaln

from suffice.loops import topics as loops

pytestmark = pytest.mark.usefixtures("form")

X = np.concatenate(
    [np.geomspace(1e-4, 1e9, 2000), np.linspace(0.01, 12.0, 2000), [1.0, 2.0, 1.4616321449683623, 1e30]]
)


def test_digamma_and_log_gamma():
    psi, lg = np.empty_like(X), np.empty_like(X)
    loops.gammas(X, psi, lg, *np.empty((3, len(X))))
    assert np.max(np.abs(psi - digamma(X)) / np.maximum(1.0, np.abs(digamma(X)))) < 1e-12
    assert np.max(np.abs(lg - gammaln(X)) / np.maximum(1.0, np.abs(gammaln(X)))) < 1e-12


@pytest.mark.parametrize("less", [0.0, -300.0, 7.5])
def test_exp_digamma(less):
    out = np.empty_like(X)
    loops.exp_digamma(X, less, out, np.empty_like(X))
    want = digamma(X) - less
    held = want > -300.0
    np.testing.assert_allclose(out[held], np.exp(want[held]), rtol=1e-12)
    assert (out[~held] > 0).all()
    assert (out[~held] < 1e-120).all()


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
    bound = sum(
        loops.dirichlet_words(a, b, word, eta, -digamma(total), B, top) for a, b in ((0, 13), (13, V))
    )
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
    loops.dirichlet_words(0, V, word, eta, -digamma(word.sum(axis=0)), B, top)
    gamma, theta, log_theta = (np.empty((N, K)) for _ in range(3))
    ratio, out = np.empty(counts.nnz), np.zeros((V, K))
    bounds = []
    for a, b in ((0, 11), (11, N)):
        part = slice(a, b)
        given = counts.data, counts.indices, counts.indptr, a, b, B, top, alpha, tol, max_iter
        bounds.append(loops.infer(*given, gamma[part], theta[part], ratio, log_theta[part]))
        loops.add_counts(counts.indices, counts.indptr, a, b, theta[part], ratio, np.ones(N), out)
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


def test_uniform_numbers_are():
    state, found = np.uint64(3), []
    for _ in range(20000):
        u, state = loops._next(np.uint64(state))
        found.append(u)
    found = np.array(found)
    assert 0.0 <= found.min() < found.max() < 1.0
    assert abs(found.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(found))
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.03
