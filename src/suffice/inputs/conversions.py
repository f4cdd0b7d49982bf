"""Errors for invalid values: their row and column, what they are, and what to do.

Arrays are converted at once. Only if that fails does this module search for the first invalid value.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

# Products of two numbers up to this one are finite, and so are their sums over the rows.
LARGEST = 1e150
LARGEST_WEIGHT = 1e100
USUAL_WEIGHT = 1e3  # weights up to this leave the sums of allowed numbers finite

CONVERSION = re.compile(
    r"could not convert|float\(\) argument|inhomogeneous|setting an array element|Complex data"
    r"|too large to convert|real number|bytes/strings|[Cc]annot (interpret|convert|cast)|value of NA"
    r"|could not be promoted"
)
DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+")
TIMES = re.compile("(?i)date|time|duration|period")
REMEDIES: dict[Any, str] = {
    (str, bytes): "encode the column, e.g. with suffice.preprocessing.OneHotEncoder, or drop it",
    (datetime.date, np.datetime64): (
        "use suffice.preprocessing.DatetimeEncoder, or subtract a date and divide by a unit, e.g. "
        "(column - column.min()) / np.timedelta64(1, 'D')"
    ),
    (datetime.timedelta, np.timedelta64): "divide by a unit, e.g. column / np.timedelta64(1, 's')",
    complex: "pass the real and the imaginary part as two columns",
    (list, tuple, set, dict, np.ndarray): "pass one number in each cell",
    int: "it is beyond the range of float64, so rescale the column",
}
MISSING = (
    "Fill it, e.g. with suffice.impute.SimpleImputer, or leave the row out. Mixtures, hidden Markov models "
    "and naive Bayes take NaN as not observed."
)


def explained(
    error: Exception, values: Any, what: str, taker: str, names: Sequence[Any] | None = None
) -> Exception:
    """The error of a conversion to numbers, with the first value that is not a number; unchanged if all
    are."""
    if (
        not hasattr(values, "__len__")
        or isinstance(values, str | bytes | dict)
        or getattr(values, "shape", None) == ()
    ):
        return ValueError(f"{taker} takes an array of numbers, and {what} is {values!r:.60}.")
    if getattr(getattr(values, "dtype", None), "names", None):
        return ValueError(
            f"{taker} takes an array of numbers, and {what} is a structured array: pass "
            "numpy.lib.recfunctions.structured_to_unstructured(array)."
        )
    for row, column, value in _no_numbers(values):
        if column is not None and isinstance(value, str) and _is_text_of_number(value):
            return _numbers_as_strings(values, what, taker, column, names)
        kinds = (text for kind, text in REMEDIES.items() if isinstance(value, kind))
        remedy = "pass numbers" if column is None else next(kinds, "pass numbers")
        if column is not None and isinstance(value, str) and DECIMAL_COMMA.fullmatch(value):
            remedy = (
                "if numbers have a decimal comma, call scan_csv(..., decimal=',') or "
                "pandas.read_csv(..., decimal=',')"
            )
        elif _is_missing(value):
            remedy = (
                "fill missing values, leave the rows out, or write NaN for estimators that take it, e.g. "
                "numpy.where(pandas.isna(X), numpy.nan, X).astype(float)"
            )
        elif what == "y":
            remedy += "; if these are classes, use a classifier"
        message = (
            f"{taker} takes numbers, and {what} has {value!r:.60} ({type(value).__name__}) "
            f"{_at(row, column, names)}: {remedy}."
        )
        first_line = str(error).partition("\n")[0]
        kind = TypeError if isinstance(error, TypeError) else ValueError
        return kind(f"{message} ({first_line})" if CONVERSION.search(first_line) else message)
    return _uneven(values, what, taker) or error


def explained_objects(error: Exception, values: Any, what: str, taker: str) -> Exception:
    """The same as `explained`, where strings are values too."""
    kind = getattr(values, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind == "c":
        return ValueError(
            f"Complex data not supported: {what} holds {kind}, and {taker} takes real numbers and strings."
        )
    return _uneven(values, what, taker) or error


def _uneven(values: Any, what: str, taker: str) -> ValueError | None:
    """The error for rows that differ in length, if they do."""
    lengths = _lengths(values)
    other = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    if other is None:
        return None
    return ValueError(
        f"The rows of {what} differ in length: row 0 has {lengths[0]} entries, and row {other} has "
        f"{lengths[other]}. {taker} takes rows of one length."
    )


def _is_text_of_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _numbers_as_strings(
    values: Any, what: str, taker: str, column: Any, names: Sequence[Any] | None
) -> ValueError:
    """The error for a column of strings that begins with numbers: it names the first value that is none."""
    for row, name, value in _no_numbers(values):
        if name == column and isinstance(value, str) and not _is_text_of_number(value):
            return ValueError(
                f"{taker} takes numbers, and {what} has {value!r:.60} {_at(row, column, names)}, among "
                f"numbers that are written as strings: correct it, or take it as missing, e.g. scan_csv(..., "
                f"null_values=[{value!r:.60}]) or pandas.to_numeric(column, errors='coerce')."
            )
    place = column if names is None else names[column]
    return ValueError(
        f"{taker} takes numbers, and the column {place!r} of {what} has them as strings: convert it, e.g. "
        f"table.astype({{{place!r}: float}}), or if it has codes, use suffice.preprocessing.OneHotEncoder."
    )


def as_numbers(values: Any, what: str, taker: str, names: Sequence[Any] | None = None) -> np.ndarray:
    """An array of float64. The error names the first value that is not a number."""
    try:
        converted = np.asarray(values)
        if (
            converted.dtype.kind in "Mmc"
        ):  # which NumPy turns into numbers, of a unit or a part that nobody chose
            raise ValueError(f"{taker} takes numbers, and {what} holds {converted.dtype}.")
        return converted.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise explained(error, values, what, taker, names) from None


def check_names(names: Sequence[Any], used: Iterable[Any]) -> None:
    """Raise if a table lacks one of the used columns, or has it more than once."""
    count = Counter(names)
    missing = [name for name in used if not count[name]]
    if missing:
        raise ValueError(f"The table has no column {missing}; its columns are {list(names)}.")
    for name in used:
        if count[name] > 1:
            raise ValueError(
                f"The table has {count[name]} columns named {name!r}: rename them, or drop some."
            )


def has_times(X: Any) -> bool:
    """Whether a column has dates or durations, which NumPy would convert to numbers of an arbitrary unit."""
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "Mm"
    kinds = X.dtypes if hasattr(X, "dtypes") else [getattr(X, "dtype", "")]
    return any(TIMES.search(str(kind)) for kind in kinds)


def check_numbers(
    X: Any,
    what: str,
    taker: str,
    *,
    nan: bool = False,
    names: Sequence[Any] | None = None,
    for_nan: str = "",
) -> None:
    """Raise for NaN (unless `nan`), infinity, and numbers above LARGEST. `for_nan` is what to do about NaN.

    The sum of squares detects all three. If it is not small, each number is checked.
    """
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind != "f":
        return
    flat = values.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        if float(np.dot(flat, flat)) <= LARGEST**2:
            return
        largest = min(LARGEST, np.finfo(values.dtype).max)  # as float32, LARGEST is infinite
        bad = ~(np.abs(values) <= largest) & ((values == values) | (not nan))
    if bad.any():
        _refuse(*_first(X, bad), what, taker, names, for_nan)


def _refuse(row: int, column: Any, value: float, what: str, taker: str, names: Any, for_nan: str) -> NoReturn:
    at = _at(row, column, names)
    if np.isnan(value) and for_nan:
        raise ValueError(f"Input {what} contains NaN values and {for_nan}. The first is {at}.")
    if np.isnan(value):
        raise ValueError(f"Input {what} contains NaN {at}, and {taker} takes no missing values. {MISSING}")
    if np.isinf(value):
        raise ValueError(
            f"Input {what} contains infinity {at}, and {taker} takes finite numbers. Leave the row out, or "
            "replace it by a finite number."
        )
    raise ValueError(
        f"Input {what} contains {value:.3g} {at}, and {taker} takes numbers up to {LARGEST:.0e}, since the "
        "squares of larger ones overflow. Divide the column by its scale, e.g. column / column.abs().max()."
    )


def check_not_negative(X: Any, taker: str, names: Sequence[Any] | None = None, takes: str = "counts") -> None:
    """Raise for negative numbers. NaN is not negative."""
    values = X.data if sp.issparse(X) else X
    if not values.size or values.min() >= 0:
        return
    bad = values < 0
    if bad.any():
        row, column, value = _first(X, bad)
        raise ValueError(
            f"Negative values in data passed to {taker} (input X), which takes {takes}: X has {value:.3g} "
            f"{_at(row, column, names)}."
        )


def check_labels(y: np.ndarray) -> None:
    """Raise for labels that cannot be sorted: numbers among strings."""
    kinds = sorted({type(label).__name__ for label in y.ravel()}) if y.dtype == object else []
    if "str" in kinds and len(kinds) > 1:
        raise TypeError(
            f"y holds labels of several types, {kinds}: write them all as strings, e.g. y.astype(str)."
        )


def check_weights(weight: np.ndarray) -> None:
    """Raise for weights that are negative or not finite, or whose sums would overflow or underflow."""
    usual = (weight == 0) | ((weight >= 1 / LARGEST_WEIGHT) & (weight <= LARGEST_WEIGHT))
    if usual.all():
        return
    if not np.isfinite(weight).all():
        raise ValueError("Input sample_weight contains NaN or infinity.")
    if (weight < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    row = int(np.flatnonzero(~usual)[0])
    raise ValueError(
        f"Input sample_weight contains {weight[row]:.3g} in row {row}: expected 0, or a number from "
        f"{1 / LARGEST_WEIGHT:.0e} to {LARGEST_WEIGHT:.0e}, since other sums overflow or underflow. "
        f"Divide the "
        "weights by the largest, and write 0 for those that are then too small."
    )


def check_weighted(X: Any, weight: np.ndarray, what: str, taker: str) -> None:
    """Raise if products of large numbers with large weights would overflow."""
    most = float(weight.max(initial=0.0))
    values = X.data if sp.issparse(X) else X
    if most <= USUAL_WEIGHT or values.dtype.kind != "f" or not values.size:
        return
    largest = float(max(np.nanmax(values), -np.nanmin(values)))
    if most * max(largest, 1.0) > LARGEST**2 / max(largest, 1.0):
        raise ValueError(
            f"Input {what} contains {largest:.3g}, and sample_weight {most:.3g}: {taker} sums weights times "
            "squares, and these overflow. Divide the weights by the largest."
        )


def _at(row: int, column: Any, names: Sequence[Any] | None) -> str:
    if column is None:
        return f"in row {row}"
    return f"in row {row}, column {column if names is None else names[column]!r}"


def _first(X: Any, bad: np.ndarray) -> tuple[int, int | None, float]:
    """The row, column and value of the first bad entry. For a sparse X, `bad` is a mask of its entries."""
    if sp.issparse(X):
        place, entries = int(np.flatnonzero(bad)[0]), X.tocoo()
        return int(entries.row[place]), int(entries.col[place]), float(X.data[place])
    place = np.argwhere(bad)[0]
    return int(place[0]), int(place[1]) if X.ndim > 1 else None, float(X[tuple(place)])


def _no_numbers(values: Any) -> Iterator[tuple[int, Any, Any]]:
    """Row, column and value of the entries that are not numbers, column by column."""
    for name, column in _columns(values):
        if column.dtype.kind not in "biuf":
            cells = column if column.dtype.kind in "Mm" else column.tolist()
            yield from ((row, name, value) for row, value in enumerate(cells) if not _is_number(value))


def _is_number(value: Any) -> bool:
    """Whether a value converts to a float. None does (as NaN), and NA does not."""
    if value is None:
        return True
    if isinstance(value, str | bytes | np.generic | np.ndarray | list) and not isinstance(value, np.number):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in ("NAType", "NaTType")


def _columns(values: Any) -> Iterator[tuple[Any, np.ndarray]]:
    """The columns of a table or an array, by name or index; None is the name of a one-dimensional array."""
    if hasattr(values, "columns") and hasattr(values, "shape"):
        for place, name in enumerate(values.columns):
            yield name, np.asarray(values.iloc[:, place] if hasattr(values, "iloc") else values[:, place])
        return
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    except ValueError:  # rows of unlike lengths
        return
    if array.ndim == 2:
        yield from enumerate(array.T)
    elif array.ndim == 1 and not _lengths(array.tolist()):
        yield None, array


def _lengths(values: Any) -> list[int]:
    """Number of entries of each row of a list of lists; empty for other input."""
    rows = list(values) if isinstance(values, list | tuple | np.ndarray) else []
    return (
        [len(row) for row in rows] if all(isinstance(row, list | tuple | np.ndarray) for row in rows) else []
    )
