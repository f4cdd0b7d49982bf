"""PageRank of graphs too large for this machine: links and scores stay in shards of nodes on the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator

from ..core.blocks import Edges
from ..core.cost import afford
from ..core.loop import Watch
from ..core.partitions import Partitions
from ..core.values import Value
from ..inputs import Shard, Shards
from .flow import Walk, along
from .links import Extent, Links, Numbering, Pairs, pairs, sort_links

# Memory of a graph above which it is cut into shards; None is a quarter of the memory.
HOME_BYTES: int | None = None
# Bytes of the links of a shard and of the values of their nodes.
SHARD_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class Region(Value):
    """A run of nodes: their incoming links, and the properties of sources and targets."""

    links: Links  # with sources as places in `sources`
    sources: Annotated[np.ndarray, "int (V,)"]  # nodes, in order
    share: Annotated[np.ndarray, "(V,)"]  # one over the weight of the links of each
    occurs: Annotated[np.ndarray, "bool (N,)"]  # whether a node has any link, and so is one
    stranded: Annotated[np.ndarray, "bool (N,)"]  # whether it has none that leaves it


def is_too_large(numbering: Numbering, extent: Extent) -> bool:
    """Whether the links and a few numbers per node exceed the memory limit."""
    numbers = extent.count * (1.5 if extent.weighted else 0.5) + 8.0 * numbering.count
    if HOME_BYTES is not None:
        return 8.0 * numbers > HOME_BYTES
    try:
        afford(numbers, "", "")
    except MemoryError:
        return True
    return False


def degrees(numbering: Numbering, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the outgoing links of each node, and its number of occurrences."""
    source, target = numbering.numbers(edges)
    values = np.zeros((2 * len(edges), 2))
    values[: len(edges), 0], values[:, 1] = edges.weight, 1.0
    return np.concatenate([source, target]), values


def regions(data: Any, numbering: Numbering, extent: Extent, shards: int) -> tuple[Partitions, Shards]:
    """The graph in regions, and the degrees of its nodes."""
    known = data.fold_by_key(degrees, numbering, n_keys=numbering.count, shards=shards)
    return known.fold_each(data, pairs, numbering, extent.weighted, finish=_region), known


def _region(known: Shards, pairs_of: Pairs, shard: Shard) -> Region:
    links = sort_links(pairs_of, shard.start, shard.start + len(shard))
    sources, place = np.unique(links.source, return_inverse=True)
    share = 1.0 / known.take(sources)[:, 0]
    links = replace(links, source=place.astype(links.source.dtype), index=shard.index)
    occurs = shard.values[:, 1] > 0
    return Region(links, sources.astype(np.int64), share, occurs, occurs & (shard.values[:, 0] == 0))


def _occurring(shard: Shard) -> float:
    return float((shard.values[:, 1] > 0).sum())


def _started(start: Any, region: Region) -> Shard:
    return Shard(region.links.start, start.part(region), region.links.index)


@dataclass(frozen=True, eq=False)
class Spread(Value):
    """Weights of nodes, normalized to sum to one: of some nodes, or uniform over all nodes that occur."""

    count: float
    keys: Annotated[np.ndarray | None, "int (M,)"] = None  # in order
    weight: Annotated[np.ndarray | None, "(M,)"] = None

    @classmethod
    def of(cls, weights: Any, numbering: Numbering, known: Shards, count: float, name: str) -> Spread:
        if weights is None:
            return cls(count)
        if not isinstance(weights, Mapping):
            raise TypeError(f"{name} must be a mapping from ids to weights, or None, for a graph in shards.")
        ids, weight = np.array(list(weights), np.int64), np.array(list(weights.values()), np.float64)
        inside = (ids >= numbering.low) & (ids < numbering.low + numbering.count)
        inside[inside] = known.take(ids[inside] - numbering.low)[:, 1] > 0
        if not inside.all() or not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
            raise ValueError(
                f"{name} must hold weights of nodes of the graph that are not negative, and not all zero."
            )
        order = np.argsort(ids)
        return cls(count, ids[order] - numbering.low, weight[order] / weight.sum())

    def part(self, region: Region) -> np.ndarray:
        if self.keys is None or self.weight is None:
            return region.occurs / self.count
        out, start = np.zeros(len(region.occurs)), region.links.start
        a, b = np.searchsorted(self.keys, (start, start + len(out)))
        out[self.keys[a:b] - start] = self.weight[a:b]
        return out


