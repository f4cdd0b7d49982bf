"""Compare latent Dirichlet allocation with tomotopy (Gibbs sampling) and scikit-learn (variational
inference).

Each library runs in a separate process, on a corpus drawn from known topics with word frequencies like those
of a language. The sweeps of a sampler are timed in groups, after the first few, and the fastest group counts;
the fits of the variational solvers are timed as a whole. tomotopy runs with one worker and with two,
scikit-learn with one job and with two, and the faster time counts. "Held out" is the mean log probability per
word of held-out documents, given half of their words, computed by the same function for both libraries.

The bare loop is the simplest sampler: counts in arrays, and for each word the probability of each topic in
turn, on one core.

    python benchmarks/lda.py                 # all
    python benchmarks/lda.py --quick
    python benchmarks/lda.py --size          # 100 million words from Parquet, two passes
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

# words in all, words in the vocabulary
SMALL, LARGE = (300_000, 10_000), (10_000_000, 30_000)
LENGTH = 100  # mean length of a document
TRUE = 100  # topics that documents are drawn from
ALPHA, ETA = 0.1, 0.01


def timed_sweeps(words: int) -> tuple[int, int, int]:
    """Sweeps before the timing starts, sweeps at its end, and number of repetitions."""
    return (10, 30, 5) if words < 1_000_000 else (2, 6, 3)


def topics(V: int, n: int = TRUE) -> np.ndarray:
    """Probabilities of words, (n, V): each topic prefers some words, and all share a language."""
    rng = np.random.default_rng(0)
    frequency = 1.0 / (10.0 + np.arange(V))
    frequency /= frequency.sum()
    return 0.8 * rng.dirichlet(150.0 * frequency + 1e-4, size=n) + 0.2 * frequency


def corpus(words: int, V: int, seed: int = 1) -> sp.csr_array:
    from suffice.topics import LatentDirichletAllocation

    truth = LatentDirichletAllocation.from_topics(topics(V), doc_topic_prior=5.0 / TRUE, random_state=seed)
    n = max(1, words // LENGTH)
    return truth.sample(n, length=np.random.default_rng(seed).poisson(LENGTH, n))[0]


def held_out(phi: np.ndarray, words: int, V: int) -> float:
    from suffice.topics import LatentDirichletAllocation, document_completion

    lda = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=ALPHA)
    return document_completion(lda, corpus(100_000, V, seed=2), random_state=0)


# --- samplers ----------------------------------------------------------------------------------------------


def tomotopy(words: int, V: int, K: int, workers: int, sweeps: int) -> dict[str, float]:
    import tomotopy as tp

    X = corpus(words, V)
    model = tp.LDAModel(k=K, alpha=ALPHA, eta=ETA, seed=1)
    model.optim_interval = 0
    names = [str(v) for v in range(V)]
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        if a < b:
            times = X.data[a:b].astype(int)
            model.add_doc([names[v] for v in np.repeat(X.indices[a:b], times)])
    few, many, turns = timed_sweeps(words)
    model.train(few, workers=workers)
    seconds = np.inf
    for _ in range(turns):
        began = time.perf_counter()
        model.train(many - few, workers=workers)
        seconds = min(seconds, (time.perf_counter() - began) / (many - few))
    model.train(sweeps - few - turns * (many - few), workers=workers)
    place = [int(name) for name in model.used_vocabs]
    count = np.array(model.get_count_by_topics())[:, None]
    # It knows only the words of its documents; the others have their prior probability.
    phi = ETA / (count + ETA * V) * np.ones(V)
    of_seen = np.array([model.get_topic_word_dist(k) for k in range(K)])
    phi[:, place] = of_seen * (count + ETA * len(place)) / (count + ETA * V)
    return {"seconds": seconds, "held_out": held_out(phi / phi.sum(axis=1, keepdims=True), words, V)}


def ours(words: int, V: int, K: int, sweeps: int) -> dict[str, float]:
    from suffice.topics import LatentDirichletAllocation

    X = corpus(words, V)
    lda = LatentDirichletAllocation(
        K, solver="gibbs", doc_topic_prior=ALPHA, topic_word_prior=ETA, max_iter=1, random_state=0
    )
    lda.fit(X[:100])  # a first call
    few, many, turns = timed_sweeps(words)
    clock = Clock()
    lda.set_params(max_iter=sweeps).set_callbacks(clock).fit(X)
    ends = clock.ends[few - 1 :: many - few][: turns + 1]
    phi = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    return {"seconds": min(np.diff(ends)) / (many - few), "held_out": held_out(phi, words, V)}


class Clock:
    """Callback that records the time at the end of each sweep."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any, **kwargs: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any, **kwargs: Any) -> None:
        if context.task_name == "iteration":
            self.ends.append(time.perf_counter())


