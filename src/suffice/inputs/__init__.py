"""Input of `fit`, `score` and `predict`: a source for each type of container, and readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.blocks import Block, Sequences, cut
from ..core.partitions import Partitions
from ..engines.local import LocalPartitions, StoredPartitions, map_block, map_rows
from ..engines.shards import Shard, Shards, shard_starts
from ..engines.stores import OnDisk
from ..engines.threads import in_order, n_threads, short_tasks, threads
from .arrays import nameless_copy
from .checks import Check, TargetDomain
from .containers import source_of
from .sources import Opening, Source, same_features
from .tables import Table


def open_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    reset: bool = True,
    block_rows: Callable[[Any], float | None] | None = None,
) -> Partitions:
    """Partitions of checked rows, from arrays or from a table.

    The tags of the estimator say what is allowed (sparse, NaN, negative, strings). The number of rows of a
    block in memory follows from their size, or from `block_rows`.
    """
    opening = Opening(estimator, Check.of(estimator), reset, block_rows)
    opening.check.must_be_many(X)
    with same_features(estimator, reset):
        return source_of(X).open_rows(opening, y, sample_weight)


def open_sequences(
    estimator: Any,
    X: Any,
    y: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    *,
    reset: bool = True,
    block_rows: Callable[[Any], float | None] | None = None,
) -> Partitions:
    """Partitions of checked sequences: from one 2-D array, one with `groups`, a list of them, or a table.

    The number of rows of a block in memory follows from their size, or from `block_rows`.
    """
    opening = Opening(estimator, Check.of(estimator), reset, block_rows)
    return source_of(X).open_sequences(opening, y, groups, sample_weight)


def open_edges(estimator: Any, X: Any, sample_weight: Any = None) -> tuple[Partitions, np.ndarray | None]:
    """Partitions of checked links; and the ids of all nodes if the data lists them, else None.

    From a pair of arrays, a table, a sparse matrix whose entry (i, j) is the weight of the link from i to j,
    or a graph of networkx.
    """
    return source_of(X).open_edges(Opening(estimator, Check.of(estimator)), sample_weight)


def read_rows(estimator: Any, X: Any, late: bool = False) -> Any:
    """Checked rows in memory: contiguous float64 or CSR.

    With `late`, the caller checks the values of many rows in pieces, by `Check.must_pass`.
    """
    check_is_fitted(estimator)
    check = Check.of(estimator)
    check.must_be_many(X)
    return source_of(X).read_rows(estimator, check, late)


def answers_of(estimator: Any, f: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """f of rows in memory, whose numbers are checked in the pieces to which f is applied."""
    X, check = read_rows(estimator, X, late=True), Check.of(estimator)

    def of_rows(rows: Any) -> np.ndarray:
        if isinstance(rows, np.ndarray) and rows.dtype != object:
            check.must_pass(rows)
        return f(rows)

    return map_rows(of_rows, X)


def read_sequences(estimator: Any, X: Any, groups: Any = None) -> tuple[Sequences, Any]:
    """Checked sequences in memory, and the shape of the input."""
    if "n_features_in_" not in vars(estimator):
        check_is_fitted(estimator)
    return source_of(X).read_sequences(estimator, Check.of(estimator), groups)


def in_memory(*blocks: Any) -> Partitions:
    """Partitions of blocks of this process."""
    return LocalPartitions(blocks)


def in_file(blocks: Iterable[Any]) -> Partitions:
    """Partitions of blocks in a temporary file of this machine, to which they are written one by one."""
    store = OnDisk()
    for number, block in enumerate(blocks):
        store.put(number, block)
    return StoredPartitions(store)


def in_blocks(block: Block) -> Partitions:
    """Partitions of the examples of one block of this process."""
    return LocalPartitions(cut(block))


__all__ = [
    "Check",
    "Shard",
    "Shards",
    "Source",
    "Table",
    "TargetDomain",
    "answers_of",
    "in_blocks",
    "in_file",
    "in_memory",
    "in_order",
    "map_block",
    "map_rows",
    "n_threads",
    "nameless_copy",
    "open_edges",
    "open_rows",
    "open_sequences",
    "read_rows",
    "read_sequences",
    "shard_starts",
    "short_tasks",
    "source_of",
    "threads",
]