def advance(
    d: float, restart: Spread, refuge: Spread | None, stays: bool, lost: float, x: Shards, region: Region
) -> Shard:
    """The scores of a region after a step, as in `Surfer.estimate`."""
    start, n = region.links.start, len(region.links)
    new = d * along(region.links, x.take(region.sources) * region.share).values
    if stays:
        new += d * np.where(region.stranded, x.take(np.arange(start, start + n)), 0.0)
    elif refuge is not None:
        new += (d * lost) * refuge.part(region)
    new += (1.0 - d) * restart.part(region)
    return Shard(start, new, region.links.index)


def _changed(x: Shards, known: Shards, shard: Shard) -> np.ndarray:
    """The l1 norm of the change, and the score of dangling nodes."""
    stranded = known.take(shard.keys)[:, 0] == 0
    return np.array([np.abs(shard.values - x.take(shard.keys)).sum(), shard.values[stranded].sum()])


def rank_in_shards(estimator: BaseEstimator, data: Any, numbering: Numbering, extent: Extent) -> Walk:
    """The fit of a PageRank whose scores stay in shards."""
    if numbering.ids is not None:
        raise MemoryError(
            f"{numbering.count} nodes and {extent.count} links do not fit in the memory of this "
            f"machine. They can stay in shards if the ids are integers from 0: number them first."
        )
    if estimator.algorithm != "iterative" or estimator.damping == 1.0 or estimator.checkpoint is not None:
        raise ValueError(
            "A graph in shards requires algorithm='iterative', damping < 1.0 and checkpoint=None."
        )
    size = 12.0 * extent.count + 64.0 * numbering.count
    shards = int(min(numbering.count, max(2, -(-size // SHARD_BYTES))))
    parts, known = regions(data, numbering, extent, shards)
    count = known.fold(_occurring)
    restart = Spread.of(estimator.restart, numbering, known, count, "restart")
    refuge = {"restart": restart, "uniform": Spread(count)}.get(estimator.dangling)
    stays, starts = estimator.dangling == "self", known.starts
    start = restart
    if estimator.start is not None:
        start = Spread.of(estimator.start, numbering, known, count, "start")
    x = Shards(parts.map(_started, start), starts)
    lost = float(x.fold(_changed, x, known)[1])

    def step(walk: Any) -> Any:
        nonlocal lost
        args = (estimator.damping, restart, refuge, stays, lost, walk.model)
        new = Shards(parts.map(advance, *args), starts)
        change, lost = new.fold(_changed, walk.model, known).tolist()
        return estimator._bounded(walk, new, None, change)

    estimator.nodes_ = range(numbering.low, numbering.low + numbering.count)
    estimator._known = known
    return Watch(estimator, None, None, estimator.max_iter).loop(step, Walk(x))


@dataclass(frozen=True, eq=False)
class Best(Value):
    """The nodes with the largest scores, in decreasing order. Addition merges two shards."""

    nodes: Annotated[np.ndarray, "labels (n,)"]
    scores: Annotated[np.ndarray, "(n,)"]
    most: int

    def __add__(self, other: Best) -> Best:
        nodes, scores = (
            np.concatenate([a, b]) for a, b in ((self.nodes, other.nodes), (self.scores, other.scores))
        )
        order = np.lexsort((nodes, -scores))[: self.most]
        return Best(nodes[order], scores[order], self.most)


def _best(most: int, known: Shards, shard: Shard) -> Best:
    occurs = known.take(shard.keys)[:, 1] > 0
    keys, values = shard.keys[occurs], shard.values[occurs]
    order = np.argsort(-values, kind="stable")[:most]
    return Best(keys[order], values[order], most)


def best_in_shards(scores: Shards, known: Shards, nodes: Any, n: int | None) -> np.ndarray:
    """The ids of the n nodes with the largest scores. Integers that are not nodes are left out."""
    return nodes[0] + scores.fold(_best, len(nodes) if n is None else n, known).nodes
