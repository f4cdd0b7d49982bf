"""Tables: which columns of a table are features, target and weight; and blocks from Arrow batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .blocks import Rows

MISSING_LABEL = "The target {!r} has missing labels: leave those rows out."


@dataclass(frozen=True)
class Table:
    """A table whose columns have been given their parts. Made by `suffice.rows`."""

    source: Any
    features: tuple[str, ...] | None
    target: str | tuple[str, ...] | None
    weight: str | None

    def columns(self, names: Sequence[str]) -> Columns:
        """The parts by name, given the names of all columns of the source."""
        apart = {*_names(self.target), *_names(self.weight)}
        features = self.features or tuple(name for name in names if name not in apart)
        missing = [name for name in (*features, *apart) if name not in names]
        if missing:
            raise ValueError(f"The table has no column {missing}; its columns are {list(names)}.")
        return Columns(tuple(features), self.target, self.weight)


def rows(
    table: Any,
    *,
    features: Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
) -> Table:
    """Describe a table of independent rows, to be passed to `fit`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, Parquet scan, or ray.data.Dataset
        Where the rows are.
    features : sequence of str, optional
        Columns of X; all that are neither target nor weight if not given.
    target : str or sequence of str, optional
        Column or columns of y.
    weight : str, optional
        Column of sample weights.

    Examples
    --------
    >>> import pandas as pd
    >>> import suffice
    >>> from suffice.linear_model import LinearRegression
    >>> table = pd.DataFrame({"a": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]})
    >>> model = LinearRegression().fit(suffice.rows(table, target="y"))
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([2.]), 1.0)
    """
    if not (hasattr(table, "columns") or hasattr(table, "schema")):
        raise TypeError(
            f"suffice.rows describes tables by the names of their columns, and {type(table).__name__} has "
            "none: pass arrays to fit(X, y, sample_weight=...)."
        )
    return Table(
        table,
        None if features is None else _names(features if isinstance(features, str) else tuple(features)),
        target if target is None or isinstance(target, str) else tuple(target),
        weight,
    )


@dataclass(frozen=True)
class Columns:
    """The parts of a table by the names of their columns, and how an Arrow batch becomes a block."""

    features: tuple[str, ...]
    target: str | tuple[str, ...] | None = None
    weight: str | None = None

    def names(self) -> list[str]:
        return [*self.features, *_names(self.target), *_names(self.weight)]

    def block(self, check: Any, index: int, batch: Any) -> Rows:
        """One checked block of rows from an Arrow table or record batch."""
        parts = [_column(batch, name) for name in self.features]
        X = np.empty((batch.num_rows, len(parts)), np.result_type(*parts))
        for j, part in enumerate(parts):
            X[:, j] = part
        y = None
        if isinstance(self.target, str):
            y = _column(batch, self.target)
            if y.dtype == object and batch.column(self.target).null_count:
                raise ValueError(MISSING_LABEL.format(self.target))
        elif self.target is not None:
            y = np.column_stack([_column(batch, name) for name in self.target])
        weight = None if self.weight is None else _column(batch, self.weight).astype(np.float64)
        if y is not None and y.ndim == 2 and y.shape[1] == 1 and check.target == "label":
            y = y[:, 0]
        return check(Rows(X, y, weight, (index,)))


def _names(part: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if part is None else (part,) if isinstance(part, str) else part


def _column(batch: Any, name: str) -> np.ndarray:
    import pyarrow.types as types

    column = batch.column(name)
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not any(kind(column.type) for kind in kinds):
        raise ValueError(
            f"The column {name!r} holds {column.type}, and a column holds numbers, flags or strings: "
            "cast it first."
        )
    if column.null_count:
        import pyarrow as pa

        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
            column = column.cast(pa.float64())
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
