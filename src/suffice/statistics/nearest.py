"""The k nearest rows of queries, which merge across blocks as sums do.

Rows are ranked by (distance, row number), and a distance is the sum over the features of the differences
themselves. So the result has the same bits for any blocks, near the origin and far from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, Self

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Matrix, Rows, dense
from ..core.model import Predictor
from ..core.shapes import must
from ..core.statistics import Statistics
from ..core.values import Value
from .sums import class_codes

PIECE = 8192  # number of rows that are centred together
QUERIES, ROWS = 128, 512  # of a tile of inner products, half a megabyte
DENSE = 1 << 20  # number of entries of sparse rows that are made dense together
PAIRS = 1 << 14  # number of pairs of sparse queries and rows whose differences are computed together
# For more features and at least this number of queries, inner products take 0.6 to 1.0 of the time of
# differences; for fewer, 1.1 to 10 times.
FEW_FEATURES, MANY_QUERIES = 32, 128
# Metrics of rows of flags.
BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule")


@dataclass(frozen=True, eq=False)
class Nearest(Statistics):
    """The k nearest rows of each query, in order. `a + b` is for rows of a followed by those of b.

    A row of weight w is ceil(w) of the neighbours: each of them votes with weight one, and the last one with
    the rest.
    """

    rows: int  # how many rows there were
    distance: Annotated[np.ndarray, "(Q, K)"]  # before the root; infinite where there are fewer rows
    row: Annotated[np.ndarray, "int (Q, K)"]  # -1 where there are fewer
    vote: Annotated[np.ndarray, "(Q, K)"]
    target: Annotated[np.ndarray, "(Q, K, T)"]  # numbers, or indices of classes

    def __add__(self, other: Self) -> Self:
        row = np.where(other.row < 0, -1, other.row + self.rows)
        distance = np.concatenate([self.distance, other.distance], axis=1)
        first = np.argsort(distance, axis=1, kind="stable")[:, : self.distance.shape[1]]

        def merged(mine: np.ndarray, yours: np.ndarray) -> np.ndarray:
            return np.take_along_axis(np.concatenate([mine, yours], axis=1), first, axis=1)

        target = np.concatenate([self.target, other.target], axis=1)
        return self.replace(
            rows=self.rows + other.rows,
            distance=np.take_along_axis(distance, first, axis=1),
            row=merged(self.row, row),
            vote=merged(self.vote, other.vote),
            target=np.take_along_axis(target, first[:, :, None], axis=1),
        )

    def __mul__(self, factor: float) -> NoReturn:
        raise TypeError("The nearest rows of other weights are other rows: they cannot be scaled.")

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Minkowski(Predictor):
    """The distance (sum of |difference|^p)^(1/p), or the largest difference for p = inf."""

    p: float

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must(self.p > 0, f"There is no distance with p={self.p}.")

    def rooted(self, distance: np.ndarray) -> np.ndarray:
        """Distances from sums of powers."""
        if self.p == 2:
            return np.sqrt(distance)
        return distance if self.p in (1, np.inf) else distance ** (1.0 / self.p)

    def search(self, X: Matrix, weight: np.ndarray, queries: Any, k: int) -> tuple[np.ndarray, ...]:
        """The k nearest rows of each query, by comparison with all."""
        return search(X, weight, queries, k, self.p)

    def between(self, queries: Any, X: Matrix) -> np.ndarray:
        """Distances of queries from all rows, without the root, (Q, N)."""
        from ..loops.neighbors import distances_of

        size = max(1, DENSE // max(1, X.shape[1])) if sp.issparse(X) else len(X)
        pieces = [_numbers(X[a : a + size]) for a in range(0, X.shape[0], size)]
        return np.hstack([distances_of(piece, _numbers(queries), float(self.p)) for piece in pieces])


@dataclass(frozen=True, eq=False)
class Pairwise(Predictor):
    """A distance that scikit-learn's `pairwise_distances` computes, by its name, as a function of two rows or
    as a `DistanceMetric`; or 'precomputed': the queries are their distances from all rows."""

    metric: Any
    params: dict[str, Any]

    def rooted(self, distance: np.ndarray) -> np.ndarray:
        """The distances."""
        return distance

    def search(self, X: Matrix, weight: np.ndarray, queries: Any, k: int) -> tuple[np.ndarray, ...]:
        """The k nearest rows of each query, by comparison with all."""
        best = nobody(queries.shape[0], k)
        for start in range(0, X.shape[0], PIECE):
            piece = slice(start, start + PIECE)
            for q in range(0, queries.shape[0], QUERIES):
                some = slice(q, q + QUERIES)
                nearest = tuple(values[some] for values in best)
                distance = self.between(queries[some], X, piece)
                distance[:, weight[piece] <= 0] = np.inf
                limit = nearest[0][:, -1]
                if k < distance.shape[1]:
                    limit = np.minimum(limit, np.partition(distance, k - 1, axis=1)[:, k - 1])
                query, row = np.nonzero((distance <= limit[:, None]) & (distance < np.inf))
                _insert(query, row, distance[query, row], start, weight[piece], *nearest)
        return best

    def between(self, queries: Any, X: Matrix, piece: slice = slice(None)) -> np.ndarray:
        """Distances of queries from a piece of the rows, (Q, N). NaN, and missing entries of a sparse
        graph, are infinite."""
        if self.metric == "precomputed":
            return _filled(queries[:, piece]) if sp.issparse(queries) else queries[:, piece].copy()
        from sklearn.metrics import DistanceMetric, pairwise_distances

        rows = X[piece]
        if isinstance(self.metric, str) and self.metric in BOOLEAN:
            queries, rows = dense(queries) != 0, dense(rows) != 0
        if self.metric == "sokalmichener":  # which SciPy has no more
            out = DistanceMetric.get_metric(self.metric).pairwise(queries, rows)
        elif hasattr(self.metric, "pairwise"):
            out = self.metric.pairwise(queries, rows)
        else:
            out = pairwise_distances(queries, rows, metric=self.metric, **self.params)
        return np.where(np.isnan(out), np.inf, out)


def _filled(graph: Any) -> np.ndarray:
    """The distances of a sparse graph as a dense matrix. Pairs without an entry are infinitely far."""
    graph = sp.coo_array(graph)
    out = np.full(graph.shape, np.inf)
    out[graph.row, graph.col] = graph.data
    return out


@dataclass(frozen=True, eq=False)
class Queries(Value):
    """Queries whose k nearest rows are searched, by one fold over the rows."""

    X: Annotated[Any, "(Q, D)"]  # dense or CSR
    k: int
    distance: Minkowski | Pairwise
    classes: Annotated[tuple[np.ndarray, ...], "T of labels (V_t,)"] = ()  # of labels, which become indices

    def summarize(self, block: Any) -> Nearest:
        """The nearest rows of a block."""
        target = targets_of(block, self.classes)
        return self.found(self.distance.search(block.X, block.weight, self.X, self.k), target)

    def found(self, nearest: tuple[np.ndarray, ...], target: np.ndarray) -> Nearest:
        """Distances, numbers and votes of the nearest rows, with their targets of all, (N, T)."""
        distance, row, vote = nearest
        targets = np.zeros((*row.shape, target.shape[1]))
        exists = row >= 0
        targets[exists] = target[row[exists]]
        return Nearest(len(target), distance, row, vote, targets)


def targets_of(block: Rows, classes: tuple[np.ndarray, ...]) -> np.ndarray:
    """Targets of a block as numbers, (N, T). Without targets, T is zero."""
    if block.y is None:
        return np.empty((len(block), 0))
    y = block.y[:, None] if block.y.ndim == 1 else block.y
    if not classes:
        return y.astype(np.float64)
    out, has_weight = (
        np.zeros(y.shape),
        block.weight > 0,
    )  # others are not neighbours, and their class may be unknown
    for t, c in enumerate(classes):
        out[has_weight, t] = class_codes(c, y[has_weight, t])
    return out


def nobody(n_queries: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances, numbers and votes of the nearest of no rows."""
    row = np.full((n_queries, k), -1, np.int64)
    return np.full((n_queries, k), np.inf), row, np.zeros((n_queries, k))


