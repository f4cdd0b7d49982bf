"""Scans of any repeatable source of Arrow batches: each pass opens a stream, and closes it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from ..core.hashing import checksum
from ..engines.cache import check_cache
from .parquet import ScanSource, batch_rows, joined
from .readers import Reader

SAME = "Each pass must read the same rows in the same order: add an ORDER BY without ties, or pass cache=."
FRESH = "Each call of the source must return a fresh stream, as in scan(lambda: connection.sql(...))."


@dataclass(frozen=True)
class StreamScan:
    """A source that is opened in every pass. Returned by `suffice.scan`."""

    source: Callable[[], Any]
    columns: tuple[str, ...]
    cache: str | None = None


def scan(
    source: Callable[[], Any], columns: Sequence[str] | None = None, *, cache: str | None = None
) -> StreamScan:
    """Scan a stream of Arrow batches as data for `fit`: a database query, a lazy table, a Flight server.

    The rows are summed as they arrive, in constant memory. A fit makes several passes over its data, and
    opens a new stream in each.

    Parameters
    ----------
    source : callable
        Called without arguments at the start of each pass. It must return a fresh stream of the same rows in
        the same order: a ``pyarrow.RecordBatchReader``, any other object with ``__arrow_c_stream__``, or an
        iterable of record batches. It is closed when the pass ends, even by an error, so a generator can hold
        its connection in a ``with`` statement.
    columns : sequence of str, optional
        Columns to read. If None, all; a stream is then opened at once to read their names. To name targets
        and weights, see `suffice.rows`.
    cache : {"memory", "disk"}, optional
        Where to cache the rows that the first pass of a fit reads: in memory, if they need less than half of
        the free memory; or in a temporary file. If None, each pass opens the source again. The result is the
        same to the bit.

    Notes
    -----
    Blocks have a fixed number of rows, regardless of the batches of the source. So the result depends only on
    the rows and their order. A pass with another number of rows than the first, or other values in a block,
    raises an error: without a cache, a query needs an ``ORDER BY`` without ties.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, suffice
    >>> from suffice.cluster import KMeans
    >>> def batches():
    ...     for n in range(3):
    ...         yield pa.record_batch({"a": np.array([0.0, 1.0, 100.0, 101.0]) + n})
    >>> sorted(KMeans(2, random_state=0).fit(suffice.scan(batches)).cluster_centers_.tolist())
    [[1.5], [101.5]]
    """
    check_cache(cache)
    if not callable(source):
        raise TypeError(
            "suffice.scan takes a function that returns a fresh stream in each call, since a fit makes "
            f"several passes over the data; got {type(source).__name__}: call scan(lambda: ...)."
        )
    if columns is None:
        with _opened(source) as stream:
            first = stream if hasattr(stream, "read_all") else next(iter(stream), None)
            columns = () if first is None else _reader(first).schema.names
        if not columns:
            raise ValueError(f"The source gave no batches, so it has no columns. {FRESH}")
    return StreamScan(source, tuple(columns), cache)


@dataclass(frozen=True)
class StreamSource(ScanSource):
    """A source of Arrow batches."""

    def batches(self, names: Sequence[str], reader: Reader | None = None) -> Iterable[tuple[int, Any]]:
        return Recut(self.container.source, tuple(names), batch_rows(names))

    def compare(self) -> Callable[[Any], None]:
        return FirstPass().compare


class FirstPass:
    """Checksums of the blocks of the first pass: later passes must give the same values."""

    def __init__(self) -> None:
        self.checksums: dict[int, int] = {}  # by block

    def compare(self, block: Any) -> None:
        number, found = block.index[0], checksum(block)
        if self.checksums.setdefault(number, found) != found:
            raise ValueError(f"The source gave other values of block {number} in the first pass. {SAME}")


class Recut:
    """Numbered batches of a fixed number of rows, regardless of the batches of the source.

    The first pass records the number of rows, and a hash of the first row of each batch.
    """

    def __init__(self, source: Callable[[], Any], columns: tuple[str, ...], size: int) -> None:
        self.source, self.columns, self.size = source, columns, size
        self.known: tuple[int, list[int]] | None = None

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        known_rows, known_marks = self.known or (None, [])
        rows, marks = 0, []
        with closing(self._batches()) as batches:
            for number, batch in enumerate(batches):
                marks.append(hash(repr(batch.slice(0, 1).to_pylist())))
                if known_marks[number : number + 1] not in ([], marks[-1:]):
                    raise ValueError(f"The source gave another row {rows} in the first pass. {SAME}")
                rows += batch.num_rows
                short = rows < (known_rows or 0) and batch.num_rows < self.size  # which only the last is
                if short or rows > (known_rows or rows):  # said before the block is compared
                    rows += sum(later.num_rows for later in batches)
                    break
                yield number, batch
        if not rows:
            raise ValueError(f"The source gave no rows. {FRESH}")
        if known_rows not in (None, rows):
            raise ValueError(f"The source gave {known_rows} rows in the first pass, and now {rows}. {SAME}")
        self.known = rows, marks

    def _batches(self) -> Generator[Any]:
        held: list[Any] = []
        missing = self.size  # rows, to fill the next batch
        with _opened(self.source) as stream:
            for batch in (batch for part in stream for batch in _record_batches(part, self.columns)):
                while batch.num_rows >= missing:
                    yield joined([*held, batch.slice(0, missing)])
                    held, batch, missing = [], batch.slice(missing), self.size
                if batch.num_rows:
                    held.append(batch)
                    missing -= batch.num_rows
        if held:
            yield joined(held)


@contextmanager
def _opened(source: Callable[[], Any]) -> Iterator[Any]:
    """A fresh stream to iterate over, closed at the end."""
    import pyarrow as pa

    opened = source()
    arrow = hasattr(opened, "__arrow_c_stream__")
    if not arrow and not hasattr(opened, "__iter__"):
        raise TypeError(
            "The source of suffice.scan must return a RecordBatchReader, an object with __arrow_c_stream__, "
            f"or an iterable of record batches; it returned {type(opened).__name__}."
        )
    stream = _reader(opened) if arrow else opened
    try:
        yield stream
    except pa.ArrowInvalid as error:
        if "closed" in str(error):
            error.add_note(FRESH)
        raise
    finally:
        if hasattr(stream, "close"):
            stream.close()


def _record_batches(part: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """These columns of a batch, with strings of a type that all Arrow functions support."""
    import pyarrow as pa

    for batch in [part] if isinstance(part, pa.RecordBatch) else _reader(part):
        if absent := [name for name in names if name not in batch.schema.names]:
            raise ValueError(f"The source has no column {absent}; its columns are {batch.schema.names}.")
        yield pa.record_batch([_plain(batch.column(name)) for name in names], names)


def _reader(part: Any) -> Any:
    import pyarrow as pa

    if isinstance(part, pa.RecordBatchReader):
        return part
    if hasattr(part, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(part)
    raise TypeError(
        f"The source of suffice.scan must give record batches, and it gave {type(part).__name__}."
    )


def _plain(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _plain(column.dictionary))
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
