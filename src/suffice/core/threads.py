"""Threads of this process: their number, and ordered maps over blocks and rows."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np

from .blas import one_blas_thread
from .blocks import Block, Matrix, Rows, cut
from .progress import one_pass

ONE_PIECE = 64  # rows that are computed as one piece, whatever their size

_threads: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Context manager: use `n` threads for folds. The results are the same to the bit for any `n`.

    >>> import suffice
    >>> with suffice.threads(1):
    ...     pass
    """
    if n < 1:
        raise ValueError(f"threads must be at least 1; got {n}.")
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


def n_threads() -> int:
    """The number of threads of a fold."""
    if chosen := _threads.get():
        return chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def short_tasks() -> Iterator[Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]]:
    """Context manager: yield a function that maps over a few parts in threads which stay alive between calls.

    For tasks so short that starting threads would take longer. The calling thread computes the first part.
    """
    with ThreadPoolExecutor(max(1, n_threads() - 1)) as pool:

        def each(f: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
            futures = [pool.submit(copy_context().run, f, part) for part in parts[1:]]
            return [f(parts[0]), *(future.result() for future in futures)]

        yield each


def in_order(f: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:
    """Iterate over f of each block, computed in threads. The results are in the order of the blocks.

    At most one block more than there are threads is in flight.
    """
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
                flying.append(pool.submit(copy_context().run, f, block))
                if len(flying) > n:
                    yield flying.popleft().result()
            while flying:
                yield flying.popleft().result()
        finally:
            for future in flying:
                future.cancel()


def map_rows(f: Callable[[Any], np.ndarray], X: Matrix) -> np.ndarray:
    """Return f of rows in memory, for predictions: computed in threads, in pieces that fit in the cache."""
    return map_block(lambda piece: f(piece.X), Rows(X))


def map_block(f: Callable[[Any], np.ndarray], block: Block) -> np.ndarray:
    """Return f of the examples of a block in memory, computed in threads and in pieces."""
    if block.X.shape[0] <= ONE_PIECE:
        with one_blas_thread, one_pass(f, block) as count:
            count(len(block))
            return f(block if len(block.index) > 1 else block.piece(0, len(block), 0))  # unless it is a piece
    parts = cut(block)

    def of_part(part: Block) -> np.ndarray:
        count(len(part))
        return np.concatenate([f(piece) for piece in part.pieces(0)] or [f(part.piece(0, 0, 0))])

    with one_pass(of_part, parts) as count:
        return np.concatenate(list(in_order(of_part, parts)))
