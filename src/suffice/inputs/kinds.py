"""Columns of several kinds: each must hold what its family can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..statistics import Extremes, extremes
from .conversions import as_numbers, check_numbers


def check_kinds(data: Any, kinds: Sequence[str], names: Sequence[Any]) -> None:
    """Columns hold what their kind can; those of an estimator that takes several kinds are checked here."""
    numbers = np.flatnonzero([kind != "categorical" for kind in kinds])
    found = data.fold(_extremes, numbers)
    for d, low, high in zip(numbers.tolist(), found.low, found.high, strict=True):
        check_numbers(np.array([[low, high]]).T, "X", "A column of numbers", nan=True, names=[names[d]])
        if kinds[d] in ("poisson", "multinomial") and low < 0:
            raise ValueError(
                f"Negative values in column {names[d]!r}, which is to hold counts: name another kind for it."
            )
        if kinds[d] == "bernoulli" and (low < 0 or high > 1):
            raise ValueError(
                f"The column {names[d]!r} is to hold zeros and ones, and goes from {low} to {high}: pass "
                "flags, e.g. column > 0, or name another kind for it."
            )


def _extremes(columns: np.ndarray, rows: Any) -> Extremes:
    """The extremes of some columns, which hold numbers."""
    return extremes(as_numbers(rows.X[:, columns], "X", "A column that is not categorical", columns.tolist()))
