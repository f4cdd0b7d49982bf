"""Links of a graph, from columns of a table, arrays, sparse matrices and networkx graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.blocks import Edges, missing
from ..core.extras import required
from .readers import column_of

MIXED_IDS = (
    "The ids of nodes are of several types, {} and {}, which cannot be compared: write them all as "
    "strings, e.g. "
    "source.astype(str)."
)
NOT_IDS = (
    "{} holds {}; expected ids of nodes, which are whole numbers below 2**63 or strings: pass "
    "source.astype(np.int64) or source.astype(str)."
)


def edges_of(batch: Any, ends: Sequence[str], weight: np.ndarray | None, index: int) -> Edges:
    """The links of an Arrow table or record batch, whose columns `ends` name their nodes."""
    pa = required("pyarrow", "parquet")

    columns = [_plain_column(batch.column(name)) for name in ends]
    texts = [pa.types.is_large_string(column.type) for column in columns]
    for name, column, text in zip(ends, columns, texts, strict=True):
        if text and column.null_count:
            raise ValueError(f"The column {name!r} has missing values: it must name a node in every row.")
    if all(texts):  # coded together, by Arrow
        both = [chunk for column in columns for chunk in _chunks(column)]
        coded = pa.chunked_array(both, pa.large_string()).combine_chunks().dictionary_encode()
        place = coded.indices.to_numpy(zero_copy_only=False)
        names = coded.dictionary.to_numpy(zero_copy_only=False)
        n = batch.num_rows
        return Edges(place[:n], place[n:], weight, names, (index,))
    source, target = (
        ids_of(column.to_pylist() if text else column_of(batch, name), f"The column {name!r}")
        for name, column, text in zip(ends, columns, texts, strict=True)
    )
    if any(texts):
        return named_edges(source, target, weight, index)
    return Edges(source, target, weight, None, (index,))


def _plain_column(column: Any) -> Any:
    """An Arrow column, with strings of one type and without dictionary encoding."""
    pa = required("pyarrow", "parquet")
    types = required("pyarrow.types", "parquet")

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return column.cast(kind).cast(pa.large_string()) if text else column


def _chunks(column: Any) -> list[Any]:
    return column.chunks if hasattr(column, "chunks") else [column]


def named_edges(source: np.ndarray, target: np.ndarray, weight: Any = None, index: int = 0) -> Edges:
    """Links between names, as indices into a list of them."""
    if len(source) and (source.dtype.kind in "iu") != (target.dtype.kind in "iu"):
        raise TypeError(MIXED_IDS.format("whole numbers", "strings"))
    names, place = _listed(np.concatenate([source, target]))
    return Edges(place[: len(source)], place[len(source) :], weight, names, (index,))


def _listed(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, and the index of each."""
    if names.dtype.kind in "iu":
        return np.unique(names, return_inverse=True)
    ids = names.tolist()
    place = dict.fromkeys(ids)  # to compare strings, and to sort them, takes many times as long
    place.update(zip(place, range(len(place)), strict=True))
    listed = np.empty(len(place), object)
    listed[:] = list(place)
    return listed, np.fromiter(map(place.__getitem__, ids), np.int64, len(ids))


def ids_of(values: Any, what: str) -> np.ndarray:
    """Ids of nodes, checked: whole numbers as int64, or strings."""
    ids = np.array(values, dtype=object if isinstance(values, list | tuple) else None, copy=None)
    if ids.ndim != 1:
        raise ValueError(f"{what} has shape {ids.shape}; expected one id for each link.")
    if ids.dtype == object:
        kinds = {type(value) for value in ids}
        if all(issubclass(kind, str) for kind in kinds):
            return ids
        if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
            if missing(ids).any():
                raise ValueError(f"{what} has missing values: it must name a node in every row.")
            names = sorted(kind.__name__ for kind in kinds)
            raise TypeError(MIXED_IDS.format(*names[:2]) if len(names) > 1 else NOT_IDS.format(what, *names))
        ids = ids.astype(np.int64)
    if ids.dtype.kind in "UT":
        return ids
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise ValueError(f"{what} has missing values: it must name a node in every row.")
    if ids.dtype.kind not in "iu" or (ids.dtype == np.uint64 and len(ids) and ids.max() >= 1 << 63):
        raise TypeError(NOT_IDS.format(what, ids.dtype))
    return ids.astype(np.int64, copy=False) if ids.dtype.kind == "u" else ids


def sorted_nodes(block: Edges) -> tuple[Edges, np.ndarray]:
    """Links whose ends are indices into the sorted list of their nodes, and that list."""
    assert block.ids is not None
    used = np.zeros(len(block.ids), bool)
    used[block.source] = used[block.target] = True
    names = block.ids[used]
    order = np.array(sorted(range(len(names)), key=names.tolist().__getitem__), np.int64)
    place = np.zeros(len(used), np.int64)
    place[np.flatnonzero(used)[order]] = np.arange(len(order))
    return block.replace(source=place[block.source], target=place[block.target], ids=None), names[order]
