"""Histograms of binned features in the nodes of a tree. All entries are integers, so that sums are exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ..core.blocks import Rows
from ..core.statistics import Statistics

NO_TARGET = np.iinfo(np.int64)


@dataclass(frozen=True, eq=False)
class Binned(Rows):
    """Rows of binned features, with their targets and weights as integers."""

    X: Annotated[np.ndarray, "int (N, D)"]  # the codes, unsigned; each feature is contiguous
    y: Annotated[Any, "int (N,) or None"] = None  # the class, or the target on a grid, if it is needed
    weight: Annotated[Any, "(N,) or None"] = None  # not used: `entry` has it
    index: tuple[int, ...] = (0,)
    entry: Annotated[Any, "int (N, M)"] = None  # the weight; of a regression, also the terms of its sums

    def __getitem__(self, rows: slice | np.ndarray) -> Binned:
        y = None if self.y is None else self.y[rows]
        return Binned(self.X[rows], y, None, self.index, self.entry[rows])

    def piece(self, start: int, stop: int, number: int) -> Binned:
        return self[start:stop].replace(index=(*self.index, number))

    @classmethod
    def joined(cls, blocks: Sequence[Binned]) -> Binned:
        codes = np.concatenate([block.X.T for block in blocks], axis=1).T
        y, entry = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("y", "entry"))
        return cls(codes, y, None, (0,), entry)

    @property
    def codes(self) -> np.ndarray:
        """The codes with contiguous features, (D, N)."""
        return np.ascontiguousarray(self.X.T)

    @property
    def row_bytes(self) -> float:
        return float(self.X.itemsize * self.X.shape[1] + 8 * (1 + self.entry.shape[1]))


@dataclass(frozen=True, eq=False)
class Histograms(Statistics):
    """The sums of O outputs in T nodes, for each bin of each feature and for all rows."""

    count: Annotated[np.ndarray, "int (T, B, O)"]  # bins of all features, one after the other
    sums: Annotated[np.ndarray, "int (T, S)"]
    low: Annotated[np.ndarray, "int (T,)"]  # the smallest target
    high: Annotated[np.ndarray, "int (T,)"]  # the largest
    rows: Annotated[np.ndarray, "int (T,)"]

    any_order: ClassVar[bool] = True

    def __add__(self, other: Self) -> Self:
        return self.replace(
            count=self.count + other.count,
            sums=self.sums + other.sums,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            rows=self.rows + other.rows,
        )

    @classmethod
    def of(
        cls, tree: Any, nodes: np.ndarray, classes: bool, n_outputs: int, block: Binned, onto: Any = None
    ) -> Histograms:
        """The sums over the rows of a block whose leaf is one of the nodes of a tree."""
        from ..loops.trees import add_histograms

        offset = bin_offsets(tree.bins.n_bins)
        if onto is None:
            T, S = len(nodes), n_outputs if classes else block.entry.shape[1]
            onto = cls(
                np.zeros((T, offset[-1], n_outputs), np.int64),
                np.zeros((T, S), np.int64),
                np.full(T, NO_TARGET.max),
                np.full(T, NO_TARGET.min),
                np.zeros(T, np.int64),
            )
        codes = block.codes
        place = np.full(len(tree.feature), -1)
        place[nodes] = np.arange(len(nodes))
        add_histograms(
            codes, place[tree.leaves_of_codes(codes)], block.y, np.ascontiguousarray(block.entry), classes,
            offset, onto.count, onto.sums, onto.low, onto.high, onto.rows,
        )  # fmt: skip
        return onto


def bin_offsets(n_bins: np.ndarray) -> np.ndarray:
    """The first bin of each feature among all, and their number."""
    return np.concatenate([[0], np.cumsum(n_bins + 1)])
