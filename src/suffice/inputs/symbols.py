"""Strings and sequences of symbols as a column: the rows of string kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .features import first_leaf

MANY = (
    "pass a list of strings, or of sequences of symbols, list(X) if each row of an array is a sequence; for "
    "rows of numbers, use a kernel such as 'rbf'"
)


def are_strings(X: Any) -> bool:
    """Whether X is a list, a 1-D array or a series of strings."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        return X.ndim == 1
    if hasattr(X, "ndim") and not isinstance(X, np.ndarray):  # a series
        return X.ndim == 1 and len(X) > 0 and isinstance(next(iter(X)), str)
    leaf, depth = first_leaf(X)
    return depth == 1 and isinstance(leaf, str)


def symbol_column(X: Any, taker: str) -> Any:
    """A column of strings, and of tuples of symbols; a table of one column is returned unchanged."""
    if hasattr(X, "columns") or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OU"):
        if X.shape[1] != 1:
            raise ValueError(f"{taker} with a kernel of strings takes one column; got {X.shape[1]}: {MANY}.")
        return X.astype(object) if isinstance(X, np.ndarray) else X
    if sp.issparse(X) or getattr(X, "ndim", 1) != 1 or not isinstance(X, Iterable):
        raise ValueError(f"{taker} has a kernel of strings; got {_described(X)}: {MANY}.")
    return np.fromiter(map(_symbols, X), object)[:, None]


def must_be_symbols(X: Any, taker: str) -> None:
    """Raise for cells that are neither strings nor sequences of symbols. Fractions are not symbols."""
    if X.dtype.kind not in "OU":
        raise ValueError(f"{taker} has a kernel of strings; got {_described(X)}: {MANY}.")
    for row, cell in enumerate(X.ravel()):
        if isinstance(cell, str):
            continue
        if not isinstance(cell, Sequence) or any(isinstance(symbol, float) for symbol in cell):
            raise ValueError(
                f"{taker} has a kernel of strings; got {cell!r:.60} ({type(cell).__name__}) in row {row}: "
                f"{MANY}."
            )


def _symbols(example: Any) -> Any:
    if isinstance(example, str) or not isinstance(example, Iterable):
        return example
    return tuple(example.tolist() if isinstance(example, np.ndarray) else example)


def _described(X: Any) -> str:
    shape = getattr(X, "shape", None)
    kind = "rows of numbers" if sp.issparse(X) or np.asarray(X).dtype.kind in "biufc" else type(X).__name__
    return kind if shape is None else f"{kind} of shape {tuple(shape)}"
