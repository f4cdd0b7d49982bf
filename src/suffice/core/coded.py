"""Columns of categories as codes and the values that they stand for, as in Arrow's dictionary encoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from .blocks import missing
from .values import Value


@dataclass(frozen=True, eq=False)
class Coded(Value):
    """Rows of categories, (N, D): row n has ``values[d][codes[n, d]]`` in column d.

    A block holds it instead of an array of objects. Each value is stored once, so its category is looked up
    once and not for each row. `numpy.asarray` converts it to objects.
    """

    codes: Annotated[np.ndarray, "int (N, D)"]
    values: Annotated[tuple[np.ndarray, ...], "D of labels (V_d,)"]  # in any order, including missing values

    dtype = np.dtype(object)
    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape

    @property
    def size(self) -> int:
        return self.codes.size

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes

    @property
    def T(self) -> np.ndarray:
        return np.asarray(self).T

    def ravel(self) -> np.ndarray:
        return np.asarray(self).ravel()

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, part: Any) -> Coded:
        """Select rows, or with ``X[rows, columns]`` also columns, by a list of indices."""
        if not isinstance(part, tuple):
            return self.replace(codes=self.codes[part])
        rows, columns = part
        return Coded(self.codes[rows][:, columns], tuple(self.values[d] for d in columns))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        out = np.empty(self.shape, object)
        for d, values in enumerate(self.values):
            out[:, d] = values[self.codes[:, d]]
        return out if dtype is None else out.astype(dtype)

    def distinct(self) -> tuple[Coded, list[np.ndarray]]:
        """Return rows that contain each value in use once, and by column the row that contains each value.

        So a function of single values is computed once per value. Columns with fewer values than others
        repeat their first.
        """
        used = [
            np.flatnonzero(np.bincount(codes, minlength=len(values)))
            for codes, values in zip(self.codes.T, self.values, strict=True)
        ]
        codes = np.zeros((max(map(len, used), default=0), len(used)), np.intp)
        rows = []
        for d, places in enumerate(used):
            codes[: len(places), d] = np.arange(len(places))
            row = np.zeros(len(self.values[d]), np.intp)
            row[places] = np.arange(len(places))
            rows.append(row)
        return Coded(codes, tuple(v[places] for v, places in zip(self.values, used, strict=True))), rows


def coded(X: Any) -> Coded:
    """Encode the columns of an array."""
    if isinstance(X, Coded):
        return X
    parts = [_factorized(np.asarray(column)) for column in X.T]
    codes = np.stack([codes for codes, _ in parts], axis=1) if parts else np.zeros(X.shape, np.intp)
    return Coded(codes, tuple(values for _, values in parts))


def _factorized(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of a column and its distinct values."""
    if column.dtype != object:
        values, codes = np.unique(column, return_inverse=True)
        return codes, values
    column = column.copy()
    column[missing(column)] = None
    place: dict[Any, int] = {}
    codes = np.fromiter((place.setdefault(v, len(place)) for v in column), np.intp, len(column))
    return codes, objects(list(place))


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return a one-dimensional array of these objects, also if they are sequences."""
    out = np.empty(len(values), object)
    out[:] = values
    return out
