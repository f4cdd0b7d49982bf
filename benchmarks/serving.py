"""Latency of predictions of one row beside scikit-learn, and of one sentence beside CRFsuite, in turns.

    python benchmarks/serving.py [--turns 30] [--calls 200] [--sentence]

Prints, for each method, the median microseconds of CPU time of both, and the median and quartiles of their
ratio in neighbouring turns. The sentence has 20 words, each with a dict of eight features, and nine labels.
With `--sentence`, only that.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

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


def seconds(method: Callable[[Any], object], row: Any, calls: int) -> float:
    start = time.process_time()
    for _ in range(calls):
        method(row)
    return (time.process_time() - start) / calls


def compare(
    name: str, ours: Callable[[Any], object], theirs: Callable[[Any], object], row: Any, options: Any
) -> None:
    ours(row), theirs(row)
    pairs = [
        (seconds(ours, row, options.calls), seconds(theirs, row, options.calls)) for _ in range(options.turns)
    ]
    a, b = np.median(pairs, axis=0) * 1e6
    low, middle, high = np.percentile([one / two for one, two in pairs], [25, 50, 75])
    print(f"{name:55} {a:8.0f} {b:8.0f}  {middle:.2f} ({low:.2f} to {high:.2f})", flush=True)


def sentences(rng: np.random.Generator, n: int) -> tuple[list[list[dict[str, Any]]], list[list[str]]]:
    """Random words, whose label depends on the word."""
    X, y = [], []
    for _ in range(n):
        words = rng.integers(0, 500, 20).tolist()
        around = ["<s>", *(f"word{w}" for w in words), "</s>"]
        X.append(
            [
                {
                    "bias": 1.0,
                    "word": around[t],
                    "before": around[t - 1],
                    "after": around[t + 1],
                    "suffix": around[t][-2:],
                    "prefix": around[t][:5],
                    "even": words[t - 1] % 2 == 0,
                    "length": len(around[t]),
                }
                for t in range(1, 21)
            ]
        )
        y.append([f"label{w % 9}" for w in words])
    return X, y


def of_sentences(rng: np.random.Generator, options: Any) -> None:
    import pycrfsuite

    from suffice.sequence import ConditionalRandomField

    X, y = sentences(rng, 300)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        ours = ConditionalRandomField(max_iter=20).fit(X, y)
        trainer = pycrfsuite.Trainer(verbose=False)
        for steps, labels in zip(X, y, strict=True):
            trainer.append(steps, labels)
        trainer.set_params({"max_iterations": 20})
        trainer.train(str(Path(folder) / "model"))
        theirs = pycrfsuite.Tagger()
        theirs.open(str(Path(folder) / "model"))
        compare("sequence.ConditionalRandomField.predict", ours.predict, theirs.tag, X[0], options)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--sentence", action="store_true")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(2000, 10)))
    y = (X[:, 0] + rng.normal(size=2000) > 1.0).astype(np.int64)
    print(f"{'method':55} {'suffice':>8} {'peer':>8}  ratio (quartiles)")
    for name, methods in () if options.sentence else CLASSES.items():
        module, cls = name.rsplit(".", 1)
        models = []
        for package in ("suffice", "sklearn"):
            model = getattr(import_module(f"{package}.{module}"), cls)()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models.append(model.fit(X, y))
        for method in methods:
            ours, theirs = (getattr(model, method) for model in models)
            compare(f"{name}.{method}", ours, theirs, X[:1], options)
    of_sentences(rng, options)


if __name__ == "__main__":
    main()
