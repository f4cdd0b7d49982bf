"""Threads of this process, over blocks in memory or read as they are needed."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core.blas import one_blas_thread
from ..core.blocks import Block, Rows, cut
from ..core.partitions import Partitions, fold_blocks
from ..core.shards import Shards, shard_starts, sums_by_key
from ..core.statistics import tree_sum

_threads: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use `n` threads for the folds inside the block; the results are the same bits for any `n`.

    >>> import suffice
    >>> with suffice.threads(1):
    ...     pass
    """
    if n < 1:
        raise ValueError(f"threads({n}): there must be one at least.")
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


def n_threads() -> int:
    if chosen := _threads.get():
        return chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LocalPartitions(Partitions):
    """Blocks of this process: a tuple of them, or anything that can be iterated again and again.

    What is read anew in each pass is mapped anew in each pass: `steps` are the maps still to do.
    """

    blocks: Iterable[Any]
    steps: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = ()

    def map(self, f: Callable[..., Any], *shared: Any) -> LocalPartitions:
        if isinstance(self.blocks, tuple):
            return LocalPartitions(tuple(in_order(lambda b: f(*shared, b), self.blocks)))
        return LocalPartitions(self.blocks, (*self.steps, (f, shared)))

    @one_blas_thread
    def fold(self, f: Callable[..., Any], *shared: Any) -> Any:
        if isinstance(self.blocks, tuple):
            if hasattr(f, "whole"):
                return fold_blocks(f, shared, self.blocks)
            if len(self.blocks) == 1 and hasattr(f, "in_runs"):
                return fold_blocks(partial(f, each=in_order), shared, self.blocks)

        def task(block: Any) -> Any:
            for step, step_shared in self.steps:
                block = step(*step_shared, block)
            return fold_blocks(f, shared, [block])

        return tree_sum(in_order(task, self.blocks))

    def fold_by_key(self, f: Callable[..., Any], *shared: Any, n_keys: int, shards: int) -> Shards:
        from .spilled import add_by_key  # which is made of these partitions

        def task(block: Any) -> Any:
            for step, step_shared in self.steps:
                block = step(*step_shared, block)
            return sums_by_key(f, shared, [block], n_keys)

        starts = shard_starts(n_keys, shards)
        return add_by_key(in_order(task, self.blocks), starts)

    def block(self, number: int) -> Any:
        return self.blocks[number]  # type: ignore[index]


def in_order(f: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:
    """f of each block, by threads, in the order of the blocks, with few of them in flight."""
    n = n_threads()
    if isinstance(blocks, tuple):
        n = min(n, len(blocks))
    f = one_blas_thread(f)
    if n <= 1:
        yield from map(f, blocks)
        return
    with ThreadPoolExecutor(n) as pool:
        flying: deque[Future[Any]] = deque()
        try:
            for block in blocks:
                flying.append(pool.submit(f, block))
                if len(flying) > n:
                    yield flying.popleft().result()
            while flying:
                yield flying.popleft().result()
        finally:
            for future in flying:
                future.cancel()


def partition(X: Any, y: Any = None, weight: Any = None) -> LocalPartitions:
    """Arrays as partitions, to fold over by hand.

    Examples
    --------
    >>> import numpy as np, suffice
    >>> data = suffice.partition(np.arange(6.0).reshape(3, 2))
    >>> data.fold(lambda rows: rows.X.sum(axis=0))
    array([6., 9.])
    """
    weight = None if weight is None else np.array(weight, dtype=np.float64)
    return LocalPartitions(cut(Rows(np.asarray(X), y, weight)))


def map_rows(f: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """f of rows in memory, by threads and in pieces that fit the cache: how models predict."""
    return map_block(lambda piece: f(piece.X), Rows(X))


def map_block(f: Callable[[Any], np.ndarray], block: Block) -> np.ndarray:
    """f of the examples of a block in memory, by threads and in pieces, one after the other."""

    def of_part(part: Block) -> np.ndarray:
        return np.concatenate([f(piece) for piece in part.pieces(0)] or [f(part.piece(0, 0, 0))])

    return np.concatenate(list(LocalPartitions(cut(block)).map(of_part).blocks))
