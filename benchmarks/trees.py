"""Decision trees and 50 boosted stumps beside scikit-learn's: CPU seconds and wall time, in turns.

    python benchmarks/trees.py --rows 1000000

scikit-learn grows a tree in one thread. Ours bins the features in threads and grows the tree in one. The
first fit of each, to a few rows, is not counted: it compiles the loops.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn import ensemble as peers
from sklearn import tree as peer

from suffice import ensemble, tree


def rows(n: int, D: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of which three matter, in float32, as scikit-learn holds them; classes; and numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D)).astype(np.float32).astype(np.float64)
    number = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, (number > 0).astype(int), number


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-depth", type=int, default=10)
    parser.add_argument("--only", help="one of the cases: classification, regression, stumps")
    a = parser.parse_args()
    X, label, number = rows(a.rows)
    test, test_label, test_number = (part[::7] for part in (X, label, number))
    cases = {
        "classification": (tree.DecisionTreeClassifier, peer.DecisionTreeClassifier, label, test_label),
        "regression": (tree.DecisionTreeRegressor, peer.DecisionTreeRegressor, number, test_number),
        "stumps": (ensemble.AdaBoostClassifier, peers.AdaBoostClassifier, label, test_label),
    }
    print("case | ours CPU s | theirs | ratio | ours wall s | theirs | ratio | scores")
    for name, (ours, theirs, y, test_y) in cases.items():
        if a.only not in (None, name):
            continue
        few = {"n_estimators": 2} if name == "stumps" else {"max_depth": 2}
        how = {} if name == "stumps" else {"max_depth": a.max_depth}
        ours(**few).fit(X[:40_000], y[:40_000])
        for _ in range(a.repeat):
            found = []
            for cls in (ours, theirs):
                cpu, wall = time.process_time(), time.perf_counter()
                model = cls(**how).fit(X, y)
                found.append(
                    (time.process_time() - cpu, time.perf_counter() - wall, model.score(test, test_y))
                )
            (c, w, s), (cpu, wall, score) = found
            print(
                f"{name} | {c:.2f} | {cpu:.2f} | {cpu / c:.1f} | {w:.2f} | {wall:.2f} | {wall / w:.1f} | "
                f"{s:.4f} {score:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
