"""Rows among which neighbours are searched, in memory or in a data set that is read again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..core.blocks import Rows, dense
from ..core.cost import afford
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..core.threads import in_order, n_threads
from ..core.values import Value
from ..statistics import class_counts, moments
from ..statistics.nearest import Minkowski, Nearest, Queries
from .kd_tree import KDTree

MOST = 1024  # number of queries of a task


@dataclass(frozen=True, eq=False)
class NeighborCounts(Statistics):
    """Number of neighbours that the rows count as, and the classes or the moments of their targets."""

    copies: int  # a row of weight w is ceil(w) of them
    target: tuple[Any, ...]  # of CategoryCounts or Moments; empty without targets


def neighbor_counts(kind: str | None, block: Rows) -> NeighborCounts:
    """The `NeighborCounts` of a block. `kind` says whether its targets are labels, numbers, or None."""
    copies = int(np.ceil(block.weight).sum())
    if kind is None:
        return NeighborCounts(copies, ())
    if kind == "label":
        return NeighborCounts(copies, (class_counts(block),))
    y = block.y[:, None] if block.y.ndim == 1 else block.y
    return NeighborCounts(copies, (moments(y.astype(np.float64), block.weight, "diagonal"),))


@dataclass(frozen=True, eq=False)
class StoredRows(Value):
    """Rows in memory, searched by a tree or by comparison with all of them."""

    X: Annotated[Any, "(N, D)"]  # dense or CSR
    target: Annotated[np.ndarray, "(N, T)"]  # numbers, or indices of classes
    weight: Annotated[np.ndarray, "(N,)"]
    leaf_size: int  # of the tree; zero for none

    @cached_property
    def tree(self) -> KDTree:
        return KDTree.of(self.X, self.leaf_size, self.weight)

    def search(self, queries: Queries) -> Nearest:
        """The nearest rows of queries, in threads."""

        def task(some: slice) -> tuple[np.ndarray, ...]:
            X = queries.X[some]
            if self.leaf_size and isinstance(queries.distance, Minkowski):
                return self.tree.search(dense(X), queries.k, queries.distance.p)
            return queries.distance.search(self.X, self.weight, X, queries.k)

        if self.leaf_size:
            _ = self.tree  # built once, before threads ask for it
        Q = queries.X.shape[0]
        size = max(1, min(MOST, -(-Q // n_threads())))
        starts = range(0, max(1, Q), size)
        results = list(in_order(task, tuple(slice(start, start + size) for start in starts)))
        return queries.found(
            tuple(np.concatenate(parts) for parts in zip(*results, strict=True)), self.target
        )


@dataclass(frozen=True)
class RemoteRows:
    """Rows that are not in memory. One pass over them searches the neighbours of all queries."""

    data: Partitions

    def search(self, queries: Queries) -> Nearest:
        """The nearest rows of queries, in one pass."""
        Q = queries.X.shape[0]
        afford(8.0 * Q * queries.k, f"the neighbours of {Q} queries", "pass fewer.")
        return self.data.fold(Queries.summarize, queries)
