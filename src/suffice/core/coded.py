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

    It takes the place of an array of objects in a block. Each value is stored once, so that its category is
    looked up once and not for each row. `numpy.asarray` makes the objects.
    """

    codes: Annotated[np.ndarray, "int (N, D)"]
    values: Annotated[tuple[np.ndarray, ...], "D of labels (V_d,)"]  # in any order; missing ones too

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
        """Some rows, or as ``X[rows, columns]`` some columns of them; the columns are a list of indices."""
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
        """The values that occur, as a few rows, and for each column the row of each of its values there.

        A column with fewer values than others repeats its first.
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
    """Columns of an array as codes."""
    if isinstance(X, Coded):
        return X
    parts = [_factorized(np.asarray(column)) for column in X.T]
    codes = np.stack([codes for codes, _ in parts], axis=1) if parts else np.zeros(X.shape, np.intp)
    return Coded(codes, tuple(values for _, values in parts))


def _factorized(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if column.dtype != object:
        values, codes = np.unique(column, return_inverse=True)
        return codes, values
    column = column.copy()
    column[missing(column)] = None
    place: dict[Any, int] = {}
    codes = np.fromiter((place.setdefault(v, len(place)) for v in column), np.intp, len(column))
    return codes, objects(list(place))


def objects(values: Sequence[Any]) -> np.ndarray:
    """An array of objects, (V,)."""
    out = np.empty(len(values), object)
    out[:] = values
    return out
