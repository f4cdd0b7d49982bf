"""Steps with named features, as CRFsuite takes them: dicts, or lists of strings; and their CSR rows.

A step is ``{"name": number}``. ``{"name": "value"}`` is the feature ``name:value`` with value 1, True is 1,
and the names in nested dicts and lists begin with their key. ``["a", "b"]`` is ``{"a": 1, "b": 1}``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import accumulate, chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..core.blocks import csr_of

STEPS = (dict, list, tuple, set, frozenset)
NUMBERS = {float, int, bool}
SEPARATOR = ":"  # of python-crfsuite
_columns: WeakKeyDictionary[Any, tuple[np.ndarray, dict[str, int]]] = WeakKeyDictionary()


def is_list(X: Any) -> bool:
    return isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1)


def first_leaf(X: Any) -> tuple[Any, int]:
    """The first value of nested lists that is not a list, and the number of lists around it; None and 0 if
    all are empty."""
    if not is_list(X):
        return X, 0
    for part in X:
        leaf, depth = first_leaf(part)
        if leaf is not None:
            return leaf, depth + 1
    return None, 0


def depth_of_steps(X: Any) -> int:
    """The number of lists around a step with named features: 1 in a sequence, 2 in a list of sequences, 0
    if there are no such steps."""
    leaf, depth = first_leaf(X)
    if isinstance(leaf, dict | set | frozenset):
        return depth
    return depth - 1 if isinstance(leaf, str) and depth > 1 else 0


def named_rows(
    estimator: BaseEstimator, X: Any, depth: int, reset: bool
) -> tuple[Any, np.ndarray | None, Any]:
    """CSR rows of steps with named features, the offsets of a list of sequences (None for one sequence), and
    the names of the columns.

    With `reset`, these are the sorted names of all features; without, those of the fitted estimator, and
    other features are ignored.
    """
    steps = chain.from_iterable(X) if depth == 2 else X
    offset = np.array([0, *accumulate(map(len, X))]) if depth == 2 else None
    if not reset:
        fitted = _names_of(estimator)
        columns = _columns_of(estimator, fitted)
        return _csr(len(columns), *_entries(steps, columns.get)), offset, fitted
    seen: defaultdict[str, int] = defaultdict()
    seen.default_factory = seen.__len__
    indices, *more = _entries(steps, seen.__getitem__)
    try:
        names = sorted(seen)
    except TypeError:
        strange = next(name for name in seen if not isinstance(name, str))
        raise TypeError(f"The names of features are strings; got {strange!r:.60}.") from None
    if not names:
        raise ValueError("No step of X has a feature: pass a dict or a list of strings for each step.")
    place = np.empty(len(names), np.int64)
    place[[seen[name] for name in names]] = np.arange(len(names))
    return _csr(len(names), place[indices], *more), offset, names


def _names_of(estimator: BaseEstimator) -> np.ndarray:
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            f"X has features by name, and {type(estimator).__name__} was fitted to features without names: "
            f"pass arrays of {estimator.n_features_in_} columns, or fit it to dicts or lists of strings."
        )
    return names


def _columns_of(estimator: BaseEstimator, names: np.ndarray) -> dict[str, int]:
    """The column of each name. It is made once for a fitted estimator."""
    cached = _columns.get(estimator)
    if cached is None or cached[0] is not names:
        cached = names, {name: column for column, name in enumerate(names.tolist())}
        _columns[estimator] = cached
    return cached[1]


def _entries(steps: Iterable[Any], find: Callable[[str], int | None]) -> tuple[list[Any], ...]:
    """Columns, values and offsets of the features of steps. `find` has the column of a name, or None if the
    feature is to be ignored."""
    indices: list[int] = []
    values: list[float] = []
    indptr = [0]
    for step in steps:
        _add(step, "", find, indices, values)
        indptr.append(len(indices))
    return indices, values, indptr


def _csr(D: int, indices: Any, values: list[float], indptr: list[int]) -> sp.csr_array:
    """Canonical CSR rows: the values of a feature that a step has more than once are added."""
    kind = np.int32 if max(D, len(indices)) < 2**31 else np.int64  # as SciPy chooses
    shape = (len(indptr) - 1, D)
    rows = csr_of(np.array(values, np.float64), np.array(indices, kind), np.array(indptr, kind), shape)
    rows.sum_duplicates()
    return rows


def _add(
    step: Any, prefix: str, find: Callable[[str], int | None], indices: list[int], values: list[float]
) -> None:
    """Append the columns and values of the features of a step."""
    if not isinstance(step, dict):
        if not isinstance(step, STEPS) or not all(isinstance(name, str) for name in step):
            raise TypeError(f"A step is a dict or a list of strings; got {step!r:.60}.")
        for name in step:
            if (column := find(prefix + name)) is not None:
                indices.append(column)
                values.append(1.0)
        return
    for key, value in step.items():
        kind = type(value)
        if kind is str:
            column, value = find(f"{prefix}{key}{SEPARATOR}{value}"), 1.0
        else:
            name = f"{prefix}{key}" if prefix else key
            if kind not in NUMBERS:
                if isinstance(value, STEPS):
                    _add(value, f"{name}{SEPARATOR}", find, indices, values)
                    continue
                name, value = _feature(name, value)
            column = find(name)
        if column is not None:
            indices.append(column)
            values.append(value)


def _feature(name: str, value: Any) -> tuple[str, float]:
    """Name and value of a feature that is of a rare type, such as one of NumPy."""
    if isinstance(value, str):
        return f"{name}{SEPARATOR}{value}", 1.0
    try:
        return name, float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"The feature {name!r} is {value!r:.60} ({type(value).__name__}), expected a number, bool or "
            "string, or a list or dict of these: leave out the features that a step does not have."
        ) from None
