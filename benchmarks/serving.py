"""Latency of predictions of one row: suffice beside scikit-learn, in turns.

    python benchmarks/serving.py [--turns 30] [--calls 200]

Prints, for each method, the median microseconds of both, and the median and quartiles of their ratio
in neighbouring turns.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib import import_module

import numpy as np

CLASSES = {
    "linear_model.LinearRegression": ("predict",),
    "linear_model.LogisticRegression": ("predict", "predict_proba"),
    "naive_bayes.GaussianNB": ("predict", "predict_proba"),
    "naive_bayes.MultinomialNB": ("predict",),
    "discriminant_analysis.LinearDiscriminantAnalysis": ("predict",),
    "mixture.GaussianMixture": ("predict", "predict_proba"),
    "cluster.KMeans": ("predict",),
    "decomposition.PCA": ("transform",),
    "preprocessing.StandardScaler": ("transform",),
}


def seconds(method: Callable[[np.ndarray], object], row: np.ndarray, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        method(row)
    return (time.perf_counter() - start) / calls


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(2000, 10)))
    y = (X[:, 0] + rng.normal(size=2000) > 1.0).astype(np.int64)
    print(f"{'method':55} {'suffice':>8} {'sklearn':>8}  ratio (quartiles)")
    for name, methods in CLASSES.items():
        module, cls = name.rsplit(".", 1)
        models = []
        for package in ("suffice", "sklearn"):
            model = getattr(import_module(f"{package}.{module}"), cls)()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models.append(model.fit(X, y))
        for method in methods:
            ours, theirs = (getattr(model, method) for model in models)
            row = X[:1]
            ours(row), theirs(row)
            pairs = [
                (seconds(ours, row, options.calls), seconds(theirs, row, options.calls))
                for _ in range(options.turns)
            ]
            a, b = np.median(pairs, axis=0) * 1e6
            low, middle, high = np.percentile([one / two for one, two in pairs], [25, 50, 75])
            print(f"{name + '.' + method:55} {a:8.0f} {b:8.0f}  {middle:.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
