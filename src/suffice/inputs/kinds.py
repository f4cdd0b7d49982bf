"""Checks of columns of several kinds, by their families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator

from ..core.blocks import Rows, missing
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..families import Bernoulli, Categorical, DiagonalGaussian, Poisson
from ..statistics import Extremes
from .conversions import as_numbers, check_numbers

KINDS: dict[str, Any] = {  # of columns
    "gaussian": DiagonalGaussian,
    "categorical": Categorical,
    "bernoulli": Bernoulli,
    "poisson": Poisson,
}


@dataclass(frozen=True, eq=False)
class ColumnValues(Statistics):
    """Counts and ranges of the values of each column, from which its kind follows."""

    texts: Annotated[np.ndarray, "(D,)"]  # numbers of strings
    others: Annotated[np.ndarray, "(D,)"]  # numbers of values that are neither zero nor one
    range: Extremes

    @classmethod
    def of(cls, kinds: Sequence[str], names: Sequence[Any], rows: Rows) -> ColumnValues:
        """The kinds of the columns of a block. Categorical columns are left out."""
        D = rows.X.shape[1]
        texts, others = np.zeros(D), np.zeros(D)
        low, high = np.full(D, np.nan), np.full(D, np.nan)
        for d, kind in enumerate(kinds):
            if kind == "categorical":
                continue
            column = rows.X[:, d]
            if kind == "auto" and column.dtype.kind in "OUS":
                text = np.array([isinstance(value, str) for value in column], dtype=bool)
                texts[d] = text.sum()
                column = column[~text & ~missing(column)]
            numbers = as_numbers(column[:, None], "X", "A column that is not categorical", [names[d]])
            others[d] = ((numbers != 0.0) & (numbers != 1.0) & ~np.isnan(numbers)).sum()
            if len(numbers):
                low[d], high[d] = np.fmin.reduce(numbers[:, 0]), np.fmax.reduce(numbers[:, 0])
        return cls(texts, others, Extremes(low, high))


def check_kinds(data: Partitions, kinds: Sequence[str], names: Sequence[Any]) -> list[str]:
    """Check the values of columns by their kind, for estimators of several kinds, and return the kinds.

    'auto' is categorical for strings, Bernoulli for zeros and ones, else Gaussian.
    """
    values: ColumnValues = data.fold(ColumnValues.of, kinds, names)
    by_values = np.where(values.texts, "categorical", np.where(values.others, "gaussian", "bernoulli"))
    kinds = [str(by_values[d]) if kind == "auto" else kind for d, kind in enumerate(kinds)]
    for d, kind in enumerate(kinds):
        if kind == "categorical":
            continue
        low, high = values.range.low[d], values.range.high[d]
        check_numbers(np.array([[low, high]]).T, "X", "A column of numbers", nan=True, names=[names[d]])
        if kind in ("poisson", "multinomial") and low < 0:
            raise ValueError(
                f"Negative values in column {names[d]!r}, expected counts: choose another kind for it."
            )
        if kind == "bernoulli" and (low < 0 or high > 1):
            raise ValueError(
                f"The column {names[d]!r} must hold zeros and ones; got values from {low} to {high}: "
                f"pass e.g. column > 0, or choose another kind for it."
            )
    return kinds


def column_kinds(estimator: BaseEstimator, kinds: Any, name: str, default: str = "gaussian") -> list[str]:
    """The kind of each column, from a parameter: one for all, one for each, or by name."""
    D = estimator.n_features_in_
    if isinstance(kinds, str):
        kinds = [kinds] * D
    elif isinstance(kinds, dict):
        names = list(getattr(estimator, "feature_names_in_", range(D)))
        unknown = [column for column in kinds if column not in names and column not in range(D)]
        if unknown:
            raise ValueError(f"{name} names the columns {unknown}, but the columns are {names}.")
        kinds = [kinds.get(column, kinds.get(d, default)) for d, column in enumerate(names)]
    kinds = list(kinds)
    if len(kinds) != D:
        raise ValueError(f"{name} has {len(kinds)} entries, but X has {D} columns.")
    if strange := set(kinds) - {*KINDS, default}:
        raise ValueError(f"{name} has {sorted(strange)}, expected only {list(KINDS)}.")
    return kinds
