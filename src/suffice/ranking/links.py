"""Links of a graph sorted by target, so that the flow to a run of nodes is added in one place.

Ids of any type become numbers; then each block gives its links as pairs of numbers, in the order of the data,
and these are sorted by target. So a sum over the links to a node has one order, for any blocks.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, repeat
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Edges
from ..core.cost import afford
from ..core.partitions import Partitions
from ..core.shapes import must_rise
from ..core.threads import in_order, n_threads
from ..core.values import Value

# Number of links that are sorted at once. More links are read in several passes.
SORTED_AT_ONCE = 1 << 26
SMALLEST = 1e-300  # total weights of outgoing links up to this cannot be divided by
# Links of a bucket, while they are sorted.
BUCKET = 1 << 16
# Links that a thread takes at a time.
RUN = 1 << 19


@dataclass(frozen=True, eq=False)
class Extent(Value):
    """Extent of a graph: the number of links, the smallest and largest id, or the ids if they are strings."""

    count: int
    weighted: bool
    low: int | None = None
    high: int | None = None
    ids: frozenset[str] | None = None

    @classmethod
    def of(cls, edges: Edges) -> Extent:
        seen = cls(len(edges), not edges.unweighted)
        if not len(edges):
            return seen
        if edges.ids is not None and edges.ids.dtype.kind not in "iu":
            used = np.zeros(len(edges.ids), bool)
            used[edges.source] = used[edges.target] = True
            return replace(seen, ids=frozenset(edges.ids[used].tolist()))
        ends = [edges.source, edges.target] if edges.ids is None else [edges.ids]
        return replace(seen, low=int(min(e.min() for e in ends)), high=int(max(e.max() for e in ends)))

    def __add__(self, other: Extent) -> Extent:
        if not other.count or not self.count:
            return self if self.count else other
        if (self.ids is None) != (other.ids is None):
            raise TypeError(
                "The ids of nodes are integers in some blocks and strings in others: write them all as "
                "strings."
            )
        total = replace(self, count=self.count + other.count, weighted=self.weighted or other.weighted)
        if self.ids is not None and other.ids is not None:
            return replace(total, ids=self.ids | other.ids)
        return replace(total, low=min(self.low, other.low), high=max(self.high, other.high))  # type: ignore


@dataclass(frozen=True, eq=False)
class Ids(Value):
    """The sorted distinct ids. Addition is the union."""

    values: Annotated[np.ndarray, "labels (V,)"]

    @classmethod
    def of(cls, edges: Edges) -> Ids:
        ids = [edges.source, edges.target] if edges.ids is None else [edges.ids]
        return cls(_distinct(np.concatenate(ids)))

    def __add__(self, other: Ids) -> Ids:
        return Ids(_distinct(np.concatenate([self.values, other.values])))


def _distinct(ids: np.ndarray) -> np.ndarray:
    """The distinct ids, sorted. For whole numbers, a sort is several times as fast as a hash table."""
    ids.sort(kind="stable")
    return ids[np.concatenate([[True], ids[1:] != ids[:-1]])] if len(ids) else ids


@dataclass(frozen=True, eq=False)
class Numbering(Value):
    """Index of each node, from its id."""

    count: int
    low: int = 0  # the id of number 0, if ids are whole numbers one after the other
    ids: Annotated[np.ndarray | None, "labels (V,)"] = None  # in order, if they are not

    def numbers(self, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
        kind = np.int32 if self.count < 1 << 31 else np.int64
        if edges.ids is not None:
            ids, place = self.__dict__.get("_last", (None, None))
            if ids is not edges.ids:  # which all pieces of a block share
                place = self._places(edges.ids).astype(kind)
                self.__dict__["_last"] = edges.ids, place
            return place[edges.source], place[edges.target]
        return self._places(edges.source).astype(kind), self._places(edges.target).astype(kind)

    @cached_property
    def table(self) -> dict[str, int]:
        return {} if self.ids is None else dict(zip(self.ids.tolist(), range(self.count), strict=True))

    def _places(self, ids: np.ndarray) -> np.ndarray:
        if ids.dtype.kind not in "iu":  # strings are found much faster than compared
            return np.fromiter(map(self.table.get, ids.tolist(), repeat(-1)), np.int64, len(ids))
        if self.ids is not None:
            return np.searchsorted(self.ids, ids)
        return np.subtract(ids, self.low, dtype=np.int64) if self.low else ids


@dataclass(frozen=True, eq=False)
class Pairs(Value):
    """Indices of the ends of links, and their weights, in parts in the order of the data."""

    parts: tuple[tuple[Any, ...], ...]

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(self.parts + other.parts)


def pairs(numbering: Numbering, weighted: bool, first: int, end: int, edges: Edges) -> Pairs:
    """The links of a block to the nodes from `first` to `end`."""
    if not len(edges):
        return Pairs(())
    source, target = numbering.numbers(edges)
    weight = np.array(edges.weight, np.float64) if weighted else None
    if end - first < numbering.count:
        inside = np.flatnonzero((target >= first) & (target < end))
        source, target = source[inside], target[inside]
        weight = None if weight is None else weight[inside]
    return Pairs(((source, target, weight),))


@dataclass(frozen=True, eq=False)
class Links(Value):
    """The links to a run of nodes, sorted by target: a block whose examples are nodes."""

    start: int  # the first node
    offset: Annotated[np.ndarray, "int (N + 1,)"]  # links to node start + n are offset[n] to offset[n + 1]
    source: Annotated[np.ndarray, "int (E,)"]  # nodes
    weight: Annotated[np.ndarray | None, "(E,)"] = None  # all one if there are none
    index: tuple[int, ...] = (0,)

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must_rise(self.offset, sizes["E"], "Where the links of each node begin")

    def __len__(self) -> int:
        return len(self.offset) - 1

    def piece(self, start: int, stop: int, number: int) -> Links:
        part = slice(self.offset[start], self.offset[stop])
        weight = None if self.weight is None else self.weight[part]
        offset = self.offset[start : stop + 1] - self.offset[start]
        return Links(self.start + start, offset, self.source[part], weight, (*self.index, number))

    def pieces(self, statistic_bytes: int) -> Iterator[Links]:
        yield replace(self, index=(*self.index, 0))

    def runs(self) -> tuple[tuple[int, int], ...]:
        """Return runs of nodes with similar numbers of links."""
        marks = np.searchsorted(self.offset, np.arange(RUN, self.offset[-1], RUN))
        bounds = np.unique(np.concatenate([[0], marks, [len(self)]])).tolist()
        return tuple(pairwise(bounds))

    def fingerprint(self) -> np.ndarray:
        """Fingerprint of the links."""
        parts = [self.offset, self.source, *([] if self.weight is None else [self.weight])]
        return np.array([[zlib.crc32(part.tobytes()) for part in parts]], np.uint64)

    def matrix(self, n: int) -> sp.csr_array:
        """Entry (t, s) is the weight of the links from s to t."""
        data = np.ones(len(self.source)) if self.weight is None else self.weight
        return sp.csr_array((data, self.source, self.offset), (len(self), n))


def sort_links(given: Pairs, first: int, end: int) -> Links:
    """Links sorted by target; those to one target stay in their order.

    They are put into buckets by the high bits of the target, and each bucket is sorted by counting, so that
    writes stay in the cache. Threads process runs of the links first, and then buckets.
    """
    from ..loops.graph import count, place, spread

    none = np.zeros(0)
    total = sum(len(part[0]) for part in given.parts)
    kind = given.parts[0][0].dtype if total else np.dtype(np.int32)
    weighted = total > 0 and given.parts[0][2] is not None
    shift = max(0, (end - first - 1).bit_length() - min(10, (total // BUCKET).bit_length()))
    runs = _in_runs(given.parts, n_threads())
    at = np.zeros((len(runs), ((end - first - 1) >> shift) + 1), np.int64)

    def counted(n: int) -> None:
        for _, target, _ in runs[n]:
            count(target, first, shift, at[n])

    _each(counted, len(runs))
    starts = np.concatenate([[0], np.cumsum(at.sum(axis=0))])
    at[:] = starts[:-1] + np.cumsum(at, axis=0) - at
    source, target = np.empty(total, kind), np.empty(total, kind)
    weight = np.empty(total) if weighted else none

    def spread_out(n: int) -> None:
        for s, t, w in runs[n]:
            spread(s, t, w if weighted else none, first, shift, at[n], source, target, weight)

    _each(spread_out, len(runs))
    offset = np.zeros(end - first + 1, np.int64)
    to_source, to_weight = np.empty(total, kind), np.empty(total) if weighted else none

    def placed(n: int) -> None:
        low, part = n << shift, slice(starts[n], starts[n + 1])
        rows = offset[low : min(low + (1 << shift), end - first) + 1]
        w = weight[part] if weighted else none
        place(source[part], target[part], w, first + low, int(starts[n]), rows, to_source, to_weight)

    _each(placed, at.shape[1])
    return Links(first, offset, to_source, to_weight if weighted else None)


def _in_runs(parts: tuple[Any, ...], most: int) -> list[tuple[Any, ...]]:
    """Group consecutive parts into runs with similar numbers of links."""
    if not parts:
        return []
    ends = np.cumsum([len(part[0]) for part in parts])
    marks = np.searchsorted(ends, np.linspace(0, ends[-1], most + 1)[1:-1])
    bounds = np.unique([0, *marks, len(parts)]).tolist()
    return [parts[a:b] for a, b in pairwise(bounds)]


def _each(f: Callable[[Any], None], n: int) -> None:
    """Call f for 0 to n - 1, in threads."""
    for _ in in_order(f, tuple(range(n))):
        pass


@dataclass(frozen=True, eq=False)
class Graph(Value):
    """A graph in memory: its nodes, their incoming links, and the weights of their outgoing links."""

    nodes: Annotated[np.ndarray, "labels (n,)"]  # ids
    links: Links
    out: Annotated[np.ndarray, "(n,)"]

    def __len__(self) -> int:
        return len(self.nodes)


def number_nodes(data: Partitions, nodes: np.ndarray | None) -> tuple[Numbering, Extent]:
    """Number the nodes. Dense integer ids are used as indices, even if some do not occur."""
    extent = data.fold(Extent.of)
    if nodes is not None:
        return Numbering(len(nodes)), extent
    if not extent.count:
        raise ValueError("The graph has no links: pass at least one.")
    if extent.ids is not None:
        ids = np.empty(len(extent.ids), object)
        ids[:] = sorted(extent.ids)
        return Numbering(len(ids), ids=ids), extent
    reach = extent.high - extent.low + 1
    if reach <= max(4 * extent.count, 1 << 20):
        return Numbering(reach, extent.low), extent
    ids = data.fold(Ids.of).values
    return Numbering(len(ids), ids=ids), extent


def read_graph(
    data: Partitions, nodes: np.ndarray | None, numbered: tuple[Numbering, Extent] | None = None
) -> Graph:
    """The graph in memory, from partitions of links."""
    numbering, extent = numbered or number_nodes(data, nodes)
    n = numbering.count
    if not n:
        raise ValueError("The graph has no nodes: pass at least one link.")
    afford(
        extent.count * (1.5 if extent.weighted else 0.5) + 8 * n,
        f"{extent.count} links of {n} nodes in memory",
        "PageRank takes graphs of any size in shards, if their ids are integers.",
    )
    passes = max(1, -(-extent.count // SORTED_AT_ONCE))
    starts = [s * n // passes for s in range(passes + 1)]
    parts = []
    for first, end in pairwise(starts):
        unsorted = data.fold(pairs, numbering, extent.weighted, first, end)
        parts.append(sort_links(unsorted, first, end))
        del unsorted
    links = _joined(parts)
    out = _out(links, n)
    if ((out > 0) & ~((out > SMALLEST) & (out < np.inf))).any():
        raise ValueError(
            "The sums of the weights of the links of a node overflow or underflow: rescale all weights, "
            "e.g. divide them by the largest."
        )
    if nodes is None:
        occur = (out > 0) | (np.diff(links.offset) > 0)
        if not occur.all():
            _renumber((np.cumsum(occur) - 1).astype(links.source.dtype), links.source)
            links = replace(links, offset=np.append(links.offset[:-1][occur], links.offset[-1]))
            out = out[occur]
        nodes = np.flatnonzero(occur) + numbering.low if numbering.ids is None else numbering.ids[occur]
    return Graph(nodes, links, out)


def _out(links: Links, n: int) -> np.ndarray:
    """Total weight of the outgoing links of each node."""
    from ..loops.graph import count

    if links.weight is not None:
        return np.bincount(links.source, links.weight, n)
    runs = np.array_split(links.source, n_threads())
    counts = np.zeros((len(runs), n), np.int64)
    _each(lambda k: count(runs[k], 0, 0, counts[k]), len(runs))
    return counts.sum(axis=0).astype(np.float64)


def _renumber(number: np.ndarray, node: np.ndarray) -> None:
    from ..loops.graph import renumber

    runs = np.array_split(node, n_threads())
    _each(lambda k: renumber(number, runs[k]), len(runs))


def _joined(parts: list[Links]) -> Links:
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(part.offset[-1] for part in parts)])
    offset = np.concatenate(
        [parts[0].offset[:1], *(p.offset[1:] + e for p, e in zip(parts, ends, strict=False))]
    )
    weight = None if parts[0].weight is None else np.concatenate([part.weight for part in parts])
    source = np.empty(int(ends[-1]), parts[0].source.dtype)
    for n, (a, b) in enumerate(pairwise(ends)):
        source[a:b] = parts[n].source
        parts[n] = replace(parts[n], source=source[a:b])
    return Links(0, offset, source, weight)


def turned(links: Links, n: int) -> Links:
    """The reversed links of a graph of n nodes."""
    target = np.repeat(np.arange(len(links), dtype=links.source.dtype), np.diff(links.offset))
    return sort_links(Pairs(((target, links.source, links.weight),)), 0, n)


def turned_graph(graph: Graph) -> Graph:
    """The graph with all links reversed."""
    links = turned(graph.links, len(graph))
    return Graph(graph.nodes, links, _out(links, len(graph)))
