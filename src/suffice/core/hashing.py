"""Numbers made of rows: to tell data apart, and to draw rows whatever their order and their blocks are."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp


def row_hashes(X: np.ndarray, *seed: int) -> np.ndarray:
    """A 64-bit number for each row, equal for equal rows."""
    random = np.random.default_rng(seed).integers(1 << 63, size=X.shape[1] + 1, dtype=np.uint64)
    bits = (X + 0.0).view(np.uint64)  # adding zero makes -0.0 and 0.0 one
    bits = bits ^ (bits >> np.uint64(32))  # of small whole numbers only the highest bits are set
    h = (bits * (2 * random[:-1] + 1)).sum(axis=1, dtype=np.uint64) + random[-1]
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        h = (h ^ (h >> np.uint64(shift))) * np.uint64(factor)
    return h ^ (h >> np.uint64(31))


def uniforms(hashes: np.ndarray) -> np.ndarray:
    """A number in (0, 1) from each hash."""
    return ((hashes >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def fingerprint(block: Any) -> np.ndarray:
    """A number made of all examples; neither their order nor their blocks change it."""
    y = [] if block.y is None else list(np.atleast_2d(block.y.T))
    weight = block.weight
    if hasattr(block, "offset"):  # the steps of a sequence have an order
        weight = block.step_weight
        y = [*y, np.arange(len(weight)) - np.repeat(block.offset[:-1], block.lengths)]
    if not sp.issparse(block.X):
        return _fingerprint(*block.X.T, *y, weight)
    X = block.X.tocoo()
    sums = X @ np.random.default_rng(0).random(X.shape[1])  # ties the entries of a row to its target
    return _fingerprint(X.data, X.coords[1]) + _fingerprint(sums, *y, weight)


def _fingerprint(*columns: np.ndarray) -> np.ndarray:
    hashes = row_hashes(np.stack([_numbers(column) for column in columns], axis=1), 0)
    return hashes.sum(keepdims=True, dtype=np.uint64)


def _numbers(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    return np.array([zlib.crc32(str(value).encode()) for value in column], dtype=np.float64)
