"""Parquet, streamed: each pass reads the files again, a batch at a time, ahead of the sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.blocks import BLOCK_BYTES, Rows, Sequences, power_of_two
from ..core.partitions import Partitions, in_block
from ..core.tables import Columns, Seen, Sparse, runs
from .cache import check_cache, streamed
from .written import answers, write


@dataclass(frozen=True)
class ParquetScan:
    """Parquet files that are read in every pass, never held. Made by `suffice.scan_parquet`."""

    files: tuple[str, ...]
    columns: tuple[str, ...]
    cache: str | None = None


@dataclass(frozen=True)
class Batches:
    """Numbered record batches. A batch lies within one row group and has at most so many rows."""

    files: tuple[str, ...]
    columns: tuple[str, ...]
    size: int

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        import pyarrow.parquet as pq

        number = 0
        for path in self.files:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                missing = [name for name in self.columns if name not in file.schema_arrow.names]
                if missing:
                    raise ValueError(f"{path} has no column {missing}, but files before it do.")
                for group in range(file.num_row_groups):
                    for batch in file.iter_batches(self.size, [group], list(self.columns)):
                        yield number, batch
                        number += 1


@dataclass(frozen=True)
class WholeSequences:
    """Numbered batches of whole sequences, whatever the row groups and files they lie in.

    They are cut as sequences in memory are: the sequence that fills a block is its last. Held are the rows
    of one block and, to tell whether a sequence comes back, eight bytes for each that has been.
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
    """Parquet files as data for `fit`: streamed in each pass, in memory that does not grow with them.

    Parameters
    ----------
    path : str, path, or sequence of these
        Files, or folders whose files ending in ``.parquet`` are taken in the order of their names.
    columns : sequence of str, optional
        Columns to read; all if not given. See `suffice.rows` to name targets and weights.
    cache : {"memory", "disk"}, optional
        Where to keep what the first pass of a fit has read, for the passes after it: in memory, if that is
        less than half of what is free; or in a temporary file. If not given, each pass reads the files again.
        The result is the same to the bit.

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
    given = [path] if isinstance(path, str | Path) else list(path)
    if elsewhere := [str(part) for part in given if "://" in str(part)]:
        raise ValueError(
            f"scan_parquet reads files of this machine, and {elsewhere} are elsewhere: "
            "fit(ray.data.read_parquet(...)) reads them where they are."
        )
    files = tuple(
        str(file)
        for part in map(Path, given)
        for file in (sorted(part.rglob("*.parquet")) if part.is_dir() else [part])
    )
    if not files:
        raise FileNotFoundError(f"No file ending in .parquet was found in {[str(p) for p in given]}.")
    names = tuple(pq.read_schema(files[0]).names)
    missing = [name for name in columns or () if name not in names]
    if missing:
        raise ValueError(f"{files[0]} has no column {missing}; its columns are {list(names)}.")
    return ParquetScan(files, tuple(columns) if columns else names, cache)


def column_names(scan: ParquetScan) -> tuple[str, ...]:
    return scan.columns


def open_partitions(scan: ParquetScan, columns: Columns, check: Callable[[Rows], Rows]) -> Partitions:
    names = tuple(columns.names())
    size = rows_of_lists(scan.files[0], names) if isinstance(columns.features, Sparse) else batch_rows(names)
    return open_batches(Batches(scan.files, names, size), columns, check, scan.cache)


def answer(scan: ParquetScan, asked: Any) -> np.ndarray:
    """The answers for all rows, as an array."""
    names = tuple(asked.columns.names())  # others are not read
    return answers(whole(Batches(scan.files, names, batch_rows(names)), asked.columns), asked)


def write_answers(scan: ParquetScan, asked: Any, to: Any) -> ParquetScan:
    """The rows with their answers, written to a folder, and that as a scan."""
    names = scan.columns
    return scan_parquet(write(whole(Batches(scan.files, names, batch_rows(names)), asked.columns), asked, to))


def batch_rows(names: Sequence[str]) -> int:
    return power_of_two(BLOCK_BYTES / (8 * len(names)), 256)


def rows_of_lists(path: str, names: Sequence[str]) -> int:
    """Rows of a batch where a row has a list or a text, whose lengths the first file tells."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    parts = [group.column(n) for group in groups for n in range(group.num_columns)]
    size = sum(p.total_uncompressed_size for p in parts if p.path_in_schema.split(".")[0] in names)
    return min(batch_rows(names), power_of_two(BLOCK_BYTES * metadata.num_rows / max(1, size), 256))


def open_batches(
    batches: Iterable[tuple[int, Any]], columns: Columns, check: Callable[[Any], Any], cache: str | None
) -> Partitions:
    """Partitions of numbered batches, read in order, and converted by the threads that fold them."""
    return streamed(whole(batches, columns), cache, _block, columns, check)


def whole(batches: Iterable[tuple[int, Any]], columns: Columns) -> Iterable[tuple[int, Any]]:
    """Numbered batches; of sequences, such as cut none."""
    if columns.sequence is None:
        return batches
    like = Sequences(np.empty((0, len(columns.features))), np.zeros(1, np.int64))
    return WholeSequences(batches, columns.sequence, power_of_two(BLOCK_BYTES / like.row_bytes, 256))


def _block(columns: Columns, check: Callable[[Any], Any], numbered: tuple[int, Any]) -> Any:
    with in_block(numbered[0], "reading it"):
        return columns.block(check, *numbered)
