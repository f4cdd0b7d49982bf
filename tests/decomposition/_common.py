"""Rows, documents and fits that the tests of several decompositions share."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from suffice.topics import LatentDirichletAllocation

rng = np.random.default_rng(0)
X = np.where(rng.random((300, 6)) < 0.4, rng.normal(1.0, range(1, 7), size=(300, 6)), 0.0)
SPARSE = sp.csr_array(X)


def parts(n=200, d=40, k=4, seed=0, noise=True):
    """Rows that are sums of few parts."""
    rng = np.random.default_rng(seed)
    W = rng.gamma(0.4, size=(n, k))
    H = rng.gamma(0.4, size=(k, d)) * (rng.random((k, d)) < 0.5)
    mean = 8.0 * W @ H
    return rng.poisson(mean).astype(float) if noise else mean


def quiet(estimator, X, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, **how)


def corpus(n=120, n_topics=4, n_words=50, length=40, seed=0):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(n_words, 0.08), size=n_topics)
    truth = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=0.2, random_state=seed)
    return truth.sample(n, length=rng.poisson(length, n))[0], truth


def lda(n_components=4, **params):
    return LatentDirichletAllocation(n_components, **{"random_state": 0, "max_iter": 30} | params)
