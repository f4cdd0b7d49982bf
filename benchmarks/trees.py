"""Decision trees, 50 boosted stumps, forests and histogram-based boosting beside scikit-learn's: CPU seconds
and wall time, in turns.

    python benchmarks/trees.py --rows 1000000
    python benchmarks/trees.py --rows 1000000 --only boosting --threads 2

scikit-learn grows a tree in one thread. Ours bins the features in threads and grows the tree in one. The
first fit of each, to a few rows, is not counted.

Boosting has 100 trees of 31 leaves, by default, and LightGBM beside it if that is installed. The losses are
of other rows.
"""

from __future__ import annotations

import argparse
import contextlib
import time
import warnings
from functools import partial

import numpy as np
from sklearn import ensemble as peers
from sklearn import tree as peer
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

import suffice
from suffice import ensemble, tree


def rows(n: int, D: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of which three matter, in float32, as scikit-learn holds them; classes; and numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D)).astype(np.float32).astype(np.float64)
    number = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    return X, (number > 0).astype(int), number


def boosting(n: int, n_trees: int, n_threads: int, repeat: int) -> None:
    """Histogram-based boosting of two classes: seconds and losses of each fit, and the ratios of medians."""
    X, _, number = rows(n + n // 10)
    # A product alone has no gain at the root: which noise is split first then decides about the loss.
    label = (number + X[:, 1] + X[:, 2] > 0).astype(int)
    train, test = slice(n), slice(n, None)
    ours, few = ensemble.HistGradientBoostingClassifier, {"max_iter": 2, "early_stopping": False}
    start = time.perf_counter()
    ours(**few).fit(X[:40_000], label[:40_000])
    print(f"first fit: {time.perf_counter() - start:.1f} s")
    how = {"max_iter": n_trees, "early_stopping": False}
    models = {"suffice": ours(**how), "scikit-learn": peers.HistGradientBoostingClassifier(**how)}
    with contextlib.suppress(ImportError):
        from lightgbm import LGBMClassifier

        models["LightGBM"] = LGBMClassifier(n_estimators=n_trees, n_jobs=n_threads, verbose=-1)
    seconds = {name: [] for name in models}
    print("fit | CPU s | wall s | log loss of other rows")
    for _ in range(repeat):
        for name, model in models.items():
            cpu, wall = time.process_time(), time.perf_counter()
            with suffice.threads(n_threads), threadpool_limits(n_threads):
                model.fit(X[train], label[train])
            seconds[name].append((time.process_time() - cpu, time.perf_counter() - wall))
            with warnings.catch_warnings(action="ignore"):  # LightGBM: of names of features
                loss = log_loss(label[test], model.predict_proba(X[test]))
            print(
                f"{name} | {seconds[name][-1][0]:.2f} | {seconds[name][-1][1]:.2f} | {loss:.5f}", flush=True
            )
    spread = {name: np.quantile(s, [0.0, 0.5, 1.0], axis=0) for name, s in seconds.items()}
    for name, (least, median, most) in spread.items():
        ratio = median / spread["suffice"][1]
        print(
            f"{name}: CPU {median[0]:.2f} s ({least[0]:.2f} to {most[0]:.2f}), {ratio[0]:.2f} times ours; "
            f"wall {median[1]:.2f} s ({least[1]:.2f} to {most[1]:.2f}), {ratio[1]:.2f} times ours"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-depth", type=int, default=10)
    parser.add_argument("--only", help="classification, regression, stumps, forest or boosting")
    parser.add_argument("--trees", type=int, default=100, help="of boosting")
    parser.add_argument("--threads", type=int, default=2, help="of boosting")
    a = parser.parse_args()
    if a.only in (None, "boosting"):
        boosting(a.rows, a.trees, a.threads, a.repeat)
    if a.only == "boosting":
        return
    X, label, number = rows(a.rows)
    test, test_label, test_number = (part[::7] for part in (X, label, number))
    cases = {
        "classification": (tree.DecisionTreeClassifier, peer.DecisionTreeClassifier, label, test_label),
        "regression": (tree.DecisionTreeRegressor, peer.DecisionTreeRegressor, number, test_number),
        "stumps": (ensemble.AdaBoostClassifier, peers.AdaBoostClassifier, label, test_label),
        "forest": (
            ensemble.RandomForestClassifier,
            partial(peers.RandomForestClassifier, n_jobs=2),
            label,
            test_label,
        ),
    }
    print("case | ours CPU s | theirs | ratio | ours wall s | theirs | ratio | scores")
    for name, (ours, theirs, y, test_y) in cases.items():
        if a.only not in (None, name):
            continue
        of_trees = name in ("stumps", "forest")
        few = {"n_estimators": 2} if of_trees else {"max_depth": 2}
        how = {} if name == "stumps" else {"max_depth": a.max_depth}
        if name == "forest":  # of full trees
            how = {"n_estimators": 20, "random_state": 0}
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
