"""Support vector machines beside scikit-learn's (LIBLINEAR, LIBSVM): CPU seconds, in turns.

    OMP_NUM_THREADS=1 python benchmarks/margins.py --rows 500000
    OMP_NUM_THREADS=1 python benchmarks/margins.py --kernel --rows 10000 --features 20
    OMP_NUM_THREADS=1 python benchmarks/margins.py --landmarks 500 --features 20
    OMP_NUM_THREADS=1 python benchmarks/margins.py --one-pass 1000 --rows 1000000 --features 20
    OMP_NUM_THREADS=1 python benchmarks/margins.py --size --rows 100000 --features 20

Linear machines with the passes over the rows, and the objectives that both reach. With `--kernel`, Gaussian
kernels, with a quarter and with three quarters of the rows as support vectors, and the dual objectives, also
beside scikit-learn-intelex if it is installed. With `--landmarks`, kernel ridge regression beside
scikit-learn's Nystroem and Ridge, and a grid of 20 penalties by 5 folds relative to one fit: from one sum
(RidgeCV), and with landmarks of each fold (GridSearch). With `--one-pass`, a pass of conjugate gradients over
the kernels of rows and landmarks, beside its matrix products and exponentials in NumPy. With `--size`, one
exact machine, its growth of resident memory and its duality gap. A first fit, to a few rows, is not counted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import sklearn.kernel_approximation
import sklearn.linear_model
import sklearn.svm
from out_of_core import growth
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import suffice
from suffice.engines.local import LocalPartitions
from suffice.kernel_approximation import Nystroem
from suffice.kernel_ridge import KernelRidge
from suffice.kernel_ridge.kernel_ridge import LandmarkRidge
from suffice.kernels import RBF
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
    """How often a fit folds over all rows."""
    count, fold = [0], LocalPartitions.fold

    def counted(self, *args, **kwargs):
        count[0] += sum(map(len, self.blocks)) == len(X)
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
    square = beta @ RBF(gamma)(model.support_vectors_) @ beta
    return 0.5 * square - targets[model.support_] @ beta + epsilon * np.abs(beta).sum()


def peers_of(name):
    """The class of this name in scikit-learn, and in scikit-learn-intelex if it is installed."""
    peers = {"scikit-learn": getattr(sklearn.svm, name)}
    if find_spec("sklearnex"):
        import sklearnex.svm

        peers["scikit-learn-intelex"] = getattr(sklearnex.svm, name)
    return peers


def kernel_machines(n, d, repeats, names):
    rng = np.random.default_rng(0)
    for distance, gamma in ((3.0, 0.05), (4.0, 0.25)):
        X, y = two_classes(rng, n, d, distance)
        target = np.sin(X[:, 0]) + X[:, 1] + (0.1 if gamma < 0.1 else 1.0) * rng.normal(size=n)
        for ours, goal, signs, epsilon in (
            (SVC, y, np.where(y == 1, 1.0, -1.0), 0.0),
            (SVR, target, target, 0.1),
        ):
            if ours.__name__ not in names:
                continue
            ours(gamma=gamma).fit(X[:6000], goal[:6000])
            classes = {"ours": ours, **peers_of(ours.__name__)}
            taken = {name: [] for name in classes}
            for _ in range(repeats):
                for name, machine in classes.items():
                    start = time.perf_counter()
                    model, cpu = measured(machine(gamma=gamma), X, goal)
                    taken[name].append((cpu, time.perf_counter() - start))
                    if name == "ours":
                        mine = model
                    elif len(taken[name]) == repeats:
                        ratio = np.array(taken[name]) / np.array(taken["ours"])
                        reached = [dual_objective(m, gamma, signs, epsilon) for m in (model, mine)]
                        print(
                            f"{ours.__name__}, {n} x {d}, {len(mine.support_) / n:.0%} support vectors: "
                            f"{name} {cpu:.1f} CPU s, ours {taken['ours'][-1][0]:.1f} CPU s, "
                            f"{np.median(ratio[:, 0]):.2f}x ({ratio[:, 0].min():.2f} to "
                            f"{ratio[:, 0].max():.2f}), by the clock {np.median(ratio[:, 1]):.2f}x; dual "
                            f"objective relative to theirs {(reached[1] - reached[0]) / abs(reached[0]):.1e}",
                            flush=True,
                        )


def one_large_machine(n, d):
    X, y = two_classes(np.random.default_rng(0), n, d, 3.0)
    SVC(gamma=0.05).fit(X[:6000], y[:6000])
    seen, start = [], time.perf_counter()
    with growth(seen):
        model, cpu = measured(SVC(gamma=0.05), X, y)
    clock = time.perf_counter() - start
    report = model.kkt_report(X, y)
    print(
        f"SVC, {n} x {d}: {cpu:.0f} CPU s, {clock:.0f} s by the clock, resident memory + {seen[0]:.0f} MB; "
        f"{len(model.support_)} support vectors; gap {report.gap / report.primal:.1e} of the objective "
        f"{report.primal:.1f}",
        flush=True,
    )


def bare_pass(Z, gamma, A, X):
    """K'KA with the Gaussian kernels K of some rows with landmarks."""
    K = X @ (2.0 * gamma * Z).T
    K -= gamma * np.einsum("nd,nd->n", X, X)[:, None]
    K -= gamma * np.einsum("md,md->m", Z, Z)
    np.exp(K, out=K)
    return K.T @ (K @ A)


