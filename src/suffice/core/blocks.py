"""Blocks: what one partition holds."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .values import Value

# Bytes of a piece, the rows of one call of `summarize`. Two megabytes of float64 stay in or near the cache.
PIECE_BYTES = 1 << 21
# Bytes of a block of rows in memory, the task of one thread.
BLOCK_BYTES = 1 << 22
# Least bytes of a step of a sequence: the loops of chains keep several numbers of each state for each step.
STEP_BYTES = 128
ONE = np.float64(1.0).tobytes()  # the one number that default weights share

Matrix: TypeAlias = np.ndarray | sp.csr_array  # the rows of a block: dense, or CSR


def dense(X: Any) -> np.ndarray:
    """Return X as an array; CSR is converted."""
    return X.toarray() if sp.issparse(X) else X


def _aligned(part: Any) -> Any:
    """Return an array with aligned memory. It is copied only if it is not aligned."""
    if isinstance(part, sp.csr_array):
        arrays = part.data, part.indices, part.indptr
        if all(a.flags.aligned for a in arrays):
            return part
        return sp.csr_array(tuple(map(_aligned, arrays)), shape=part.shape)
    return np.require(part, requirements=["ALIGNED"]) if isinstance(part, np.ndarray) else part


class Block(Value, ABC):
    """Examples with their weights. Subclasses define what an example is."""

    X: Any  # (N, D), ndarray or csr_array
    y: Annotated[np.ndarray | Any, "labels (N, ...) or None"]  # None of examples without targets
    weight: Any  # one per example, float64; ones by default, which take no memory
    index: tuple[int, ...]  # position of the block in its partitions; of a piece, also that in its block

    def __post_init__(self) -> None:
        if self.weight is None:
            self.__dict__["weight"] = np.ndarray((len(self),), np.float64, ONE, strides=(0,))

    @property
    def unweighted(self) -> bool:
        return self.weight.strides == (0,)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.fields(), "weight": None if self.unweighted else self.weight}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays in a message of an engine may be unaligned. NumPy multiplies unaligned arrays by other
        # routines, which give other bits.
        self.__dict__.update({name: _aligned(part) for name, part in state.items()})
        self.__post_init__()

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, examples: slice | np.ndarray) -> Self: ...

    @abstractmethod
    def parts(self, size: int) -> Iterator[slice]:
        """Iterate over slices of complete examples, each of about `size` rows."""

    @property
    def row_bytes(self) -> float:
        """Bytes of one row as float64."""
        if sp.issparse(self.X):  # an entry is a float64 and an int32 index; a row has one offset
            return 12.0 * self.X.nnz / max(1, self.X.shape[0]) + 8.0
        return 8.0 * self.X.shape[1]

    def piece(self, start: int, stop: int, number: int) -> Self:
        """Return examples `start` to `stop` as a fold passes them to `summarize`: contiguous float64."""
        part = self if (start, stop) == (0, len(self)) else self[start:stop]
        X = part.X
        if sp.issparse(X):
            X = X.astype(np.float64, copy=False)
        elif X.dtype.kind not in "OU":
            X = np.ascontiguousarray(X, dtype=np.float64)
        weight = np.ones(len(part)) if self.unweighted else part.weight
        return part.replace(X=X, weight=weight, index=(*self.index, number))

    def pieces(self, statistic_bytes: int) -> Iterator[Self]:
        """Iterate over the pieces of the block; a fold calls `summarize` once for each."""
        for number, part in enumerate(self.parts(self.piece_rows(statistic_bytes))):
            yield self.piece(part.start, part.stop, number)

    @property
    def is_one_piece(self) -> bool:
        """Whether the block is one piece for statistics of any size: larger statistics only join pieces."""
        return next(self.parts(self.piece_rows(0)), None) == slice(0, len(self))

    def piece_rows(self, statistic_bytes: int) -> int:
        """Number of rows of a piece.

        A piece fits in the cache, or is four times as large as its statistics if these are larger, so that
        adding statistics takes a small part of the time. Then all pieces have one size, since a small
        remainder would also cost a statistic.
        """
        rows = power_of_two(max(PIECE_BYTES, 4 * statistic_bytes) / max(self.row_bytes, 8.0), 64)
        return of_one_size(self.X.shape[0], rows) if 4 * statistic_bytes > PIECE_BYTES else rows


@dataclass(frozen=True, eq=False)
class Rows(Block):
    """Independent examples: features, and optionally targets and weights."""

    X: Any  # (N, D), ndarray or csr_array
    y: Annotated[np.ndarray | Any, "labels (N,) or labels (N, T) or None"] = None
    weight: Annotated[Any, "(N,) or None"] = None
    index: tuple[int, ...] = (0,)

    def __len__(self) -> int:
        return self.X.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> Rows:
        y = None if self.y is None else self.y[rows]
        return Rows(_take(self.X, rows), y, None if self.unweighted else self.weight[rows], self.index)

    def parts(self, size: int) -> Iterator[slice]:
        return (slice(start, min(start + size, len(self))) for start in range(0, len(self), size))


@dataclass(frozen=True, eq=False)
class Sequences(Block):
    """Sequences of steps: the concatenated rows, and their offsets."""

    X: Any  # (N, D), ndarray or csr_array
    offset: Annotated[np.ndarray, "int (S + 1,)"]  # sequence s has the rows offset[s] to offset[s + 1]
    y: Annotated[np.ndarray | Any, "labels (N,) or None"] = None
    weight: Annotated[Any, "(S,) or None"] = None
    index: tuple[int, ...] = (0,)

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __getitem__(self, sequences: slice | np.ndarray) -> Sequences:
        weight = None if self.unweighted else self.weight[sequences]
        if isinstance(sequences, slice):
            start, stop, _ = sequences.indices(len(self))
            offset = self.offset[start : max(start, stop) + 1]
            rows: Any = slice(offset[0], offset[-1])
            offset = offset - offset[0]
        else:  # a mask, or positions
            lengths = self.lengths[sequences]
            offset = offsets(lengths)
            rows = np.arange(offset[-1]) + np.repeat(self.offset[:-1][sequences] - offset[:-1], lengths)
        X = _take(self.X, rows)
        return Sequences(X, offset, None if self.y is None else self.y[rows], weight, self.index)

    @property
    def row_bytes(self) -> float:
        return max(super().row_bytes, STEP_BYTES)

    def parts(self, size: int) -> Iterator[slice]:
        return (slice(a, b) for a, b in zip(*_bounds(self.offset, size), strict=True))

    @property
    def lengths(self) -> np.ndarray:
        return self.offset[1:] - self.offset[:-1]

    @property
    def firsts(self) -> np.ndarray:
        """Index of the first row of each sequence that is not empty."""
        return firsts(self.offset)

    @property
    def follows(self) -> np.ndarray:
        """Indices of the rows that are not the first of their sequence."""
        later = np.ones(self.offset[-1], bool)
        later[self.firsts] = False
        return np.flatnonzero(later)

    @property
    def step_weight(self) -> np.ndarray:
        """Weight of each row, which is that of its sequence, (N,)."""
        return np.repeat(self.weight, self.lengths)

    def rows(self) -> Rows:
        """Return the steps as independent rows."""
        return Rows(self.X, self.y, None if self.unweighted else self.step_weight, self.index)


@dataclass(frozen=True, eq=False)
class Edges(Block):
    """Links of a graph, each from a source to a target. The ends are ids, or indices into `ids`."""

    source: Annotated[np.ndarray, "labels (N,)"]
    target: Annotated[np.ndarray, "labels (N,)"]
    weight: Annotated[Any, "(N,) or None"] = None
    ids: Annotated[np.ndarray | None, "labels (V,)"] = None  # None if the ends are integer ids
    index: tuple[int, ...] = (0,)

    y = None

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, edges: slice | np.ndarray) -> Edges:
        weight = None if self.unweighted else self.weight[edges]
        return Edges(self.source[edges], self.target[edges], weight, self.ids, self.index)

    @property
    def row_bytes(self) -> float:
        return 16.0

    def parts(self, size: int) -> Iterator[slice]:
        return (slice(start, min(start + size, len(self))) for start in range(0, len(self), size))

    def piece(self, start: int, stop: int, number: int) -> Edges:
        return self[start:stop].replace(index=(*self.index, number))


def _take(X: Any, rows: slice | np.ndarray) -> Any:
    """Return rows of X. Consecutive rows are a view, also for CSR."""
    if not sp.issparse(X) or not isinstance(rows, slice):
        return X[rows]
    start, stop, step = rows.indices(X.shape[0])
    if step != 1 or X.format != "csr":
        return X[rows]
    ends = X.indptr[start : max(start, stop) + 1]
    part = slice(ends[0], ends[-1])
    return csr_of(X.data[part], X.indices[part], ends - ends[0], (len(ends) - 1, X.shape[1]))


NO_ROWS = vars(sp.csr_array((1, 1)))


def csr_of(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]) -> Any:
    """Build a CSR array without the checks of SciPy's constructor.

    It takes 1 microsecond instead of 23, which would be a large part of a small prediction. SciPy has no
    public way to set the shape alone.
    """
    out: Any = object.__new__(sp.csr_array)
    vars(out).update(NO_ROWS)
    out.data, out.indices, out.indptr, out._shape = data, indices, indptr, shape
    return out


def entries_of(X: sp.csr_array, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `data`, `indices` and `indptr` of a CSR array, with one type of indices, for compiled loops."""
    kind = np.result_type(X.indices, X.indptr)
    places = (a.astype(kind, copy=False) for a in (X.indices, X.indptr))
    return np.ascontiguousarray(X.data, dtype), *places


