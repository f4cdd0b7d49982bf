"""Beside hmmlearn: the same start, the same sequences, the same parameters after twenty iterations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hmmlearn import hmm

from suffice.families import (
    GAUSSIANS,
    Categorical,
    DiagonalGaussian,
    Mixtures,
    Multinomial,
    Poisson,
)
from suffice.sequence import HiddenMarkov, HiddenMarkovModel

K, D = 3, 2
LENGTHS = (40, 7, 1, 90, 25, 60)


def ragged(kind):
    rng = np.random.default_rng(0)
    N = sum(LENGTHS)
    state = (np.arange(N) // 5) % K
    if kind == "categorical":
        return ((state + (rng.random(N) < 0.4)) % 4)[:, None]
    if kind == "poisson":
        return rng.poisson(np.array([[1.0, 6.0], [5.0, 2.0], [9.0, 9.0]])[state])
    if kind == "multinomial":
        p = np.array([[0.7, 0.2, 0.1], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
        return np.array([rng.multinomial(8, p[s]) for s in state])
    return np.array([[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]])[state] + rng.normal(size=(N, D))


def parts(X):
    return np.split(X, np.cumsum(LENGTHS)[:-1])


def started():
    rng = np.random.default_rng(1)
    return rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), size=K)


def theirs(model, X, **start):
    for name, value in start.items():
        setattr(model, name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, LENGTHS)


def ours(X, family, max_iter=20, **params):
    pi, A = started()
    start = HiddenMarkov(pi, A, family)
    model = HiddenMarkovModel(K, init_params=start, max_iter=max_iter, tol=0.0, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(parts(X))


def agree(mine, peer, X, rtol=1e-8):
    np.testing.assert_allclose(mine.startprob_, peer.startprob_, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(mine.transmat_, peer.transmat_, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(mine.log_likelihood(parts(X)).sum(), peer.score(X, LENGTHS), rtol=1e-10)
    np.testing.assert_allclose(
        np.concatenate(mine.predict_proba(parts(X))), peer.predict_proba(X, LENGTHS), atol=1e-8
    )
    assert (np.concatenate(mine.predict(parts(X))) == peer.predict(X, LENGTHS)).all()


@pytest.mark.parametrize("implementation", ["log", "scaling"])
@pytest.mark.parametrize("kind", GAUSSIANS)
def test_gaussian(kind, implementation):
    X = ragged("gaussian")
    pi, A = started()
    mean = X[[3, 50, 90]]
    shapes = {"full": np.tile(np.eye(D), (K, 1, 1)), "tied": np.eye(D), "diag": np.ones((K, D))}
    shapes["spherical"] = np.ones(K)
    peer = hmm.GaussianHMM(
        K,
        kind,
        n_iter=20,
        tol=-np.inf,
        init_params="",
        covars_prior=0.0,
        covars_weight={"full": -D, "tied": -D}.get(kind, 1.0),
        means_weight=0.0,
        min_covar=0.0,
        implementation=implementation,
    )
    peer.n_features = D
    theirs(peer, X, startprob_=pi, transmat_=A, means_=mean, covars_=shapes[kind])
    mine = ours(X, GAUSSIANS[kind](mean, shapes[kind]))
    agree(mine, peer, X)
    np.testing.assert_allclose(mine.model_.emission.mean, peer.means_, rtol=1e-8)


def test_categorical():
    X = ragged("categorical")
    pi, A = started()
    B = np.random.default_rng(2).dirichlet(np.ones(4), size=K)
    peer = hmm.CategoricalHMM(K, n_iter=20, tol=-np.inf, init_params="")
    theirs(peer, X, n_features=4, startprob_=pi, transmat_=A, emissionprob_=B)
    mine = ours(X, Categorical((np.arange(4.0),), (B,)), emission="categorical")
    agree(mine, peer, X)
    np.testing.assert_allclose(mine.model_.emission.probability[0], peer.emissionprob_, rtol=1e-8, atol=1e-12)


def test_poisson():
    X = ragged("poisson")
    pi, A = started()
    rate = np.array([[2.0, 4.0], [4.0, 3.0], [7.0, 8.0]])
    peer = hmm.PoissonHMM(K, n_iter=20, tol=-np.inf, init_params="", lambdas_prior=0.0, lambdas_weight=0.0)
    theirs(peer, X, n_features=D, startprob_=pi, transmat_=A, lambdas_=rate)
    mine = ours(X, Poisson(rate), emission="poisson")
    agree(mine, peer, X)
    np.testing.assert_allclose(mine.model_.emission.rate, peer.lambdas_, rtol=1e-8)


def test_multinomial():
    X = ragged("multinomial")
    pi, A = started()
    p = np.random.default_rng(2).dirichlet(np.ones(3), size=K)
    peer = hmm.MultinomialHMM(K, n_trials=8, n_iter=20, tol=-np.inf, init_params="")
    theirs(peer, X, n_features=3, startprob_=pi, transmat_=A, emissionprob_=p)
    mine = ours(X, Multinomial(p), emission="multinomial")
    agree(mine, peer, X)
    np.testing.assert_allclose(mine.model_.emission.probability, peer.emissionprob_, rtol=1e-8, atol=1e-12)


@pytest.mark.slow
def test_mixtures():
    """hmmlearn takes covariances about the means of the iteration before, so the optimum is what agrees."""
    X = ragged("gaussian")
    pi, A = started()
    M = 2
    mean = X[[3, 20, 50, 60, 90, 120]]
    peer = hmm.GMMHMM(
        K,
        M,
        covariance_type="diag",
        n_iter=1000,
        tol=-np.inf,
        init_params="",
        covars_prior=np.full((K, M, D), -1.5),  # with these, no prior is left in its formula
        covars_weight=np.zeros((K, M, D)),
        means_weight=0.0,
        min_covar=0.0,
    )
    peer.n_features = D
    theirs(
        peer,
        X,
        startprob_=pi,
        transmat_=A,
        weights_=np.full((K, M), 0.5),
        means_=mean.reshape(K, M, D),
        covars_=np.ones((K, M, D)),
    )
    mine = ours(
        X, Mixtures(np.full((K, M), 0.5), DiagonalGaussian(mean, np.ones((K * M, D)))), 1000, reg_covar=0.0
    )
    agree(mine, peer, X, 1e-6)
    np.testing.assert_allclose(mine.model_.emission.weight, peer.weights_, rtol=1e-6)
