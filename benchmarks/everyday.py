"""Everyday use: each class that scikit-learn has too, from 200 to 200,000 rows, beside scikit-learn's.

The classes are found by name: public classes of `suffice.<module>` that `sklearn.<module>` also has. `fit`,
and then `predict`, `transform` or what the class has instead, run with default parameters on the same data,
in turns, in one process with one thread each. The figure is the CPU time of suffice in units of
scikit-learn's: below 1 suffice is faster. What the first call takes more is reported apart.

    python benchmarks/everyday.py                                # all classes and sizes: about two hours
    python benchmarks/everyday.py --only KMeans Ridge --sizes 200 2000
    python benchmarks/everyday.py --quick                        # 200 and 2,000 rows, few repeats
    python benchmarks/everyday.py --write                        # and write the table of the documentation
"""

from __future__ import annotations

import argparse
import gc
import inspect
import json
import math
import os
import pkgutil
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import sklearn
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

import suffice

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "everyday_table.md"
SIZES = (200, 2_000, 20_000, 200_000)
LIMIT = 20.0  # CPU seconds of a call; a cell that is expected to take longer is left out
LOSES = 1.5
D, K, VOCABULARY = 10, 3, 20_000

# Classes without data of their own.
NOT_MEASURED = {"make_column_selector": "it has no fit"}

# Parameters where the default does not suit the data: a number of components below the number of features.
OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {"n_components": 5} for name in ("FactorAnalysis", "FastICA", "IncrementalPCA", "KernelPCA")},
    **{name: {"n_components": 5} for name in ("NMF", "PCA", "SparsePCA", "TruncatedSVD")},
    **{name: {"n_components": K} for name in ("GaussianMixture", "BayesianGaussianMixture")},
    "AgglomerativeClustering": {"n_clusters": K},
    "SpectralClustering": {"n_clusters": K},
    "Nystroem": {"n_components": 50},
}
CATEGORIES = {"OneHotEncoder", "OrdinalEncoder", "TargetEncoder"}  # columns of strings
COUNTS = {"CategoricalNB", "MultinomialNB", "ComplementNB", "LatentDirichletAllocation", "NMF"}
TEXTS = {"CountVectorizer", "HashingVectorizer", "TfidfVectorizer"}
WEIGHTED_TEXTS = {  # what people fit to a TF-IDF matrix
    *(
        "BernoulliNB",
        "ComplementNB",
        "KMeans",
        "LatentDirichletAllocation",
        "LinearSVC",
        "LogisticRegression",
    ),
    *("MiniBatchKMeans", "MultinomialNB", "NMF", "Perceptron", "RidgeClassifier", "SGDClassifier"),
    *("TfidfTransformer", "TruncatedSVD"),
}
# Memory grows with the square of the rows: the most that are tried.
QUADRATIC = {
    **{name: 5_000 for name in ("KernelPCA", "KernelRidge", "SpectralClustering")},
    "AgglomerativeClustering": 20_000,
    "LocallyLinearEmbedding": 20_000,
}


def shared_classes() -> dict[str, tuple[type, type]]:
    """Classes of suffice and of scikit-learn, by name without "suffice."."""
    pairs = {}
    for module in pkgutil.walk_packages(suffice.__path__, "suffice."):
        if not module.ispkg:
            continue
        ours = import_module(module.name)
        try:
            theirs = import_module(module.name.replace("suffice", "sklearn", 1))
        except ImportError:
            continue
        for name in getattr(ours, "__all__", ()):
            pair = getattr(ours, name), getattr(theirs, name, None)
            if all(map(inspect.isclass, pair)):
                pairs[f"{module.name.partition('.')[2]}.{name}"] = pair
    return pairs


# --- data -------------------------------------------------------------------------------------------------


