"""Streaming of Parquet files: each pass reads the files again, one batch at a time, ahead of the sums."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

import numpy as np

from ..core.blocks import BLOCK_BYTES, Sequences, power_of_two
from ..core.partitions import Partitions, in_block
from ..engines.cache import check_cache, streamed
from .checks import Check
from .readers import Reader
from .results import answers, write
from .sequences import Seen, runs
from .sources import TableSource
from .tables import Columns, Table, brief


@dataclass(frozen=True, repr=False)
class ParquetScan:
    """Parquet files that are read in every pass. Returned by `suffice.scan_parquet`."""

    files: tuple[str, ...]
    columns: tuple[str, ...]
    cache: str | None = None
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)  # partition columns: values by file

    def __repr__(self) -> str:
        cache = "" if self.cache is None else f", cache={self.cache!r}"
        return f"ParquetScan({brief(self.files, 1)}, columns={brief(self.columns)}{cache})"


class FileState(NamedTuple):
    """State of a file, to detect changes without reading its rows."""

    rows: int
    size: int
    footer: int  # a hash; the footer has the places, sizes and statistics of all columns
    modified: int  # in nanoseconds
    changed: int  # the same, of the content or the rights; no program can set it back


def state_of(file: Any, status: os.stat_result, rows: int) -> FileState:
    """The state of an open Parquet file."""
    end = status.st_size - 8  # where the footer ends: its length and four letters come after it
    length = min(end, int.from_bytes(file.read_at(4, end), "little"))
    footer = hash(file.read_at(length, end - length))
    return FileState(rows, status.st_size, footer, status.st_mtime_ns, status.st_ctime_ns)


class Batches:
    """Numbered record batches. A batch lies within one row group and has a maximum number of rows.

    The first pass records the state of each file. It must be the same after the file is read, and in later
    passes.
    """

    def __init__(self, scan: ParquetScan, columns: Sequence[str], size: int) -> None:
        self.scan, self.columns, self.size = scan, list(columns), size
        self.known: dict[str, FileState] = {}

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        number, keys = 0, self.scan.keys
        for n, path in enumerate(self.scan.files):
            for batch in self._read(path):
                for name in keys.keys() & self.columns:
                    batch = batch.append_column(name, _repeated(keys[name][n], batch.num_rows))
                yield number, batch.select(self.columns) if keys else batch
                number += 1

    def _read(self, path: str) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        first = path not in self.known  # in which page checksums are verified, if the file has them
        with (
            open(path, "rb") as opened,  # for its status: OSFile.fileno fails before pyarrow 25
            pa.OSFile(path) as source,
            pq.ParquetFile(source, pre_buffer=False, page_checksum_verification=first) as file,
        ):
            status = os.fstat(opened.fileno())
            if not os.path.samestat(status, os.stat(path)):
                raise ValueError(f"{path} changed: another file took its place while it was opened. {ONCE}")
            state = state_of(source, status, file.metadata.num_rows)
            _must_be_unchanged(path, self.known.setdefault(path, state), state, "in the first pass")
            columns = [name for name in self.columns if name not in self.scan.keys]
            if missing := [name for name in columns if name not in file.schema_arrow.names]:
                raise ValueError(f"{path} has no column {missing}, but files before it do.")
            try:
                for group in range(file.num_row_groups):
                    yield from file.iter_batches(self.size, [group], columns)
            except (OSError, pa.ArrowException) as error:
                _must_be_as_opened(path, state, opened)
                error.add_note(f"While reading {path}.")
                raise
            _must_be_as_opened(path, state, opened)


def _repeated(value: Any, n: int) -> Any:
    import pyarrow as pa

    return pa.repeat(value, n) if value.is_valid else pa.nulls(n, value.type)


ONCE = "Fit while nothing writes to the files, or call scan_parquet(..., cache='disk') to read them once."


def _must_be_unchanged(path: str, before: FileState, now: FileState, when: str) -> None:
    if now == before:
        return
    if now.rows != before.rows:
        what = f"it had {before.rows} rows {when}, and has {now.rows} now"
    elif now.size != before.size:
        what = f"it had {before.size} bytes {when}, and has {now.size} now"
    elif now.footer != before.footer:
        what = f"it had other statistics of its columns {when}"
    elif now.modified != before.modified:
        what = f"it had another time of modification {when}"
    else:
        what = f"it had another time of change {when}, as after a write, chmod or a new link"
    raise ValueError(f"{path} changed: {what}. {ONCE}")


def _must_be_as_opened(path: str, state: FileState, file: BinaryIO) -> None:
    """Raise if a file was written to while it was read."""
    status = os.fstat(file.fileno())
    now = state._replace(size=status.st_size, modified=status.st_mtime_ns)
    _must_be_unchanged(path, state, now, "when it was opened")


@dataclass(frozen=True)
class WholeSequences:
    """Numbered batches of complete sequences, across row groups and files.

    They are divided as sequences in memory: the sequence that fills a block is its last. Memory holds the
    rows of one block, and eight bytes per sequence to detect ids that occur again.
    """

    batches: Iterable[tuple[int, Any]]
    sequence: str
    size: int

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        size, seen = self.size, Seen()
        held: list[Any] = []
        number = begin = read = 0  # blocks given, the row at which the next begins, rows read
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
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    # Types may change from file to file.
    parts = [part if isinstance(part, pa.Table) else pa.Table.from_batches([part]) for part in batches]
    return pa.concat_tables(parts, promote_options="permissive")


def scan_parquet(path: Any, columns: Sequence[str] | None = None, *, cache: str | None = None) -> ParquetScan:
    """Scan Parquet files as data for `fit`. They are streamed in each pass, in constant memory.

    Parameters
    ----------
    path : str, path, or sequence of these
        Files, or folders whose files ending in ``.parquet`` are read in the order of their names. Files and
        folders that begin with a dot or an underscore are ignored. Hive partition columns, as in
        ``year=2024/part-0.parquet``, are columns like others: integers if all values are, else strings.
    columns : sequence of str, optional
        Columns to read. If None, all. To name targets and weights, see `suffice.rows`.
    cache : {"memory", "disk"}, optional
        Where to cache the rows that the first pass of a fit reads: in memory, if they need less than half of
        the free memory; or in a temporary file. If None, each pass reads the files again. The result is the
        same to the bit.

    Notes
    -----
    Each pass compares the sizes, times and footers of the files with those of the first pass. A changed file
    raises an error, since all passes of a fit must read the same rows; with a cache, files are read once. The
    first pass verifies page checksums, if a file has them. Delta, Iceberg and Hudi tables are refused, since
    some of their files may no longer be part of the table: see `suffice.scan`.

    Examples
    --------
    >>> import tempfile, numpy as np, pyarrow as pa, pyarrow.parquet as pq, suffice
    >>> from suffice.decomposition import PCA
    >>> folder = tempfile.mkdtemp()
    >>> table = pa.table({"a": np.arange(5.0), "b": 2 * np.arange(5.0)})
    >>> pq.write_table(table, f"{folder}/part-0.parquet")
    >>> PCA(1).fit(suffice.scan_parquet(folder)).explained_variance_
    array([12.5])
    """
    import pyarrow.parquet as pq

    check_cache(cache)
    paths = [path] if isinstance(path, str | Path) else list(path)
    if elsewhere := [str(part) for part in paths if "://" in str(part)]:
        raise ValueError(
            f"scan_parquet reads local files, and {elsewhere} are remote: "
            "fit(ray.data.read_parquet(...)) reads them on the cluster."
        )
    parts = list(map(Path, paths))
    files = [file for part in parts for file in (_files_in(part) if part.is_dir() else [part])]
    _must_be_plain({*parts, *(file.parent for file in files)})
    if not files:
        raise FileNotFoundError(f"No file ending in .parquet was found in {[str(p) for p in paths]}.")
    names = pq.read_schema(files[0]).names
    keys = {name: values for name, values in _partition_keys(parts, files).items() if name not in names}
    names = (*names, *keys)
    missing = [name for name in columns or () if name not in names]
    if missing:
        raise ValueError(f"{files[0]} has no column {missing}; its columns are {list(names)}.")
    return ParquetScan(tuple(map(str, files)), tuple(columns) if columns else names, cache, keys)


def _files_in(folder: Path) -> list[Path]:
    """The Parquet files of a folder. Hidden files are ignored, as in Spark and Arrow."""

    def hidden(name: str) -> bool:
        return name.startswith(".") or (name.startswith("_") and "=" not in name)

    found = sorted(folder.rglob("*.parquet"))
    return [file for file in found if not any(map(hidden, file.relative_to(folder).parts))]


def _partition_keys(parts: list[Path], files: list[Path]) -> dict[str, Any]:
    """Values by file of the Hive partition columns in the paths below the common folder, as in
    ``year=2024/part-0.parquet``: integers if all are, else strings, as Arrow infers them."""
    import pyarrow as pa

    base = os.path.commonpath([os.path.abspath(p if p.is_dir() else p.parent) for p in parts])
    found: dict[str, list[str | None]] = {}
    for n, file in enumerate(files):
        for segment in Path(os.path.abspath(file)).relative_to(base).parent.parts:
            name, equals, value = map(unquote, segment.partition("="))
            if name and equals:
                values = found.setdefault(name, [None] * len(files))
                values[n] = None if value == "__HIVE_DEFAULT_PARTITION__" else value
    keys = {name: pa.array(values, pa.string()) for name, values in found.items()}
    for name, values in keys.items():
        try:
            keys[name] = values.cast(pa.int32())
        except pa.ArrowInvalid:
            continue
    return keys


# Formats whose logs say which files are part of the table: what marks their folder, and what reads them.
FORMATS = {
    "a Delta table": (
        "_delta_log",
        "suffice.scan(deltalake.DeltaTable({!r}).to_pyarrow_dataset().to_batches)",
    ),
    "an Iceberg table": (
        "metadata/*.metadata.json",
        'suffice.scan(catalog.load_table("...").scan().to_arrow_batch_reader) with a catalog of pyiceberg',
    ),
    "a Hudi table": (".hoodie", 'fit(spark.read.format("hudi").load({!r}))'),
}


def _must_be_plain(places: set[Path]) -> None:
    """Raise for files of a table format: some of them may have been deleted from the table."""
    absolute = [Path(os.path.abspath(place)) for place in places]
    for folder in {folder for place in absolute for folder in (place, *place.parents)}:
        for name, (marker, call) in FORMATS.items():
            if any(folder.glob(marker)):
                raise ValueError(
                    f"{folder} is {name}: its files may hold rows that were deleted or replaced, and its log "
                    f"says which are live. To read those, call {call.format(str(folder))}."
                )


@dataclass(frozen=True)
class ScanSource(TableSource):
    """Base class of scans: batches are read in each pass, in order, and converted by the threads that fold
    them."""

    def names(self) -> list[str]:
        return list(self.container.columns)

    @abstractmethod
    def batches(self, names: Sequence[str], reader: Reader | None = None) -> Iterable[tuple[int, Any]]:
        """Numbered batches of these columns, sized for the output of the reader."""

    def compare(self) -> Callable[[Any], None]:
        """A function that is called with each block of each pass, and raises if it differs from the first
        pass."""
        return _accept

    def partitions(self, columns: Any, check: Check) -> Partitions:
        batches = whole(self.batches(tuple(columns.names()), columns.reader), columns)
        return streamed(batches, self.container.cache, _block, columns, check, self.compare())

    def answer(self, request: Any, to: Any) -> Any:
        """The results for all rows, as an array; or a scan of the rows written with their results."""
        if to is None:
            return answers(whole(self.batches(tuple(request.columns.names())), request.columns), request)
        return scan_parquet(write(whole(self.batches(self.names()), request.columns), request, to))

    def transformed(self, estimator: Any) -> Table | None:
        if self.table is None:
            return replace(self, table=Table(self.container)).transformed(estimator)
        return super().transformed(estimator)


@dataclass(frozen=True)
class ParquetSource(ScanSource):
    """Parquet files."""

    def batches(self, names: Sequence[str], reader: Reader | None = None) -> Iterable[tuple[int, Any]]:
        scan = self.container
        fixed = reader is None or reader.fixed_size
        return Batches(scan, names, batch_rows(names) if fixed else rows_of_lists(scan.files[0], names))


def _accept(block: Any) -> None:
    """No comparison."""


def batch_rows(names: Sequence[str]) -> int:
    return power_of_two(BLOCK_BYTES / (8 * len(names)), 256)


def rows_of_lists(path: str, names: Sequence[str]) -> int:
    """Rows of a batch if rows have lists or texts, from their lengths in the first file."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    parts = [group.column(n) for group in groups for n in range(group.num_columns)]
    size = sum(p.total_uncompressed_size for p in parts if p.path_in_schema.split(".")[0] in names)
    return min(batch_rows(names), power_of_two(BLOCK_BYTES * metadata.num_rows / max(1, size), 256))


def whole(batches: Iterable[tuple[int, Any]], columns: Columns) -> Iterable[tuple[int, Any]]:
    """Numbered batches; for sequences, batches that divide none."""
    if columns.sequence is None:
        return batches
    like = Sequences(np.empty((0, len(columns.reader.columns))), np.zeros(1, np.int64))
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