def bare(words: int, V: int, K: int) -> dict[str, float]:
    from numba import njit  # of this loop alone

    @njit
    def sweep(doc: Any, word: Any, topic: Any, n_dk: Any, n_wk: Any, n_k: Any, p: Any) -> None:
        for i in range(len(doc)):
            d, w, k = doc[i], word[i], topic[i]
            n_dk[d, k] -= 1
            n_wk[w, k] -= 1
            n_k[k] -= 1
            total = 0.0
            for j in range(len(n_k)):
                total += (n_dk[d, j] + ALPHA) * (n_wk[w, j] + ETA) / (n_k[j] + len(n_wk) * ETA)
                p[j] = total
            k = np.searchsorted(p, np.random.random() * total)  # noqa: NPY002
            topic[i] = k
            n_dk[d, k] += 1
            n_wk[w, k] += 1
            n_k[k] += 1

    X = corpus(words, V)
    times = X.data.astype(int)
    doc = np.repeat(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), times)
    word = np.repeat(X.indices, times)
    topic = np.random.default_rng(0).integers(K, size=len(doc))
    n_dk, n_wk = np.zeros((X.shape[0], K), np.int32), np.zeros((V, K), np.int32)
    np.add.at(n_dk, (doc, topic), 1)
    np.add.at(n_wk, (word, topic), 1)
    given = topic, n_dk, n_wk, n_wk.sum(axis=0), np.empty(K)
    sweep(doc[:10], word[:10], *given)
    began = time.perf_counter()
    n = 10 if words < 1_000_000 else 1
    for _ in range(n):
        sweep(doc, word, *given)
    return {"seconds": (time.perf_counter() - began) / n}


# --- variational -------------------------------------------------------------------------------------------


def variational(side: str, words: int, V: int, K: int, jobs: int, passes: int) -> dict[str, float]:
    from sklearn.decomposition import LatentDirichletAllocation as Theirs

    from suffice.topics import LatentDirichletAllocation as Ours

    warnings.simplefilter("ignore")
    X = corpus(words, V)
    how: dict[str, Any] = {"doc_topic_prior": ALPHA, "topic_word_prior": ETA, "random_state": 0}
    if side == "sklearn":
        model = Theirs(K, n_jobs=jobs, max_iter=passes, **how)
        model.fit(X[:200])  # processes start
    else:
        Ours(K, max_iter=1, **how).fit(X[:200])  # a first call
        model = Ours(K, max_iter=passes, tol=0.0, **how)
    began = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - began
    judge = Ours(K, max_iter=0, **how).fit(X)
    judge.model_ = judge.model_.replace(word=np.ascontiguousarray(model.components_.T))
    return {"seconds": seconds, "bound": judge.score(X) / X.sum()}


def transforming(n: int, V: int, K: int) -> dict[str, float]:
    from suffice.topics import LatentDirichletAllocation

    lda = LatentDirichletAllocation.from_topics(topics(V)[:K], doc_topic_prior=ALPHA)
    X = corpus(n * LENGTH, V)
    lda.transform(X[:100])
    began = time.perf_counter()
    lda.transform(X)
    return {"seconds": time.perf_counter() - began}


# --- at size -----------------------------------------------------------------------------------------------


def make_parquet(folder: Path, words: int, V: int, group: int = 10_000) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from suffice.topics import LatentDirichletAllocation

    phi = topics(V)
    schema = pa.schema({"words": pa.list_(pa.int32()), "counts": pa.list_(pa.float32())})
    with pq.ParquetWriter(folder / "part-0.parquet", schema) as writer:
        for n in range(words // (LENGTH * group)):
            truth = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=5.0 / TRUE, random_state=n)
            X = truth.sample(group, length=LENGTH)[0]
            ends = pa.array(X.indptr.astype(np.int32))
            lists = [(X.indices.astype(np.int32)), X.data.astype(np.float32)]
            writer.write_table(
                pa.table([pa.ListArray.from_arrays(ends, pa.array(part)) for part in lists], schema=schema)
            )


