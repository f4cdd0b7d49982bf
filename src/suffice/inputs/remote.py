"""Files in remote storage: their state, and their bytes, which threads fetch ahead of the decoding."""

from __future__ import annotations

import io
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple

from ..core.extras import required
from .files import forget, of_fsspec

REQUESTS = 8  # number of simultaneous requests
# Largest size of one request, which costs client and server time, as pyarrow's requests do.
PART_BYTES = 32 << 20
HOLE_BYTES = 1 << 18  # holes up to this size between column chunks are fetched too, if that saves a request
AHEAD_BYTES = 128 << 20  # largest size that is fetched ahead; the next row group is always fetched
FILES_AHEAD = 4  # number of files opened ahead
TAIL_BYTES = 1 << 16  # size of the end of a file, which contains most footers
ATTEMPTS = 4  # number of attempts for each request, after those of the file system itself
# Properties of an object, as stores report them, that change with its content.
MARKS = {
    "etag",
    "generation",
    "last-modified",
    "lastmodified",
    "last_modified",
    "mtime",
    "modified",
    "updated",
}


class ObjectState(NamedTuple):
    """The state of an object as the store reports it."""

    size: int
    mark: str  # its ETag, or the time of its modification


class RemoteFile(io.RawIOBase):
    """A file in remote storage, as a seekable stream. Ranges that were fetched are read from memory."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self.filesystem, self.path = filesystem, path
        self.state, self._get = self._patiently(self._opened)
        self.position = 0
        self.parts: dict[int, Future[Any]] = {}  # by where they begin
        self.starts: list[int] = []
        self.tail = self._last(TAIL_BYTES)
        length = int.from_bytes(self._from_parts(self.state.size - 8, 4), "little") + 8
        if TAIL_BYTES < length < self.state.size:
            self.tail = self._last(length)

    def _last(self, n: int) -> tuple[int, Any]:
        """The last n bytes, and the offset at which they begin."""
        start = max(0, self.state.size - n)
        return start, self.read_range(start, self.state.size - start)

    @property
    def footer(self) -> bytes:
        """The metadata at the end of a Parquet file. Its length and four letters follow it."""
        end = self.state.size - 8
        length = min(end, int.from_bytes(self._from_parts(end, 4), "little"))
        return bytes(self._from_parts(end - length, length))

    def current_state(self) -> ObjectState:
        return self._patiently(self._opened)[0]

    def _opened(self) -> tuple[ObjectState, Callable[[int, int], Any]]:
        """The state of the object now, and a function of offset and length that reads it."""
        if (fs := of_fsspec(self.filesystem)) is not None:
            forget(self.filesystem, self.path)
            info = fs.info(self.path)
            mark = _mark(info) or fs.ukey(self.path)
            return ObjectState(info["size"], mark), lambda offset, n: fs.cat_file(
                self.path, start=offset, end=offset + n
            )
        file = self.filesystem.open_input_file(self.path)
        try:
            mark = _mark(file.metadata())
        except NotImplementedError:
            mark = ""
        mark = mark or str(self.filesystem.get_file_info(self.path).mtime_ns)
        return ObjectState(file.size(), mark), lambda offset, n: file.read_at(n, offset)

    def _patiently(self, call: Callable[..., Any], *args: Any) -> Any:
        """The result of a request, which is sent again if the connection fails."""
        for attempt in range(ATTEMPTS):
            try:
                return call(*args)
            except (FileNotFoundError, PermissionError) as error:
                error.add_note(f"While reading {self.path}.")
                raise
            except Exception as error:  # what a file system of fsspec raises is its own
                if attempt + 1 == ATTEMPTS:
                    raise OSError(
                        f"{self.path} could not be read after {ATTEMPTS} attempts: {error}. The storage or "
                        "the network fails: fit again, or copy the files to this machine."
                    ) from error
                time.sleep(0.1 * 3**attempt)

    def read_range(self, offset: int, n: int) -> Any:
        """Bytes of the file, fetched now."""
        return self._patiently(self._all_of_range, offset, n)

    def _all_of_range(self, offset: int, n: int) -> Any:
        data = self._get(offset, n) if n else b""
        if len(data) != n:
            raise OSError(f"{len(data)} bytes came instead of {n} at {offset}")
        return memoryview(data)

    def fetch(self, ranges: Iterable[tuple[int, int]], pool: Executor) -> int:
        """Begin to fetch these ranges, from start to end. Return the number of bytes."""
        size = 0
        for start, end in _joined(ranges):
            size += end - start
            for part in range(start, end, PART_BYTES):
                self.parts[part] = pool.submit(self.read_range, part, min(PART_BYTES, end - part))
        self.starts = sorted(self.parts)
        return size

    def release(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Drop what was fetched of these ranges."""
        for start, end in _joined(ranges):
            for part in range(start, end, PART_BYTES):
                self.parts.pop(part, None)
        self.starts = sorted(self.parts)

    def read(self, n: int = -1) -> Any:
        n = self.state.size - self.position if n < 0 else min(n, self.state.size - self.position)
        data = self._from_parts(self.position, n)
        self.position += n
        return data

    def _from_parts(self, offset: int, n: int) -> Any:
        start, tail = self.tail
        if offset >= start:
            return tail[offset - start : offset - start + n]
        pieces, position = [], offset
        while position < offset + n:
            at = bisect_right(self.starts, position) - 1
            part = self.parts[self.starts[at]].result() if at >= 0 else b""
            begin = position - self.starts[at] if at >= 0 else 0
            if begin >= len(part):  # it was not fetched
                return self.read_range(offset, n)
            pieces.append(part[begin : begin + offset + n - position])
            position += len(pieces[-1])
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.position = offset + (0, self.position, self.state.size)[whence]
        return self.position

    def tell(self) -> int:
        return self.position

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def as_arrow(self) -> Any:
        return required("pyarrow", "parquet").PythonFile(self, "r")


def _mark(metadata: Any) -> str:
    pairs = (metadata or {}).items()
    return str(sorted((key, str(value)) for key, value in pairs if key.lower() in MARKS) or "")


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort the ranges, and join those with a small hole between them."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1] + HOLE_BYTES:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def ahead(pool: Executor, f: Callable[[Any], Any], items: Iterable[Any], n: int) -> Iterator[Any]:
    """Yield f of each item, in order. Threads of the pool compute it ahead for the next n items."""
    flying: deque[Future[Any]] = deque()
    for item in items:
        flying.append(pool.submit(f, item))
        if len(flying) > n:
            yield flying.popleft().result()
    while flying:
        yield flying.popleft().result()


def fetched(
    pool: Executor, units: Iterable[tuple[RemoteFile, list[tuple[int, int]], Any]]
) -> Iterator[tuple[RemoteFile, Any]]:
    """File and name of each unit, i.e. some ranges of a file, in order. The bytes of the next units are
    fetched while one is used."""
    held: deque[tuple[RemoteFile, list[tuple[int, int]], Any, int]] = deque()
    size = 0

    def used() -> Iterator[tuple[RemoteFile, Any]]:
        nonlocal size
        file, ranges, name, bytes_ = held.popleft()
        yield file, name
        file.release(ranges)
        size -= bytes_

    for file, ranges, name in units:
        held.append((file, ranges, name, file.fetch(ranges, pool)))
        size += held[-1][-1]
        while len(held) > 1 and (size > AHEAD_BYTES or len(held) > REQUESTS):
            yield from used()
    while held:
        yield from used()
