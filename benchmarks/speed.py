"""Compare the speed with scikit-learn: same data, same start, alternating within one run.

The ratio is that of the medians. What the first call takes more is reported separately.

    python benchmarks/speed.py
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

D, K = 16, 8


def data(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    group = rng.integers(0, K, rows)
    X = 3.0 * rng.normal(size=(K, D))[group] + rng.normal(size=(rows, D))
    return {"X": X, "label": group % 2, "number": X @ rng.normal(size=D) + rng.normal(size=rows)}


def loss(estimator: Any, d: dict[str, np.ndarray]) -> float:
    """Penalized mean loss, which is equal for two solvers with the same tolerance."""
    rows = np.arange(len(d["X"]))
    fit = -estimator.predict_log_proba(d["X"])[rows, d["label"]].mean()
    return fit + 0.5 * float((estimator.coef_**2).sum()) / (estimator.C * len(rows))


def mixture(module: Any, d: dict[str, np.ndarray], kind: str) -> Any:
    precisions = {"full": np.tile(np.eye(D), (K, 1, 1)), "diag": np.ones((K, D))}[kind]
    return module.GaussianMixture(
        K,
        covariance_type=kind,
        max_iter=5,
        tol=0.0,
        weights_init=np.full(K, 1 / K),
        means_init=d["X"][:K],
        precisions_init=precisions,
        init_params="random_from_data",  # scikit-learn also initializes if all parameters are passed
    ).fit(d["X"])


# name: (module, function to time, result that must agree, target ratio)
CASES: dict[str, tuple[str, Callable[..., Any], Callable[..., Any], float]] = {
    "GaussianMixture, full, 5 iterations": (
        "mixture",
        lambda m, d: mixture(m, d, "full"),
        lambda e, d: e.means_,
        5.0,
    ),
    "GaussianMixture, diagonal, 5 iterations": (
        "mixture",
        lambda m, d: mixture(m, d, "diag"),
        lambda e, d: e.means_,
        3.0,
    ),
    "KMeans, 16 clusters, 10 iterations": (
        "cluster",
        lambda m, d: m.KMeans(16, init=d["X"][:16], n_init=1, max_iter=10, tol=0.0).fit(d["X"]),
        lambda e, d: e.inertia_,
        1.3,
    ),
    "GaussianNB": (
        "naive_bayes",
        lambda m, d: m.GaussianNB().fit(d["X"], d["label"]),
        lambda e, d: e.var_,
        2.0,
    ),
    "LinearRegression": (
        "linear_model",
        lambda m, d: m.LinearRegression().fit(d["X"], d["number"]),
        lambda e, d: e.coef_,
        3.0,
    ),
    "LogisticRegression, lbfgs": (
        "linear_model",
        lambda m, d: m.LogisticRegression().fit(d["X"], d["label"]),
        loss,
        1.5,
    ),
    "PCA, 4 components": (
        "decomposition",
        lambda m, d: m.PCA(4).fit(d["X"]),
        lambda e, d: e.explained_variance_,
        1.0,
    ),
}


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(name: str, d: dict[str, np.ndarray], repeat: int) -> str:
    module, run, agrees, aim = CASES[name]
    ours, theirs = import_module(f"suffice.{module}"), import_module(f"sklearn.{module}")
    first = seconds(lambda: run(ours, d))
    answers = agrees(run(ours, d), d), agrees(run(theirs, d), d)
    np.testing.assert_allclose(*answers, rtol=1e-5, atol=1e-5)
    times = np.array(
        [(seconds(lambda: run(ours, d)), seconds(lambda: run(theirs, d))) for _ in range(repeat)]
    )
    mine, peer = np.median(times, axis=0)
    ratios = times[:, 1] / times[:, 0]
    return (
        f"| {name} | {mine:.3f} | {peer:.3f} | {peer / mine:.2f} | {ratios.min():.2f} to {ratios.max():.2f} "
        f"| {aim:g} | {max(0.0, first - mine):.1f} |"
    )


def table(rows: int, repeat: int) -> list[str]:
    warnings.simplefilter("ignore")  # fits of a few iterations do not converge
    d = data(rows)
    lines = [
        f"{rows:,} x {D}, median of {repeat} runs in turns.",
        "",
        "| fit | suffice, s | scikit-learn, s | times faster | spread | aim | first call, s more |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in CASES:
        lines.append(measure(name, d, repeat))
        print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    table(given.rows, given.repeat)
