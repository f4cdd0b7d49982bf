"""Small data, for which NumPy is fast enough not to wait for a compiler.

Whether data is small depends on the data alone, never on what is compiled already: the same block takes the
same path in every process, on every engine, and has the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

# Below this many bytes of float64, the passes of a fit take less time in NumPy than the compiler takes:
# `benchmarks/cold_start.py --sizes` measures both.
SMALL_BYTES = 1 << 18

_block_bytes: ContextVar[float | None] = ContextVar("block_bytes", default=None)
_compiles: ContextVar[bool] = ContextVar("compiles", default=False)


@contextmanager
def always_compiled() -> Iterator[None]:
    """Context manager: small data takes the compiled loops too, as `suffice.warm_up` needs them."""
    token = _compiles.set(True)
    try:
        yield
    finally:
        _compiles.reset(token)


@contextmanager
def sized_as(block: Any) -> Iterator[None]:
    """Context manager: what is computed is a part of this block, and as small or large as the block is. None
    is for what is of the model, and the same whichever block needs it first."""
    row_bytes = getattr(block, "row_bytes", None)  # only blocks of examples and sums have it
    size = (
        None
        if row_bytes is None
        else row_bytes * (len(block) if getattr(block, "X", None) is None else block.X.shape[0])
    )
    token = _block_bytes.set(size)
    try:
        yield
    finally:
        _block_bytes.reset(token)


def is_small(arguments: Iterable[Any], limit: int | None = None) -> bool:
    """Whether the block of which a part is computed is small; outside of a fold, whether the arguments are.

    Tuples of arrays are counted too. The limit is that of the module, unless a loop has its own.
    """
    if _compiles.get():
        return False
    size = _block_bytes.get()
    return (_nbytes(arguments) if size is None else size) <= (SMALL_BYTES if limit is None else limit)


def _nbytes(arguments: Iterable[Any]) -> int:
    total = 0
    for a in arguments:
        if isinstance(a, np.ndarray):
            total += a.nbytes
        elif isinstance(a, tuple):
            total += _nbytes(a)
    return total
