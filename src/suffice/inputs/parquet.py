"""Streaming of Parquet files: each pass reads the files again, one batch at a time, ahead of the sums."""

from __future__ import annotations

import os
from abc import abstractmethod
from base64 import b64decode
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import and_
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from ..core.blocks import BLOCK_BYTES, Sequences, power_of_two
from ..core.extras import required
from ..core.partitions import Partitions, in_block
from ..engines.cache import check_cache, streamed
from .checks import Check
from .files import find_files, more_columns, partition_keys, scan_of
from .readers import DenseColumns, Reader, list_sizes
from .remote import FILES_AHEAD, REQUESTS, RemoteFile, ahead, fetched
from .results import answers, write
from .sequences import Seen, runs
from .sources import TableSource
from .tables import Columns, Table, brief
from .unread import Unread


@dataclass(frozen=True, repr=False)
class ParquetScan(Unread):
    """Parquet files that are read in every pass. Returned by `suffice.scan_parquet`."""

    files: tuple[str, ...]
    columns: tuple[str, ...]
    cache: str | None = "auto"
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)  # partition columns: values by file
    filesystem: Any = field(default=None, hash=False)  # of pyarrow; None for files of this machine
    filters: RowFilter | None = None
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)  # of columns of lists of a fixed size
    all_columns: bool = False  # whether no columns were named

    def __repr__(self) -> str:
        cache = "" if self.cache == "auto" else f", cache={self.cache!r}"
        where = "" if self.filesystem is None else f", filesystem={type(self.filesystem).__name__}"
        rows = "" if self.filters is None else f", filters={self.filters}"
        return f"ParquetScan({brief(self.files, 1)}, columns={brief(self.columns)}{where}{rows}{cache})"


class RowFilter:
    """A condition on rows, and the columns that it is about."""

    def __init__(self, filters: Any, schema: Any) -> None:
        pq = required("pyarrow.parquet", "parquet")
        self.expression = pq.filters_to_expression(filters)
        empty = schema.empty_table()
        try:
            empty.filter(self.expression)
        except required("pyarrow", "parquet").ArrowException as error:
            error.add_note(f"filters={filters!r} does not fit the columns {schema.names}.")
            raise
        self.columns = tuple(name for name in schema.names if self._is_about(name, empty))

    def _is_about(self, name: str, empty: Any) -> bool:
        try:
            empty.drop_columns(name).filter(self.expression)
        except required("pyarrow", "parquet").ArrowInvalid:
            return True
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowFilter) and self.expression.equals(other.expression)

    def __hash__(self) -> int:
        return hash(self.columns)

    def __repr__(self) -> str:
        return str(self.expression)


class FileState(NamedTuple):
    """State of a file, to detect changes without reading its rows."""

    rows: int
    size: int
    footer: int  # a hash; the footer has the places, sizes and statistics of all columns
    modified: int = 0  # in nanoseconds
    changed: int = 0  # the same, of the content or the rights; no program can set it back
    mark: str = ""  # of an object in remote storage: its ETag, or the time of its modification


def state_of(file: Any, status: os.stat_result, rows: int) -> FileState:
    """The state of an open Parquet file."""
    end = status.st_size - 8  # where the footer ends: its length and four letters come after it
    length = min(end, int.from_bytes(file.read_at(4, end), "little"))
    footer = hash(file.read_at(length, end - length))
    return FileState(rows, status.st_size, footer, status.st_mtime_ns, status.st_ctime_ns)


