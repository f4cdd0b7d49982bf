"""Compare an elastic-net path of 100 penalties and ten folds with scikit-learn's, on the same data and folds.

The table also has the time of the moments alone, which is that of one pass over the rows.

    python benchmarks/paths.py
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNetCV as Peer
from sklearn.model_selection import KFold

from suffice.linear_model import ElasticNetCV, LinearRegression


def seconds(estimator: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, Any]:
    start = time.perf_counter()
    estimator.fit(X, y)
    return time.perf_counter() - start, estimator


def table(rows: int = 1_000_000, features: int = 100) -> list[str]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    y = X[:, : features // 5].sum(axis=1) + 5.0 * rng.normal(size=rows) + 1.0
    ElasticNetCV(cv=KFold(10)).fit(X[:1000], y[:1000])  # a first call
    mine, ours = seconds(ElasticNetCV(cv=KFold(10)), X, y)
    once, _ = seconds(LinearRegression(), X, y)
    its, theirs = seconds(Peer(cv=KFold(10), n_jobs=2), X, y)
    np.testing.assert_allclose(ours.alpha_, theirs.alpha_, rtol=1e-6)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-3)  # both stop at tol=1e-4
    lines = [
        f"ElasticNetCV, 100 penalties, ten folds, {rows:,} x {features}; scikit-learn with two processes.",
        "",
        "| suffice, s | scikit-learn, s | ratio | aim | the moments alone, s |",
        "|---|---|---|---|---|",
        f"| {mine:.2f} | {its:.1f} | {its / mine:.0f} | 10 | {once:.2f} |",
    ]
    print("\n".join(lines), flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=100)
    given = parser.parse_args()
    table(given.rows, given.features)
