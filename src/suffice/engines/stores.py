"""Stores of blocks, in memory, in a temporary file, or in both."""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Block
from ..core.coded import Coded
from ..core.cost import free_memory

# Bytes of a string object: its header, its characters, and the pointer to it.
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
        self.blocks[number] = _detached(block)

    def get(self, number: int) -> Block:
        return self.blocks[number]


class OnDisk:
    """Blocks in a temporary file, which is unlinked if the system allows it, so that it is never left behind.

    A block is stored as its pickle without the arrays, followed by the raw arrays. It is memory-mapped while
    it is in use (copy-on-write, so that writes do not change the file).
    """

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(prefix="suffice-")  # noqa: SIM115
        weakref.finalize(self, self.file.close)
        self.blocks: dict[int, tuple[int, list[tuple[int, int]]]] = {}  # offsets and parts
        self.size, self.lock = 0, threading.Lock()

    def __str__(self) -> str:
        place = f"a temporary file in {tempfile.gettempdir()}"
        return f"cache='disk': {len(self.blocks)} blocks, {1e-9 * self.size:.3g} GB, are read from {place}"

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


class Automatic:
    """Blocks in memory up to a budget. The others are in a temporary file if there is room on the disk.

    The first pass measures all blocks, so that the second can decide where to store them. If the caller
    `iterates`, the first pass stores those that fit in memory, and the second writes the others to the disk.
    Otherwise nothing is stored in the first pass, which may be the only one, and nothing is written before
    the third.

    The budget is `MEMORY_SHARE` of the free memory. All such stores of the process share it.
    """

    def __init__(self, iterates: bool = False) -> None:
        self.memory: dict[int, Block] = {}
        self.sizes: dict[int, int] = {}  # of all blocks, in bytes
        self.disk: OnDisk | None = None
        self.accepts, self.decision = iterates, ""
        self.account, self.lock = Account(), threading.Lock()
        weakref.finalize(self, self.account.close)

    def __str__(self) -> str:
        return f"cache='auto': {self.decision}"

    @property
    def blocks(self) -> set[int]:
        """Numbers of the stored blocks."""
        return self.memory.keys() | (self.disk.blocks.keys() if self.disk else set())

    def holds(self, number: int) -> bool:
        """Whether the block with this number is stored."""
        disk = self.disk
        return number in self.memory or (disk is not None and number in disk.blocks)

    def begin(self) -> None:
        """Begin a pass after one that measured all blocks."""
        with self.lock:
            if self.decision:
                return
            rest = sum(self.sizes.values()) - self.account.held
            if not self.accepts and rest > self.account.room:
                self.accepts = True
            else:
                self._decide(rest)

    def _decide(self, rest: int) -> None:
        """Decide where to store the blocks that are not in memory yet, given their sizes."""
        budget, folder = f"the budget of {_gb(self.account.limit)}", tempfile.gettempdir()
        blocks = f"{len(self.sizes)} blocks, {_gb(sum(self.sizes.values()))},"
        self.accepts = True
        if rest <= self.account.room:
            self.decision = f"{blocks} are read from memory, since they fit in {budget}"
        elif is_in_memory(folder):
            self.give_up(f"{blocks} exceed {budget}, and {folder} is in memory: set TMPDIR to a disk")
        elif rest > (room := free_disk(folder) * DISK_SHARE):
            self.give_up(f"{blocks} exceed {budget}, and the {_gb(room)} to use in {folder}")
        else:
            self.disk = OnDisk()
            self.decision = (
                f"{blocks} are read from memory up to {budget}, and else from a temporary file in {folder}"
            )

    def give_up(self, reason: str) -> None:
        """Release all blocks, and store nothing from now on."""
        self.accepts, self.decision = False, f"each pass reads the data again, since {reason}"
        self.memory, self.disk = {}, None
        self.account.close()

    def put(self, number: int, block: Block) -> None:
        size = self.sizes[number] = _size(block)
        with self.lock:
            disk = self.disk
            if not self.accepts or self.holds(number):
                return
            if self.account.take(size):
                self.memory[number] = _detached(block)
                return
        if disk is None:
            return
        try:
            disk.put(number, block)
        except OSError as error:
            with self.lock:
                self.give_up(f"{tempfile.gettempdir()} cannot be written to: {error.strerror}")

    def get(self, number: int) -> Block | None:
        """Return the block with this number; None if it is not stored."""
        block, disk = self.memory.get(number), self.disk
        if block is None and disk is not None and number in disk.blocks:
            return disk.get(number)
        return block


MEMORY_SHARE = 1 / 8  # fraction of the free memory for the blocks of all automatic stores
DISK_SHARE = 1 / 2  # fraction of the free space of the temporary folder for one automatic store


class Account:
    """Bytes that one store holds of the budget of the process."""

    held_by_all: ClassVar[int] = 0
    lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self.held, self.limit = 0, MEMORY_SHARE * (free_memory() + Account.held_by_all)

    @property
    def room(self) -> float:
        return self.limit - Account.held_by_all

    def take(self, size: int) -> bool:
        """Reserve `size` bytes. Returns whether there was room for them."""
        with self.lock:
            if size > self.room:
                return False
            self.held += size
            Account.held_by_all += size
            return True

    def close(self) -> None:
        """Return all bytes."""
        with self.lock:
            Account.held_by_all -= self.held
            self.held = 0


def free_disk(folder: str) -> float:
    """Return the bytes of free space in a folder; 0 if the system does not report it."""
    try:
        return float(shutil.disk_usage(folder).free)
    except OSError:
        return 0.0


def is_in_memory(folder: str, mounts: str = "/proc/self/mounts") -> bool:
    """Whether the file system of a folder is in memory, as /tmp is on some systems."""
    try:
        with open(mounts) as file:
            entries = [line.split()[1:3] for line in file]
    except OSError:
        return False
    path = os.path.realpath(folder)
    around = [(place, kind) for place, kind in entries if os.path.commonpath([path, place]) == place]
    return bool(around) and max(around, key=lambda entry: len(entry[0]))[1] in ("tmpfs", "ramfs")


STORES: dict[str, Callable[[], Any]] = {"memory": InMemory, "disk": OnDisk}


def _detached(block: Block) -> Block:
    """Copy the targets of a block: a view would keep the batch that it belongs to in memory."""
    return block if block.y is None else block.replace(y=block.y.copy())


def _size(block: Block) -> int:
    """Return the bytes of the arrays of a block."""
    return sum(map(_bytes, block.__getstate__().values()))


def _bytes(part: Any) -> int:
    if sp.issparse(part):
        return part.data.nbytes + part.indices.nbytes + part.indptr.nbytes
    if isinstance(part, Coded):
        return part.codes.nbytes + sum(map(_bytes, part.values))
    if isinstance(part, np.ndarray) and part.dtype == object:
        return part.size * OBJECT_BYTES
    return getattr(part, "nbytes", 0)


def _gb(size: float) -> str:
    return f"{1e-9 * size:.3g} GB"


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