class Batches:
    """Numbered record batches. A batch lies within one row group and has a maximum number of rows.

    With filters, batches of the remaining rows all have this number of rows, except for the last.

    The first pass records the state of each file. It must be the same after the file is read, and in later
    passes.

    The strings of the columns `coded` are read as Arrow dictionaries.
    """

    def __init__(
        self,
        scan: ParquetScan,
        columns: Sequence[str],
        size: int,
        strict: bool = False,
        coded: Sequence[str] = (),
    ) -> None:
        self.scan, self.columns, self.size, self.strict = scan, list(columns), size, strict
        self.coded = list(coded)
        self.known: dict[str, FileState] = {}

    @property
    def n_rows(self) -> int | None:
        """The number of rows, as the footers of the files count them. None with filters, and for files in
        remote storage, where that would be a request for each."""
        if self.scan.filters is not None or self.scan.filesystem is not None:
            return None
        pq = required("pyarrow.parquet", "parquet")

        try:
            return sum(pq.read_metadata(path).num_rows for path in self.scan.files)
        except (OSError, ValueError):  # which the pass explains
            return None

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        filters = self.scan.filters
        if filters is None:
            yield from enumerate(self._batches(self.columns))
            return
        read = list(dict.fromkeys([*self.columns, *filters.columns]))
        pa = required("pyarrow", "parquet")
        tables = (pa.Table.from_batches([batch]) for batch in self._batches(read))
        remaining = (table.filter(filters.expression).select(self.columns) for table in tables)
        number = -1
        with closing(recut(remaining, self.size)) as batches:
            for number, batch in enumerate(batches):
                yield number, batch
        if number < 0:
            raise ValueError(f"No row of {brief(self.scan.files, 1)} fulfils filters={filters}.")

    def _batches(self, names: list[str]) -> Iterator[Any]:
        keys = self.scan.keys
        columns = [name for name in names if name not in keys]
        read = self._local if self.scan.filesystem is None else self._remote
        with closing(read(columns)) as batches:
            for n, batch in batches:
                for name in keys.keys() & set(names):
                    batch = batch.append_column(name, _repeated(keys[name][n], batch.num_rows))
                yield batch.select(names) if keys else batch

    def _local(self, columns: list[str]) -> Generator[tuple[int, Any]]:
        """Batches of the files of this machine, each with the number of its file."""
        pa, pq = required("pyarrow", "parquet"), required("pyarrow.parquet", "parquet")
        for n, path in enumerate(self.scan.files):
            first = path not in self.known  # in which page checksums are verified, if the file has them
            with (
                open(path, "rb") as opened,  # for its status: OSFile.fileno fails before pyarrow 25
                pa.OSFile(path) as source,
                _parquet(
                    path,
                    pq.ParquetFile,
                    source,
                    read_dictionary=self.coded,
                    pre_buffer=False,
                    page_checksum_verification=first,
                ) as file,
            ):
                status = os.fstat(opened.fileno())
                if not os.path.samestat(status, os.stat(path)):
                    raise ValueError(
                        f"{path} changed: another file took its place while it was opened. {ONCE}"
                    )
                state = state_of(source, status, file.metadata.num_rows)
                _must_be_unchanged(path, self.known.setdefault(path, state), state, "in the first pass")
                self._check_names(columns, file, path)
                try:
                    for group in self._row_groups(n, file, source):
                        for batch in file.iter_batches(self.size, [group], columns):
                            yield n, batch
                except (OSError, pa.ArrowException) as error:
                    _must_be_as_opened(path, state, opened)
                    error.add_note(f"While reading {path}.")
                    raise
                _must_be_as_opened(path, state, opened)

    def _remote(self, columns: list[str]) -> Generator[tuple[int, Any]]:
        """Batches of files in remote storage. Row groups are fetched while those before them are used."""
        pa = required("pyarrow", "parquet")
        pool = ThreadPoolExecutor(REQUESTS)
        checks = []
        try:
            opened = ahead(pool, partial(self._open, columns), enumerate(self.scan.files), FILES_AHEAD)
            units = (
                (f.remote, _ranges(f.file, group, columns), (f, group)) for f in opened for group in f.groups
            )
            for remote, (f, group) in fetched(pool, units):
                try:
                    for batch in f.file.iter_batches(self.size, [group], columns):
                        yield f.number, batch
                except (OSError, pa.ArrowException) as error:
                    _must_be_current(remote)
                    error.add_note(f"While reading {remote.path}.")
                    raise
                if group == f.groups[-1]:
                    checks.append(pool.submit(_must_be_current, remote))
            for check in checks:
                check.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _open(self, columns: list[str], numbered: tuple[int, str]) -> OpenedFile:
        pq = required("pyarrow.parquet", "parquet")
        n, path = numbered
        remote = RemoteFile(self.scan.filesystem, path)
        first = path not in self.known
        end = required("pyarrow", "parquet").BufferReader(remote.tail[1])  # a file with the footer alone
        file = pq.ParquetFile(
            remote.as_arrow(),
            metadata=_parquet(path, pq.read_metadata, end),
            pre_buffer=False,
            page_checksum_verification=first,
        )
        state = FileState(
            file.metadata.num_rows, remote.state.size, hash(remote.footer), mark=remote.state.mark
        )
        _must_be_unchanged(path, self.known.setdefault(path, state), state, "in the first pass")
        self._check_names(columns, file, path)
        return OpenedFile(n, remote, file, self._row_groups(n, file, end))

    def _check_names(self, columns: list[str], file: Any, path: str) -> None:
        """Raise if a file lacks one of these columns; or if it has others, where that is an error."""
        names, first = file.schema_arrow.names, self.scan.files[0]
        if missing := [name for name in columns if name not in names]:
            raise ValueError(
                f"{path} has no column {missing}, but {first} does: leave the file out, or read columns that "
                "all files have, scan_parquet(..., columns=[...])."
            )
        if self.strict and (more := [name for name in names if name not in self.scan.columns]):
            raise ValueError(more_columns(path, more, first, self.scan.columns, "scan_parquet"))

    def _row_groups(self, n: int, file: Any, source: Any) -> Sequence[int]:
        """The row groups in which some rows may pass the filters, by their statistics."""
        if self.scan.filters is None:
            return range(file.num_row_groups)
        pa, ds = required("pyarrow", "parquet"), required("pyarrow.dataset", "parquet")
        keys = {name: values[n] for name, values in self.scan.keys.items()}
        schema = pa.schema([*file.schema_arrow, *(pa.field(name, v.type) for name, v in keys.items())])
        fragment = ds.ParquetFileFormat().make_fragment(source, partition_expression=_guarantee(keys))
        return [group.id for group in fragment.subset(self.scan.filters.expression, schema).row_groups]


