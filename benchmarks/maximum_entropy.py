"""Compare maximum entropy by improved iterative scaling with NLTK: same features and number of iterations.

The table also has the time of the bare products of the features with the weights and with the probabilities,
by SciPy, once for each iteration. Seconds are CPU time: ours has one thread here, as NLTK has.

    python benchmarks/maximum_entropy.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import suffice
from suffice.core.blocks import Rows
from suffice.linear_model import MaximumEntropy
from suffice.linear_model.maximum_entropy import listed


def examples(rows: int, attributes: int, values: int, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of attributes, (N, A), with unequal frequencies, some depend on the label; and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(labels, size=rows)
    value = (values * rng.random((rows, attributes)) ** 2).astype(int)
    shift = np.where(rng.random((rows, attributes)) < 0.3, 3 * y[:, None], 0)
    return (value + shift) % values, y


def joint_features(value: np.ndarray, y: np.ndarray, values: int) -> tuple[sp.csr_array, list[sp.csr_array]]:
    """A column for each value of each attribute; and for each label, the positions of the observed pairs."""
    N, A = value.shape
    columns = (value + np.arange(A) * values).ravel()
    X = sp.csr_array((np.ones(N * A), columns, np.arange(0, N * A + 1, A)), (N, A * values))
    seen = [np.unique(columns.reshape(N, A)[y == k]) for k in range(y.max() + 1)]
    ends = np.cumsum([0, *map(len, seen)])
    features = []
    for k, where in enumerate(seen):
        place = np.arange(ends[k], ends[k + 1])
        features.append(sp.csr_array((np.ones(len(where)), (where, place)), (A * values, ends[-1])))
    return X, features


def seconds(f: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = f()
    return time.process_time() - start, found


def theirs(value: np.ndarray, y: np.ndarray, iterations: int) -> Any:
    from nltk.classify.maxent import MaxentClassifier

    tokens = [({f"a{a}": int(v) for a, v in enumerate(row)}, int(c)) for row, c in zip(value, y, strict=True)]
    # It counts from one, and stops before the last.
    return MaxentClassifier.train(tokens, algorithm="iis", trace=0, max_iter=iterations + 1), tokens


def ours(X: Any, y: np.ndarray, features: Any, iterations: int) -> MaximumEntropy:
    model = MaximumEntropy(features, C=np.inf, solver="iis", tol=0.0, max_iter=iterations)
    with warnings.catch_warnings(), suffice.threads(1):
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def bare(F: sp.csr_array, K: int, iterations: int) -> None:
    theta = np.zeros(F.shape[1])
    for _ in range(iterations):
        P = np.exp(F @ theta).reshape(-1, K)
        P /= P.sum(axis=1, keepdims=True)
        theta += 1e-9 * (F.T @ P.ravel())


def table(rows: int = 5000, iterations: int = 10, repeat: int = 3) -> list[str]:
    attributes, values, labels = 10, 30, 5
    value, y = examples(rows, attributes, values, labels)
    X, features = joint_features(value, y, values)
    F = listed(features, np.arange(labels), Rows(X, y)).X
    ours(X[:100], np.arange(100) % labels, features, 2)  # a first call
    mine = min(seconds(lambda: ours(X, y, features, iterations))[0] for _ in range(repeat))
    least = min(seconds(lambda: bare(F, labels, iterations))[0] for _ in range(repeat))
    its, (peer, tokens) = seconds(lambda: theirs(value, y, iterations))
    P = ours(X, y, features, iterations).predict_proba(X[:200])
    for p, (token, _) in zip(P, tokens, strict=False):
        found = peer.prob_classify(token)
        np.testing.assert_allclose([found.prob(k) for k in range(labels)], p, atol=1e-6)
    lines = [
        f"Improved iterative scaling, {iterations} iterations, {rows:,} examples of {attributes} attributes, "
        f"{labels} labels, {F.shape[1]:,} features; probabilities agree to 1e-6. Seconds of one processor.",
        "",
        "| suffice, s | NLTK, s | ratio | aim | the products alone, s |",
        "|---|---|---|---|---|",
        f"| {mine:.3f} | {its:.1f} | {its / mine:.0f} | 50 | {least:.3f} |",
    ]
    print("\n".join(lines), flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--iterations", type=int, default=10)
    given = parser.parse_args()
    table(given.rows, given.iterations)
