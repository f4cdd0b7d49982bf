"""Compare matrix factorization with scikit-learn: same rows, start and iterations, alternating within one
run.

The tables also have the time of the bare products of the rows with the factors that every iteration needs, by
NumPy with all its threads, or by SciPy, which has one. The last table streams documents from Parquet.

    python benchmarks/factors.py
    python benchmarks/factors.py --hidden
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import sklearn.decomposition
from out_of_core import growth

import suffice
from suffice.decomposition import NMF, FactorAnalysis, FastICA, TruncatedSVD


def documents(rows: int, words: int, length: int, seed: int = 0, topics: int = 50) -> sp.csr_array:
    """Counts of words with realistic frequencies, of documents with few topics each."""
    rng = np.random.default_rng(seed)
    common = np.cumsum(1.0 / np.arange(10, words + 10))
    common /= common[-1]
    order = np.stack([np.random.default_rng([7, t]).permutation(words) for t in range(topics)])
    about = rng.integers(topics, size=(rows, 3))[
        np.arange(rows)[:, None], rng.integers(3, size=(rows, length))
    ]
    rank = np.minimum(np.searchsorted(common, rng.random((rows, length))), words - 1)
    word = np.where(rng.random((rows, length)) < 0.4, rank, order[about, rank])
    row = np.repeat(np.arange(rows), length)
    X = sp.coo_array((np.ones(rows * length), (row, word.ravel())), (rows, words)).tocsr()
    X.sum_duplicates()
    return X


def pictures(rows: int, D: int, K: int = 20) -> np.ndarray:
    """Rows that are sums of few components, with noise."""
    rng = np.random.default_rng(0)
    return rng.gamma(0.3, size=(rows, K)) @ rng.gamma(0.3, size=(K, D)) + 0.1 * rng.random((rows, D))


def start(X: Any, K: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {"W": rng.uniform(0.1, 1.0, (X.shape[0], K)), "H": rng.uniform(0.1, 1.0, (K, X.shape[1]))}


def products(X: Any, K: int, times: int) -> None:
    W, Ht = np.ones((X.shape[0], K)), np.ones((X.shape[1], K))
    for _ in range(times):
        X @ Ht
        X.T @ W


def nmf(cls: Any, X: Any, K: int, n: int, **how: Any) -> Any:
    model = cls(K, init="custom", tol=0.0, max_iter=n, **how)
    given = start(X, K)
    model.fit(X, W=given["W"], H=given["H"])
    return model.reconstruction_err_


def svd(cls: Any, X: Any, K: int) -> Any:
    return cls(K, random_state=0).fit(X).singular_values_


def seconds(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def measure(name: str, ours: Any, theirs: Any, bare: Any, rtol: float, repeat: int, aim: float) -> str:
    np.testing.assert_allclose(ours(), theirs(), rtol=rtol)
    taken = np.array([[seconds(run) for run in (ours, theirs, bare)] for _ in range(repeat)])
    mine, peer, least = np.median(taken, axis=0)
    ratios = taken[:, 1] / taken[:, 0]
    line = (
        f"| {name} | {mine:.2f} | {peer:.2f} | {peer / mine:.2f} | {ratios.min():.2f} to {ratios.max():.2f} "
        f"| {aim:g} | {least:.2f} |"
    )
    print(line, flush=True)
    return line


def table(scale: float, repeat: int, stream_rows: int) -> list[str]:
    warnings.simplefilter("ignore")  # fits of a few iterations do not converge
    dense = pictures(int(40_000 * scale), 400)
    text = documents(int(60_000 * scale), int(30_000 * scale), 100)
    wide = documents(int(100_000 * scale), int(100_000 * scale), 100)
    theirs = sklearn.decomposition
    kullback = {"solver": "mu", "beta_loss": "kullback-leibler"}
    small = dense[: len(dense) // 4]
    lines = [
        f"Dense {dense.shape[0]:,} x {dense.shape[1]}; CSR {text.shape[0]:,} x {text.shape[1]:,} with "
        f"{text.nnz:,} entries, and {wide.shape[0]:,} x {wide.shape[1]:,} with {wide.nnz:,}. Median of "
        f"{repeat} runs in turns; of NMF from the same start after the same iterations, with equal errors; "
        "of TruncatedSVD with equal singular values.",
        "",
        "| fit | suffice, s | scikit-learn, s | times faster | spread | aim | bare products, s |",
        "|---|---|---|---|---|---|---|",
    ]

    def compare(name: str, X: Any, K: int, n: int, aim: float, **how: Any) -> None:
        run = [lambda cls=cls: nmf(cls, X, K, n, **how) for cls in (NMF, theirs.NMF)]
        twice = 2 if "beta_loss" in how else 1
        lines.append(measure(name, *run, lambda: products(X, K, twice * n), 1e-4, repeat, aim))

    compare("NMF, dense, 20 components, 50 iterations", dense, 20, 50, 1.5)
    compare("NMF, dense, 50 components, 20 iterations", dense, 50, 20, 1.5)
    compare("NMF, CSR, 50 components, 10 iterations", text, 50, 10, 1.5)
    compare("NMF, dense, divergence, 20 components, 10 iterations", small, 20, 10, 1.5, **kullback)
    compare("NMF, CSR, divergence, 20 components, 5 iterations", text, 20, 5, 1.5, **kullback)
    for K in (20, 100):
        run = [lambda cls=cls, K=K: svd(cls, wide, K) for cls in (TruncatedSVD, theirs.TruncatedSVD)]
        bare = lambda K=K: products(wide, K + 10, 6)  # noqa: E731
        lines.append(measure(f"TruncatedSVD, CSR, {K} components", *run, bare, 1e-3, repeat, 1.0))
    return [*lines, "", *streamed(stream_rows)]


def streamed(rows: int, words: int = 20_000, length: int = 100, K: int = 20) -> list[str]:
    part = min(rows, 50_000)
    lines = [
        f"{rows:,} documents of {length} of {words:,} words, as lists in Parquet.",
        "",
        "| fit | suffice, s | read and convert once, s | memory grows by, MB |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for n in range(-(-rows // part)):
            X = documents(min(part, rows - n * part), words, length, seed=n)
            lists = {
                name: pa.ListArray.from_arrays(X.indptr.astype(np.int32), values)
                for name, values in (("word", X.indices.astype(np.int32)), ("count", X.data))
            }
            pq.write_table(pa.table(lists), Path(folder) / f"part-{n:04}.parquet", row_group_size=10_000)
        table = suffice.rows(
            suffice.scan_parquet(folder), features=suffice.sparse("word", "count", size=words)
        )
        once = seconds(lambda: TruncatedSVD(1, n_iter=0, n_oversamples=1).fit(table)) / 2
        for name, model in (
            (f"TruncatedSVD, {K} components, 7 passes", TruncatedSVD(K, random_state=0)),
            (f"NMF, {K} components, 10 iterations, 20 passes", NMF(K, max_iter=10, tol=0.0, random_state=0)),
        ):
            grown: list[float] = []
            with growth(grown):
                taken = seconds(lambda model=model: model.fit(table))
            lines.append(f"| {name} | {taken:.1f} | {once:.1f} | {grown[0]:.0f} |")
            print(lines[-1], flush=True)
    return lines


def mixed(rows: int, D: int) -> np.ndarray:
    """Mixtures of independent sources with long and short tails."""
    rng = np.random.default_rng(0)
    draw = (rng.laplace, lambda size: rng.uniform(-1.0, 1.0, size), lambda size: rng.standard_t(5, size))
    return np.column_stack([draw[d % 3](size=rows) for d in range(D)]) @ rng.normal(size=(D, D))


def with_factors(rows: int, D: int, K: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, K)) @ rng.normal(size=(K, D)) + rng.normal(size=(rows, D)) * rng.gamma(
        1, size=D
    )


def processor(run: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    found = run()
    return time.process_time() - begin, found


def hidden(scale: float) -> None:
    """Factor analysis and independent components, by CPU time, at equal results.

    Compared with picard, if it is installed.
    """
    warnings.simplefilter("ignore")
    theirs, X = sklearn.decomposition, with_factors(int(500_000 * scale), 30, 5)
    print("| fit | suffice, CPU s | peer, CPU s | times faster |\n|---|---|---|---|")
    FactorAnalysis(5).fit(X[:1000])
    mine, ours = processor(lambda: FactorAnalysis(5).fit(X))
    peer, other = processor(lambda: theirs.FactorAnalysis(5).fit(X))
    assert ours.loglike_[-1] >= other.loglike_[-1] - 1e-6 * len(X)
    print(f"| FactorAnalysis, scikit-learn | {mine:.2f} | {peer:.2f} | {peer / mine:.1f} |", flush=True)
    X = mixed(int(500_000 * scale), 30)
    mine, ours = processor(lambda: FastICA(random_state=0).fit(X))
    peer, other = processor(lambda: theirs.FastICA(random_state=0).fit(X))
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(other.components_), rtol=1e-3, atol=1e-6)
    print(f"| FastICA, scikit-learn | {mine:.2f} | {peer:.2f} | {peer / mine:.1f} |", flush=True)
    try:
        from picard import picard
    except ImportError:
        return
    peer, _ = processor(lambda: picard(X.T, ortho=True, random_state=0, tol=1e-4))
    print(f"| FastICA, picard | {mine:.2f} | {peer:.2f} | {peer / mine:.1f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--stream", type=int, default=1_000_000, help="documents in Parquet")
    parser.add_argument("--hidden", action="store_true", help="factor analysis and ICA alone, by CPU time")
    given = parser.parse_args()
    if given.hidden:
        hidden(given.scale)
        raise SystemExit
    table(given.scale, given.repeat, given.stream)
