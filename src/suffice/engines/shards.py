"""Sums by key. Totals too large for the driver stay in shards, each with the sums of a range of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, TypeVar

import numpy as np
import scipy.sparse as sp

from ..core.blocks import PIECE_BYTES, power_of_two
from ..core.partitions import Delegated, Partitions, in_block
from ..core.statistics import tree_sum
from ..core.values import Value

T = TypeVar("T")
Places = slice | np.ndarray

# Bytes of rows that are sorted by key together.
ROWS_BYTES = 1 << 24


@dataclass(frozen=True, eq=False)
class Shard(Value):
    """Block with the sums of a range of keys: `values[i]` is the sum of the key `start + i`."""

    start: int
    values: Annotated[np.ndarray, "(N, ...)"]  # float64
    index: tuple[int, ...] = (0,)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def keys(self) -> np.ndarray:
        return np.arange(self.start, self.start + len(self))

    def piece(self, start: int, stop: int, number: int) -> Shard:
        return Shard(self.start + start, self.values[start:stop], (*self.index, number))

    @property
    def row_bytes(self) -> int:
        return max(8, self.values.nbytes // max(1, len(self)))

    def pieces(self, statistic_bytes: int) -> Iterator[Shard]:
        size = power_of_two(max(PIECE_BYTES, 4 * statistic_bytes) / self.row_bytes, 64)
        for number, start in enumerate(range(0, len(self), size)):
            yield self.piece(start, min(start + size, len(self)), number)


@dataclass(frozen=True, eq=False)
class Shards(Delegated):
    """Result of `fold_by_key`: partitions of `Shard` blocks.

    It can be an argument of a later pass. Then it is sent as references, and the function takes the rows that
    it needs. A function for `map` must keep the keys: it returns ``shard.replace(values=...)``.
    """

    data: Any  # partitions of an engine, with a method `block(number)`
    starts: np.ndarray  # (shards + 1,): shard s has the keys starts[s] to starts[s + 1]

    def map(self, f: Callable[..., Any], *shared: object) -> Shards:
        return replace(self, data=self.data.map(f, *shared))

    def fold_each(
        self, data: Partitions, f: Callable[..., Any], *shared: object, finish: Callable[..., Any]
    ) -> Partitions:
        """Return partitions of `finish(self, total, shard)`, one for each shard.

        The total is the sum over the data of `f(*shared, first, end, block)`, which returns the contribution
        of a block to the sums of the keys first, ..., end - 1.
        """
        return self.data.fold_each(self, data, f, shared, finish)

    def take(self, keys: Any) -> np.ndarray:
        """Return the values of these keys, in order. Only the shards that contain them are read."""
        keys = _checked(keys, int(self.starts[-1]))
        shard_of = np.searchsorted(self.starts[1:-1], keys, side="right").astype(np.uint16)
        count = np.bincount(shard_of, minlength=len(self.starts) - 1)
        if not len(keys):
            return self._shard(0).values[:0].copy()
        if count.max() == len(keys):
            shard = self._shard(int(shard_of[0]))
            return shard.values[keys - shard.start]
        order = np.argsort(shard_of, kind="stable")
        out: Any = None
        for s, stop in zip(np.flatnonzero(count), np.cumsum(count)[count > 0], strict=True):
            at = order[stop - count[s] : stop]
            shard = self._shard(int(s))
            if out is None:
                out = np.empty((len(keys), *shard.values.shape[1:]), shard.values.dtype)
            out[at] = shard.values[keys[at] - shard.start]
            del shard  # before the next one is read
        return out

    def _shard(self, number: int) -> Shard:
        shard = self.data.block(number)
        if not isinstance(shard, Shard) or len(shard) != self.starts[number + 1] - self.starts[number]:
            raise TypeError(
                f"Shard {number} was mapped to a {type(shard).__name__}, which has no values by key: to "
                f"use `take`, map with a function that returns shard.replace(values=...), one for each key."
            )
        return shard


@dataclass(frozen=True, eq=False)
class SumsByKey(Value):
    """Sums of the keys that occur. The others are zero."""

    keys: Annotated[np.ndarray | range, "int (M,)"]  # increasing; a range if most of its keys occur
    values: Annotated[np.ndarray, "(M, ...)"]  # float64

    @classmethod
    def of(cls, keys: Any, values: Any, n_keys: int) -> SumsByKey:
        """Return the sums of rows with keys in any order. The rows of a key are added in their order."""
        keys, values = _checked(keys, n_keys), np.asarray(values, dtype=np.float64)
        if len(values) != len(keys):
            raise ValueError(
                f"There are {len(keys)} keys and {len(values)} values; expected one for each key."
            )
        if (keys[1:] > keys[:-1]).all():
            return cls(_as_range(keys), values)
        bits = len(keys).bit_length()
        if n_keys.bit_length() + bits < 64:
            # A key and its position in one number: sorting these is several times as fast as argsort.
            packed = (keys << bits) | np.arange(len(keys))
            packed.sort()
            order, keys = packed & ((1 << bits) - 1), packed >> bits
        else:
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        ends = np.append(first, len(keys))
        # The product with a sparse matrix of ones adds row after row, without a sorted copy of the values.
        sums = sp.csr_array((np.ones(len(keys)), order, ends), shape=(len(first), len(keys)))
        flat = values.reshape(len(values), -1)
        total = sums.dot(flat[:, 0] if flat.shape[1] == 1 else flat)
        return cls(_as_range(keys[first]), total.reshape(-1, *values.shape[1:]))

    def __len__(self) -> int:
        return len(self.values)

    def __add__(self, other: SumsByKey) -> SumsByKey:
        if not len(other):
            return self
        if not len(self):
            return other
        low, high = int(min(self.keys[0], other.keys[0])), int(max(self.keys[-1], other.keys[-1]))
        every, row = range(low, high + 1), self.values.nbytes // len(self)

        def is_dense(n: int) -> bool:
            """Whether all keys take little more memory than the n keys that occur."""
            return len(every) * row <= 2 * n * (row + 8)

        if is_dense(max(len(self), len(other))):
            return self._among(every, _places(every, self.keys), other, _places(every, other.keys))
        # The last bit of a number tells which operand has the key, so that one sort gives the places of both.
        keys = np.concatenate([_as_array(part.keys) - low << 1 for part in (self, other)])
        keys[len(self) :] |= 1
        keys.sort(kind="stable")  # a stable sort merges the two sorted halves
        from_other = (keys & 1).astype(bool)
        keys >>= 1
        new = np.concatenate([[True], keys[1:] != keys[:-1]])
        if is_dense(int(np.count_nonzero(new))):
            return self._among(every, keys[~from_other], other, keys[from_other])
        place = np.cumsum(new) - 1
        return self._among(keys[new] + low, place[~from_other], other, place[from_other])

    def _among(self, keys: np.ndarray | range, mine: Places, other: SumsByKey, its: Places) -> SumsByKey:
        total = np.zeros((len(keys), *self.values.shape[1:]))
        total[mine] = self.values
        total[its] += other.values
        return SumsByKey(keys, total)

    def cut(self, starts: np.ndarray) -> tuple[SumsByKey, ...]:
        """Return the sums of each shard."""
        if isinstance(self.keys, range):
            ends = np.clip(starts - self.keys.start, 0, len(self))
        else:
            ends = np.searchsorted(self.keys, starts)
        return tuple(SumsByKey(self.keys[a:b], self.values[a:b]) for a, b in pairwise(ends))

    def shard(self, number: int, starts: np.ndarray) -> Shard:
        """Return all keys of a shard, including those that do not occur."""
        start, stop = int(starts[number]), int(starts[number + 1])
        values = np.zeros((stop - start, *self.values.shape[1:]))
        # Adding to zero turns -0.0 into 0.0. Otherwise its sign would depend on how the sum was cut.
        values[_places(range(start, stop), self.keys)] += self.values
        return Shard(start, values, (number,))


def shard_starts(n_keys: int, shards: int) -> np.ndarray:
    """Return the boundaries of the shards, whose numbers of keys differ by at most one."""
    if not 0 < shards <= min(n_keys, 1 << 16):
        raise ValueError(
            f"shards={shards} of n_keys={n_keys}: expected 1 to {1 << 16} shards, and no more than "
            f"there are keys."
        )
    return np.array([s * n_keys // shards for s in range(shards + 1)])


def sums_by_key(
    f: Callable[..., Any], shared: Sequence[Any], blocks: Iterable[Any], n_keys: int
) -> SumsByKey:
    """Return the sums by key over consecutive blocks, piece by piece: the task of every engine."""
    return tree_sum(_of_block(f, shared, block, n_keys) for block in blocks)


def _of_block(f: Callable[..., Any], shared: Sequence[Any], block: Any, n_keys: int) -> SumsByKey:
    with in_block(block.index[0], f"computing {getattr(f, '__qualname__', f)}"):
        pieces = block.pieces(0) if len(block) else [block.piece(0, 0, 0)]
        return tree_sum(
            SumsByKey.of(keys, values, n_keys)
            for keys, values in _together(f(*shared, piece) for piece in pieces)
        )


def _together(pieces: Iterable[Any]) -> Iterator[Sequence[Any]]:
    """Collect the rows of several pieces, up to a size: sorting them once is faster than merging sums."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for pair in pieces:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"The function returned a {type(pair).__name__}, expected keys, values for sums by key."
            )
        keys, values = map(np.asarray, pair)
        if len(keys) != len(values):
            raise ValueError(
                f"There are {len(keys)} keys and {len(values)} values; expected one for each key."
            )
        rows.append((keys, values))
        size += keys.nbytes + values.nbytes
        if size > ROWS_BYTES:
            yield _joined(rows)
            rows, size = [], 0
    if rows:
        yield _joined(rows)


