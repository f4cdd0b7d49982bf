"""Sums: weights and weighted totals, counts, distinct values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Matrix, Rows, Sequences, entries_of
from ..core.cost import afford
from ..core.partitions import Partitions
from ..core.statistics import Statistics


@dataclass(frozen=True, eq=False)
class Totals(Statistics):
    """The weight of the observed entries and their weighted total, in K groups for each feature."""

    weight: Annotated[np.ndarray, "(K, D) or (K, 1)"]  # (K, 1) where nothing is missing
    total: Annotated[np.ndarray, "(K, D)"]


def totals(X: Matrix, R: np.ndarray) -> Totals:
    """Totals of K groups with responsibilities R (N, K) for the rows of X. NaN is left out."""
    if isinstance(X, np.ndarray) and np.isnan(X.sum()):
        seen = ~np.isnan(X)
        return Totals(R.T.dot(seen.astype(np.float64)), R.T.dot(np.where(seen, X, 0.0)))
    return Totals(R.sum(axis=0)[:, None], np.asarray(X.T.dot(R).T))


def totals_by_label(
    X: Matrix, k: np.ndarray, weight: np.ndarray, K: int, above: float | None = None
) -> Totals:
    """Totals of rows that belong to one group each, k[n]. For dense X, optionally of the entries above a
    threshold."""
    from ..loops.counts import add_above_by_label, add_by_label, add_sparse_by_label

    k, weight = np.ascontiguousarray(k, np.int64), np.ascontiguousarray(weight)
    total = np.zeros((K, X.shape[1]))
    if sp.issparse(X):
        order = np.argsort(k.astype(np.min_scalar_type(K)), kind="stable")
        add_sparse_by_label(*entries_of(X), weight, k, order, total)
        return Totals(np.bincount(k, weight, minlength=K)[:, None], total)
    X = np.ascontiguousarray(X, np.float64)
    if above is not None:
        holes = add_above_by_label(X, float(above), weight, k, total) > 0
    else:
        add_by_label(X, weight, k, total)
        holes = np.isnan(total.sum())
    if not holes:
        return Totals(np.bincount(k, weight, minlength=K)[:, None], total)
    if above is None:
        total = np.zeros_like(total)
        add_by_label(np.nan_to_num(X, nan=0.0), weight, k, total)
    seen = np.zeros_like(total)
    add_by_label((~np.isnan(X)).astype(np.float64), weight, k, seen)
    return Totals(seen, total)


@dataclass(frozen=True, eq=False)
class CategoryCounts(Statistics):
    """The sorted categories of each column, and the weight of each category in K groups."""

    values: Annotated[tuple[np.ndarray, ...], "D of labels (V_d,)"]
    count: Annotated[tuple[np.ndarray, ...], "D of (K, V_d)"]

    def __add__(self, other: Self) -> Self:
        values = tuple(_union(*pair) for pair in zip(self.values, other.values, strict=True))
        mine, yours = (
            (_spread(v, old, c) for v, old, c in zip(values, s.values, s.count, strict=True))
            for s in (self, other)
        )
        return self.replace(values=values, count=tuple(a + b for a, b in zip(mine, yours, strict=True)))

    def __mul__(self, factor: float) -> Self:
        return self.replace(count=tuple(count * factor for count in self.count))

    __rmul__ = __mul__


def _spread(values: np.ndarray, old: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Counts of the old categories, at their indices among all."""
    if len(old) == len(values):
        return count
    out = np.zeros((len(count), len(values)))
    out[:, np.searchsorted(values, old)] = count
    return out


