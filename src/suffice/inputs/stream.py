"""Scans of any repeatable source of Arrow batches: each pass opens a stream, and closes it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.extras import required
from ..core.hashing import checksum
from ..engines.cache import check_cache
from .files import find_files
from .lazy import CsvFiles, JsonFiles, Lazy, TextFiles, lazy_of
from .parquet import ScanSource, batch_rows, recut
from .readers import Reader, list_sizes
from .tables import brief
from .unread import Unread

SAME = "Each pass must read the same rows in the same order: add an ORDER BY without ties, or pass cache=."
FRESH = "Each call of the source must return a fresh stream, as in scan(lambda: connection.sql(...))."


@dataclass(frozen=True, repr=False)
class StreamScan(Unread):
    """A source that is opened in every pass. Returned by `suffice.scan`."""

    source: Callable[[], Any]
    columns: tuple[str, ...]
    cache: str | None = "auto"
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)  # of columns of lists of a fixed size
    all_columns: bool = False  # whether no columns were named

    def __repr__(self) -> str:
        cache = "" if self.cache == "auto" else f", cache={self.cache!r}"
        name = getattr(self.source, "__name__", type(self.source).__name__)
        source = self.source if isinstance(self.source, Lazy) else name
        return f"StreamScan({source}, columns={brief(self.columns)}{cache})"


def scan(
    source: Callable[[], Any], columns: Sequence[str] | None = None, *, cache: str | None = "auto"
) -> StreamScan:
    """Scan a stream of Arrow batches as data for `fit`: a database query, a lazy table, a Flight server.

    The rows are summed as they arrive, in constant memory. A fit makes several passes over its data, and
    opens a new stream in each.

    Parameters
    ----------
    source : callable, or table of another library
        A function, called without arguments at the start of each pass. It must return a fresh stream of the
        same rows in the same order: a ``pyarrow.RecordBatchReader``, any other object with
        ``__arrow_c_stream__``, or an iterable of record batches. It is closed when the pass ends, even by an
        error, so a generator can hold its connection in a ``with`` statement. Or a pyarrow
        ``Dataset`` or ``RecordBatchReader``, a polars ``LazyFrame``, a relation of DuckDB, a Hugging Face
        ``Dataset``, a ``DeltaTable`` or an Iceberg table: they can be passed to `fit` directly, and here with
        a cache.
    columns : sequence of str, optional
        Columns to read. If None, all; a stream is then opened at once to read their names. To name targets
        and weights, see `suffice.rows`.
    cache : {"auto", "memory", "disk"} or None, default="auto"
        Where a fit of several passes keeps the rows that it has read and transformed, as in
        `suffice.scan_parquet`. If None, each pass opens the source again. The result is the same to the bit.

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
    if (lazy := lazy_of(source)) is not None:
        return lazy_scan(lazy, columns, cache=cache)
    if not callable(source):
        raise TypeError(
            "suffice.scan takes a function that returns a fresh stream in each call, since a fit makes "
            f"several passes over the data; got {type(source).__name__}: call scan(lambda: ...)."
        )
    sizes: dict[str, int] = {}
    if columns is None:
        with _opened(source) as stream:
            first = stream if hasattr(stream, "read_all") else next(iter(stream), None)
            schema = None if first is None else _reader(first).schema
            columns = () if schema is None else schema.names
            sizes = {} if schema is None else list_sizes(schema)
        if not columns:
            raise ValueError(f"The source gave no batches, so it has no columns. {FRESH}")
    return StreamScan(source, tuple(columns), cache, sizes)


def lazy_scan(lazy: Lazy, columns: Sequence[str] | None = None, *, cache: str | None = "auto") -> StreamScan:
    """The scan of a table that opens streams of its columns."""
    schema = lazy.schema
    names = schema.names
    if missing := [name for name in columns or () if name not in names]:
        raise ValueError(f"The table has no column {missing}; its columns are {names}.")
    if lazy.once and cache in (None, "auto"):
        cache = "disk"  # passes after the first must read something
    return StreamScan(lazy, tuple(columns or names), cache, list_sizes(schema), columns is None)


