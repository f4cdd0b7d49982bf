"""Tables of Arrow in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.blocks import Sequences
from ..core.partitions import Partitions
from .arrays import MemoryTableSource, edges_in_memory
from .checks import Check
from .sources import Opening
from .tables import Columns


@dataclass(frozen=True)
class ArrowSource(MemoryTableSource):
    """A table or record batch of Arrow."""

    def names(self) -> list[str]:
        return list(self.container.schema.names)

    def partitions(self, columns: Any, check: Check) -> Partitions:
        return Opening(None, check).local(columns.block(check, 0, self.container))

    def _open(self, opening: Opening, verb: str, *given: Any) -> Partitions:
        columns = self._described(opening, verb, *given)
        return opening.local(columns.block(opening.check, 0, self.container))

    def open_edges(self, opening: Opening, sample_weight: Any) -> tuple[Partitions, np.ndarray | None]:
        columns = self._edge_columns(opening, sample_weight)
        return edges_in_memory(opening, columns.block(opening.check, 0, self.container))

    def read_rows(self, estimator: Any, check: Check, late: bool) -> Any:
        columns = replace(self.columns_for(estimator), sequence=None, order=None)
        if columns.reader.width != estimator.n_features_in_:
            raise ValueError(
                f"X has {columns.reader.width} features, but {check.name} is expecting "
                f"{estimator.n_features_in_}."
            )
        block = columns.block(check, 0, self.container)
        return block.piece(0, len(block), 0).X

    def column(self, name: str) -> Any:
        return self.container.column(name)

    def take(self, positions: np.ndarray) -> ArrowSource:
        return ArrowSource(self.container.take(positions), self.table)

    def sequences_in_order(self, opening: Opening, columns: Columns, offset: np.ndarray) -> Sequences:
        opening.set_features(columns.reader.features)
        return columns.block(opening.check, 0, self.container)  # type: ignore[return-value]