def one_a_place(X: sp.csr_array) -> sp.csr_array:
    """Return the matrix in canonical CSR format (indices sorted, duplicates summed), without modifying X."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def stack(blocks: Sequence[Any]) -> Any:
    """Concatenate blocks in order into one block, with numbers as float64."""
    if len(blocks) == 1:
        return blocks[0].piece(0, len(blocks[0]), 0)
    if hasattr(blocks[0], "joined"):  # a block that is neither rows nor sequences
        return blocks[0].joined(blocks)
    first, parts = blocks[0], [block.X for block in blocks]
    X = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    if X.dtype.kind not in "OU":
        X = X.astype(np.float64, copy=False)
    y = None if first.y is None else np.concatenate([block.y for block in blocks])
    weight = np.concatenate([block.weight for block in blocks])
    if isinstance(first, Sequences):
        return Sequences(X, offsets(np.concatenate([block.lengths for block in blocks])), y, weight)
    return Rows(X, y, weight)


def missing(values: np.ndarray) -> np.ndarray:
    """Mask of the values that are None, NaN or NA."""
    if values.dtype != object:
        return values != values
    # pd.NA is compared by identity, since the truth value of `NA != NA` is an error.
    unknown = getattr(sys.modules.get("pandas"), "NA", None)
    of_cell = (v is None or v is unknown or (not isinstance(v, np.ndarray) and v != v) for v in values)
    return np.fromiter(of_cell, bool, len(values))


def offsets(lengths: ArrayLike) -> np.ndarray:
    """Return the offsets of sequences of these lengths: a zero and the cumulative sums."""
    lengths = np.asarray(lengths, np.int64)
    out = np.zeros(len(lengths) + 1, np.int64)
    lengths.cumsum(out=out[1:])
    return out


def firsts(offset: np.ndarray) -> np.ndarray:
    """Index of the first row of each sequence that is not empty."""
    return offset[:-1][offset[1:] > offset[:-1]]


def _bounds(offset: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where parts of about `size` rows start and stop. A part ends with the sequence that fills it."""
    marks = np.searchsorted(offset, np.arange(size, offset[-1], size), "left")
    bounds = np.unique(np.concatenate([[0], marks, [len(offset) - 1]]))
    return bounds[:-1], bounds[1:]