def one_pass(n, d, size, repeats):
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(n, d)), rng.normal(size=(size, 1))
    data, few = suffice.partition(X), KernelRidge(kernel="rbf", landmarks=size, random_state=0)
    model = few.fit(X[: 4 * size], X[: 4 * size, 0]).model_
    Z, gamma, step = model.landmarks.columns.points, 1.0 / d, 2048

    def bare():
        with ThreadPoolExecutor(2) as pool:
            parts = pool.map(lambda a: bare_pass(Z, gamma, A, X[a : a + step]), range(0, n, step))
            return sum(parts)

    def ours():
        return data.fold(LandmarkRidge.product, model, A)

    taken = {bare: [], ours: []}
    with suffice.threads(2):
        for _ in range(repeats):
            for f in taken:
                clock, cpu = time.perf_counter(), time.process_time()
                out = f()
                taken[f].append((time.process_time() - cpu, time.perf_counter() - clock))
        np.testing.assert_allclose(out, bare(), rtol=1e-8)
    ratio = np.median(np.array(taken[ours]) / np.array(taken[bare]), axis=0)
    print(
        f"one pass, {n} x {d}, {size} landmarks: bare {taken[bare][-1][0]:.1f} CPU s, ours "
        f"{taken[ours][-1][0]:.1f} CPU s, {ratio[0]:.2f}x, by the clock {ratio[1]:.2f}x",
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
    parser.add_argument("--only", nargs="*", choices=["SVC", "SVR"], default=["SVC", "SVR"])
    parser.add_argument("--landmarks", type=int)
    parser.add_argument("--one-pass", type=int, metavar="LANDMARKS")
    parser.add_argument("--size", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    a = parser.parse_args()
    if a.kernel:
        kernel_machines(a.rows, a.features, a.repeats, a.only)
        return
    if a.landmarks:
        landmark_machines(a.rows, a.features, a.landmarks, a.repeats)
        return
    if a.one_pass:
        one_pass(a.rows, a.features, a.one_pass, a.repeats)
        return
    if a.size:
        one_large_machine(a.rows, a.features)
        return
    X, y = two_classes(np.random.default_rng(0), a.rows, a.features, 2.0)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for loss in ("hinge", "squared_hinge"):
        LinearSVC(loss=loss).fit(X[:5000], y[:5000])
    for loss, power, dual in (("squared_hinge", 2, "auto"), ("squared_hinge", 2, True), ("hinge", 1, True)):
        machines = {"ours": LinearSVC(loss=loss), "peer": sklearn.svm.LinearSVC(loss=loss, dual=dual)}
        taken = {name: [] for name in machines}
        for _ in range(1 if dual is True else a.repeats):  # the dual takes minutes
            for name, model in machines.items():
                start = time.perf_counter()
                _, cpu = measured(model, X, y)
                taken[name].append((cpu, time.perf_counter() - start))
        ratio = np.median(np.array(taken["peer"]) / np.array(taken["ours"]), axis=0)
        reached = {name: objective(model, X, y, power) for name, model in machines.items()}
        gap = f", gap {machines['ours'].dual_gap_ / reached['ours']:.1e}" if power == 1 else ""
        print(
            f"{loss}, {a.rows} x {a.features}: scikit-learn (dual={dual}) {taken['peer'][-1][0]:.2f} CPU s, "
            f"ours {taken['ours'][-1][0]:.2f} CPU s, {ratio[0]:.1f}x, by the clock {ratio[1]:.1f}x; "
            f"{passes_of(LinearSVC(loss=loss), X, y)} passes; "
            f"objectives {reached['peer']:.4f} and {reached['ours']:.4f}{gap}",
            flush=True,
        )


if __name__ == "__main__":
    main()
