"""Compare naive Bayes with scikit-learn's: `fit` and `predict` on the same rows, in one run.

The table also has the time of one pass over the rows by the same threads, a lower bound for `fit`.

    python benchmarks/naive_bayes.py
    python benchmarks/naive_bayes.py --rows 100000 --documents 20000     # a look
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.naive_bayes as theirs

import suffice
import suffice.naive_bayes as ours

FEATURES, CLASSES = 100, 10
WORDS, TOPICS, LENGTH = 100_000, 20, 100


def counts(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Dense counts as float64, most of them small."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=rows)
    rates = rng.gamma(1.0, size=(CLASSES, FEATURES))
    X = np.empty((rows, FEATURES))
    for start in range(0, rows, 10_000):
        X[start : start + 10_000] = rng.poisson(rates[y[start : start + 10_000]])
    return X, y


def documents(rows: int) -> tuple[sp.csr_array, np.ndarray]:
    """CSR rows of a hundred words; few words are frequent, and their ranks depend on the topic."""
    rng = np.random.default_rng(1)
    y = rng.integers(TOPICS, size=rows)
    rank = np.exp(rng.random(rows * LENGTH) * np.log(WORDS)).astype(np.int64) - 1
    words = ((rank + 37 * np.repeat(y, LENGTH) * (rank > 50)) % WORDS).astype(np.int32)
    ends = np.arange(0, len(words) + 1, LENGTH, dtype=np.int32)
    X = sp.csr_array((np.ones(len(words)), words, ends), (rows, WORDS))
    X.sum_duplicates()
    return X, y


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def reading(X: Any) -> float:
    """Seconds in which threads read all rows once and add them up."""
    rows = X.data[: len(X.data) // 64 * 64].reshape(-1, 64) if sp.issparse(X) else X
    data = suffice.partition(rows)
    return min(seconds(lambda: data.fold(_sum))[0] for _ in range(3))


def _sum(block: Any) -> float:
    return float(block.X.sum())


def beside(name: str, X: Any, y: np.ndarray, repeats: int) -> list[str]:
    """Lines of the table: the two libraries alternate, and the fastest time of each counts."""
    pair = [getattr(module, name) for module in (ours, theirs)]
    pair[0]().fit(X[:1000], y[:1000]).predict(X[:1000])  # a first call
    fit, predict = ([], []), ([], [])
    for _ in range(repeats):
        found = []
        for n, cls in enumerate(pair):
            took, model = seconds(lambda cls=cls: cls().fit(X, y))
            fit[n].append(took)
            took, answer = seconds(lambda model=model: model.predict(X))
            predict[n].append(took)
            found.append(answer)
        assert (found[0] == found[1]).mean() > 0.999
    kind = f"{X.shape[0]:,} x {X.shape[1]:,} {'sparse' if sp.issparse(X) else 'dense'}"
    read = reading(X)
    lines = []
    for what, (mine, its) in (("fit", fit), ("predict", predict)):
        ratio = min(its) / min(mine)
        lines.append(
            f"| {name}.{what} | {kind} | {min(mine):.3f} | {min(its):.3f} | {ratio:.1f} | 2 | {read:.3f} |"
        )
        print(lines[-1], flush=True)
    return lines


def table(rows: int = 1_000_000, rows_of_words: int = 200_000, repeats: int = 3) -> list[str]:
    """Ratios; in about two minutes."""
    lines = [
        "`fit` and `predict` of naive Bayes, float64; the fastest of the turns that both take. The last "
        "column is one reading of the rows by the same threads.",
        "",
        "| what | rows | suffice, s | scikit-learn, s | ratio | aim | one reading, s |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    X, y = counts(rows)
    for name in ("MultinomialNB", "BernoulliNB", "GaussianNB"):
        lines += beside(name, X, y, repeats)
    lines += beside("CategoricalNB", np.minimum(X, 4.0, out=X), y, 1)
    del X
    words, topic = documents(rows_of_words)
    for name in ("MultinomialNB", "BernoulliNB"):
        lines += beside(name, words, topic, repeats)
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    table(given.rows, given.documents, given.repeats)
