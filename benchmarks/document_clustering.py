"""Compare methods for document clustering: k-means, spectral cuts, matrix factors and topics (Gong and Xu).

There are two corpora with known classes: a synthetic one (background words by Zipf's law, and words of each
class), and the docstrings of Python packages that are installed with the tests and the documentation, with
one document per file, whose class is the package. K classes are drawn from each corpus, several times. The
methods get K, and their clusters are compared with the classes: accuracy under the best assignment, and
mutual information normalized by the larger entropy. For methods with a random start, the best of several
starts by their own objective is kept.

    python benchmarks/document_clustering.py --write docs/guides/document_clustering_table.md
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import confusion_matrix, normalized_mutual_info_score
from sklearn.preprocessing import normalize

from suffice.cluster import KMeans
from suffice.decomposition import NMF, BilinearNMF
from suffice.feature_extraction.text import CountVectorizer
from suffice.topics import (
    LatentDirichletAllocation,
    LatentSemanticAnalysis,
    ProbabilisticLatentSemanticAnalysis,
    TermWeighting,
)

STARTS = 3
Method = Callable[[sp.csr_array, int, int], np.ndarray]  # counts, classes, seed -> clusters

# --- corpora -------------------------------------------------------------------------------------------


def drawn(seed: int = 0, classes: int = 24) -> tuple[sp.csr_array, np.ndarray]:
    """Counts of words and classes of a synthetic corpus, instead of the two news collections of the study."""
    rng = np.random.default_rng(seed)
    V = 3000
    background = np.arange(1, V + 1) ** -1.05
    background /= background.sum()
    rows, labels = [], []
    for c in range(classes):
        topic = np.zeros(V)
        topic[50 + rng.choice(V - 50, 60, replace=False)] = rng.dirichlet(np.full(60, 0.4))
        size = int(np.clip(5.0 * np.exp(rng.uniform(0.0, 5.0)), 5, 400))
        for _ in range(size):
            share = np.clip(rng.beta(4.0, 4.0 / 0.22 - 4.0), 0.02, 0.95)
            rows.append(rng.multinomial(rng.integers(40, 150), share * topic + (1 - share) * background))
        labels += [c] * size
    return sp.csr_array(np.array(rows)), np.array(labels)


PACKAGES = (
    "dask", "distributed", "docutils", "duckdb", "fontTools", "fsspec", "hypothesis", "jinja2", "joblib",
    "matplotlib", "networkx", "numpy", "pandas", "PIL", "polars", "pyarrow", "pygments", "pyspark",
    "pytest", "ray", "rich", "scipy", "sklearn", "sphinx", "tornado", "urllib3", "yaml",
)  # fmt: skip


def docstrings(package: str, most: int = 60, seed: int = 0) -> list[str]:
    """Docstrings of some files of a package, with at least 80 words each, read without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return []
    paths = [
        p for p in sorted(Path(found.submodule_search_locations[0]).rglob("*.py")) if "test" not in str(p)
    ]
    texts: dict[str, None] = {}
    for n in np.random.default_rng(seed).permutation(len(paths)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(paths[n].read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        kinds = ast.ClassDef | ast.FunctionDef | ast.Module
        text = "\n".join(ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds))
        if len(re.findall(r"\w\w+", text)) >= 80:
            texts[text] = None
        if len(texts) == most:
            break
    return list(texts)


def packages() -> tuple[sp.csr_array, np.ndarray]:
    texts: list[str] = []
    labels: list[int] = []
    for c, package in enumerate(PACKAGES):
        found = docstrings(package)
        if len(found) >= 5:
            own = re.compile(rf"\b{package}\w*", re.IGNORECASE)  # the name of the class would be too easy
            texts += [own.sub(" ", text) for text in found]
            labels += [c] * len(found)
    counts = CountVectorizer(stop_words="english", token_pattern=r"[a-zA-Z]{3,}", min_df=3, max_df=0.5)
    return counts.fit_transform(texts), np.array(labels)


# --- methods -------------------------------------------------------------------------------------------


def weighed(X: sp.csr_array) -> sp.csr_array:
    """tf-idf of unit length, as in the study."""
    return TermWeighting(local="frequency", collection="idf", norm="l2").fit_transform(X)


def affinity(X: sp.csr_array) -> np.ndarray:
    unit = weighed(X)
    return (unit @ unit.T).toarray()


def k_means(X: Any, K: int, seed: int, weight: Any = None) -> np.ndarray:
    X = X.toarray() if sp.issparse(X) else X
    model = KMeans(K, n_init=STARTS, random_state=seed, max_iter=100).fit(X, sample_weight=weight)
    return model.labels_


def balance(X: sp.csr_array) -> np.ndarray:
    """Weights of normalized cuts: the inverse of the similarity of a document to all others."""
    return 1.0 / np.maximum(affinity(X).sum(axis=1), 1e-12)


def spectral(cut: str) -> Method:
    """Average weight, ratio cut or normalized cut: k-means on scaled rows of eigenvectors of similarities."""

    def run(X: sp.csr_array, K: int, seed: int) -> np.ndarray:
        A = affinity(X)
        degree = np.maximum(A.sum(axis=1), 1e-12)
        if cut == "average":
            vectors = np.linalg.eigh(A)[1][:, -K:]
        elif cut == "ratio":
            vectors = np.linalg.eigh(np.diag(degree) - A)[1][:, :K]
        else:
            root = 1.0 / np.sqrt(degree)
            vectors = np.linalg.eigh(root[:, None] * A * root)[1][:, -K:]
        return k_means(normalize(vectors), K, seed)

    return run


def best_of(fit: Callable[[int], tuple[float, np.ndarray]]) -> Callable[[int], np.ndarray]:
    """Clusters of the start with the smallest objective."""
    return lambda seed: min((fit(STARTS * seed + n) for n in range(STARTS)), key=lambda run: run[0])[1]


def factors(balanced: bool, loss: str = "frobenius") -> Method:
    """NMF of the weighted documents; the cluster of a document is its largest component."""

    def run(X: sp.csr_array, K: int, seed: int) -> np.ndarray:
        Y = weighed(X)
        if balanced:
            Y = sp.csr_array(sp.diags_array(np.sqrt(balance(X))) @ Y)
        solver = "cd" if loss == "frobenius" else "mu"

        def fit(start: int) -> tuple[float, np.ndarray]:
            model = NMF(K, init="random", solver=solver, beta_loss=loss, random_state=start, max_iter=150)
            W = model.fit_transform(Y)
            return model.reconstruction_err_, (W * np.linalg.norm(model.components_, axis=1)).argmax(axis=1)

        return best_of(fit)(seed)

    return run


def semantic(X: sp.csr_array, K: int, seed: int) -> np.ndarray:
    return k_means(normalize(LatentSemanticAnalysis(K, random_state=seed).fit_transform(weighed(X))), K, seed)


def aspects(beta: float) -> Method:
    def run(X: sp.csr_array, K: int, seed: int) -> np.ndarray:
        model = ProbabilisticLatentSemanticAnalysis(
            K, beta=beta, n_init=STARTS, random_state=seed, max_iter=20
        )
        return model.fit(X).transform(X).argmax(axis=1)

    return run


def dirichlet(solver: str, iterations: int) -> Method:
    def run(X: sp.csr_array, K: int, seed: int) -> np.ndarray:
        def fit(start: int) -> tuple[float, np.ndarray]:
            model = LatentDirichletAllocation(K, solver=solver, random_state=start, max_iter=iterations)
            topics = model.fit(X).transform(X)
            return -model.trace_[-1], topics.argmax(axis=1)

        return best_of(fit)(seed)

    return run


def concepts(balanced: bool) -> Method:
    """Concept factorization of similarities, unscaled or scaled as for the normalized cut."""

    def run(X: sp.csr_array, K: int, seed: int) -> np.ndarray:
        A, scale = affinity(X), np.sqrt(balance(X)) if balanced else np.ones(X.shape[0])
        model = BilinearNMF(K, kernel="precomputed", n_init=STARTS, random_state=seed, max_iter=150)
        return model.fit(scale[:, None] * A * scale).labels_

    return run


METHODS: dict[str, Method] = {
    "k-means": lambda X, K, seed: k_means(weighed(X), K, seed),
    "k-means, balanced": lambda X, K, seed: k_means(weighed(X), K, seed, balance(X)),
    "spectral, average weight": spectral("average"),
    "spectral, ratio cut": spectral("ratio"),
    "spectral, normalized cut": spectral("normalized"),
    "latent semantic analysis, k-means": semantic,
    "NMF": factors(False),
    "NMF, balanced": factors(True),
    "NMF, divergence": factors(False, "kullback-leibler"),
    "bilinear NMF": concepts(False),
    "bilinear NMF, balanced": concepts(True),
    "PLSA": aspects(1.0),
    "PLSA, beta 0.8": aspects(0.8),
    "LDA, variational": dirichlet("variational", 60),
    "LDA, Gibbs": dirichlet("gibbs", 200),
}


# --- the comparison ------------------------------------------------------------------------------------


def accuracy(labels: np.ndarray, clusters: np.ndarray) -> float:
    """Accuracy under the best assignment of clusters to classes."""
    table = confusion_matrix(labels, clusters)
    return table[linear_sum_assignment(-table)].sum() / len(labels)


def compare(
    X: sp.csr_array, labels: np.ndarray, sizes: list[int], draws: int
) -> dict[str, dict[int, list[tuple[float, float]]]]:
    """Accuracy and mutual information of each draw, by method and number of classes."""
    scores: dict[str, dict[int, list[tuple[float, float]]]] = {}
    for K in sizes:
        for draw in range(draws):
            chosen = np.random.default_rng([K, draw]).choice(np.unique(labels), K, replace=False)
            at = np.flatnonzero(np.isin(labels, chosen))
            part = X[at]
            part = sp.csr_array(part[:, np.flatnonzero(part.sum(axis=0))])
            truth = np.searchsorted(np.sort(chosen), labels[at])
            for name, method in METHODS.items():
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    clusters = method(part, K, draw)
                nmi = normalized_mutual_info_score(truth, clusters, average_method="max")
                scores.setdefault(name, {}).setdefault(K, []).append((accuracy(truth, clusters), nmi))
                seconds = time.perf_counter() - start
                print(f"K={K} draw {draw} {name}: {scores[name][K][-1]} {seconds:.1f} s", file=sys.stderr)
    return scores


def table(scores: dict[str, dict[int, list[tuple[float, float]]]]) -> list[str]:
    """Mean mutual information by number of classes, and the means of both over all draws."""
    sizes = list(next(iter(scores.values())))
    mean = {name: np.mean([pair for K in sizes for pair in of[K]], axis=0) for name, of in scores.items()}
    best = max(nmi for _, nmi in mean.values())
    out = [
        "| method | " + " | ".join(f"K = {K}" for K in sizes) + " | mean | accuracy |",
        "|---|" + "---|" * (len(sizes) + 2),
    ]
    for name, of in scores.items():
        cells = [f"{np.mean([nmi for _, nmi in of[K]]):.3f}" for K in sizes]
        right, nmi = mean[name]
        shown = f"**{nmi:.3f}**" if nmi == best else f"{nmi:.3f}"
        out.append(f"| {name} | " + " | ".join(cells) + f" | {shown} | {right:.3f} |")
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 10, 20])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--corpora", nargs="+", default=["drawn", "packages"])
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    lines = []
    for name in given.corpora:
        X, labels = {"drawn": drawn, "packages": packages}[name]()
        sizes = np.bincount(labels)
        sizes = sizes[sizes > 0]
        title = {"drawn": "Drawn documents", "packages": "Docstrings of packages"}[name]
        about = f"{X.shape[0]} documents, {len(sizes)} classes of {sizes.min()} to {sizes.max()}"
        lines += [
            f"**{title}**: {about}, {X.shape[1]} words.",
            "",
            *table(compare(X, labels, given.sizes, given.draws)),
            "",
        ]
    text = "\n".join(lines)
    print(text)
    if given.write is not None:
        given.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