def _numbers(X: Matrix) -> np.ndarray:
    """Rows in the types that the compiled loops accept."""
    return np.ascontiguousarray(dense(X), np.float64)


def search(X: Matrix, weight: np.ndarray, queries: Any, k: int, p: float) -> tuple[np.ndarray, ...]:
    """The k nearest rows of each query, by comparison with all: distances, row numbers and votes, (Q, K).

    Rows and queries are dense or CSR. The bits do not depend on it, nor on how rows are compared.
    """
    from ..loops.neighbors import nearest_of_all

    nearest, weight = nobody(queries.shape[0], k), np.ascontiguousarray(weight, np.float64)
    if sp.issparse(X) or sp.issparse(queries):
        _search_sparse(X, weight, queries, float(p), *nearest)
        return nearest
    queries = _numbers(queries)
    by_products = p == 2.0 and X.shape[1] > FEW_FEATURES and len(queries) >= MANY_QUERIES
    for start in range(0, len(X), PIECE):
        piece = slice(start, start + PIECE)
        rows = _numbers(X[piece])
        if by_products:
            _by_products(rows, start, weight[piece], queries, *nearest)
        else:
            nearest_of_all(rows, start, weight[piece], queries, float(p), *nearest)
    return nearest


def _search_sparse(X: Matrix, weight: np.ndarray, queries: Any, p: float, *found: np.ndarray) -> None:
    """The search if rows or queries are CSR. Pieces with few features are made dense; those with many are
    compared as CSR."""
    from ..loops.neighbors import nearest_of_all

    (N, D), Q = X.shape, queries.shape[0]
    if p == 2.0 and D > QUERIES:
        X, queries = sp.csr_array(X), sp.csr_array(queries)
        for start in range(0, N, PIECE):
            piece = slice(start, start + PIECE)
            _by_sparse_products(X[piece], start, weight[piece], queries, *found)
        return
    size = max(1, DENSE // max(1, D))
    for q in range(0, Q, size):
        some = slice(q, q + size)
        part, nearest = _numbers(queries[some]), tuple(values[some] for values in found)
        for start in range(0, N, size):
            piece = slice(start, start + size)
            nearest_of_all(_numbers(X[piece]), start, weight[piece], part, p, *nearest)


def _by_sparse_products(
    X: sp.csr_array, start: int, weight: np.ndarray, queries: Any, *found: np.ndarray
) -> None:
    """Euclidean distances of CSR rows, as `_by_products`, about the origin."""
    D, k, columns = X.shape[1], found[0].shape[1], X.T.tocsr()
    half = np.where(weight > 0, 0.5 * _squares(X), np.inf)
    farthest = np.sqrt(2.0 * half[weight > 0].max(initial=0.0))
    for q in range(0, queries.shape[0], QUERIES):
        some = slice(q, q + QUERIES)
        part, nearest = queries[some], tuple(values[some] for values in found)
        norm = _squares(part)
        slack = 2.0 * (D + 8) * np.finfo(np.float64).eps * (np.sqrt(norm) + farthest) ** 2
        rest = half - (part @ columns).toarray()
        limit = 0.5 * (nearest[0][:, -1] + slack - norm)
        if k < len(weight):  # the k-th of these rows is not farther
            limit = np.minimum(limit, np.partition(rest, k - 1, axis=1)[:, k - 1] + slack)
        query, row = np.nonzero((rest <= limit[:, None]) & (weight > 0))
        for a in range(0, len(query), PAIRS):
            pairs = query[a : a + PAIRS], row[a : a + PAIRS]
            distance = _squares(part[pairs[0]] - X[pairs[1]])
            _insert(*pairs, distance, start, weight, *nearest)


def _squares(X: Any) -> np.ndarray:
    """The sum of the squares of each CSR row, in order: with the bits of the loop over dense rows."""
    X.sort_indices()
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row, X.data**2, minlength=X.shape[0])


