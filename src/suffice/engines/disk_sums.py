"""Sums by key on this machine: in memory, or in temporary files if they are too large."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from ..core.cost import free_memory
from ..core.statistics import tree_sum
from ..core.threads import in_order
from ..core.values import nbytes
from .shards import Shard, SumsByKey
from .stores import OnDisk

# Larger sums go to a temporary file. None takes the fraction PART_OF_FREE of the free memory, since there are
# as many sums as levels of the tree. The bits do not depend on it.
SPILL_BYTES: int | None = None
PART_OF_FREE = 1 / 32
# Adding smaller sums takes less time than starting threads.
THREADS_BYTES = 1 << 21


def add_by_key(terms: Iterable[SumsByKey], starts: np.ndarray) -> tuple[Shard, ...] | OnDisk:
    """Return the total of the terms in shards, which are in memory or in a temporary file."""
    limit = SPILL_BYTES or PART_OF_FREE * free_memory()
    numbers = tuple(range(len(starts) - 1))
    total = tree_sum((term.cut(starts) for term in terms), add=partial(_add, limit, numbers))
    row = nbytes(_part(total, 0).shard(0, starts).values[:1])
    if row * starts[-1] <= limit:
        return tuple(_part(total, s).shard(s, starts) for s in numbers)
    store = OnDisk()
    for s in numbers:
        store.put(s, _part(total, s).shard(s, starts))
    return store


def _add(limit: float, numbers: tuple[int, ...], a: Any, b: Any) -> Any:
    """Add shard by shard, so that only one shard from disk is in memory at a time."""

    def add(s: int) -> SumsByKey:
        return _part(a, s) + _part(b, s)

    size = _size(a) + _size(b)
    if size <= limit:
        return tuple(in_order(add, numbers) if size > THREADS_BYTES else map(add, numbers))
    store = OnDisk()
    for s in numbers:
        store.put(s, add(s))  # type: ignore[arg-type]
    return store


def _part(term: Any, s: int) -> Any:
    return term.get(s) if isinstance(term, OnDisk) else term[s]


def _size(term: Any) -> int:
    return term.size if isinstance(term, OnDisk) else nbytes(term)
