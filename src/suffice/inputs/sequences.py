"""Sequences in tables: their offsets, their blocks and their weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.blocks import missing, offsets
from ..core.extras import required
from ..core.partitions import in_block


def runs(ids: Any, what: str) -> tuple[np.ndarray, list[Any]]:
    """Starts of the runs of rows with the same id, and their ids. Every row must have an id."""
    purpose = "name the sequence of every row"
    if not isinstance(ids, np.ndarray):
        pc = required("pyarrow.compute", "parquet")
        types = required("pyarrow.types", "parquet")

        if types.is_dictionary(ids.type):
            ids = ids.cast(ids.type.value_type)
        if types.is_string(ids.type) or types.is_large_string(ids.type):  # which are slow as objects
            must_be_complete(ids.is_null().to_numpy(zero_copy_only=False), what, purpose)
            differ = pc.not_equal(ids.slice(1), ids.slice(0, max(0, len(ids) - 1)))
            starts = np.flatnonzero(np.append([len(ids) > 0], differ.to_numpy(zero_copy_only=False)))
            return starts, ids.take(starts).to_pylist()
        ids = ids.to_numpy(zero_copy_only=False)
    must_be_complete(missing(ids), what, purpose)
    starts = np.flatnonzero(np.append([len(ids) > 0], ids[1:] != ids[:-1]))
    return starts, ids[starts].tolist()


def sequences_in(column: str, start: int, tables: Iterable[Any]) -> list[tuple[list[Any], int]]:
    """The ids of the sequences of each Arrow table in order, and the number of rows of the first."""
    sequences: list[tuple[list[Any], int]] = []
    for number, table in enumerate(tables, start):
        with in_block(number, "reading it"):
            if table.num_rows == 0:  # and perhaps no columns
                sequences.append(([], 0))
                continue
            starts, ids = runs(table.column(column), f"The column {column!r}")
            sequences.append((ids, int(np.append(starts, table.num_rows)[1])))
    return sequences


def shares(found: Iterable[tuple[list[Any], int]]) -> list[tuple[int, list[tuple[int, int | None]]]]:
    """Number of rows of each block that belong to an earlier one, and the heads of later blocks that belong
    to it.

    From the results of `sequences_in` for the blocks in order. A sequence that spans blocks belongs to the
    block in which it begins. A head is the index of its block and a number of rows, None for all.
    """
    shares: list[tuple[int, list[tuple[int, int | None]]]] = []
    heads: list[tuple[int, int | None]] = []  # of the block in which the last sequence begins
    seen, last = Seen(), None
    for number, (ids, first) in enumerate(found):
        goes_on = ids[:1] == [last]
        seen.add(ids[goes_on:])
        if goes_on:
            heads.append((number, first if ids[1:] else None))
        shares.append((first if goes_on else 0, []))
        if ids[goes_on:]:
            heads, last = shares[-1][1], ids[-1]
    return shares


def whole(names: list[str], table: Any, past: int, heads: Iterable[Any]) -> Any:
    """An Arrow table without the first rows, which belong to an earlier one, and with the heads of later
    ones."""
    pa = required("pyarrow", "parquet")

    parts = [part.select(names) for part in (table.slice(past), *heads)]
    return pa.concat_tables(parts, promote_options="permissive")


class Seen:
    """The ids of the sequences that have been read. An id may not occur again.

    Eight bytes per id: sorted arrays of hashes, merged when they have equal sizes, as in binary counting.
    """

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []

    def add(self, ids: list[Any]) -> None:
        # Hashes of the representations, since Python hashes -1 as -2 and 1 as 2**61.
        hashes = np.fromiter(map(hash, map(repr, ids)), np.int64, len(ids))
        new, first, count = np.unique(hashes, return_index=True, return_counts=True)
        again = count > 1
        for part in self.parts:
            again |= part[np.minimum(np.searchsorted(part, new), len(part) - 1)] == new
        if again.any():
            raise ValueError(
                f"The rows of sequence {ids[first[again].min()]!r} are not contiguous: sort the rows by "
                "sequence, then by order."
            )
        while self.parts and len(self.parts[-1]) <= len(new):
            new = np.sort(np.append(self.parts.pop(), new), kind="stable")
        if len(new):
            self.parts.append(new)


def of_sequences(weight: np.ndarray | None, offset: np.ndarray) -> np.ndarray | None:
    """Weights of sequences, from one weight per row or one per sequence."""
    if weight is None or len(weight) == len(offset) - 1 != offset[-1]:
        return weight
    if len(weight) != offset[-1]:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected ({len(offset) - 1},), one per sequence, "
            f"or ({offset[-1]},), one per row."
        )
    full = np.flatnonzero(np.diff(offset))
    of_each = np.ones(len(offset) - 1)
    of_each[full] = weight[offset[full]]
    if (np.repeat(of_each, np.diff(offset)) != weight).any():
        raise ValueError(
            "sample_weight differs within a sequence: weights belong to whole sequences. Pass groups= if "
            "the rows are of several."
        )
    return of_each


def arrangement(
    ids: np.ndarray, order: np.ndarray | None, names: tuple[str | None, str | None]
) -> tuple[np.ndarray, np.ndarray]:
    """The positions of rows sorted by sequence, in order of appearance, then by order; and the offsets.

    `names` are those of the two columns.
    """
    starts, firsts = runs(ids, f"The column {names[0]!r}")
    known: dict[Any, int] = {}
    number = np.array([known.setdefault(first, len(known)) for first in firsts], dtype=np.int64)
    number = np.repeat(number, np.diff(np.append(starts, len(ids))))
    if order is not None:
        must_be_complete(missing(order), f"The column {names[1]!r}", "order every row")
    keys = (number,) if order is None else (order, number)
    return np.lexsort(keys), offsets(np.bincount(number))


def must_be_complete(missing: np.ndarray, what: str, purpose: str) -> None:
    if missing.any():
        raise ValueError(f"{what} has missing values: it must {purpose}.")
