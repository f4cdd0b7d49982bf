"""Stores of blocks: in memory, or in a temporary file."""

from __future__ import annotations

import errno
import mmap
import pickle
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.blocks import Block
from ..core.cost import free_memory

# A string as an object: its header, its characters, and the pointer to it.
OBJECT_BYTES = 64
ALIGNMENT = 64


class InMemory:
    """Blocks in memory, up to half of the initially free memory."""

    def __init__(self) -> None:
        self.blocks: dict[int, Block] = {}
        self.size, self.limit, self.lock = 0, free_memory() / 2, threading.Lock()

    def __str__(self) -> str:
        return f"cache='memory': {len(self.blocks)} blocks, {1e-9 * self.size:.3g} GB, are read from memory"

    def put(self, number: int, block: Block) -> None:
        with self.lock:
            self.size += _size(block)
        if self.size > self.limit:
            raise MemoryError(
                f"cache='memory': the blocks take more than {1e-9 * self.limit:.3g} GB, half of the "
                f"free memory: pass cache='disk' for a temporary file, or cache=None to read the data "
                f"in each pass."
            )
        if block.y is not None:  # may be a view of a batch, which would be kept with it
            block = block.replace(y=block.y.copy())
        self.blocks[number] = block

    def get(self, number: int) -> Block:
        return self.blocks[number]


class OnDisk:
    """Blocks in a temporary file, which is unlinked where the system allows it, so that it is never left
    behind.

    A block is stored as its pickle without the arrays, then the raw arrays. It is memory-mapped while it is
    in use (copy-on-write: writes do not change the file).
    """

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(prefix="suffice-")  # noqa: SIM115
        weakref.finalize(self, self.file.close)
        self.blocks: dict[int, tuple[int, list[tuple[int, int]]]] = {}  # where each begins, and its parts
        self.size, self.lock = 0, threading.Lock()

    def __str__(self) -> str:
        where = f"a temporary file in {tempfile.gettempdir()}"
        return f"cache='disk': {len(self.blocks)} blocks, {1e-9 * self.size:.3g} GB, are read from {where}"

    def put(self, number: int, block: Block) -> None:
        arrays: list[Any] = []
        head = pickle.dumps(block, 5, buffer_callback=lambda part: arrays.append(part.raw()))
        parts, end = [], 0
        with self.lock:
            start = _up(self.size, mmap.ALLOCATIONGRANULARITY)
            try:
                for part in (head, *arrays):
                    begin = _up(end, ALIGNMENT) if len(part) else end
                    self.file.seek(start + begin)
                    self.file.write(part)
                    end = begin + len(part)
                    parts.append((begin, end))
                self.file.flush()
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    error.add_note(
                        f"cache='disk' writes to {tempfile.gettempdir()}, after {1e-9 * self.size:.3g} GB: "
                        "set TMPDIR to a folder with more space, or pass cache=None to read the data in "
                        "each pass."
                    )
                raise
            self.size = start + end
            self.blocks[number] = start, parts

    def get(self, number: int) -> Block:
        start, parts = self.blocks[number]
        length = parts[-1][1]
        mapped = memoryview(mmap.mmap(self.file.fileno(), length, access=mmap.ACCESS_COPY, offset=start))
        head, *arrays = (mapped[a:b] for a, b in parts)
        return pickle.loads(head, buffers=arrays)


STORES: dict[str, Callable[[], Any]] = {"memory": InMemory, "disk": OnDisk}


def _size(block: Block) -> int:
    parts = [part for part in block.__getstate__().values() if hasattr(part, "nbytes")]
    strings = [part for part in parts if isinstance(part, np.ndarray) and part.dtype == object]
    return sum(part.nbytes for part in parts) + sum(part.size * (OBJECT_BYTES - 8) for part in strings)


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
