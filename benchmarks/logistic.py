"""Compare multinomial logistic regression of ten classes with scikit-learn's solvers at equal loss, dense and
sparse.

All solvers of scikit-learn are tried on 1/40 of the rows, and the fastest is run on all rows. Ours stops when
its penalized loss is not above that of scikit-learn. The table also has the bare products, X W and E'X, once
for each iteration of ours.

    python benchmarks/logistic.py           # three minutes
    python benchmarks/logistic.py --rows 100000 --wide 20000
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

from suffice.inputs import open_rows
from suffice.linear_model import LogisticRegression
from suffice.linear_model.logistic import LogLinear

CLASSES = 10
PEERS = {"dense": ("lbfgs", "newton-cg", "newton-cholesky"), "sparse": ("lbfgs", "newton-cg")}


def labelled(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def dense(rows: int, features: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features: a few directions have most of the variance."""
    rng = np.random.default_rng(0)
    mix = np.linalg.qr(rng.normal(size=(features, features)))[0] * np.geomspace(1.0, 0.1, features)
    X = rng.normal(size=(rows, features)) @ mix.T
    X /= X[:10_000].std(axis=0)
    return X, labelled(X @ rng.normal(size=(features, CLASSES)) / 2.0, rng)


def sparse(rows: int, features: int = 100_000, words: int = 60) -> tuple[Any, np.ndarray]:
    """Documents of about sixty frequent and rare words; rows have unit length."""
    rng = np.random.default_rng(1)
    column = np.minimum(np.exp(rng.random(rows * words) * np.log(features)), features) - 1.0
    places = np.arange(rows + 1, dtype=np.int32) * words
    X = sp.csr_array((np.ones(rows * words), column.astype(np.int32), places), shape=(rows, features))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X, labelled(10.0 * (X @ rng.normal(size=(features, CLASSES))), rng)


def loss(model: Any, X: Any, y: np.ndarray) -> float:
    """Mean loss plus penalty, computed by the same function for all models."""
    theta = np.column_stack([model.coef_, model.intercept_])
    at = LogLinear(theta, np.arange(CLASSES), np.ones(CLASSES))
    s = open_rows(LogisticRegression(), X, y).fold(LogLinear.summarize, at)
    return (s.loss + 0.5 * float((model.coef_**2).sum())) / s.weight


def seconds(model: Any, X: Any, y: np.ndarray) -> float:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return time.perf_counter() - start


def equal(X: Any, y: np.ndarray, aim: float) -> tuple[float, float, int]:
    """Seconds, loss and iterations of ours, with the first tolerance that reaches the loss."""
    for tol in (1e-4, 3e-5, 1e-5, 1e-6):
        model = LogisticRegression(tol=tol, max_iter=1000)
        took = seconds(model, X, y)
        value = loss(model, X, y)
        if value <= aim * (1.0 + 1e-7):
            break
    return took, value, int(model.n_iter_[0])


def products(X: Any, passes: int) -> float:
    """Seconds of the products X W and E'X alone, for a number of iterations."""
    rng = np.random.default_rng(2)
    W, E = rng.normal(size=(X.shape[1], CLASSES)), rng.normal(size=(X.shape[0], CLASSES))
    start = time.perf_counter()
    X.dot(W)
    X.T.dot(E) if sp.issparse(X) else E.T.dot(X)
    return passes * (time.perf_counter() - start)


def line(name: str, X: Any, y: np.ndarray) -> str:
    few = slice(0, max(2000, X.shape[0] // 40))
    seconds(LogisticRegression(max_iter=5), X[:2000], y[:2000])  # a first call
    pilot = {solver: seconds(Peer(solver=solver, max_iter=1000), X[few], y[few]) for solver in PEERS[name]}
    best = min(pilot, key=lambda solver: pilot[solver])
    theirs = Peer(solver=best, max_iter=1000)
    its = seconds(theirs, X, y)
    aim = loss(theirs, X, y)
    mine, value, passes = equal(X, y, aim)
    bare = products(X, passes)
    cells = [
        f"{name}, {X.shape[0]:,} x {X.shape[1]:,}",
        *(f"{mine:.2f}", f"{its:.1f}", best, f"{its / mine:.1f}", "1.5"),
        *(f"{value:.7f}", f"{aim:.7f}", passes, theirs.n_iter_[0], f"{bare:.2f}"),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def table(rows: int = 1_000_000, wide: int = 200_000) -> list[str]:
    lines = [
        "Multinomial logistic regression, ten classes, at equal penalized loss.",
        "",
        "| | suffice, s | scikit-learn, s | by its | ratio | aim | our loss | its loss | our iterations "
        "| its | bare products, s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for name, make, n in (("dense", dense, rows), ("sparse", sparse, wide)):
        lines.append(line(name, *make(n)))
        print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--wide", type=int, default=200_000)
    given = parser.parse_args()
    table(given.rows, given.wide)
