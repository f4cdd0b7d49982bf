"""Results of row-wise methods for scans: as an array, or written with the rows as Parquet."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..core.extras import required
from ..core.partitions import in_block
from ..core.progress import one_pass
from ..core.threads import in_order

FILE_ROWS = 1 << 22  # least number of rows of a file, except for the last


def answers(tables: Iterable[tuple[int, Any]], request: Any) -> np.ndarray:
    """The results for numbered Arrow tables, concatenated. Only these are kept in memory."""

    def ask(numbered: tuple[int, Any]) -> np.ndarray:
        count(numbered[1].num_rows)
        with in_block(numbered[0], "answering for it"):
            return request(numbered[1])

    with one_pass(answers, tables) as count:
        return np.concatenate(list(in_order(ask, tables)))


def write(tables: Iterable[tuple[int, Any]], request: Any, to: Any) -> Path:
    """Write the tables with the results as Parquet files to a new folder, which appears when all are
    written."""
    pa = required("pyarrow", "parquet")
    pq = required("pyarrow.parquet", "parquet")

    if "://" in str(to):
        raise ValueError(f"to={to!r} is a URL, and results are written to this machine: pass a local folder.")
    folder = Path(to)
    if folder.exists():
        raise FileExistsError(f"{folder} already exists: pass the path of a new folder.")
    part = folder.with_name(folder.name + ".part")
    part.mkdir(parents=True)
    writer, rows, files = None, 0, 0

    def ask(numbered: tuple[int, Any]) -> Any:
        table = numbered[1]
        count(table.num_rows)
        with in_block(numbered[0], "answering for it"):
            return request.beside(
                pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
            )

    try:
        with one_pass(write, tables) as count:
            for table in in_order(ask, tables):
                if writer is None:
                    writer = pq.ParquetWriter(part / f"part-{files:05}.parquet", table.schema)
                    rows, files = 0, files + 1
                writer.write_table(table.cast(writer.schema))  # types may change from file to file
                rows += table.num_rows
                if rows >= FILE_ROWS:
                    writer.close()
                    writer = None
        if writer is not None:
            writer.close()
        part.rename(folder)
    except BaseException:
        if writer is not None:
            writer.close()
        shutil.rmtree(part)
        raise
    return folder
