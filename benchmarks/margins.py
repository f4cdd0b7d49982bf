"""Linear support vector machines beside scikit-learn's (LIBLINEAR): CPU seconds, in turns.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/margins.py --rows 500000

With the passes over the rows, and the objectives that both reach. The first fit, to a few rows, is not
counted: it compiles the loops.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

from suffice.engines.local import LocalPartitions
from suffice.svm import LinearSVC


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--features", type=int, default=50)
    a = parser.parse_args()
    rng = np.random.default_rng(0)
    direction = rng.normal(size=a.features)
    y = (rng.random(a.rows) < 0.5).astype(int)
    X = rng.normal(size=(a.rows, a.features))
    X += np.outer(y - 0.5, direction / np.linalg.norm(direction) * 2.0)
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
