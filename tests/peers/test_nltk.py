"""NLTK's maximum entropy classifier, after as many iterations of scaling, has the same probabilities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.linear_model import MaximumEntropy

maxent = pytest.importorskip("nltk.classify.maxent")

N, A, V, K = 60, 3, 4, 3  # examples, attributes, values, labels


@pytest.fixture(scope="module")
def problem():
    """The same examples as NLTK takes them, and as rows with a matrix of features for each label."""
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    value = np.where(rng.random((N, A)) < 0.5, y[:, None], rng.integers(V, size=(N, A)))
    value[:, 2] = np.where(rng.random(N) < 0.4, -1, value[:, 2])  # not there: features add up to two or three
    tokens = [
        ({f"a{a}": int(v) for a, v in enumerate(row) if v >= 0}, int(c))
        for row, c in zip(value, y, strict=True)
    ]
    X = np.zeros((N, A * V))
    for a in range(A):
        there = value[:, a] >= 0
        X[np.flatnonzero(there), a * V + value[there, a]] = 1.0
    pairs = [(v, k) for k in range(K) for v in range(A * V) if X[y == k, v].any()]  # those that were seen
    features = [np.zeros((A * V, len(pairs))) for _ in range(K)]
    for p, (v, k) in enumerate(pairs):
        features[k][v, p] = 1.0
    return tokens, X, y, features


@pytest.mark.parametrize("iterations", [1, 4])
def test_improved_iterative_scaling(problem, iterations):
    tokens, X, y, features = problem
    # It counts from one, and stops before the last.
    theirs = maxent.MaxentClassifier.train(tokens, algorithm="iis", trace=0, max_iter=iterations + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MaximumEntropy(features, C=np.inf, solver="iis", tol=0.0, max_iter=iterations).fit(X, y)
    P = [[theirs.prob_classify(token).prob(k) for k in range(K)] for token, _ in tokens]
    np.testing.assert_allclose(model.predict_proba(X), P, atol=1e-8)
    sparse = MaximumEntropy([sp.csr_array(A) for A in features], C=np.inf, tol=1e-3).fit(sp.csr_array(X), y)
    assert sparse.trace_[-1] < model.trace_[-1]