def _insert(
    query: np.ndarray,
    row: np.ndarray,
    distance: np.ndarray,
    start: int,
    weight: np.ndarray,
    best: np.ndarray,
    rows: np.ndarray,
    votes: np.ndarray,
) -> None:
    """Insert rows at distances from queries, each as often as its weight says, among the nearest ones."""
    Q, k = best.shape
    copies = np.minimum(np.ceil(weight[row]), k).astype(np.int64)
    pair = np.repeat(np.arange(len(row)), copies)
    number = np.arange(len(pair)) - np.repeat(np.cumsum(copies) - copies, copies)
    vote = np.minimum(weight[row[pair]] - number, 1.0)
    # The nearest rows before are earlier rows, and so come first.
    query = np.concatenate([np.repeat(np.arange(Q), k), query[pair]])
    distance = np.concatenate([best.ravel(), distance[pair]])
    order = np.lexsort((distance, query))
    counts = np.bincount(query, minlength=Q)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = order[rank < k]
    best[:] = distance[first].reshape(Q, k)
    rows[:] = np.concatenate([rows.ravel(), start + row[pair]])[first].reshape(Q, k)
    votes[:] = np.concatenate([votes.ravel(), vote])[first].reshape(Q, k)


def _by_products(
    X: np.ndarray, start: int, weight: np.ndarray, queries: np.ndarray, *found: np.ndarray
) -> None:
    """Euclidean distances: |q - x|^2 = |q|^2 + |x|^2 - 2 q'x about the mean, within a bound of the rounding
    errors, says which rows may be near, and their differences decide."""
    from ..loops.neighbors import nearest_of_products

    (N, D), mean = X.shape, X.mean(axis=0)
    centred, rows = queries - mean, np.ascontiguousarray((X - mean).T)
    norm = np.einsum("qd,qd->q", centred, centred)
    half = 0.5 * np.einsum("dn,dn->n", rows, rows)
    # Each of the three sums of D products is within D roundings of its terms, which are at most this.
    largest = (np.sqrt(norm) + np.sqrt(2.0 * half.max())) ** 2
    slack = 2.0 * (D + 8) * np.finfo(np.float64).eps * largest
    products = np.zeros((QUERIES, ROWS))
    for q in range(0, len(queries), QUERIES):
        some = slice(q, q + QUERIES)
        for n in range(0, N, ROWS):
            tile = slice(n, n + ROWS)
            part = rows[:, tile]
            np.matmul(centred[some], part, out=products[: len(centred[some]), : part.shape[1]])
            nearest_of_products(
                products,
                half[tile],
                X[tile],
                start + n,
                weight[tile],
                queries[some],
                norm[some],
                slack[some],
                *(values[some] for values in found),
            )
