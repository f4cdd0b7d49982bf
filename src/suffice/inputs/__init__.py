"""Input of `fit`, `score` and `predict`: a source for each type of container, and readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.blocks import Sequences
from ..core.partitions import Partitions
from ..core.threads import map_block, map_rows
from ..engines.local import LocalPartitions, in_blocks
from ..engines.shards import Shard, Shards
from .arrays import nameless_copy
from .checks import Check, TargetDomain
from .containers import source_of
from .sources import Opening, Source, same_features
from .tables import Table


def open_rows(
    estimator: BaseEstimator,
    X: Any,
    y: MaybeArray = None,
    sample_weight: MaybeArray = None,
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
    estimator: BaseEstimator,
    X: Any,
    y: MaybeArray = None,
    groups: MaybeArray = None,
    sample_weight: MaybeArray = None,
    *,
    reset: bool = True,
    block_rows: Callable[[Any], float | None] | None = None,
) -> Partitions:
    """Partitions of checked sequences: from one 2-D array, one with `groups`, a list of them, or a table.

    The number of rows of a block in memory follows from their size, or from `block_rows`.
    """
    opening = Opening(estimator, Check.of(estimator), reset, block_rows)
    return source_of(X).open_sequences(opening, y, groups, sample_weight)


def open_edges(
    estimator: BaseEstimator, X: Any, sample_weight: MaybeArray = None
) -> tuple[Partitions, np.ndarray | None]:
    """Return partitions of checked links, and the ids of all nodes, or None if the data does not list them.

    The data is a pair of arrays, a table, a sparse matrix whose entry (i, j) is the weight of the link from i
    to j, or a graph of networkx.
    """
    return source_of(X).open_edges(Opening(estimator, Check.of(estimator)), sample_weight)


def read_rows(estimator: BaseEstimator, X: Any, late: bool = False) -> Any:
    """Checked rows in memory: contiguous float64 or CSR.

    With `late`, the caller checks the values of many rows in pieces, by `Check.must_pass`.
    """
    check_is_fitted(estimator)
    check = Check.of(estimator)
    check.must_be_many(X)
    return source_of(X).read_rows(estimator, check, late)


def answers_of(estimator: BaseEstimator, f: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """f of rows in memory, whose numbers are checked in the pieces to which f is applied."""
    X, check = read_rows(estimator, X, late=True), Check.of(estimator)

    def of_rows(rows: Any) -> np.ndarray:
        if isinstance(rows, np.ndarray) and rows.dtype != object:
            check.must_pass(rows)
        return f(rows)

    return map_rows(of_rows, X)


def read_sequences(estimator: BaseEstimator, X: Any, groups: MaybeArray = None) -> tuple[Sequences, Any]:
    """Checked sequences in memory, and the shape of the input."""
    if "n_features_in_" not in vars(estimator):
        check_is_fitted(estimator)
    return source_of(X).read_sequences(estimator, Check.of(estimator), groups)


def in_memory(*blocks: Any) -> Partitions:
    """Partitions of blocks of this process."""
    return LocalPartitions(blocks)


__all__ = [
    "Check",
    "Shard",
    "Shards",
    "Source",
    "Table",
    "TargetDomain",
    "answers_of",
    "in_blocks",
    "in_memory",
    "map_block",
    "map_rows",
    "nameless_copy",
    "open_edges",
    "open_rows",
    "open_sequences",
    "read_rows",
    "read_sequences",
    "source_of",
]
