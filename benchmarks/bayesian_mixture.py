"""Bayesian mixtures: a variational step beside scikit-learn's, and a Gibbs sweep beside a pass of EM.

Times are CPU seconds of one step: the difference between fits of many and of few iterations, in turns.

    python benchmarks/bayesian_mixture.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.mixture import BayesianGaussianMixture as Peer

from suffice.mixture import BayesianGaussianMixture, GaussianMixture


def rows(n: int, d: int, k: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return 2.0 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def seconds(estimator: Any, X: np.ndarray) -> float:
    start = time.process_time()
    estimator.fit(X)
    return time.process_time() - start


def step(make: Any, X: np.ndarray, few: int, many: int) -> float:
    """CPU seconds of one iteration."""
    return (seconds(make(many), X) - seconds(make(few), X)) / (many - few)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=16)
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    X, K = rows(args.rows, args.features, args.components), args.components
    how = {"n_components": K, "tol": 0.0, "init_params": "random_from_data", "random_state": 0}
    makers = {
        "scikit-learn, variational": lambda n: Peer(max_iter=n, **how),
        "variational": lambda n: BayesianGaussianMixture(max_iter=n, **how),
        "EM": lambda n: GaussianMixture(max_iter=n, **how),
        "Gibbs, with splits and merges": lambda n: BayesianGaussianMixture(max_iter=n, solver="gibbs", **how),
    }
    warnings.simplefilter("ignore")
    makers["EM"](2).fit(X[:20_000])  # a first call
    found: dict[str, list[float]] = {name: [] for name in makers}
    for _ in range(args.repeats):
        for name, make in makers.items():
            found[name].append(step(make, X, 3, 13))
    median = {name: float(np.median(values)) for name, values in found.items()}
    for name, value in median.items():
        print(f"{name:32}{value:8.3f} s")
    print(f"variational: {median['scikit-learn, variational'] / median['variational']:.1f}x scikit-learn")
    print(f"Gibbs sweep: {median['Gibbs, with splits and merges'] / median['EM']:.1f}x a pass of EM")


if __name__ == "__main__":
    main()