class OpenedFile(NamedTuple):
    """A file in remote storage."""

    number: int
    remote: RemoteFile
    file: Any  # a pyarrow.parquet.ParquetFile
    groups: Sequence[int]  # the row groups that are read


def _parquet(path: str, read: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Call a function of pyarrow that reads a Parquet file, and explain the error if the file is not one."""
    try:
        return read(*args, **how)
    except required("pyarrow", "parquet").ArrowInvalid as error:
        text = (scan := scan_of(path)) != "scan_parquet"
        remedy = f"call suffice.{scan}({path!r})" if text else "write the file again, and leave out others"
        raise ValueError(
            f"{path} is not a complete Parquet file: {str(error).rstrip('.')}. Expected Parquet: {remedy}."
        ) from error


def _ranges(file: Any, group: int, columns: list[str]) -> list[tuple[int, int]]:
    """The byte ranges of the columns of a row group in the file."""
    metadata = file.metadata.row_group(group)
    chunks = [metadata.column(n) for n in range(metadata.num_columns)]
    ranges = []
    for chunk in chunks:
        if chunk.path_in_schema.split(".")[0] in columns:
            start = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
            ranges.append((start, start + chunk.total_compressed_size))
    return ranges


def _guarantee(keys: Mapping[str, Any]) -> Any:
    """The values of the partition columns of a file, as an expression that holds for each of its rows."""
    ds, pc = required("pyarrow.dataset", "parquet"), required("pyarrow.compute", "parquet")
    known = [
        ds.field(name) == value if value.is_valid else ds.field(name).is_null()
        for name, value in keys.items()
    ]
    return reduce(and_, known, pc.scalar(True))


def _repeated(value: Any, n: int) -> Any:
    pa = required("pyarrow", "parquet")

    return pa.repeat(value, n) if value.is_valid else pa.nulls(n, value.type)


ONCE = "Fit while nothing writes to the files, or call scan_parquet(..., cache='disk') to read them once."


def _must_be_unchanged(path: str, before: FileState, now: FileState, when: str) -> None:
    if now == before:
        return
    if now.rows != before.rows:
        change = f"it had {before.rows} rows {when}, and has {now.rows} now"
    elif now.size != before.size:
        change = f"it had {before.size} bytes {when}, and has {now.size} now"
    elif now.footer != before.footer:
        change = f"it had other statistics of its columns {when}"
    elif now.mark != before.mark:
        change = f"it had another ETag or time of modification {when}"
    elif now.modified != before.modified:
        change = f"it had another time of modification {when}"
    else:
        change = f"it had another time of change {when}, as after a write, chmod or a new link"
    raise ValueError(f"{path} changed: {change}. {ONCE}")


def _must_be_as_opened(path: str, state: FileState, file: BinaryIO) -> None:
    """Raise if a file was written to while it was read."""
    status = os.fstat(file.fileno())
    now = state._replace(size=status.st_size, modified=status.st_mtime_ns)
    _must_be_unchanged(path, state, now, "when it was opened")


def _must_be_current(file: RemoteFile) -> None:
    """Raise if an object was replaced while it was read."""
    before, now = (FileState(0, s.size, 0, mark=s.mark) for s in (file.state, file.current_state()))
    _must_be_unchanged(file.path, before, now, "when it was opened")


@dataclass(frozen=True)
class WholeSequences:
    """Numbered batches of complete sequences, across row groups and files.

    They are divided as sequences in memory: the sequence that fills a block is its last. Memory holds the
    rows of one block, and eight bytes per sequence to detect ids that occur again.
    """

    batches: Iterable[tuple[int, Any]]
    sequence: str
    size: int

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known before they are read."""
        return getattr(self.batches, "n_rows", None)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        size, seen = self.size, Seen()
        held: list[Any] = []
        number = begin = read = 0  # blocks yielded, first row of the next, rows read
        last = None
        for _, batch in self.batches:
            starts, ids = runs(batch.column(self.sequence), f"The column {self.sequence!r}")
            goes_on = int(read > 0 and ids[:1] == [last])
            seen.add(ids[goes_on:])
            last = ids[-1] if ids else last
            starts = starts[goes_on:] + read
            while (n := np.searchsorted(starts, (begin // size + 1) * size)) < len(starts):
                past = max(begin - read, 0)
                held.append(batch.slice(past, starts[n] - read - past))
                yield number, joined(held)
                held, number, begin = [], number + 1, int(starts[n])
            held.append(batch.slice(max(begin - read, 0)))
            read += batch.num_rows
        if held:
            yield number, joined(held)


def joined(batches: list[Any]) -> Any:
    pa = required("pyarrow", "parquet")

    if len(batches) == 1:
        return batches[0]
    # Types may change from file to file.
    parts = [part if isinstance(part, pa.Table) else pa.Table.from_batches([part]) for part in batches]
    types = zip(*(part.schema.types for part in parts), strict=True)  # each time a list of all columns
    for d, (name, of_column) in enumerate(zip(parts[0].schema.names, types, strict=True)):
        if len(set(of_column)) > 1:  # Arrow does not join dictionaries and others
            parts = [_decoded(part, d, name) for part in parts]
    return pa.concat_tables(parts, promote_options="permissive")


def _decoded(table: Any, d: int, name: str) -> Any:
    """The table with the values of a column in place of its dictionary."""
    column = table.column(d)
    if not required("pyarrow.types", "parquet").is_dictionary(column.type):
        return table
    return table.set_column(d, name, column.cast(column.type.value_type))


def recut(batches: Iterable[Any], size: int) -> Generator[Any]:
    """The same rows in batches of this size, except for the last. There are no batches without rows."""
    held: list[Any] = []
    missing = size  # rows, to fill the next batch
    for batch in batches:
        while batch.num_rows >= missing:
            yield joined([*held, batch.slice(0, missing)])
            held, batch, missing = [], batch.slice(missing), size
        if batch.num_rows:
            held.append(batch)
            missing -= batch.num_rows
    if held:
        yield joined(held)


def scan_parquet(
    path: Any,
    columns: Sequence[str] | None = None,
    *,
    filters: Any = None,
    filesystem: Any = None,
    cache: str | None = "auto",
) -> ParquetScan:
    """Scan Parquet files as data for `fit`. They are streamed, in bounded memory.

    Parameters
    ----------
    path : str, path, or sequence of these
        Files, globs, or folders whose files ending in ``.parquet`` are read in the order of their names; on
        this machine, or as URLs: ``s3://``, ``gs://``, ``abfs://``, ``hdfs://``, ``file://``. Files and
        folders that begin with a dot or an underscore are ignored. Hive partition columns, as in
        ``year=2024/part-0.parquet``, are columns like others: integers if all values are, else strings.
    columns : sequence of str, optional
        Columns to read. If None, those of the first file; a column that only a later file has raises an
        error. To name targets and weights, see `suffice.rows`.
    filters : list of tuples, list of lists of tuples, or pyarrow.compute.Expression, optional
        Rows to read, as in ``pyarrow.parquet.read_table``: ``[("year", ">", 2020), ("x", "<=", 1.5)]``. Files
        and row groups without such rows, by their partition columns and statistics, are not read.
    filesystem : file system of pyarrow or fsspec, optional
        Where the files are. If None, it follows from the URL, or is this machine. Pass one to state
        credentials, a region or an endpoint.
    cache : {"auto", "memory", "disk"} or None, default="auto"
        Where a fit of several passes keeps the rows that it has read and transformed. "auto": in memory, up
        to an eighth of the free memory; those beyond in a temporary file, if they take less than half of the
        free space of the disk; else each pass reads the files again. A fit of one pass keeps nothing.
        "memory": in memory, which raises an error if they need more than half of the free memory. "disk": in
        a temporary file. None: each pass reads the files again. The result is the same to the bit.

    Notes
    -----
    Each pass compares the sizes, times and footers of the files with those of the first pass; of files in
    remote storage the sizes, ETags (or times) and footers. A changed file raises an error, since all passes
    of a fit must read the same rows; with a cache, files are read once. The first pass verifies page
    checksums, if a file has them. Folders of Delta, Iceberg and Hudi tables are refused, since some of their
    files may no longer be part of the table: pass the table itself to `fit`.

    Remote files are fetched by several requests at once, ahead of their use. Requests that fail are sent
    again. The same files have the same bits, wherever they are.

    Examples
    --------
    >>> import tempfile, numpy as np, pyarrow as pa, pyarrow.parquet as pq, suffice
    >>> from suffice.decomposition import PCA
    >>> folder = tempfile.mkdtemp()
    >>> table = pa.table({"a": np.arange(5.0), "b": 2 * np.arange(5.0)})
    >>> pq.write_table(table, f"{folder}/part-0.parquet")
    >>> PCA(1).fit(suffice.scan_parquet(folder)).explained_variance_
    array([12.5])
    >>> PCA(1).fit(suffice.scan_parquet(f"{folder}/*.parquet", filters=[("a", "<", 3)])).mean_
    array([1., 2.])
    """
    pa, pq = required("pyarrow", "parquet"), required("pyarrow.parquet", "parquet")
    check_cache(cache)
    files = find_files(path, "scan_parquet", filesystem)
    first = _parquet(files.paths[0], pq.read_schema, files.paths[0], filesystem=files.filesystem)
    keys = {name: values for name, values in partition_keys(files).items() if name not in first.names}
    schema = pa.schema([*first, *(pa.field(name, values.type) for name, values in keys.items())])
    missing = [name for name in columns or () if name not in schema.names]
    if missing:
        raise ValueError(f"{files.paths[0]} has no column {missing}; its columns are {schema.names}.")
    chosen = tuple(columns or schema.names)
    sizes = list_sizes(first)
    scan = ParquetScan(files.paths, chosen, cache, keys, files.filesystem, None, sizes, columns is None)
    return scan if filters is None else _filtered(scan, RowFilter(filters, schema), schema)


def _filtered(scan: ParquetScan, filters: RowFilter, schema: Any) -> ParquetScan:
    """The scan of those files whose partition columns do not exclude all of their rows."""
    fs, ds = required("pyarrow.fs", "parquet"), required("pyarrow.dataset", "parquet")
    format = ds.ParquetFileFormat()
    filesystem = scan.filesystem or fs.LocalFileSystem()
    numbers = {path: n for n, path in enumerate(scan.files)}
    fragments = [
        format.make_fragment(path, filesystem, _guarantee({name: v[n] for name, v in scan.keys.items()}))
        for path, n in numbers.items()
    ]
    dataset = ds.FileSystemDataset(fragments, schema, format, filesystem)
    remaining = [numbers[f.path] for f in dataset.get_fragments(filter=filters.expression)]
    if not remaining:
        raise ValueError(f"No file of {brief(scan.files, 1)} fulfils filters={filters}.")
    keys = {name: values.take(remaining) for name, values in scan.keys.items()}
    return replace(scan, files=tuple(scan.files[n] for n in remaining), keys=keys, filters=filters)


@dataclass(frozen=True)
class ScanSource(TableSource):
    """Base class of scans: batches are read in each pass, in order, and converted by the threads that fold
    them."""

    def names(self) -> list[str]:
        return list(self.container.columns)

    def sizes(self) -> Mapping[str, int]:
        return self.container.sizes

    @abstractmethod
    def batches(
        self, names: Sequence[str], reader: Reader | None = None, strict: bool = False
    ) -> Iterable[tuple[int, Any]]:
        """Numbered batches of these columns, sized for the output of the reader. With `strict`, a column that
        only a later file has raises an error."""

    def _takes_all(self, names: Sequence[str]) -> bool:
        """Whether these are all columns of the scan, because none were selected by name."""
        named = self.table is not None and isinstance(self.table.features, tuple)
        return self.container.all_columns and not named and {*self.names()} <= {*names}

    def compare(self) -> Callable[[Any], None]:
        """A function that is called with each block of each pass, and raises if it differs from the first
        pass."""
        return _accept

    def partitions(self, columns: Any, check: Check) -> Partitions:
        return self._streamed(columns, check, iterates=False)

    def repeated(self, columns: Any, check: Check) -> Partitions:
        return self._streamed(columns, check, iterates=True)

    def _streamed(self, columns: Any, check: Check, iterates: bool) -> Partitions:
        names = tuple(columns.names())
        batches = whole(self.batches(names, columns.reader, self._takes_all(names)), columns)
        cache, compare = self.container.cache, self.compare()
        return streamed(batches, cache, _block, columns, check, compare, iterates=iterates)

    def answer(self, request: Any, to: Any) -> Any:
        """The results for all rows, as an array; or a scan of the rows written with their results."""
        if to is None:
            return answers(whole(self.batches(tuple(request.columns.names())), request.columns), request)
        return scan_parquet(write(whole(self.batches(self.names()), request.columns), request, to))

    def transformed(self, estimator: BaseEstimator) -> Table | None:
        if self.table is None:
            return replace(self, table=Table(self.container)).transformed(estimator)
        return super().transformed(estimator)


@dataclass(frozen=True)
class ParquetSource(ScanSource):
    """Parquet files."""

    def types(self) -> dict[str, Any]:
        pq = required("pyarrow.parquet", "parquet")

        metadata = pq.read_metadata(self.container.files[0], filesystem=self.container.filesystem)
        schema = written_schema(metadata)
        keys = self.container.keys
        known = {**dict(zip(schema.names, schema.types, strict=True)), **{k: v.type for k, v in keys.items()}}
        return {name: known[name] for name in self.names()}

    def batches(
        self, names: Sequence[str], reader: Reader | None = None, strict: bool = False
    ) -> Iterable[tuple[int, Any]]:
        scan = self.container
        if reader is None or reader.fixed_size:
            coded = () if reader is None else with_small_dictionaries(scan, names)
            return Batches(scan, names, batch_rows(names, scan.sizes), strict, coded)
        return Batches(scan, names, rows_of_lists(scan.files[0], names, scan.filesystem), strict)


# Bytes of the compressed dictionary of a column. Arrow writes the values themselves once a dictionary exceeds
# 1 MB, and then reads codes more slowly: a dictionary of 64 kB is most likely complete. Each batch copies it.
SMALL_DICTIONARY = 1 << 16


def with_small_dictionaries(scan: ParquetScan, names: Sequence[str]) -> list[str]:
    """The columns of strings that files of this machine store as codes of a few values, by the footer of the
    first. Read as codes, they take half the time of strings that are encoded again."""
    if scan.filesystem is not None:  # where the footer would be another request
        return []
    types = required("pyarrow.types", "parquet")
    metadata = required("pyarrow.parquet", "parquet").read_metadata(scan.files[0])
    schema = metadata.schema.to_arrow_schema()
    apart = () if scan.filters is None else scan.filters.columns
    strings = {
        name for name in ({*names} - {*apart}) & {*schema.names} if types.is_string(schema.field(name).type)
    }
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    return [
        column.path
        for d, column in enumerate(metadata.schema)
        if column.path in strings and all(_has_small_dictionary(group.column(d)) for group in groups)
    ]


def _has_small_dictionary(chunk: Any) -> bool:
    """Whether a column chunk begins with a small dictionary."""
    start = chunk.dictionary_page_offset
    return start is not None and chunk.data_page_offset - start <= SMALL_DICTIONARY


def written_schema(metadata: Any) -> Any:
    """The schema of a Parquet file, with dictionary types for columns that were written as dictionaries
    of numbers. Arrow reads them as numbers, but stores the original schema in the metadata."""
    pa, types = required("pyarrow", "parquet"), required("pyarrow.types", "parquet")
    schema, stored = metadata.schema.to_arrow_schema(), (metadata.metadata or {}).get(b"ARROW:schema")
    if stored is None:
        return schema
    written = pa.ipc.read_schema(pa.py_buffer(b64decode(stored)))
    for d, part in enumerate(schema):
        kind = written.field(part.name).type if written.get_field_index(part.name) >= 0 else part.type
        if types.is_dictionary(kind) and kind.value_type == part.type:
            schema = schema.set(d, part.with_type(kind))
    return schema


def _accept(block: Any) -> None:
    """Compare nothing."""


def batch_rows(names: Sequence[str], sizes: Mapping[str, int] = MappingProxyType({})) -> int:
    """The number of rows of a batch of these columns. `sizes` are the sizes of columns of lists."""
    return power_of_two(BLOCK_BYTES / (8 * sum(sizes.get(name, 1) for name in names)), 256)


def rows_of_lists(path: str, names: Sequence[str], filesystem: Any = None) -> int:
    """Rows of a batch if rows have lists or texts, from their lengths in the first file."""
    pq = required("pyarrow.parquet", "parquet")

    metadata = pq.read_metadata(path, filesystem=filesystem)
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    parts = [group.column(n) for group in groups for n in range(group.num_columns)]
    size = sum(p.total_uncompressed_size for p in parts if p.path_in_schema.split(".")[0] in names)
    return min(batch_rows(names), power_of_two(BLOCK_BYTES * metadata.num_rows / max(1, size), 256))


def whole(batches: Iterable[tuple[int, Any]], columns: Columns) -> Iterable[tuple[int, Any]]:
    """Numbered batches; for sequences, batches that divide none."""
    if columns.sequence is None:
        return batches
    reader = columns.reader
    width = reader.width if isinstance(reader, DenseColumns) else len(reader.columns)
    like = Sequences(np.empty((0, width)), np.zeros(1, np.int64))
    return WholeSequences(batches, columns.sequence, power_of_two(BLOCK_BYTES / like.row_bytes, 256))


def _block(
    columns: Columns,
    check: Callable[[Any], Any],
    compare: Callable[[Any], None],
    numbered: tuple[int, Any],
) -> Any:
    with in_block(numbered[0], "reading it"):
        block = columns.block(check, *numbered)
        compare(block)
        return block
