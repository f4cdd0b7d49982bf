"""Checks of columns of several kinds, by their families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..statistics import Extremes, extremes
from .conversions import as_numbers, check_numbers


def check_kinds(data: Any, kinds: Sequence[str], names: Sequence[Any]) -> None:
    """Check the values of columns by their kind, for estimators of several kinds."""
    numbers = np.flatnonzero([kind != "categorical" for kind in kinds])
    ranges = data.fold(_extremes, numbers)
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


def _extremes(columns: np.ndarray, rows: Any) -> Extremes:
    """The extremes of some numeric columns."""
    return extremes(as_numbers(rows.X[:, columns], "X", "A column that is not categorical", columns.tolist()))
