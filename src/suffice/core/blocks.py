"""Blocks: what one partition holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .values import Value

# A piece of two megabytes of float64 stays near the cache while it is summarized.
PIECE_BYTES = 1 << 21
# In memory, a block is what one thread takes at a time.
BLOCK_BYTES = 1 << 22


@dataclass(frozen=True, eq=False)
class Rows(Value):
    """Independent examples: features, and if there are any, targets and weights."""

    X: Any  # (N, D), ndarray or csr_array
    y: np.ndarray | None = None  # (N,) or (N, T)
    weight: Any = None  # (N,), float64; ones if none are given, which take no memory
    index: tuple[int, ...] = (0,)  # position of the block in its partitions, of the piece in its block

    def __post_init__(self) -> None:
        if self.weight is None:
            object.__setattr__(self, "weight", np.broadcast_to(1.0, self.X.shape[:1]))

    @property
    def unweighted(self) -> bool:
        return self.weight.strides == (0,)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.fields(), "weight": None if self.unweighted else self.weight}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return self.X.shape[0]

    def __getitem__(self, rows: slice) -> Rows:
        y = None if self.y is None else self.y[rows]
        return Rows(self.X[rows], y, None if self.unweighted else self.weight[rows], self.index)

    @property
    def row_bytes(self) -> float:
        """Bytes of one row as float64."""
        if sp.issparse(self.X):
            return 12.0 * self.X.nnz / max(1, len(self)) + 8.0
        return 8.0 * self.X.shape[1]

    def piece(self, start: int, stop: int, number: int) -> Rows:
        """Rows start to stop as a fold hands them to `summarize`: contiguous float64."""
        X = self.X[start:stop]
        if sp.issparse(X):
            X = X.astype(np.float64, copy=False)
        elif X.dtype != object:
            X = np.ascontiguousarray(X, dtype=np.float64)
        y = None if self.y is None else self.y[start:stop]
        weight = np.ones(X.shape[0]) if self.unweighted else self.weight[start:stop]
        return Rows(X, y, weight, (*self.index, number))

    def pieces(self, statistic_bytes: int) -> Iterator[Rows]:
        """The block in pieces that fit the cache, but larger than what they are summed into."""
        rows = power_of_two(max(PIECE_BYTES, 4 * statistic_bytes) / max(self.row_bytes, 8.0), 64)
        for number, start in enumerate(range(0, len(self), rows)):
            yield self.piece(start, min(start + rows, len(self)), number)


def power_of_two(number: float, least: int) -> int:
    """The largest power of two that is not above the number, nor below the least."""
    return max(least, 1 << (int(number).bit_length() - 1) if number >= 1 else least)


def cut(rows: Rows) -> tuple[Rows, ...]:
    """Cut rows in memory into blocks: views, with boundaries that depend on the data alone."""
    size = power_of_two(BLOCK_BYTES / max(rows.row_bytes, 8.0), 256)
    starts = range(0, len(rows), size) if len(rows) else range(1)
    return tuple(rows[start : start + size].replace(index=(n,)) for n, start in enumerate(starts))