def category_codes(values: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The index of each category among the values (zero if it is unknown), and whether it is known."""
    if not len(values):
        return np.zeros(len(x), np.int64), np.zeros(len(x), bool)
    if x.dtype == object:
        seen = np.array([v is not None and v == v for v in x], dtype=bool)
        x = np.where(seen, x, values[0])
        code = _places(values, x)
        known = seen & np.array([a == b for a, b in zip(values[code], x, strict=True)], dtype=bool)
    else:
        code = _places(values, x)
        known = values[code] == x  # false for NaN
    return np.where(known, code, 0), known


def _places(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Insertion index of each x among the values."""
    try:
        return np.minimum(np.searchsorted(values, x), len(values) - 1)
    except TypeError:  # of strings among numbers
        raise _without_order([*values[:1], *x]) from None


def _without_order(values: Any) -> TypeError:
    kinds = sorted({type(value).__name__ for value in values})
    return TypeError(
        f"A column has values of several types, {kinds}, which cannot be sorted: write all as strings."
    )


def count_categories(values: np.ndarray, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The categories of a column, including `values`, and the weight of each in K groups."""
    code, known = category_codes(values, x)
    if not known.all():  # missing, or new
        values = _union(values, distinct(x))
        code, known = category_codes(values, x)
    shape = (R.shape[1], len(values))
    if not len(values):
        return values, np.zeros(shape)
    count = [np.bincount(code[known], r[known], minlength=len(values)) for r in R.T]
    return values, np.stack(count)


# If the largest numbers of all columns together exceed this, categories are sorted and not counted.
MOST_COUNTED = 1 << 20


def count_categories_by_label(
    values: tuple[np.ndarray, ...], X: np.ndarray, k: np.ndarray, weight: np.ndarray, K: int
) -> CategoryCounts | None:
    """The categories of all columns for rows that belong to one group each, k[n]; None if they are not small
    integers."""
    from ..loops.counts import add_categories_by_label, largest

    if X.dtype != np.float64:
        return None
    X = np.ascontiguousarray(X)
    most, are_integers = largest(X)
    if not are_integers or most.sum() > MOST_COUNTED:
        return None
    start = np.concatenate([[0], np.cumsum(most + 1.0)]).astype(np.int64)
    out = np.zeros((K, start[-1]))
    k, weight = np.ascontiguousarray(k, np.int64), np.ascontiguousarray(weight)
    add_categories_by_label(X, weight, k, start, out)
    seen = np.asarray(out.any(axis=0))
    results = []
    for first, end, known in zip(start[:-1], start[1:], values, strict=True):
        present = np.flatnonzero(seen[first:end])
        results.append((known, present.astype(np.float64), out[:, first + present]))
    zero = CategoryCounts(
        tuple(v for v, _, _ in results), tuple(np.zeros((K, len(v))) for v, _, _ in results)
    )
    return zero + CategoryCounts(tuple(v for _, v, _ in results), tuple(c for _, _, c in results))


@dataclass(frozen=True, eq=False)
class Distinct(Statistics):
    """The sorted distinct values of each column. Addition is the union."""

    values: Annotated[tuple[np.ndarray, ...], "P of labels (V_p,)"]

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.values, other.values, strict=True)
        return self.replace(values=tuple(_union(*pair) for pair in pairs))

    def __mul__(self, factor: float) -> Self:
        return self

    __rmul__ = __mul__


def _union(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if len(a) == len(b) and (a == b).all():
        return a
    return np.unique(np.concatenate([a, b])) if len(a) and len(b) else a if len(a) else b


def distinct(values: np.ndarray) -> np.ndarray:
    """The sorted distinct values of an array, without NaN and None."""
    if values.dtype == object:
        present = [v for v in values if v is not None and v == v]
        try:
            return np.array(sorted(set(present)), dtype=object)
        except TypeError:
            raise _without_order(present) from None
    if values.dtype.kind in "iu" and values.dtype != np.uint64 and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 4096:  # counting is linear where sorting is not
            return (np.flatnonzero(np.bincount(values.astype(np.int64) - low)) + low).astype(values.dtype)
    unique = np.unique(values)
    return unique[~np.isnan(unique)] if unique.dtype.kind == "f" else unique


def distinct_targets(rows: Rows | Sequences) -> Distinct:
    """The classes of labelled rows."""
    return Distinct((distinct(rows.y),))


def classes_of(data: Partitions) -> np.ndarray:
    """The classes of labelled examples, at least two."""
    return at_least_two(data.fold(distinct_targets).values[0])


def at_least_two(classes: np.ndarray) -> np.ndarray:
    """Return the classes. Raises if there are fewer than two, or too many."""
    afford_classes(len(classes))
    if len(classes) < 2:
        raise ValueError(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one "
            f"class: {classes.tolist()}."
        )
    return classes


def afford_classes(n_classes: int, numbers_each: int | None = None) -> None:
    """Raise a MemoryError if there are too many classes for the memory: most often, y is a column of ids.

    `numbers_each` is how many numbers a classifier has for each class. By default, it is the number of
    classes: each class has a row, and a score of each row.
    """
    if numbers_each is None:
        size = "their scores for one row of each"
    else:
        size = f"{numbers_each} numbers for each of them"
    afford(
        float(n_classes) * (n_classes if numbers_each is None else numbers_each),
        f"y has {n_classes} classes, and {size}",
        "is y a column of ids, or of numbers? Pass the labels as y, or fit a regressor.",
    )


def class_weights(
    class_weight: dict[Any, float] | str | None, data: Partitions, classes: np.ndarray
) -> np.ndarray:
    """The weight of each class from `class_weight`: None, a dict, or 'balanced' over labelled rows."""
    totals = class_totals(data, classes) if isinstance(class_weight, str) else np.empty(0)
    return weights_of_classes(class_weight, classes, totals)


def weights_of_classes(
    class_weight: dict[Any, float] | str | None, classes: np.ndarray, totals: np.ndarray
) -> np.ndarray:
    """The weight of each class from `class_weight`, for classes with these total weights."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight={class_weight!r} is unknown: use a dict or 'balanced'.")
        return totals.sum() / (len(classes) * totals)
    without = [c for c in classes.tolist() if c not in class_weight]
    if without and len(classes) - len(without) != len(class_weight):
        raise ValueError(
            f"The classes, {without}, are not in class_weight, which has others: {list(class_weight)}."
        )
    weights = {c: 1.0 for c in classes.tolist()} | dict(class_weight)
    return np.array([weights[c] for c in classes.tolist()], dtype=np.float64)


def class_counts(block: Rows) -> CategoryCounts:
    """The classes of a block and their weights, for each target."""
    block = block if block.weight.all() else block[np.flatnonzero(block.weight)]
    columns = [block.y] if block.y.ndim == 1 else block.y.T
    values, count = zip(*(count_categories(y[:0], y, block.weight[:, None]) for y in columns), strict=True)
    return CategoryCounts(values, count)


def class_totals(data: Partitions, classes: np.ndarray) -> np.ndarray:
    """Total weight of the rows of each class, (K,)."""
    return data.fold(_class_totals, classes)


def _class_totals(classes: np.ndarray, rows: Rows) -> np.ndarray:
    return np.bincount(class_codes(classes, rows.y), rows.weight, minlength=len(classes))


def class_codes(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The class index of each label."""
    K = len(classes)
    counted = classes.dtype == y.dtype == np.int64 and K and classes[0] == 0 and classes[-1] == K - 1
    if counted and len(y) and y.min() >= 0 and y.max() < K:  # labels that are their own numbers
        return np.ascontiguousarray(y)
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    strange = classes[codes] != y
    if np.any(strange):
        raise ValueError(
            f"The target label(s) {np.unique(y[strange]).tolist()} in y do not exist in the initial classes "
            f"{classes.tolist()}. With partial_fit, name all classes in the first call: "
            "partial_fit(X, y, classes=...)."
        )
    return codes


@dataclass(frozen=True, eq=False)
class Extremes(Statistics):
    """Minimum and maximum of each column, without NaN."""

    low: Annotated[np.ndarray, "(D,)"]
    high: Annotated[np.ndarray, "(D,)"]

    def __add__(self, other: Self) -> Self:
        return self.replace(low=np.fmin(self.low, other.low), high=np.fmax(self.high, other.high))

    def __mul__(self, factor: float) -> Self:
        return self

    __rmul__ = __mul__


def extremes(X: Any) -> Extremes:
    """The extremes of the columns of X, dense or CSR."""
    if sp.issparse(X):
        if X.shape[0]:
            return Extremes(X.nanmin(axis=0).toarray().ravel(), X.nanmax(axis=0).toarray().ravel())
        X = X.toarray()
    X = np.concatenate([X, np.full((1, X.shape[1]), np.nan)])
    return Extremes(np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0))
