"""Views of the data in a pass: the rows of one cluster, or reference rows drawn inside the pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Rows
from ..core.hashing import row_hashes, uniforms
from ..core.partitions import Partitions
from ..core.randomness import Purpose


def by_label(data: Partitions, model: Any) -> Callable[[int], Partitions]:
    """The rows of each label, by the `nearest` of a model."""
    labelled = data.prepared(_labels_as_targets, model)
    return lambda label: within(labelled, None, label)


def within(data: Partitions, model: Any, label: int) -> Partitions:
    """The rows that a model gives a label. Without a model, the targets of the blocks are the labels."""
    return data.in_each_pass(_labelled, model, label)


def _labels_as_targets(model: Any, block: Rows) -> Any:
    return block.replace(y=model.nearest(block.piece(0, len(block), 0).X)[0])


def _labelled(model: Any, label: int, block: Rows) -> Any:
    """The rows of a block that the model gives the label."""
    if not len(block):
        return block
    member = (block.y if model is None else model.nearest(block.X)[0]) == label
    if member.all():
        return block.replace(y=None)
    X = block.X[member]
    X = X if sp.issparse(X) else np.ascontiguousarray(X)
    return block.replace(X=X, y=None, weight=block.weight[member])


def reference(data: Partitions, low: np.ndarray, high: np.ndarray, seed: tuple[int, ...]) -> Partitions:
    """Rows that are uniform in a box, one for each row of the data.

    The numbers of a row are hashes of the row that it replaces, so that they are the same in each pass, in
    any order and any blocks.
    """
    return data.in_each_pass(_reference, low, high, seed)


def reference_rows(X: np.ndarray, low: np.ndarray, high: np.ndarray, seed: tuple[int, ...]) -> np.ndarray:
    u = [uniforms(row_hashes(X, Purpose.REFERENCE, *seed, d)) for d in range(X.shape[1])]
    return low + np.stack(u, axis=1) * (high - low)


def _reference(low: np.ndarray, high: np.ndarray, seed: tuple[int, ...], block: Rows) -> Any:
    return block.replace(X=reference_rows(block.X, low, high, seed))
