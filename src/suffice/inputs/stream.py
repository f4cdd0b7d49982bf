"""Any source of Arrow batches that can be asked again: each pass opens a stream, and closes it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from ..core.hashing import checksum
from ..engines.cache import check_cache
from .parquet import ScanSource, batch_rows, joined
from .readers import Reader

SAME = "Each pass must meet the same rows in the same order: add an ORDER BY without ties, or pass cache=."
FRESH = "Each call of the source must return a fresh stream, as in scan(lambda: connection.sql(...))."


@dataclass(frozen=True)
class StreamScan:
    """A source that is opened in every pass. Made by `suffice.scan`."""

    source: Callable[[], Any]
    columns: tuple[str, ...]
    cache: str | None = None


def scan(
    source: Callable[[], Any], columns: Sequence[str] | None = None, *, cache: str | None = None
) -> StreamScan:
    """Any stream of Arrow batches as data for `fit`: a query of a database, a lazy table, a Flight server.

    The rows are folded as they come, in memory that does not grow with them. A fit passes over its data
    several times, and each time asks for a stream again.

    Parameters
    ----------
    source : callable
        Called without arguments at the beginning of each pass. Returns a fresh stream of the same rows in the
        same order: a ``pyarrow.RecordBatchReader``, any other object with ``__arrow_c_stream__``, or an
        iterable of record batches. It is closed when the pass ends, also by an error: a generator can so
        hold what it reads from in a ``with`` statement.
    columns : sequence of str, optional
        Columns to read; all if not given, and then one stream is opened now, to ask for their names. See
        `suffice.rows` to name targets and weights.
    cache : {"memory", "disk"}, optional
        Where to keep what the first pass of a fit has read, for the passes after it: in memory, if that is
        less than half of what is free; or in a temporary file. If not given, each pass opens the source
        again. The result is the same to the bit.

    Notes
    -----
    Blocks are cut by the number of rows, whatever the batches of the source are. So the result depends on
    the rows and on their order, and not on how they come. A pass that meets another number of rows than the
    first, or other values in a block, raises an error: a query needs an ``ORDER BY`` that leaves no ties,
    unless there is a cache.

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
            "suffice.scan takes a function, each call of which returns a fresh stream, since a fit passes "
            f"over the data several times; got {type(source).__name__}: call scan(lambda: ...)."
        )
    if columns is None:
        with _opened(source) as stream:
            first = stream if hasattr(stream, "read_all") else next(iter(stream), None)
            columns = () if first is None else _reader(first).schema.names
        if not columns:
            raise ValueError(f"The source gave no batches, and so no columns. {FRESH}")
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
    """Numbered batches of so many rows each, whatever batches come.

    Remembered of the first pass are how many rows came, and a number for each batch, made of its first row.
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
    """A fresh stream, to iterate over; closed in the end."""
    import pyarrow as pa

    given = source()
    arrow = hasattr(given, "__arrow_c_stream__")
    if not arrow and not hasattr(given, "__iter__"):
        raise TypeError(
            "The source of suffice.scan must return a RecordBatchReader, an object with __arrow_c_stream__, "
            f"or an iterable of record batches; it returned {type(given).__name__}."
        )
    stream = _reader(given) if arrow else given
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
    """These columns of what a stream gave, with strings of a kind that all of Arrow computes with."""
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
