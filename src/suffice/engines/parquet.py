"""Parquet, streamed: each pass reads the files again, a batch at a time, ahead of the sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.blocks import BLOCK_BYTES, Rows, power_of_two
from ..core.partitions import Partitions, in_block
from ..core.tables import Columns
from .local import LocalPartitions


@dataclass(frozen=True)
class ParquetScan:
    """Parquet files that are read in every pass, never held. Made by `suffice.scan_parquet`."""

    files: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Batches:
    """Numbered record batches. A batch lies within one row group and has a size set by its width."""

    files: tuple[str, ...]
    columns: tuple[str, ...]

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        import pyarrow.parquet as pq

        size = power_of_two(BLOCK_BYTES / (8 * len(self.columns)), 256)
        number = 0
        for path in self.files:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                missing = [name for name in self.columns if name not in file.schema_arrow.names]
                if missing:
                    raise ValueError(f"{path} has no column {missing}, but files before it do.")
                for group in range(file.num_row_groups):
                    for batch in file.iter_batches(size, [group], list(self.columns)):
                        yield number, batch
                        number += 1


def scan_parquet(path: Any, columns: Sequence[str] | None = None) -> ParquetScan:
    """Parquet files as data for `fit`: streamed in each pass, in memory that does not grow with them.

    Parameters
    ----------
    path : str, path, or sequence of these
        Files, or folders whose files ending in ``.parquet`` are taken in the order of their names.
    columns : sequence of str, optional
        Columns to read; all if not given. See `suffice.rows` to name targets and weights.

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
    return ParquetScan(files, tuple(columns) if columns else names)


def column_names(scan: ParquetScan) -> tuple[str, ...]:
    return scan.columns


def open_partitions(scan: ParquetScan, columns: Columns, check: Callable[[Rows], Rows]) -> Partitions:
    return LocalPartitions(Batches(scan.files, tuple(columns.names())), ((_block, (columns, check)),))


def _block(columns: Columns, check: Callable[[Any], Any], numbered: tuple[int, Any]) -> Any:
    with in_block(numbered[0], "reading it"):
        return columns.block(check, *numbered)
