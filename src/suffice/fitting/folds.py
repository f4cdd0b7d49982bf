"""Folds of cross-validation as in scikit-learn: by the position of a row among all rows.

Positions follow the order of the blocks, so they do not depend on where the rows are. To know them, the rows
of each block are counted first.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.model_selection import check_cv

from ..core.blocks import offsets
from ..core.cost import afford
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..core.values import Value


@dataclass(frozen=True, eq=False)
class BlockSizes(Statistics):
    """Number of rows of each block, regardless of their weights."""

    rows: Annotated[np.ndarray, "(B,)"]  # by the index of the block

    @classmethod
    def of(cls, block: Any) -> BlockSizes:
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
    """The fold of each row, as runs of rows of one fold."""

    first_row: Annotated[np.ndarray, "int (B,)"]  # of each block
    run_start: Annotated[np.ndarray, "int (R,)"]  # ascending from 0
    run_fold: Annotated[np.ndarray, "int (R,)"]
    n_folds: int

    @classmethod
    def of(cls, data: Partitions, cv: Any, *examples: Any) -> Folds:
        """Folds from a number of folds, which are contiguous runs of rows; or from a splitter.

        `examples` are passed to the splitter: X and y, if they are in memory.
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
            sizes = N // n_folds + (np.arange(n_folds) < N % n_folds)  # as KFold(n_folds)
            return cls(first_row, offsets(sizes)[:-1], np.arange(n_folds), n_folds)
        afford(4.0 * N, f"the folds of {N} rows", "pass cv as a number of folds.")
        fold, n_folds = _divided(cv, N, *examples)
        start = np.append(0, 1 + np.flatnonzero(np.diff(fold)))
        return cls(first_row, start, fold[start], n_folds)

    def number(self, block: Any) -> Any:
        """The block with the fold of each row as the last column of y, and without rows of weight zero."""
        row = self.first_row[block.index[0]] + np.arange(len(block))
        fold = self.run_fold[np.searchsorted(self.run_start, row, "right") - 1]
        block = block.replace(y=np.column_stack([block.y, fold]))
        return block if block.unweighted else block[block.weight > 0]


def _divided(cv: Any, N: int, *examples: Any) -> tuple[np.ndarray, int]:
    """The fold of each row, and the number of folds. Each row is left out once."""
    fold, n_folds = np.full(N, -1), 0
    if not hasattr(cv, "split"):
        cv = list(cv)
        if not all(isinstance(pair, tuple | list) and [*map(np.ndim, pair)] == [1, 1] for pair in cv):
            raise ValueError(
                f"cv={cv!r:.60} must contain pairs of index arrays, the rows to fit and the rows to "
                f"leave out: pass these, a number of folds, or a splitter, e.g. "
                f"sklearn.model_selection.KFold(5)."
            )
    for train, test in check_cv(cv).split(*examples or (np.broadcast_to(0.0, N),)):
        if (fold[test] >= 0).any():
            raise ValueError("cv must leave out each row once, as KFold does.")
        fold[test] = n_folds
        used = fold == n_folds
        if used[train].any():
            raise ValueError(
                "cv must leave out the rows of a fold, and not fit to them: pass disjoint pairs."
            )
        used[train] = True
        if not used.all():
            raise ValueError("cv must leave out one fold and fit to all other rows, as KFold does.")
        n_folds += 1
    if (fold < 0).any():
        raise ValueError("cv must leave out each row once, as KFold does.")
    return fold, n_folds
