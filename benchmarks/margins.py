"""Support vector machines beside scikit-learn's (LIBLINEAR, LIBSVM): CPU seconds, in turns.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/margins.py --rows 500000
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/margins.py --kernel --rows 10000 --features 20
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/margins.py --landmarks 500 --features 20

Linear machines with the passes over the rows, and the objectives that both reach. With `--kernel`, Gaussian
kernels, with a quarter and with three quarters of the rows as support vectors, and the dual objectives. With
`--landmarks`, kernel ridge regression beside scikit-learn's Nystroem and Ridge, and a grid of 20 penalties by
5 folds relative to one fit: from one sum (RidgeCV), and with landmarks of each fold (GridSearch). The first
fit, to a few rows, is not counted: it compiles the loops.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import sklearn.kernel_approximation
import sklearn.linear_model
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from suffice.engines.local import LocalPartitions
from suffice.kernel_approximation import Nystroem
from suffice.kernel_ridge import KernelRidge
from suffice.kernels import Gaussian
from suffice.linear_model import RidgeCV
from suffice.model_selection import GridSearch
from suffice.svm import SVC, SVR, LinearSVC


def measured(model, X, y):
    start = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - start


def objective(model, X, y, power):
    """With the penalized intercept of LIBLINEAR."""
    theta = np.append(model.coef_.ravel(), model.intercept_)
    slack = np.maximum(1.0 - np.where(y == 1, 1.0, -1.0) * model.decision_function(X), 0.0)
    return 0.5 * theta @ theta + (slack**power).sum()


def passes_of(model, X, y):
    """How often a fit folds over the rows."""
    count, fold = [0], LocalPartitions.fold

    def counted(self, *args, **kwargs):
        count[0] += 1
        return fold(self, *args, **kwargs)

    LocalPartitions.fold = counted
    try:
        model.fit(X, y)
    finally:
        LocalPartitions.fold = fold
    return count[0]


def two_classes(rng, n, d, distance):
    direction = rng.normal(size=d)
    y = (rng.random(n) < 0.5).astype(int)
    X = rng.normal(size=(n, d))
    return X + np.outer(y - 0.5, direction / np.linalg.norm(direction) * distance), y


def dual_objective(model, gamma, targets, epsilon):
    """Of the machine as a minimum: β'Kβ / 2 - targets'β + epsilon |β|."""
    beta = model.dual_coef_[0]
    square = beta @ Gaussian(gamma)(model.support_vectors_) @ beta
    return 0.5 * square - targets[model.support_] @ beta + epsilon * np.abs(beta).sum()


def kernel_machines(n, d, repeats):
    rng = np.random.default_rng(0)
    for distance, gamma in ((3.0, 0.05), (4.0, 0.2)):
        X, y = two_classes(rng, n, d, distance)
        target = np.sin(X[:, 0]) + X[:, 1] + (0.1 if gamma < 0.1 else 1.0) * rng.normal(size=n)
        for ours, theirs, goal, signs, epsilon in (
            (SVC, sklearn.svm.SVC, y, np.where(y == 1, 1.0, -1.0), 0.0),
            (SVR, sklearn.svm.SVR, target, target, 0.1),
        ):
            ours(gamma=gamma).fit(X[:6000], goal[:6000])
            ratios, clock = [], []
            for _ in range(repeats):
                start = time.perf_counter()
                model, mine = measured(ours(gamma=gamma), X, goal)
                middle = time.perf_counter()
                peer, other = measured(theirs(gamma=gamma), X, goal)
                ratios.append(other / mine)
                clock.append((time.perf_counter() - middle) / (middle - start))
            reached = [dual_objective(m, gamma, signs, epsilon) for m in (peer, model)]
            print(
                f"{ours.__name__}, {n} x {d}, {len(model.support_) / n:.0%} support vectors: scikit-learn "
                f"{other:.1f} CPU s, ours {mine:.1f} CPU s, {np.median(ratios):.2f}x ({min(ratios):.2f} to "
                f"{max(ratios):.2f}), by the clock {np.median(clock):.2f}x; dual objective relative "
                f"to scikit-learn's {(reached[1] - reached[0]) / abs(reached[0]):.1e}",
                flush=True,
            )


def landmark_machines(n, d, size, repeats):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
    alphas, held = np.logspace(-4, 3, 20), slice(0, max(1, n // 10))
    how = {"n_components": size, "random_state": 0}
    machines = {
        "scikit-learn": make_pipeline(
            sklearn.kernel_approximation.Nystroem(**how), sklearn.linear_model.Ridge(1.0, fit_intercept=False)
        ),
        "ours": KernelRidge(1.0, kernel="rbf", landmarks=size, random_state=0),
        "RidgeCV": make_pipeline(Nystroem(**how), RidgeCV(alphas, cv=5, fit_intercept=False)),
        "GridSearch": GridSearch(
            KernelRidge(kernel="rbf", landmarks=size, random_state=0), {"alpha": alphas}, random_state=0
        ),
    }
    seconds = {name: [] for name in machines}
    for _ in range(repeats):
        for name, model in machines.items():
            model.fit(X[:3000], y[:3000])
            seconds[name].append(measured(model, X, y)[1])
    took = {name: float(np.median(part)) for name, part in seconds.items()}
    scores = [machines[name].score(X[held], y[held]) for name in ("scikit-learn", "ours")]
    print(
        f"kernel ridge, {n} x {d}, {size} landmarks: scikit-learn {took['scikit-learn']:.1f} s, ours "
        f"{took['ours']:.1f} s, {took['scikit-learn'] / took['ours']:.2f}x; R2 {scores[0]:.4f} and "
        f"{scores[1]:.4f}; 20 penalties by 5 folds: RidgeCV {took['RidgeCV'] / took['ours']:.2f}x one fit, "
        f"GridSearch {took['GridSearch'] / took['ours']:.2f}x",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--kernel", action="store_true")
    parser.add_argument("--landmarks", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    a = parser.parse_args()
    if a.kernel:
        kernel_machines(a.rows, a.features, a.repeats)
        return
    if a.landmarks:
        landmark_machines(a.rows, a.features, a.landmarks, a.repeats)
        return
    X, y = two_classes(np.random.default_rng(0), a.rows, a.features, 2.0)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for loss in ("hinge", "squared_hinge"):
        LinearSVC(loss=loss).fit(X[:5000], y[:5000])
    for loss, power, dual in (("squared_hinge", 2, "auto"), ("squared_hinge", 2, True), ("hinge", 1, True)):
        ours, mine = measured(LinearSVC(loss=loss), X, y)
        theirs, peer = measured(sklearn.svm.LinearSVC(loss=loss, dual=dual), X, y)
        reached = [objective(model, X, y, power) for model in (theirs, ours)]
        gap = f", gap {ours.dual_gap_ / reached[1]:.1e}" if power == 1 else ""
        print(
            f"{loss}, {a.rows} x {a.features}: scikit-learn (dual={dual}) {peer:.1f} s, ours {mine:.1f} s, "
            f"{peer / mine:.1f}x; {passes_of(LinearSVC(loss=loss), X, y)} passes; "
            f"objectives {reached[0]:.4f} and {reached[1]:.4f}{gap}",
            flush=True,
        )


if __name__ == "__main__":
    main()