@cache
def dense(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlapping groups in rows of numbers; the labels of the groups; a linear target."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, K, rows)
    X = rng.normal(size=(K, D))[label] + rng.normal(size=(rows, D))
    return X, label, X @ rng.normal(size=D) + rng.normal(size=rows)


@cache
def sparse(rows: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows of 10 of 500 features; labels and target are linear in them, with noise."""
    rng = np.random.default_rng(0)
    i = rng.integers(0, 500, size=(rows, 10))
    X = sp.csr_matrix((np.abs(rng.normal(size=i.size)), i.ravel(), np.arange(0, i.size + 1, 10)), (rows, 500))
    X.sum_duplicates()
    score = X @ rng.normal(size=(500, K)) + 0.5 * rng.normal(size=(rows, K))
    return X, score.argmax(axis=1), score[:, 0]


@cache
def words(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Documents of 30 words by Zipf's law, a tenth of which depend on the label; and the labels."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, K, rows)
    chance = 1.0 / np.arange(1, VOCABULARY + 1)
    word = rng.choice(VOCABULARY, size=(rows, 30), p=chance / chance.sum())
    topical = rng.random(word.shape) < 0.1
    return np.where(topical, 100 + (word * K + label[:, None]) % (VOCABULARY - 100), word), label


@cache
def texts(rows: int) -> tuple[list[str], np.ndarray]:
    word, label = words(rows)
    names = np.array([f"w{i:x}" for i in range(VOCABULARY)], dtype=object)
    return [" ".join(names[line]) for line in word], label


@cache
def tf_idf(rows: int) -> tuple[Any, np.ndarray]:
    from sklearn.feature_extraction.text import TfidfTransformer

    counts, label = word_counts(rows)
    return TfidfTransformer().fit_transform(counts), label


@cache
def word_counts(rows: int) -> tuple[Any, np.ndarray]:
    word, label = words(rows)
    ends = np.arange(0, word.size + 1, word.shape[1])
    counts = sp.csr_matrix((np.ones(word.size), word.ravel(), ends), (rows, VOCABULARY))
    counts.sum_duplicates()
    return counts, label


@cache
def categories(rows: int) -> tuple[Any, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    columns = {f"c{k}": rng.choice([f"v{i}" for i in range(k)], rows) for k in (3, 10, 100)}
    return pd.DataFrame(columns, dtype=object), *dense(rows)[1:]


DATA = (dense, sparse, words, texts, tf_idf, word_counts, categories)


def forget() -> None:
    """Free the data of the previous size."""
    for make in DATA:
        make.cache_clear()
    gc.collect()


def kinds(name: str, ours: type, theirs: type) -> list[str]:
    """The kinds of data that a class is measured with."""
    if name in TEXTS:
        return ["text"]
    if name in CATEGORIES:
        return ["strings"]
    if name == "ColumnTransformer":
        return ["table"]
    if name == "TfidfTransformer":
        return ["text"]
    if name in ("KDTree", "CategoricalNB"):
        return ["dense"]
    takes = [get_tags(made(cls, name)).input_tags.sparse for cls in (ours, theirs)]
    return ["dense", *["sparse"] * all(takes), *["text"] * (name in WEIGHTED_TEXTS)]


def data(name: str, cls: type, kind: str, rows: int) -> tuple[Any, Any]:
    """X and y for a class; y is None for what takes none."""
    if kind == "table":
        X, label, _ = dense(rows)
        return pd.concat([pd.DataFrame(X).add_prefix("x"), categories(rows)[0]], axis=1), label
    if name in TEXTS:
        return texts(rows)[0], None
    if kind == "text":
        X, label = (word_counts if name in COUNTS | {"TfidfTransformer"} else tf_idf)(rows)
        number = label.astype(np.float64)
    elif kind == "strings":
        X, label, number = categories(rows)
    else:
        X, label, number = (dense if kind == "dense" else sparse)(rows)
    if kind == "dense" and name in COUNTS:
        X = np.floor(np.abs(3.0 * X))
    if name == "CategoricalNB":
        X = np.minimum(X, 5).astype(np.int64)
    if kind == "dense" and name == "SimpleImputer":
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    tags = get_tags(made(cls, name)) if hasattr(cls, "fit") else None
    if tags is None or not (tags.target_tags.required or name == "TargetEncoder"):
        return X, None
    return X, label if tags.classifier_tags or name == "TargetEncoder" else number


# --- calls ------------------------------------------------------------------------------------------------


@cache
def options(cls: type, name: str) -> dict[str, Any]:
    """Parameters that are not the default: those of OPTIONS, and a random state."""
    library = cls.__module__.partition(".")[0]
    if name == "ColumnTransformer":
        part = import_module(f"{library}.preprocessing")
        numbers, strings = [f"x{j}" for j in range(D)], ["c3", "c10", "c100"]
        parts = [("n", part.StandardScaler(), numbers), ("s", part.OneHotEncoder(), strings)]
        return {"transformers": parts}
    random = "random_state" in inspect.signature(cls).parameters
    return OPTIONS.get(name, {}) | ({"random_state": 0} if random else {})


def made(cls: type, name: str) -> Any:
    return cls(**options(cls, name))


def answer_of(name: str, *classes: type) -> str | None:
    """The method that answers for rows after the fit, if all classes have one."""
    if name == "KDTree":
        return "query"
    answers = ("kneighbors",) if name == "NearestNeighbors" else ("predict", "transform")
    return next((a for a in answers if all(hasattr(made(cls, name), a) for cls in classes)), None)


def calls(
    name: str, cls: type, X: Any, y: Any, answer: str | None
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is measured: fit, and then an answer for the same rows."""

    def fit() -> Any:
        return getattr(cls, "of", cls)(X) if name == "KDTree" else made(cls, name).fit(X, y)

    yield "fit", fit
    if answer:
        fitted = fit()
        yield answer, lambda: getattr(fitted, answer)(X)


def seconds(call: Callable[[], Any], times: int = 1) -> float:
    """CPU seconds of a call, in all threads of the process."""
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


@dataclass
class Cell:
    """CPU seconds of one call of both libraries, in turns."""

    name: str
    kind: str
    call: str
    rows: int
    ours: float
    theirs: float
    ratio: float
    first: float  # seconds that the first call of suffice takes more


def measured(
    ours: Callable[[], Any], theirs: Callable[[], Any], budget: float
) -> tuple[float, float, float, float]:
    """Medians of both, the median of the ratios of consecutive turns, and the excess of the first call."""
    with warnings.catch_warnings(), threadpool_limits(1), suffice.threads(1):
        warnings.simplefilter("ignore")  # fits of hard data do not converge
        first, _ = seconds(ours), seconds(theirs)
        pair = [(seconds(ours), seconds(theirs))]
        total = sum(pair[0])
        times = max(1, math.ceil(2e-3 / max(total, 1e-6)))  # the clock is coarse beside short calls
        turns = min(9, int(budget / (total * times)))
        if turns >= 3:
            pair = [(seconds(ours, times), seconds(theirs, times)) for _ in range(turns)]
    each = np.maximum(np.array(pair), 1e-7)
    mine, its = np.median(each, axis=0)
    return float(mine), float(its), float(np.median(each[:, 0] / each[:, 1])), max(0.0, first - float(mine))


def expected(cells: list[Cell], rows: int) -> float:
    """CPU seconds that both fits of a size will take, extrapolated from the last two sizes."""
    fits = [(cell.rows, cell.ours + cell.theirs) for cell in cells if cell.call == "fit"]
    if not fits:
        return 0.0
    power = 1.0
    if len(fits) > 1:
        (m, s), (n, t) = fits[-2:]
        power = max(power, math.log(t / s) / math.log(n / m))
    n, t = fits[-1]
    return t * (rows / n) ** power


def measure(
    name: str, ours: type, theirs: type, kind: str, sizes: tuple[int, ...], budget: float, limit: float
) -> tuple[list[Cell], list[str]]:
    """Cells of a class with one kind of data, and what was left out."""
    cells: list[Cell] = []
    answer = answer_of(name, ours, theirs)
    for rows in sizes:
        if rows > QUADRATIC.get(name, rows):
            return cells, [f"{name}, {kind}, {rows:,} rows: its memory grows with the square of the rows"]
        if (cost := expected(cells, rows)) > 2.0 * limit:
            return cells, [f"{name}, {kind}, {rows:,} rows: about {cost:.0f} s are expected"]
        X, y = data(name, ours, kind, rows)
        pairs = zip(*(calls(name, cls, X, y, answer) for cls in (ours, theirs)), strict=True)
        for (call, mine), (_, its) in pairs:
            cell = Cell(name, kind, call, rows, *measured(mine, its, budget))
            cells.append(cell)
            print(json.dumps(asdict(cell)), flush=True)
    return cells, []


# --- the page ---------------------------------------------------------------------------------------------


def figure(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10.0 else f"{ratio:.0f}"


def table(cells: list[Cell], left_out: list[str], sizes: tuple[int, ...]) -> list[str]:
    """The page: a summary, the ratios by size, those that lose, and what was left out."""
    heads = [f"{rows:,}" for rows in sizes]
    below = share(cells, lambda c: c.ratio < 1.0)
    above = share(cells, lambda c: c.ratio > LOSES)
    lines = [
        f"{platform.machine()}, {os.cpu_count()} cores, one thread each; Python {platform.python_version()}, "
        f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}.",
        "",
        f"CPU time of suffice in units of scikit-learn's, by number of rows. Of {len(cells)} cells "
        f"{below} are below 1, and {above} are above {LOSES}.",
        "",
        f"| class | data | call | {' | '.join(heads)} | first calls, s more |",
        "|---" * (4 + len(sizes)) + "|",
    ]
    rows: dict[tuple[str, str, str], dict[int, Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.name, cell.kind, cell.call), {})[cell.rows] = cell
    for (name, kind, call), line in rows.items():
        figures = [figure(line[n].ratio) if n in line else "" for n in sizes]
        first = sum(cell.first for cell in line.values())
        lines.append(f"| {name} | {kind} | {call} | {' | '.join(figures)} | {first:.1f} |")
    losers = sorted((cell for cell in cells if cell.ratio > LOSES), key=lambda cell: -cell.ratio)
    lines += [
        "",
        f"Above {LOSES}:",
        "",
        "| class | data | call | rows | suffice, ms | scikit-learn, ms | ratio |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {c.name} | {c.kind} | {c.call} | {c.rows:,} | {1e3 * c.ours:.3g} | {1e3 * c.theirs:.3g} "
            f"| {figure(c.ratio)} |"
            for c in losers
        ),
    ]
    if left_out:
        lines += ["", "Left out:", "", *(f"* {line}" for line in left_out)]
    return lines


def share(cells: list[Cell], condition: Callable[[Cell], bool]) -> str:
    return f"{sum(map(condition, cells)) / max(1, len(cells)):.0%}"


def run(only: list[str], sizes: tuple[int, ...], budget: float, limit: float) -> tuple[list[Cell], list[str]]:
    cells: list[Cell] = []
    left_out = [f"{name}: {reason}" for name, reason in NOT_MEASURED.items()]
    for path, (ours, theirs) in sorted(shared_classes().items()):
        name = path.rpartition(".")[2]
        if name in NOT_MEASURED or (only and name not in only):
            continue
        for kind in kinds(name, ours, theirs):
            more, missing = measure(name, ours, theirs, kind, sizes, budget, limit)
            cells += more
            left_out += missing
            forget()
    return cells, left_out


def unmeasured(cells: list[Cell], left_out: list[str], sizes: tuple[int, ...]) -> list[str]:
    """What runs that were ended did not come to: classes, kinds of data, sizes."""
    have = {(cell.name, cell.kind, cell.rows) for cell in cells}
    lines, absent = [], []
    for path, (ours, theirs) in sorted(shared_classes().items()):
        name = path.rpartition(".")[2]
        if name in NOT_MEASURED:
            continue
        if not any(cell.name == name for cell in cells):
            absent.append(name)
            continue
        for kind in kinds(name, ours, theirs):
            known = any(line.startswith(f"{name}, {kind},") for line in left_out)
            if (lost := [f"{n:,}" for n in sizes if (name, kind, n) not in have]) and not known:
                lines.append(f"{name}, {kind}: not measured with {', '.join(lost)} rows")
    return [*lines, *[f"not measured: {', '.join(absent)}"] * bool(absent)]


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--only", nargs="+", default=[], metavar="CLASS")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), metavar="ROWS")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU seconds of a call at most, about")
    parser.add_argument("--budget", type=float, default=2.0, help="CPU seconds for the repeats of a cell")
    parser.add_argument("--quick", action="store_true", help="200 and 2,000 rows, few repeats")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} of the documentation")
    parser.add_argument(
        "--cells", type=Path, nargs="+", help="make the table from the output of earlier runs"
    )
    arguments = parser.parse_args()
    names = {path.rpartition(".")[2] for path in shared_classes()}
    if strange := sorted(set(arguments.only) - names):
        parser.error(f"not a class of both libraries: {strange}")
    sizes = SIZES[:2] if arguments.quick else tuple(sorted(arguments.sizes))
    if arguments.cells:
        cells, left_out = stored(arguments.cells)
        left_out += unmeasured(cells, left_out, sizes)
    else:
        cells, left_out = run(
            arguments.only, sizes, 0.2 if arguments.quick else arguments.budget, arguments.limit
        )
    lines = table(cells, left_out, sizes)
    print("\n".join(lines), flush=True)
    if arguments.write:
        PAGE.write_text("\n".join(lines) + "\n")


def stored(files: list[Path]) -> tuple[list[Cell], list[str]]:
    """Cells that earlier runs printed; those of later files replace those of earlier ones."""
    cells, left_out = {}, {}
    for file in files:
        for line in file.read_text().splitlines():
            if line.startswith("{"):
                cell = Cell(**json.loads(line))
                cells[cell.name, cell.kind, cell.call, cell.rows] = cell
            elif line.startswith("* "):
                left_out[line[2:]] = None
    return list(cells.values()), list(left_out)


if __name__ == "__main__":
    main()
