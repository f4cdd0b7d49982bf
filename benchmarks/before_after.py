"""Compare the speed of this tree with that of an earlier commit: the same fits, alternating within one run.

Each tree is built and installed in a folder of its own, and has its own process, which fits on request.
The CPU time is compared, on which other work on the machine has less influence. The ratio is the median of
the ratios of consecutive turns, so that disturbances of both cancel.

    python benchmarks/before_after.py COMMIT                      # all cases
    python benchmarks/before_after.py COMMIT kmeans mixture --repeat 31
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]


def cases() -> dict[str, Callable[[], Callable[[], Any]]]:
    """Cases by name: functions that make the data and return the fit to time."""
    import scipy.sparse as sp

    import suffice
    from suffice.cluster import KMeans
    from suffice.decomposition import NMF, PCA
    from suffice.linear_model import LinearRegression, LogisticRegression, ProportionalOdds
    from suffice.mixture import GaussianMixture
    from suffice.naive_bayes import MultinomialNB
    from suffice.ranking import PageRank
    from suffice.sequence import ConditionalRandomField, HiddenMarkovModel
    from suffice.topics import LatentDirichletAllocation

    rng = np.random.default_rng(0)

    def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(size=(n, d))
        return X, X @ rng.normal(size=d) + rng.normal(size=n)

    def counts(n: int, d: int) -> Any:
        return sp.random_array((n, d), density=0.01, format="csr", rng=rng, data_sampler=_ones)

    def with_rows(n: int, d: int, fit: Callable[..., Any]) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            X, y = rows(n, d)
            return lambda: fit(X, y)

        return make

    def parquet() -> Callable[[], Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder = tempfile.TemporaryDirectory()
        X, _ = rows(500_000, 10)
        file = Path(folder.name) / "rows.parquet"
        pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(10)}), file, row_group_size=100_000)
        scan = suffice.scan_parquet(file)
        return lambda: (folder, KMeans(8, max_iter=5, n_init=1, random_state=0).fit(scan))

    def sequences() -> tuple[list[np.ndarray], list[np.ndarray]]:
        X = [rng.normal(size=(100, 4)) for _ in range(500)]
        return X, [(x[:, 0] > 0).astype(int) for x in X]

    def hidden() -> Callable[[], Any]:
        X, _ = sequences()
        return lambda: HiddenMarkovModel(4, max_iter=5, tol=0.0, random_state=0).fit(X)

    def field() -> Callable[[], Any]:
        X, y = sequences()
        return lambda: ConditionalRandomField(max_iter=10).fit(X, y)

    def topics() -> Callable[[], Any]:
        X = counts(2000, 3000)
        return lambda: LatentDirichletAllocation(10, max_iter=3, random_state=0).fit(X)

    def documents() -> Callable[[], Any]:
        X = counts(50_000, 3000)
        y = rng.integers(0, 4, 50_000)
        return lambda: MultinomialNB().fit(X, y)

    def factors() -> Callable[[], Any]:
        X = counts(3000, 1000)
        return lambda: NMF(8, max_iter=10, tol=0.0, init="random", random_state=0).fit(X)

    def links() -> Callable[[], Any]:
        ends = rng.integers(0, 50_000, size=(2, 500_000))
        return lambda: PageRank().fit((ends[0], ends[1]))

    def one_row() -> Callable[[], Any]:
        X, y = rows(50, 3)
        model = LogisticRegression().fit(X, y > 0)
        return lambda: [model.predict(X[:1]) for _ in range(100)]

    return {
        "least squares": with_rows(500_000, 20, lambda X, y: LinearRegression().fit(X, y)),
        "PCA": with_rows(100_000, 100, lambda X, y: PCA(10).fit(X)),
        "logistic": with_rows(100_000, 50, lambda X, y: LogisticRegression().fit(X, y > 0)),
        "odds": with_rows(
            50_000, 10, lambda X, y: ProportionalOdds().fit(X, np.digitize(y, [-2.0, 0.0, 2.0]))
        ),
        "kmeans": with_rows(500_000, 10, lambda X, y: KMeans(8, max_iter=5, n_init=1, random_state=0).fit(X)),
        "kmeans, Parquet": parquet,
        "mixture": with_rows(
            100_000, 8, lambda X, y: GaussianMixture(4, max_iter=10, tol=0.0, random_state=0).fit(X)
        ),
        "hidden Markov": hidden,
        "random field": field,
        "topics": topics,
        "naive Bayes": documents,
        "NMF": factors,
        "PageRank": links,
        "predict, one row": one_row,
    }


def _ones(size: int) -> np.ndarray:
    return np.ones(size)


def serve() -> None:
    """Make the cases that standard input names, and time a fit each time it names one again."""
    # That of an editable installation would be found before the tree.
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildRedirectingFinder"]
    warnings.simplefilter("ignore")
    known, made = cases(), {}
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            made.clear()  # the previous case
            made[name] = known[name]()
            made[name]()
        start = time.process_time()
        made[name]()
        print(time.process_time() - start, flush=True)


class Tree:
    """A process that fits with what is built from the sources of one tree."""

    def __init__(self, root: Path, folder: Path) -> None:
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, root]
        subprocess.run(install, check=True)
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(folder)},
        )

    def timed(self, name: str) -> float:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def compare(commit: str, names: list[str], repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "tree"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", "-q", old, commit], check=True)
        try:
            trees = Tree(old, Path(folder) / "before"), Tree(ROOT, Path(folder) / "after")
            print(f"| case | before {commit}, ms | after, ms | after / before | quartiles |")
            print("|---|---|---|---|---|")
            for name in names:
                before, after = trees
                before.timed(name), after.timed(name)
                pairs = []
                for n in range(repeat):
                    turn = {tree: tree.timed(name) for tree in (trees if n % 2 else trees[::-1])}
                    pairs.append((turn[before], turn[after]))
                seconds = np.array(pairs)
                low, middle, high = np.quantile(seconds[:, 1] / seconds[:, 0], [0.25, 0.5, 0.75])
                ms = 1000.0 * np.median(seconds, axis=0)
                print(
                    f"| {name} | {ms[0]:.1f} | {ms[1]:.1f} | {middle:.3f} | {low:.2f} to {high:.2f} |",
                    flush=True,
                )
            for tree in trees:
                tree.process.stdin.close()  # type: ignore[union-attr]
                tree.process.wait()
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", old], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
    else:
        compare(arguments.commit, arguments.cases or list(cases()), arguments.repeat)