def scan_csv(
    path: Any,
    columns: Sequence[str] | None = None,
    *,
    schema: Any = None,
    delimiter: str = ",",
    header: bool = True,
    column_names: Sequence[str] | None = None,
    null_values: Sequence[str] = (),
    decimal: str = ".",
    quote_char: str | None = '"',
    encoding: str = "utf8",
    filesystem: Any = None,
    cache: str | None = "auto",
) -> StreamScan:
    """Scan CSV files as data for `fit`. They are streamed in each pass, in constant memory.

    The columns are those of the first file. Files may have them in another order. A column that only a later
    file has raises an error, unless `columns` are named.

    Parameters
    ----------
    path : str, path, or sequence of these
        Files, globs, folders or URLs, as in `suffice.scan_parquet`. Files whose names end in ``.gz`` are
        decompressed.
    columns : sequence of str, optional
        Columns to read. If None, all.
    schema : mapping of str to type, or pyarrow.Schema, optional
        Types of columns, as types of Arrow or their names: ``{"price": "float64", "zip": "string"}``. Other
        types are inferred from the first megabyte of the first file. They hold for all files: a value of
        another type raises an error that names file and column.
    delimiter : str, default=","
        Character between the values of a line.
    header : bool, default=True
        Whether the first line of a file has the names of its columns. If False and there are no
        `column_names`, they are f0, f1, ...
    column_names : sequence of str, optional
        Names of all columns, in their order, in place of those of the header.
    null_values : sequence of str, default=()
        Values that stand for a missing one, besides an empty value, NA, N/A, NaN, NULL and the like. If some
        are stated, all of these stand for a missing value in columns of strings, too.
    decimal : str, default="."
        Decimal point of numbers.
    quote_char : str or None, default='"'
        Character around values that have a delimiter or a line break in them; None if there is none.
    encoding : str, default="utf8"
        Encoding of the files.
    filesystem : file system of pyarrow or fsspec, optional
        Where the files are. If None, it follows from the URL, or is this machine.
    cache : {"auto", "memory", "disk"} or None, default="auto"
        Where a fit of several passes keeps the rows that it has read and transformed, as in
        `suffice.scan_parquet`. If None, each pass parses the files again. The result is the same to the bit.

    See Also
    --------
    scan_json : Files with one JSON object in each line.
    scan_parquet : Parquet files, which are read several times faster.

    Examples
    --------
    >>> import pathlib, tempfile, suffice
    >>> from suffice.linear_model import LinearRegression
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("x,y\\n0,1\\n1,3\\n2,5\\n")
    >>> scan = suffice.scan_csv(file, schema={"y": "float64"})
    >>> LinearRegression().fit(suffice.rows(scan, target="y")).coef_.round(6)
    array([2.])
    """
    files = find_files(path, CsvFiles.function, filesystem)
    text = CsvFiles(
        files,
        delimiter=delimiter,
        header=header,
        column_names=None if column_names is None else tuple(column_names),
        null_values=tuple(null_values),
        decimal=decimal,
        quote_char=quote_char,
        encoding=encoding,
    )
    return _text_scan(text, columns, schema, cache)


def scan_json(
    path: Any,
    columns: Sequence[str] | None = None,
    *,
    schema: Any = None,
    filesystem: Any = None,
    cache: str | None = "auto",
) -> StreamScan:
    """Scan files with one JSON object in each line as data for `fit`. They are streamed in each pass.

    Parameters
    ----------
    path : str, path, or sequence of these
        Files, globs, folders or URLs, as in `suffice.scan_parquet`. Files whose names end in ``.gz`` are
        decompressed.
    columns : sequence of str, optional
        Fields to read. If None, those of the first megabyte of the first file, and of `schema`; another field
        raises an error. A field that a line does not have is missing there.
    schema : mapping of str to type, or pyarrow.Schema, optional
        Types of fields, as types of Arrow or their names. Other types are inferred from the first megabyte
        of the first file. They hold for all files: a value of another type raises an error that names file
        and field.
    filesystem : file system of pyarrow or fsspec, optional
        Where the files are. If None, it follows from the URL, or is this machine.
    cache : {"auto", "memory", "disk"} or None, default="auto"
        Where a fit of several passes keeps the rows that it has read and transformed, as in
        `suffice.scan_parquet`. If None, each pass parses the files again. The result is the same to the bit.

    See Also
    --------
    scan_csv : CSV files.
    scan_parquet : Parquet files, which are read several times faster.

    Examples
    --------
    >>> import pathlib, tempfile, suffice
    >>> from suffice.linear_model import LinearRegression
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = file.write_text('{"x": 0, "y": 1}\\n{"x": 1, "y": 3}\\n{"x": 2, "y": 5}\\n')
    >>> LinearRegression().fit(suffice.rows(suffice.scan_json(file), target="y")).coef_.round(6)
    array([2.])
    """
    files = find_files(path, JsonFiles.function, filesystem)
    return _text_scan(JsonFiles(files), columns, schema, cache)


