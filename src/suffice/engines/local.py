"""Local engine: threads of this process, over blocks in memory or blocks that are read in each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import Any, ClassVar

import numpy as np

from ..core.arguments import MaybeArray
from ..core.blas import one_blas_thread
from ..core.blocks import Block, Rows, cut, stack
from ..core.cost import return_freed_memory
from ..core.partitions import Partitions, SumBytes, after_steps, by_threads, fold_blocks, in_any_order
from ..core.progress import one_pass, rows_of
from ..core.statistics import tree_sum
from ..core.threads import in_order
from .disk_sums import add_by_key
from .shards import Shards, SumsByKey, shard_starts, sums_by_key
from .stores import Automatic, OnDisk


@dataclass(frozen=True)
class LocalPartitions(Partitions):
    """Blocks of this process: a tuple, or a re-iterable of blocks that each pass reads again.

    `steps` are the maps that each pass applies to the blocks of a re-iterable.
    """

    local: ClassVar[bool] = True
    blocks: Iterable[Any]
    steps: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = ()

    @property
    def in_memory(self) -> bool:
        return isinstance(self.blocks, tuple)

    def map(self, f: Callable[..., Any], *shared: object) -> LocalPartitions:
        if isinstance(self.blocks, tuple):
            with one_pass(f, self.blocks) as count:
                return LocalPartitions(
                    tuple(in_order(lambda block: f(*shared, self._stepped(block, count)), self.blocks))
                )
        return replace(self, steps=(*self.steps, (f, shared)))

    def fold(self, f: Callable[..., Any], *shared: object) -> Any:
        try:
            return self._fold(f, *shared)
        finally:
            if not self.in_memory:
                return_freed_memory()

    @one_blas_thread
    def _fold(self, f: Callable[..., Any], *shared: object) -> Any:
        with one_pass(f, self.blocks) as count:
            if in_any_order(f):
                return self._fold_in_any_order(f, shared, count)
            if (
                isinstance(self.blocks, tuple)
                and len(self.blocks) == 1
                and by_threads(f, shared, *self.blocks)
            ):
                return fold_blocks(partial(f, each=in_order), shared, self.blocks)

            def task(block: Any) -> Any:
                return fold_blocks(f, shared, [self._stepped(block, count)], sum_bytes=sum_bytes)

            sum_bytes = SumBytes(f, *shared)
            return tree_sum(in_order(task, self.blocks))

    def _fold_in_any_order(
        self, f: Callable[..., Any], shared: tuple[Any, ...], count: Callable[[int], None]
    ) -> Any:
        """Return a sum of integers. Each thread adds its blocks to its own total: the order does not change
        the bits."""
        totals: SimpleQueue[Any] = SimpleQueue()

        def add_block(block: Any) -> None:
            block = self._stepped(block, count)
            with suppress(Empty):
                totals.put(fold_blocks(f, shared, [block], totals.get_nowait()))
                return
            totals.put(fold_blocks(f, shared, [block]))

        for _ in in_order(add_block, self.blocks):
            pass
        return tree_sum(totals.get() for _ in range(totals.qsize()))

    def gather(self, instead: str | None) -> Any:
        return stack(self.blocks) if isinstance(self.blocks, tuple) else super().gather(instead)

    def fold_by_key(self, f: Callable[..., Any], *shared: object, n_keys: int, shards: int) -> Shards:
        def task(block: Any) -> Any:
            return sums_by_key(f, shared, [self._stepped(block, count)], n_keys)

        with one_pass(f, self.blocks) as count:
            return _shards(in_order(task, self.blocks), n_keys, shards)

    def fold_each(
        self, shards: Shards, data: Partitions, f: Callable[..., Any], shared: tuple[Any, ...], finish: Any
    ) -> StoredPartitions:
        """Return `Shards.fold_each`, with one shard in memory at a time."""
        store = OnDisk()
        for number, ends in enumerate(pairwise(shards.starts.tolist())):
            total = data.fold(f, *shared, *ends)
            store.put(number, finish(shards, total, self.block(number)))
        return StoredPartitions(store)

    def new_store(self) -> Automatic | None:
        return Automatic(iterates=True)

    def on_driver(self, block: Block) -> LocalPartitions:
        return in_blocks(block)

    def batches(self) -> Iterator[Any]:
        with one_pass(self.batches, self.blocks) as count:
            yield from in_order(lambda block: self._stepped(block, count), self.blocks)

    def _stepped(self, block: Any, count: Callable[[int], None]) -> Any:
        n = rows_of(block)
        stepped = after_steps(self.steps, block)
        count(n if n is not None else rows_of(stepped) or 0)
        return stepped

    def block(self, number: int) -> Any:
        return self.blocks[number]  # type: ignore[index]


def in_blocks(block: Block) -> LocalPartitions:
    """Return partitions of the examples of one block of this process."""
    return LocalPartitions(cut(block))


def fold_by_key_on_driver(
    data: Partitions, f: Callable[..., Any], shared: tuple[Any, ...], n_keys: int, shards: int
) -> Shards:
    """Compute `fold_by_key` on the driver, for clusters whose tasks cannot read the results of others."""
    return _shards(data.map(_sums_of_block, f, shared, n_keys).batches(), n_keys, shards)


def _sums_of_block(f: Callable[..., Any], shared: tuple[Any, ...], n_keys: int, block: Any) -> SumsByKey:
    return sums_by_key(f, shared, [block], n_keys)


def _shards(terms: Iterable[SumsByKey], n_keys: int, shards: int) -> Shards:
    starts = shard_starts(n_keys, shards)
    total = add_by_key(terms, starts)
    return Shards(LocalPartitions(total) if isinstance(total, tuple) else StoredPartitions(total), starts)


class Stored:
    """Re-iterable of functions that read blocks from a temporary file, which threads call."""

    def __init__(self, store: OnDisk) -> None:
        self.store = store

    def __iter__(self) -> Iterator[Callable[[], Any]]:
        return (partial(self.store.get, n) for n in range(len(self.store.blocks)))

    def __getitem__(self, number: int) -> Any:
        return self.store.get(number)


class StoredPartitions(LocalPartitions):
    """Blocks in a temporary file. The results of a map are written to another."""

    def __init__(self, store: OnDisk) -> None:
        super().__init__(Stored(store), CALLED)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the content of the file, since other processes may not have the file."""
        return LocalPartitions, (tuple(map(self.block, range(len(self.blocks.store.blocks)))),)  # type: ignore

    def map(self, f: Callable[..., Any], *shared: object) -> StoredPartitions:
        store = OnDisk()

        def task(numbered: tuple[int, Callable[[], Any]]) -> None:
            number, read = numbered
            store.put(number, f(*shared, self._stepped(read, count)))

        with one_pass(f, self.blocks) as count:
            for _ in in_order(task, enumerate(self.blocks)):
                pass
        return StoredPartitions(store)


def _call(read: Callable[[], Any]) -> Any:
    return read()


CALLED: tuple[Any, ...] = ((_call, ()),)  # the first step, which calls the functions that read blocks


def partition(X: Any, y: MaybeArray = None, weight: Any = None) -> LocalPartitions:
    """Return partitions of arrays, e.g. to call `fold` interactively.

    Examples
    --------
    >>> import numpy as np, suffice
    >>> data = suffice.partition(np.arange(6.0).reshape(3, 2))
    >>> data.fold(lambda rows: rows.X.sum(axis=0))
    array([6., 9.])
    """
    weight = None if weight is None else np.array(weight, dtype=np.float64)
    return in_blocks(Rows(np.asarray(X), y, weight))
