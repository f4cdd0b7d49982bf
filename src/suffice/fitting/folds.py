"""Folds of cross-validation as in scikit-learn, by the position of a row among all rows.

Positions follow the order of the blocks, so they do not depend on the engine. A first pass counts the rows of
each block to determine them.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.model_selection import check_cv

from ..core.blocks import Rows, offsets
from ..core.cost import afford
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..core.values import Value


@dataclass(frozen=True, eq=False)
class BlockSizes(Statistics):
    """Number of rows of each block, regardless of their weights."""

    rows: Annotated[np.ndarray, "(B,)"]  # by the index of the block

    @classmethod
    def of(cls, block: Rows) -> BlockSizes:
        if not len(block):
            return cls(np.zeros(0))
        return cls(np.append(np.zeros(block.index[0]), float(len(block))))

    def __add__(self, other: Self) -> Self:
        short, long = sorted((self.rows, other.rows), key=len)
        return self.replace(rows=long + np.append(short, np.zeros(len(long) - len(short))))

    def __mul__(self, factor: float) -> Self:
        return self

    __rmul__ = __mul__


@dataclass(frozen=True, eq=False)
class Folds(Value):
    """The fold of each row, stored as runs of rows with equal folds, and the role of each fold in each split.

    Rows are in the same fold if they have the same role in every split. ``KFold(5)`` has five folds, each
    left out by one of five splits. Splits that overlap, such as those of ShuffleSplit, have more folds.
    """

    first_row: Annotated[np.ndarray, "int (B,)"]  # position of the first row of each block
    run_start: Annotated[np.ndarray, "int (R,)"]  # ascending from 0
    run_fold: Annotated[np.ndarray, "int (R,)"]
    trained: Annotated[np.ndarray, "bool (S, F)"]  # whether a split is fitted to a fold
    tested: Annotated[np.ndarray, "bool (S, F)"]  # whether a split is scored on a fold

    @classmethod
    def of(cls, data: Partitions, cv: Any, *examples: Any, **metadata: Any) -> Folds:
        """Return the folds of `cv`: a number of folds, which are contiguous runs of rows, or a splitter.

        `examples` (X and y, if they are in memory) and `metadata` (e.g. groups) are passed to the splitter.
        """
        first_row = offsets(data.fold(BlockSizes.of).rows)
        N = int(first_row[-1])
        if isinstance(cv, Integral):
            n_folds = int(cv)
            if n_folds > N:
                raise ValueError(
                    f"Cannot have number of splits n_splits={n_folds} greater than the number of samples: "
                    f"n_samples={N}."
                )
            sizes = N // n_folds + (np.arange(n_folds) < N % n_folds)  # the same sizes as KFold(n_folds)
            own = np.eye(n_folds, dtype=bool)
            return cls(first_row, offsets(sizes)[:-1], np.arange(n_folds), ~own, own)
        afford(4.0 * N, f"the folds of {N} rows", "pass cv as a number of folds.")
        fold, trained, tested = _divided(cv, N, *examples, **metadata)
        start = np.append(0, 1 + np.flatnonzero(np.diff(fold)))
        return cls(first_row, start, fold[start], trained, tested)

    @property
    def n_folds(self) -> int:
        return self.trained.shape[1]

    @property
    def n_rows(self) -> int:
        return int(self.first_row[-1])

    def rows(self, folds: np.ndarray) -> np.ndarray:
        """Return the positions of the rows of some folds. `folds` is a mask."""
        return np.flatnonzero(np.repeat(folds[self.run_fold], np.diff(self.run_start, append=self.n_rows)))

    def number(self, block: Rows) -> Any:
        """Append the fold of each row to y as a column, and remove rows of weight zero."""
        row = self.first_row[block.index[0]] + np.arange(len(block))
        fold = self.run_fold[np.searchsorted(self.run_start, row, "right") - 1]
        block = block.replace(y=np.column_stack([block.y, fold]))
        return block if block.unweighted else block[block.weight > 0]


def _divided(cv: Any, N: int, *examples: Any, **metadata: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the fold of each row, and for each split masks of the folds to fit and to leave out."""
    if not hasattr(cv, "split"):
        cv = list(cv)
        if not all(isinstance(pair, tuple | list) and [*map(np.ndim, pair)] == [1, 1] for pair in cv):
            raise ValueError(
                f"cv={cv!r:.60} must contain pairs of index arrays, the rows to fit and the rows to "
                f"leave out: pass these, a number of folds, or a splitter, e.g. "
                f"sklearn.model_selection.KFold(5)."
            )
    # The roles of a fold are two bits for each split: whether it is fitted, and whether it is left out.
    fold, roles = np.zeros(N, np.int64), np.zeros((0, 1), np.int64)
    for train, test in check_cv(cv).split(*examples or (np.broadcast_to(0.0, N),), **metadata):
        role = np.zeros(N, np.int64)
        role[train] |= 1
        role[test] |= 2
        cell, fold = np.unique(4 * fold + role, return_inverse=True)
        roles = np.vstack([roles[:, cell // 4], cell % 4])
    first = np.full(roles.shape[1], N)
    np.minimum.at(first, fold, np.arange(N))
    order = np.argsort(first, kind="stable")  # folds in the order of their first rows
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    roles = roles[:, order]
    return place[fold], (roles & 1) > 0, (roles & 2) > 0