def _text_scan(files: TextFiles, columns: Sequence[str] | None, schema: Any, cache: str | None) -> StreamScan:
    pa = required("pyarrow", "parquet")
    check_cache(cache)
    pairs = zip(schema.names, schema.types, strict=True) if isinstance(schema, pa.Schema) else schema or {}
    stated = {name: _type(name, kind) for name, kind in dict(pairs).items()}
    return lazy_scan(replace(files, types=files.inferred(stated, columns)), columns, cache=cache)


def _type(name: str, kind: Any) -> Any:
    """A type of Arrow, or the one with this name."""
    if not isinstance(kind, str):
        return kind
    try:
        return required("pyarrow", "parquet").type_for_alias(kind)
    except ValueError:
        raise ValueError(
            f"schema has {kind!r} for {name!r}, which is not a type of Arrow: pass e.g. 'float64', 'int64', "
            "'string', 'bool' or 'timestamp[s]'."
        ) from None


def lazy_source(container: Any, table: Any) -> StreamSource:
    """The source of a table of another library."""
    lazy = lazy_of(container)
    assert lazy is not None
    return StreamSource(lazy_scan(lazy), table)


@dataclass(frozen=True)
class StreamSource(ScanSource):
    """A source of Arrow batches."""

    def types(self) -> dict[str, Any]:
        source = self.container.source
        if isinstance(source, Lazy):  # which need not be read
            schema = source.schema
            return {name: schema.field(name).type for name in self.names()}
        _, batch = next(iter(self.batches(self.names())))
        return dict(zip(batch.schema.names, batch.schema.types, strict=True))

    def batches(
        self, names: Sequence[str], reader: Reader | None = None, strict: bool = False
    ) -> Iterable[tuple[int, Any]]:
        source = self.container.source
        if isinstance(source, Lazy):
            source = replace(source, columns=tuple(names))
        if isinstance(source, TextFiles):
            source = replace(source, strict=strict)
        return Recut(source, tuple(names), batch_rows(names, self.container.sizes))

    def compare(self) -> Callable[[Any], None]:
        return FirstPass().compare


class FirstPass:
    """Checksums of the blocks of the first pass: later passes must give the same values."""

    def __init__(self) -> None:
        self.checksums: dict[int, int] = {}  # by block

    def compare(self, block: Any) -> None:
        number, digest = block.index[0], checksum(block)
        if self.checksums.setdefault(number, digest) != digest:
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
        if not rows and isinstance(self.source, TextFiles):
            raise ValueError(f"The files {brief(self.source.container.paths, 1)} have a header, and no rows.")
        if not rows:
            raise ValueError(f"The source gave no rows. {FRESH}")
        if known_rows not in (None, rows):
            raise ValueError(f"The source gave {known_rows} rows in the first pass, and now {rows}. {SAME}")
        self.known = rows, marks

    def _batches(self) -> Generator[Any]:
        with _opened(self.source) as stream:
            parts = (batch for part in stream for batch in _record_batches(part, self.columns))
            yield from recut(parts, self.size)


@contextmanager
def _opened(source: Callable[[], Any]) -> Iterator[Any]:
    """A fresh stream to iterate over, closed at the end."""
    pa = required("pyarrow", "parquet")

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
    pa = required("pyarrow", "parquet")

    for batch in [part] if isinstance(part, pa.RecordBatch) else _reader(part):
        columns = batch.schema.names  # each time a list of all
        if absent := sorted(set(names).difference(columns), key=names.index):
            raise ValueError(f"The source has no column {absent}; its columns are {columns}.")
        yield pa.record_batch([_plain(batch.column(name)) for name in names], names)


def _reader(part: Any) -> Any:
    pa = required("pyarrow", "parquet")

    if isinstance(part, pa.RecordBatchReader):
        return part
    if hasattr(part, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(part)
    raise TypeError(
        f"The source of suffice.scan must give record batches, and it gave {type(part).__name__}."
    )


def _plain(column: Any) -> Any:
    pa = required("pyarrow", "parquet")

    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _plain(column.dictionary))
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
