"""Shared by the clusterings: labels of rows, distances by the name of a metric, and checks of memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator

from ..core.blocks import Rows
from ..core.callers import warn
from ..core.cost import afford
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..estimator.base import must_have_rows
from ..fitting.nearest import nearest, squared_distances
from ..fitting.seeding import NOBODY, SPARE, draw
from ..statistics import describe
from .clusterer import Clusterer
from .k_means import Centers

FEW = 1000  # default number of small clusters
# Rows up to which all pairs are compared; by default, more rows are sampled or summed first.
EXACT_ROWS = 1 << 14

# Names of metrics, and what `scipy.spatial.distance.cdist` calls them.
METRICS = {
    "chebyshev": "chebyshev",
    "cityblock": "cityblock",
    "cosine": "cosine",
    "euclidean": "euclidean",
    "hamming": "hamming",
    "l1": "cityblock",
    "l2": "euclidean",
    "manhattan": "cityblock",
    "sqeuclidean": "sqeuclidean",
}
MANY = 1 << 10  # points to which rows are compared at a time


def distances(X: np.ndarray, points: np.ndarray, metric: str | Callable[..., float]) -> np.ndarray:
    """Distances of the rows to the points, (N, M). Squared differences are summed, never squared norms."""
    name = METRICS.get(metric, metric) if isinstance(metric, str) else metric
    if name in ("euclidean", "sqeuclidean"):
        square = squared_distances(X, points)
        return np.sqrt(square, out=square) if name == "euclidean" else square
    try:
        out = np.asarray(cdist(X, points, name))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"metric={metric!r}: {str(error).rstrip('.')}. Pass a name that scipy.spatial.distance.cdist "
            "knows, or a function of two rows that returns a number."
        ) from error
    if not np.isfinite(out).all():
        advice = "Rows of zeros have no direction: leave them out." if name == "cosine" else "Scale the rows."
        raise ValueError(f"Distances must be finite; metric={metric!r} returns NaN or infinity. {advice}")
    return out


def nearest_by(
    X: np.ndarray, points: np.ndarray, metric: str | Callable[..., float]
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest point of each row, the first of several, and its distance."""
    if metric in ("euclidean", "l2"):
        labels, square = nearest(X, points)
        return labels, np.sqrt(square)
    labels, best = np.zeros(len(X), np.int64), np.full(len(X), np.inf)
    for start in range(0, len(points), MANY):
        D = distances(X, points[start : start + MANY], metric)
        label = D.argmin(axis=1)
        distance = D[np.arange(len(D)), label]
        closer = distance < best
        labels[closer], best[closer] = start + label[closer], distance[closer]
    return labels, best


def must_be_square(A: Any, name: str) -> None:
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"{name} should be square, got matrix of shape {A.shape}.")


def symmetric(A: Any, name: str = "Distance matrix", *, directed: bool = False) -> Any:
    """The matrix, dense or CSR, which must be square, not negative and symmetric up to rounding.

    The links of a `directed` graph get both directions.
    """
    must_be_square(A, name)
    low, high = _entries(A).min(initial=0.0), _entries(A).max(initial=0.0)
    if low < 0:
        raise ValueError(f"{name} must not be negative; the least entry is {low:g}.")
    off = float(np.abs(_entries(A - A.T)).max(initial=0.0))
    if not off > 1e-8 * high:
        return A
    if not directed:
        raise ValueError(f"{name} must be symmetric; entries differ by up to {off:g}: pass 0.5 * (X + X.T).")
    warn("Array is not symmetric, and will be converted to symmetric by average with its transpose.")
    return sp.csr_array(0.5 * (A + A.T)) if sp.issparse(A) else 0.5 * (A + A.T)


def selected(X: np.ndarray, index: np.ndarray, metric: str | Callable[..., float]) -> np.ndarray:
    """The rows with these indices; with a precomputed distance, the distances between them."""
    return symmetric(X)[np.ix_(index, index)] if metric == "precomputed" else X[index]


def _entries(A: Any) -> np.ndarray:
    return A.data if sp.issparse(A) else A


def afford_pairs(N: int, instead: str) -> None:
    """Raise if the distances of all pairs of rows do not fit in the memory."""
    afford(2.0 * N**2, f"the distances of {N} rows", instead)


def draw_present(size: int, seed: int, turn: int, chosen: np.ndarray, block: Rows) -> Any:
    """Rows with a weight, drawn in proportion to their squared distance from the chosen rows."""
    present = block.weight > 0
    if not present.all():  # see `counts_rows`
        block = block.replace(X=np.ascontiguousarray(block.X[present]), weight=block.weight[present])
    return draw(size, seed, turn, chosen, block)