def size(words: int = 10**8, V: int = 20_000, K: int = 100, passes: int = 2) -> list[str]:
    """Passes over Parquet; resident memory is that of this process."""
    from out_of_core import growth

    import suffice
    from suffice.topics import LatentDirichletAllocation

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        make_parquet(Path(folder), words, V)
        features = suffice.sparse("words", "counts", size=V)
        scan = suffice.rows(suffice.scan_parquet(folder), features=features)
        how: dict[str, Any] = {"doc_topic_prior": ALPHA, "topic_word_prior": ETA, "random_state": 0}
        LatentDirichletAllocation(K, max_iter=1, **how).fit(sp.csr_array(np.ones((20, V))))
        grown: list[float] = []
        began = time.perf_counter()
        with growth(grown):
            lda = LatentDirichletAllocation(K, max_iter=passes, tol=0.0, **how).fit(scan)
        seconds = (time.perf_counter() - began) / passes
    lines = [
        f"Variational, {words:,} words in {words // LENGTH:,} documents from Parquet; {K} topics, "
        f"a vocabulary of {V:,}.",
        "",
        "| a pass, s | million words a second | memory grows by, MB | aim | bound by word |",
        "|---|---|---|---|---|",
        f"| {seconds:.0f} | {1e-6 * words / seconds:.2f} | {grown[0]:.0f} | 1000 "
        f"| {' '.join(f'{t:.3f}' for t in lda.trace_)} |",
    ]
    print("\n".join(lines), flush=True)
    return lines


# --- tables ------------------------------------------------------------------------------------------------


def alone(function: str, *arguments: Any) -> dict[str, float]:
    """Run in a separate process."""
    command = [sys.executable, __file__, "--one", function, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def table(quick: bool = False) -> list[str]:
    lines = [
        "Gibbs sampling, by sweep.",
        "",
        "| words, topics | tomotopy, ms | ours, ms | times as fast | aim | bare loop, ms "
        "| held out: tomotopy | ours |",
        "|---|---|---|---|---|---|---|---|",
    ]
    cases = [(*SMALL, 100, 200)] if quick else [(*s, K, 200) for s in (SMALL, LARGE) for K in (100, 1000)]
    for words, V, K, sweeps in cases:
        sweeps = sweeps if words < 1_000_000 else 20
        theirs = [alone("tomotopy", words, V, K, workers, sweeps) for workers in (1, 2)]
        best = min(theirs, key=lambda run: run["seconds"])
        mine, plain = alone("ours", words, V, K, sweeps), alone("bare", words, V, K)
        lines.append(
            f"| {words:,}, {K} | {1e3 * best['seconds']:.1f} | {1e3 * mine['seconds']:.1f} "
            f"| {best['seconds'] / mine['seconds']:.1f} | 2 | {1e3 * plain['seconds']:.1f} "
            f"| {best['held_out']:.4f} | {mine['held_out']:.4f} |"
        )
        print(lines[-1], flush=True)
    lines += [
        "",
        "Variational, ten passes.",
        "",
        "| words, topics | scikit-learn, s | ours, s | times as fast | aim "
        "| bound by word: scikit-learn | ours |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines[-5:]), flush=True)
    for words, V, K in [(*SMALL, 20)] if quick else [(*SMALL, 20), (*SMALL, 100)]:
        theirs = [alone("variational", "sklearn", words, V, K, jobs, 10) for jobs in (1, 2)]
        best, mine = min(theirs, key=lambda r: r["seconds"]), alone("variational", "ours", words, V, K, 0, 10)
        lines.append(
            f"| {words:,}, {K} | {best['seconds']:.1f} | {mine['seconds']:.2f} "
            f"| {best['seconds'] / mine['seconds']:.1f} | 4 | {best['bound']:.4f} | {mine['bound']:.4f} |"
        )
        print(lines[-1], flush=True)
    n = 10_000 if quick else 100_000
    seconds = alone("transforming", n, SMALL[1], 100)["seconds"]
    lines += ["", f"`transform` of {n:,} documents of {LENGTH} words, 100 topics: {seconds:.1f} s."]
    print(lines[-1], flush=True)
    return lines if quick else [*lines, "", *size()]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        name, *rest = sys.argv[2:]
        print(json.dumps(globals()[name](*(int(a) if a.isdigit() else a for a in rest))))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--quick", action="store_true")
        parser.add_argument("--size", action="store_true")
        given = parser.parse_args()
        if given.size:
            size()
        else:
            table(given.quick)
