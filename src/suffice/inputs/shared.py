"""Arrow batches of a table that several fits share: each reads its columns of the same batch.

`share` divides the rows of a table into parts and gives tables of some parts, to be passed to fits that run
together (see `fitting.shared`): one pass over the data computes the next sum of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.blocks import Block
from ..core.extras import required
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..fitting.shared import Divided, Sharing, View, undivided
from .checks import Check
from .readers import DenseColumns, Reader
from .selection import Division, Selection, hashed
from .sources import TableSource
from .tables import Table, brief

UNCHECKED = Check("", sparse=True, nan=True, positive=False, strings=True, target=None)


@dataclass(frozen=True, eq=False)
class ArrowRows(Block):
    """A block whose rows are an Arrow table or record batch."""

    batch: Any
    index: tuple[int, ...] = (0,)

    X = y = weight = None

    def __len__(self) -> int:
        return self.batch.num_rows

    def __getitem__(self, rows: slice | np.ndarray) -> ArrowRows:
        pa = required("pyarrow", "parquet")

        if isinstance(rows, slice):
            start, stop, _ = rows.indices(len(self))
            return self.replace(batch=self.batch.slice(start, stop - start))
        return self.replace(batch=self.batch.filter(pa.array(rows)))

    @property
    def row_bytes(self) -> float:
        return 8.0 * self.batch.num_columns

    def parts(self, size: int) -> Iterator[slice]:
        return (slice(start, min(start + size, len(self))) for start in range(0, len(self), size))

    def piece(self, start: int, stop: int, number: int) -> ArrowRows:
        return self[start:stop].replace(index=(*self.index, number))

    def example_hashes(self, purpose: Purpose, *seed: int) -> np.ndarray:
        """A number for each row: see `core.hashing.example_hashes`."""
        number = hashed(self.batch, sorted(self.batch.schema.names), purpose, *seed)
        return (number * 2.0**53).astype(np.uint64) << 11

    def checksum(self) -> int:
        return hash(hashed(self.batch, self.batch.schema.names, Purpose.IDENTITY).tobytes())


@dataclass(frozen=True)
class ArrowColumns:
    """Some columns of a table, unchanged, and the conversion of Arrow batches to blocks."""

    columns: tuple[str, ...]
    selection: Selection | None = None
    sequence = None

    def names(self) -> list[str]:
        return list(dict.fromkeys((*self.columns, *(self.selection.columns if self.selection else ()))))

    @property
    def reader(self) -> Reader:
        return DenseColumns(self.columns)

    def block(self, check: Any, index: int, batch: Any) -> ArrowRows:
        if self.selection is not None:
            batch = self.selection.rows(batch)
        return ArrowRows(batch.select(list(self.columns)), (index,))


@dataclass(frozen=True, eq=False, repr=False)
class SharedBatches:
    """The container of a table whose batches several fits share."""

    view: View
    columns: tuple[str, ...]
    origin: TableSource

    def __repr__(self) -> str:
        return f"SharedBatches(columns={brief(self.columns)})"


@dataclass(frozen=True)
class SharedSource(TableSource):
    """Batches that several fits share."""

    def names(self) -> list[str]:
        return list(self.container.columns)

    def partitions(self, columns: Any, check: Check) -> Partitions:
        return self.container.view.map(_block, columns, check)

    def repeated(self, columns: Any, check: Check) -> Partitions:
        converted = self.partitions(columns, check)
        return converted if isinstance(columns, ArrowColumns) else converted.persisted()

    def types(self) -> dict[str, Any]:
        types = self.container.origin.types()
        return {name: types[name] for name in self.container.columns}


def _block(columns: Any, check: Check, rows: ArrowRows) -> Any:
    return columns.block(check, rows.index[0], rows.batch)


def divided(division: Division, block: ArrowRows) -> Divided:
    """A block whose parts are those of a division of the table."""
    return Divided(block, lambda: division.parts(block.batch).astype(np.int16))


class SharedTable:
    """Some columns of a table, divided into parts, and the fits that share the passes over them. `repeated`
    says that many passes will be made."""

    def __init__(
        self,
        source: TableSource,
        columns: tuple[str, ...],
        division: Division | None = None,
        *,
        repeated: bool = True,
    ) -> None:
        table = source.table or Table(source.container)
        self.source, self.columns = source, columns
        self.read = tuple(dict.fromkeys((*columns, *(division.names if division else ()))))
        read: Any = ArrowColumns(self.read, table.selection)
        data = (source.repeated if repeated else source.partitions)(read, UNCHECKED)
        by: Any = (undivided, ())
        n_parts = 1
        if division is not None:
            division = replace(division, seed=(*division.seed, data.depth))
            division = division.counted(data)
            by, n_parts = (divided, (division,)), len(division.shares) + 1
        self.sharing = Sharing(data, n_parts, by)
        if division is not None and division.strata is not None:
            self.sharing.n_passes = division.strata.n_passes

    def part(self, table: Table, *parts: int) -> Table:
        """The table described in the same way, with the rows of some parts, or all."""
        batches = SharedBatches(self.sharing.view(*parts), self.columns, self.source)
        described = {name: getattr(table, name) for name in ("features", "target", "weight")}
        return Table(batches, **described)