def power_of_two(number: float, least: int) -> int:
    """Return the largest power of two up to `number`, but at least `least`."""
    return max(least, 1 << (int(number).bit_length() - 1) if number >= 1 else least)


def of_one_size(total: int, rows: float) -> int:
    """Return the number of rows of parts of one size: at least `rows`, or `total` if that is less."""
    return -(-total // max(1, int(total / max(rows, 1.0)))) or 1


def rows_beside(block: Block, statistic_bytes: float) -> float | None:
    """Return the least rows of a block in memory, so that blocks are not small beside their statistics.

    None stands for the default size, which is large enough.
    """
    rows = statistic_bytes / max(block.row_bytes, 8.0) / 2.0
    return rows if rows > power_of_two(BLOCK_BYTES / max(block.row_bytes, 8.0), 256) else None


def cut(block: Block, rows: float | None = None) -> tuple[Block, ...]:
    """Divide examples in memory into blocks, which are views. The boundaries depend on the data alone.

    Blocks have about four megabytes, or at least `rows` rows each, for large statistics or slow rows.
    """
    if rows is None:
        size = power_of_two(BLOCK_BYTES / max(block.row_bytes, 8.0), 256)
    else:
        size = of_one_size(block.X.shape[0], rows)
    parts = list(block.parts(size)) or [slice(0, len(block))]
    return tuple(block[part].replace(index=(n,)) for n, part in enumerate(parts))