def _joined(rows: list[tuple[Any, ...]]) -> Sequence[Any]:
    return [np.concatenate(part) for part in zip(*rows, strict=True)] if len(rows) > 1 else rows[0]


def add_in_runs(terms: Iterable[T], length: int, add_all: Callable[[list[T]], T]) -> T:
    """Return the same sum as `tree_sum`, where one call adds an aligned run of 2^k terms.

    >>> add_in_runs("abcdefghijk", 4, lambda terms: tree_sum(terms, add=lambda a, b: f"({a}{b})"))
    '((((ab)(cd))((ef)(gh)))((ij)k))'
    """
    levels: list[list[T]] = []
    for term in terms:
        for level in levels:
            level.append(term)
            if len(level) < length:
                break
            term = add_all(level)
            level.clear()
        else:
            levels.append([term])
    rest: list[T] = []
    for level in levels:
        run = level + rest
        rest = [add_all(run)] if len(run) > 1 else run
        level.clear()
    return rest[0]


def _checked(keys: Any, n_keys: int) -> np.ndarray:
    keys = np.asarray(keys)
    if keys.ndim != 1 or keys.dtype.kind not in "iu":
        raise TypeError(
            f"keys has dtype {keys.dtype} and shape {keys.shape}, expected a list of integers: pass "
            f"keys.astype(np.int64)."
        )
    if len(keys) and not (keys.min() >= 0 and keys.max() < n_keys):
        raise ValueError(
            f"keys are from {keys.min()} to {keys.max()}, expected 0 to {n_keys - 1} with n_keys={n_keys}."
        )
    return keys.astype(np.int64, copy=False)


def _as_range(keys: np.ndarray) -> np.ndarray | range:
    if len(keys) and keys[-1] - keys[0] + 1 == len(keys):
        return range(int(keys[0]), int(keys[-1]) + 1)
    return keys


def _as_array(keys: np.ndarray | range) -> np.ndarray:
    return np.arange(keys.start, keys.stop) if isinstance(keys, range) else keys


def _places(every: range, keys: np.ndarray | range) -> Places:
    """Return the positions of the keys in a range."""
    if isinstance(keys, range):
        return slice(keys.start - every.start, keys.stop - every.start)
    return keys - every.start
