"""Checks of masked arrays and damaged sparse matrices."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp


def unmasked(values: Any, name: str, nan: bool = False) -> Any:
    """The values. If missing values are allowed, masked entries become NaN, or None for objects."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    if not nan:
        raise ValueError(
            f"{name} is a masked array, and {np.ma.count_masked(values)} of its values are masked, that is "
            f"missing, which is not accepted here: leave those rows out, or pass {name}.filled(...)."
        )
    hole: Any = np.nan if values.dtype.kind in "biuf" else None
    return np.where(values.mask, hole, values.data)


def must_be_sound(X: Any, name: str = "X") -> None:
    """Raise for a sparse matrix with indices out of range, which compiled loops would read."""
    if not sp.issparse(X):
        return
    try:
        if X.format in ("csr", "csc"):
            _must_be_integers(X.indices, X.indptr)
            copy(X).check_format(full_check=False)  # which may replace the arrays of the object
            if (X.indptr[1:] < X.indptr[:-1]).any():
                raise ValueError("indptr must not decrease")
            _must_be_below(X.shape[X.format == "csr"], X.indices[: X.indptr[-1]])
        elif X.format == "coo":
            _must_be_integers(*X.coords)
            for size, indices in zip(X.shape, X.coords, strict=True):
                if len(indices) != len(X.data):
                    raise ValueError(f"there are {len(indices)} indices and {len(X.data)} values")
                _must_be_below(size, indices)
        elif X.format == "bsr":
            copy(X).check_format(full_check=True)
        else:
            must_be_sound(X.tocsr(), name)
    except ValueError as error:
        raise ValueError(
            f"{name} is a damaged sparse {X.format} matrix: {error}. Build it again from its entries, e.g. "
            "scipy.sparse.csr_array((data, (rows, columns)), shape)."
        ) from None


def _must_be_integers(*arrays: np.ndarray) -> None:
    for array in arrays:
        if array.dtype.kind != "i":
            raise ValueError(f"indices must be signed integers, and are {array.dtype}")


def _must_be_below(size: int, indices: np.ndarray) -> None:
    # Read once: a negative number is a large one without its sign.
    if len(indices) and indices.view(f"u{indices.itemsize}").max() >= size:
        raise ValueError(f"indices must be from 0 to {size - 1}")
