"""Data as a pass sees it: the rows of one cluster, or reference rows drawn inside the pass.

Each has `fold`, so that seeding and Lloyd's algorithm run on it as on partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.hashing import row_hashes, uniforms
from ..core.partitions import Partitions
from ..core.randomness import Purpose


@dataclass(frozen=True)
class Within:
    """The rows that a model gives a label. Without a model, the targets of the blocks are the labels."""

    data: Partitions
    model: Any  # with `nearest`
    label: int

    @classmethod
    def parts(cls, data: Partitions, model: Any) -> Callable[[int], Within]:
        """The part of each label. Rows in memory are labelled once, and others in each pass.

        Either way the parts of blocks that a pass sums at a time are the same, and so are the bits.
        """
        if data.in_memory:
            data, model = data.map(_labels_as_targets, model), None
        return lambda label: cls(data, model, label)

    def fold(self, f: Callable[..., Any], *shared: Any) -> Any:
        return self.data.fold(_within, self.model, self.label, f, shared)

    def gather(self, instead: str) -> Any:
        """The rows in memory. `instead` is the advice of the error if they are too many."""
        return _labelled(self.model, self.label, self.data.gather(instead))


def _within(model: Any, label: int, f: Callable[..., Any], shared: tuple[Any, ...], block: Any) -> Any:
    return f(*shared, _labelled(model, label, block))


def _labels_as_targets(model: Any, block: Any) -> Any:
    return block.replace(y=model.nearest(block.piece(0, len(block), 0).X)[0])


def _labelled(model: Any, label: int, block: Any) -> Any:
    """The rows of a block that the model gives the label."""
    if not len(block):
        return block
    member = (block.y if model is None else model.nearest(block.X)[0]) == label
    if member.all():
        return block.replace(y=None)
    X = block.X[member]
    X = X if sp.issparse(X) else np.ascontiguousarray(X)
    return block.replace(X=X, y=None, weight=block.weight[member])


@dataclass(frozen=True)
class Reference:
    """As many rows as the data has, uniform in a box. The numbers of a row are hashes of the row it replaces,
    so that they are the same in each pass, for any order and any blocks."""

    data: Partitions
    low: np.ndarray
    high: np.ndarray
    seed: tuple[int, ...]

    def fold(self, f: Callable[..., Any], *shared: Any) -> Any:
        return self.data.fold(_reference, self.low, self.high, self.seed, f, shared)


def reference_rows(X: np.ndarray, low: np.ndarray, high: np.ndarray, seed: tuple[int, ...]) -> np.ndarray:
    u = [uniforms(row_hashes(X, Purpose.REFERENCE, *seed, d)) for d in range(X.shape[1])]
    return low + np.stack(u, axis=1) * (high - low)


def _reference(low: Any, high: Any, seed: Any, f: Callable[..., Any], shared: Any, block: Any) -> Any:
    return f(*shared, block.replace(X=reference_rows(block.X, low, high, seed)))