def spread_rows(data: Partitions, size: int, seed: int, rounds: int = 4) -> np.ndarray:
    """Draw many distinct rows, by k-means|| without its last step.

    The first are drawn uniformly, and those of each later round in proportion to the squared distance from
    the rows before.
    """
    chosen = NOBODY
    for turn in range(rounds):
        many = size // rounds + (size % rounds > turn)
        if many:
            drawn = data.fold(draw_present, many + SPARE, seed, turn, chosen).first(many)
            chosen = np.concatenate([chosen, drawn]) if len(chosen) else drawn
    return chosen


def n_micro_clusters(n_clusters: int | None) -> int:
    """The number of small clusters to which many rows are summed, by default."""
    return max(FEW, 10 * (n_clusters or 0))


def micro_clusters(data: Partitions, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and weights of many small clusters: each row belongs to the nearest of `spread_rows`."""
    model = Centers(spread_rows(data, size, seed))
    s = data.fold(Centers.summarize, model)
    return model.estimate(s).center[s.weight > 0], s.weight[s.weight > 0]


def numbered(group: np.ndarray, points: np.ndarray | None) -> np.ndarray:
    """Numbers 0, 1, ... of groups, by the least point of each, so that the order of points does not matter.
    Without points, by the first member."""
    rank = np.arange(len(group))
    if points is not None:
        rank[np.lexsort(points.T[::-1])] = np.arange(len(group))
    _, number = np.unique(group, return_inverse=True)
    first = np.full(number.max(initial=-1) + 1, len(group))
    np.minimum.at(first, number, rank)
    order = np.empty(len(first), np.int32)
    order[np.argsort(first, kind="stable")] = np.arange(len(first))
    return order[number]


def gathered(data: Partitions, instead: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gather all rows in float64. Returns them with their weights, and the indices of rows of positive
    weight."""
    block = data.gather(instead)
    X = np.ascontiguousarray(block.X, dtype=np.float64)
    return X, block.weight, np.flatnonzero(block.weight > 0)


@dataclass(frozen=True, eq=False)
class Leaves(Predictor):
    """Points with a cluster each: a row belongs to the cluster of the nearest point.

    With a precomputed distance, `column` has the columns of the points in place of `points`.
    """

    points: Annotated[np.ndarray, "(L, D)"]
    label: Annotated[np.ndarray, "int (L,)"]
    column: Annotated[np.ndarray | None, "int (L,)"] = None

    @classmethod
    def among(
        cls, X: np.ndarray, index: np.ndarray, label: np.ndarray, metric: str | Callable[..., float]
    ) -> Leaves:
        """Leaves from the rows with these indices and labels; with a precomputed distance, from their
        columns."""
        if metric == "precomputed":
            return cls(np.empty((0, X.shape[1])), label, index)
        return cls(X[index], label)

    def of(self, X: np.ndarray, metric: str | Callable[..., float]) -> np.ndarray:
        """The cluster of each row."""
        if self.column is not None:
            return self.label[X[:, self.column].argmin(axis=1)]
        return self.label[nearest_by(X, self.points, metric)[0]]

    def labels(self, X: np.ndarray, index: np.ndarray, metric: str | Callable[..., float]) -> np.ndarray:
        """The clusters of all rows. The rows with these numbers are the leaves."""
        out = np.empty(len(X), np.int32)
        out[index] = self.label
        rest = np.setdiff1d(np.arange(len(X)), index)
        if len(rest):
            out[rest] = self.of(X[rest], metric)
        return out


class Clustering(Clusterer):
    """Base class of clusterings that label a row as the nearest of stored points."""

    model_: Annotated[Leaves, "D"]
    metric: Any
    labels_: Annotated[np.ndarray, "int (N,)"]
    n_clusters_name: ClassVar[str] = "n_clusters"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self, "metric", None) == "precomputed"
        return tags

    def _nearest(self) -> Callable[[np.ndarray], np.ndarray]:
        return lambda rows: self.model_.of(rows, self.metric)


def n_rows(estimator: BaseEstimator, data: Partitions) -> float:
    """The number of rows. Raises if there are fewer rows than clusters."""
    description = data.fold(describe)
    must_have_rows(description.weight)
    must_have_enough(description.rows, getattr(estimator, "n_clusters", None))
    return description.rows


def must_have_enough(rows: float, n_clusters: int | None) -> None:
    if n_clusters is not None and rows < n_clusters:
        raise ValueError(
            f"n_samples={rows:g} should be >= n_clusters={n_clusters}: fit to more rows, or lower n_clusters."
        )
