"""Checks of columns of several kinds, by their families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.blocks import missing
from ..statistics import Extremes, extremes
from .conversions import as_numbers, check_numbers


def kinds_of(data: Any, names: Sequence[Any]) -> list[str]:
    """The kind of each column by its values: strings are categories, zeros and ones are binary."""
    texts, others = data.fold(_values, names)
    return [
        "categorical" if t else "gaussian" if n else "bernoulli" for t, n in zip(texts, others, strict=True)
    ]


def _values(names: Sequence[Any], rows: Any) -> np.ndarray:
    """Numbers of strings, and of numbers other than zero and one, in each column, (2, D)."""
    X, counts = rows.X, np.zeros((2, rows.X.shape[1]))
    if X.dtype.kind in "US":
        counts[0] = len(X)
        return counts
    for d, column in enumerate(X.T):
        if X.dtype == object:
            texts = np.array([isinstance(value, str) for value in column], dtype=bool)
            counts[0, d] = texts.sum()
            column = column[~texts & ~missing(column)]
        numbers = as_numbers(column[:, None], "X", "A column that is not categorical", [names[d]])
        counts[1, d] = ((numbers != 0.0) & (numbers != 1.0) & ~np.isnan(numbers)).sum()
    return counts


def check_kinds(data: Any, kinds: Sequence[str], names: Sequence[Any]) -> None:
    """Check the values of columns by their kind, for estimators of several kinds."""
    numbers = np.flatnonzero([kind != "categorical" for kind in kinds])
    ranges = data.fold(_extremes, numbers, [names[d] for d in numbers.tolist()])
    for d, low, high in zip(numbers.tolist(), ranges.low, ranges.high, strict=True):
        check_numbers(np.array([[low, high]]).T, "X", "A column of numbers", nan=True, names=[names[d]])
        if kinds[d] in ("poisson", "multinomial") and low < 0:
            raise ValueError(
                f"Negative values in column {names[d]!r}, expected counts: choose another kind for it."
            )
        if kinds[d] == "bernoulli" and (low < 0 or high > 1):
            raise ValueError(
                f"The column {names[d]!r} must hold zeros and ones; got values from {low} to {high}: "
                f"pass e.g. column > 0, or choose another kind for it."
            )


def _extremes(columns: np.ndarray, names: Sequence[Any], rows: Any) -> Extremes:
    """The extremes of some numeric columns."""
    return extremes(as_numbers(rows.X[:, columns], "X", "A column that is not categorical", names))
