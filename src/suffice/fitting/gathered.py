"""Rows in one place, for methods that take one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Rows
from ..core.cost import afford
from ..core.partitions import Partitions
from ..engines.local import LocalPartitions


def gathered(data: Partitions, instead: str) -> Rows:
    """All rows of partitions, in their order, as one block in memory; a refusal says what to do instead."""
    blocks: Any = getattr(data, "blocks", None)
    if not isinstance(data, LocalPartitions) or not isinstance(blocks, tuple):
        size = float(data.fold(_size)[0])
        afford(size, "the rows, all in one place,", instead)
        blocks = data.fold(_alone)
    if len(blocks) == 1:
        return blocks[0].piece(0, len(blocks[0]), 0)
    X = [block.X for block in blocks]
    return Rows(
        (sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)).astype(np.float64),
        np.concatenate([block.y for block in blocks]),
        np.concatenate([block.weight for block in blocks]),
    )


def _size(rows: Rows) -> np.ndarray:
    X = rows.X
    return np.array([1.5 * X.nnz if sp.issparse(X) else X.size], dtype=np.float64)


def _alone(rows: Rows) -> tuple[Rows, ...]:
    return (rows,)
