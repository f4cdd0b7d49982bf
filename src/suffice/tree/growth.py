"""Growth of one tree, by folds over the data or from rows gathered in this process. Both give the same tree.

`Growth` keeps the nodes, and decides which of them are split next. The target defines the gain of a split:
the decrease of an impurity (`targets.py`, with `loops/trees.py`), or of a loss to second order, as boosting
needs it (`ensemble/newton.py`, which has the formula). The sums of the bins come from one of two sources:

* gathered rows: one call of a compiled loop grows the whole tree;
* folded histograms: one fold serves all new nodes of a level, in groups that fit in `HISTOGRAM_BYTES`. For an
  impurity, the rows of nodes that fit in memory are gathered, and their subtrees are finished in this process
  (Panda, Herbach, Basu and Bayardo, "PLANET", 2009).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..core import partitions
from ..core.blocks import Rows
from ..core.partitions import Partitions
from ..loops.trees import (
    MISSING_LEFT,
    NONE_MISSING,
    SQUARED_ERROR,
    Features,
    find_split,
    grow,
    mixed,
    preorder,
)
from ..statistics.bins import FeatureBins
from ..statistics.histograms import Binned, Histograms, bin_offsets
from .model import Tree, joined_sets

HISTOGRAM_BYTES = 1 << 27  # memory of the histograms of each thread
COPIES = 3  # copies of gathered rows: blocks that arrive, the block that joins them, and the copy of a loop
NO_LIMIT = 1 << 40  # larger than any depth


class Limits(NamedTuple):
    """The conditions on splits, with weights and gains as integers."""

    max_depth: int
    least_split: int  # weight of a node that may be split
    least: int  # weight of a leaf
    least_gain: float
    max_features: int
    max_leaves: int  # 0: without a limit
    random: bool  # whether thresholds are drawn
    key: int  # of random numbers
    constraints: np.ndarray  # (D,), int8: 1 if predictions must rise with the feature, -1 if they must fall

    def may_split(self, weight: float, depth: int) -> bool:
        """Whether a node of this weight and depth may be split."""
        return depth < self.max_depth and weight >= max(self.least_split, 2 * self.least)


class Root(NamedTuple):
    """The node from which a tree or a subtree grows."""

    key: int  # of its random numbers
    depth: int = 0
    low: float = -np.inf  # bounds of its value
    high: float = np.inf


class Split(NamedTuple):
    """The best split of a node."""

    gain: float
    feature: int
    below: int  # the last bin on the left that has rows
    above: int  # the first bin on the right that has rows
    side: int  # of missing values
    left: np.ndarray  # the categories on the left


class Grown(NamedTuple):
    """The nodes of a tree in the order in which they were made, as `loops.trees.grow` returns them."""

    feature: np.ndarray  # (N,)
    children: np.ndarray  # (N, 2)
    edges: np.ndarray  # (N, 2)
    side: np.ndarray  # (N,)
    sums: np.ndarray  # (N, S)
    pure: np.ndarray  # (N,)
    gains: np.ndarray  # (N,)
    keys: np.ndarray  # (N,)
    bounds: np.ndarray  # (N, 2), of the value
    set_start: np.ndarray  # (N,)
    set_stop: np.ndarray  # (N,)
    sets: np.ndarray


def binned(bins: FeatureBins, target: Any, rows: Rows) -> Binned:
    """A block of rows as integers."""
    group, entry = target.integers(rows)
    return Binned(bins.codes(rows.X).T, group, None, rows.index, entry)


def with_weight(block: Binned) -> Binned:
    """The rows that have a weight."""
    seen = block.entry[:, 0] > 0
    return block if seen.all() else block[seen]


def gathered_bytes(bins: FeatureBins, n_numbers: int) -> int:
    """Memory per gathered row, all copies included: its codes and this many numbers of eight bytes."""
    return COPIES * (len(bins.n_bins) * bins.dtype.itemsize + 8 * n_numbers)


def growth_bytes(bins: FeatureBins, target: Any) -> int:
    """Memory per gathered row while a tree grows: codes, target, entries and the place in a node."""
    return gathered_bytes(bins, 2 + target.n_entries)


def grow_tree(
    data: Partitions, rows: int, bins: FeatureBins, target: Any, limits: Limits, trees: int = 1
) -> Tree:
    """Grow a tree on `rows` binned rows; `trees` trees share the memory."""
    if hasattr(target, "grown"):  # its statistics cannot be added
        return tree_of(bins, target, target.grown(data, bins, limits))
    if (block := data.gather_if(rows, trees * growth_bytes(bins, target))) is not None:
        return grow_here(block, bins, target, limits)
    # A quarter of the memory, beside the blocks that are read, and histograms.
    most = partitions.GATHERED_BYTES // (4 * trees * growth_bytes(bins, target))
    return tree_of(bins, target, FoldedGrowth(bins, target, limits, rows, data, most, trees).run())


def grow_here(rows: Binned, bins: FeatureBins, target: Any, limits: Limits) -> Tree:
    """Grow a tree on rows in this process."""
    return tree_of(bins, target, _grown_here(rows, bins, target, limits, Root(limits.key)))


def _in_nodes(tree: Tree, nodes: np.ndarray, block: Binned) -> Binned:
    """The rows in some nodes of a tree."""
    return block[np.flatnonzero(np.isin(tree.leaves_of_codes(block.codes), nodes))]


def _grown_here(rows: Binned, bins: FeatureBins, target: Any, limits: Limits, root: Root) -> Grown:
    """The nodes below a root, from rows of this process."""
    if not len(rows):
        raise ValueError("There are no rows to grow a tree to.")
    features, entry = _features(bins, limits), np.ascontiguousarray(rows.entry)
    return Grown(*grow(rows.codes, rows.y, entry, features, target.criterion, target.n_outputs, limits, root))


def _features(bins: FeatureBins, limits: Limits) -> Features:
    """What the search of splits knows about the features."""
    return Features(bins.n_bins, bins.categorical, bin_offsets(bins.n_bins), _bin_values(bins, limits))


def _bin_values(bins: FeatureBins, limits: Limits) -> np.ndarray:
    """The smallest values of the bins of all features, concatenated; empty unless thresholds are drawn at
    random."""
    if not limits.random:
        return np.empty(0)
    pairs = zip(bins.low, bins.n_bins, strict=True)
    return np.concatenate([np.append(low, np.zeros(n + 1 - len(low))) for low, n in pairs])


def tree_of(bins: FeatureBins, target: Any, nodes: Grown) -> Tree:
    """The tree of these nodes."""

    order = preorder(nodes.children)
    place = np.argsort(order)
    feature, side = nodes.feature[order], nodes.side[order]
    children = np.where(feature[:, None] < 0, -1, place[nodes.children[order]])
    inner = feature >= 0
    value, weight, impurity = target.described(nodes.sums[order], nodes.pure[order], nodes.bounds[order])
    heavier_left = weight[children[:, 0]] > weight[children[:, 1]]
    missing_left = np.where(side == NONE_MISSING, heavier_left, side == MISSING_LEFT) & inner
    below, above = nodes.edges[order].T
    numeric = inner & ~bins.categorical[feature]
    threshold, edge = np.zeros(len(order)), np.zeros(len(order), np.int64)
    threshold[numeric], edge[numeric] = bins.thresholds(feature[numeric], below[numeric], above[numeric])
    sets = [np.zeros(bins.n_bins[d], bool) for d in feature[inner & ~numeric]]
    for goes, t in zip(sets, order[inner & ~numeric], strict=True):
        goes[nodes.sets[nodes.set_start[t] : nodes.set_stop[t]]] = True
    set_start, goes_left = joined_sets(inner & ~numeric, sets)
    return Tree(
        bins,
        feature,
        threshold,
        children,
        missing_left,
        inner & (side != NONE_MISSING),
        edge,
        set_start,
        goes_left,
        value,
        weight,
        impurity,
    )


# --- growth by levels ----------------------------------------------------------------------------------


@dataclass
class Node:
    """A node of a tree that is growing."""

    root: Root  # of its subtree
    rows: float  # estimated from the weights, except where a histogram has counted them
    feature: int = -1
    children: tuple[int, int] | None = None
    edges: tuple[int, int] = (0, 0)
    side: int = 0
    sums: Any = None
    pure: bool = False
    gain: float = 0.0
    sets: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    parts: tuple[Any, Any] = (None, None)  # the sums of its children
    shares: tuple[float, float] = (0.5, 0.5)  # of its weight, that its children have
    middle: float = 0.0  # the mean of the values of the children, if a constraint orders them
    path: tuple[int, ...] = ()  # the features of the splits above it
    is_split: bool = False  # whether it has children yet
    ahead: int = 0  # splits that best-first growth makes before that of this node, at least


@dataclass
class Growth:
    """Growth of a tree: its nodes, and which of them are split next.

    A subclass is a source of the sums of new nodes, and finds their best splits.
    """

    bins: FeatureBins
    target: Any
    limits: Limits
    rows: int
    nodes: list[Node] = field(default_factory=list, init=False)

    def run(self) -> Grown:
        self.nodes.append(Node(Root(self.limits.key), float(self.rows)))
        fresh = [0]
        while fresh:
            self._search(fresh)
            fresh = [child for t in self._chosen() for child in self._split(t)]
        return self._grown()

    def _search(self, fresh: list[int]) -> None:
        """Find the sums and the best splits of new nodes."""
        raise NotImplementedError

    def _set_split(self, node: Node, split: Split, count: np.ndarray) -> None:
        """Set the split of a node, and the sums and bounds from which its children start.

        `count` has the sums of the bins of the feature of the split, missing values after the others.
        """
        node.feature, node.gain, node.side, node.sets = split.feature, split.gain, split.side, split.left
        node.edges = split.below, split.above
        goes_left = np.zeros(len(count), bool)
        goes_left[node.sets if self.bins.categorical[node.feature] else slice(split.below + 1)] = True
        goes_left[self.bins.n_bins[node.feature]] = node.side == MISSING_LEFT
        left, target = count[goes_left].sum(axis=0), self.target
        node.parts = left, node.sums[: len(left)] - left
        total = float(target.size(node.sums[: len(left)]))
        node.shares = float(target.size(node.parts[0])) / total, float(target.size(node.parts[1])) / total
        if self.limits.constraints[node.feature]:
            bounds = node.root.low, node.root.high
            node.middle = 0.5 * sum(float(target.ordered(s, *bounds)) for s in node.parts)

    def _histogram_nodes(self, trees: int = 1) -> int:
        """The number of nodes whose histograms of some trees are summed in one pass."""
        node = 8.0 * bin_offsets(self.bins.n_bins)[-1] * self.target.n_outputs
        return max(1, int(HISTOGRAM_BYTES / trees / node))

    def _groups(self, nodes: list[int], size: int) -> Iterator[list[int]]:
        return (nodes[i : i + size] for i in range(0, len(nodes), size))

    def _drawn(self) -> tuple[Tree, np.ndarray]:
        """The current tree, and the index of each node in it."""
        if len(self.nodes) == 1:
            return root(self.bins), np.zeros(1, np.int64)
        nodes = self._grown(drawn=True)
        return tree_of(self.bins, self.target, nodes), np.argsort(preorder(nodes.children))

    def _chosen(self) -> list[int]:
        """The nodes to split next: all nodes that have a split. With a limit of leaves, only the nodes
        that best-first growth could still choose, whatever the gains of their children are.

        Best-first growth splits a node when the smallest gain on its path, with its own, is the largest.
        So it comes after its ancestors, and after all nodes for which this gain is larger.
        """
        waiting = [t for t, node in enumerate(self.nodes) if node.feature >= 0 and not node.is_split]
        if not self.limits.max_leaves or not waiting:
            return waiting
        least = {0: (self.nodes[0].gain, 0)}  # of a path; and the ancestors with the same
        for t, node in enumerate(self.nodes):
            for child in node.children if node.is_split and node.children else ():
                if self.nodes[child].feature >= 0:
                    gain, (above, equal) = self.nodes[child].gain, least[t]
                    least[child] = (gain, 0) if gain < above else (above, equal + 1)
        gains = np.sort([gain for gain, _ in least.values()])
        for t in waiting:
            gain, equal = least[t]
            self.nodes[t].ahead = len(gains) - int(np.searchsorted(gains, gain, "right")) + equal
        return [t for t in waiting if self.nodes[t].ahead < self.limits.max_leaves - 1]

    def _priority(self, t: int) -> tuple[float, int, int]:
        return -self.nodes[t].gain, self.nodes[t].root.key, t

    def _split(self, t: int) -> Iterator[int]:
        """Make the children of a node."""
        node = self.nodes[t]
        sign, middle = int(self.limits.constraints[node.feature]), node.middle
        for s in range(2):
            key, depth, low, high = node.root
            if sign:
                low, high = (low, middle) if (s == 0) == (sign > 0) else (middle, high)
            with np.errstate(over="ignore"):
                root = Root(int(mixed(np.uint64(key ^ (s + 1)))), depth + 1, low, high)
            self.nodes.append(Node(root, node.rows * node.shares[s], path=(*node.path, node.feature)))
        node.children, node.is_split = (len(self.nodes) - 2, len(self.nodes) - 1), True
        yield from node.children

    def _grown(self, drawn: bool = False) -> Grown:
        """The nodes as arrays. With `drawn`, nodes without sums are included."""
        if not drawn and self.limits.max_leaves:
            self._keep_best()
        nodes = self.nodes
        S = len(next(node.sums for node in nodes if node.sums is not None))
        lengths = [len(node.sets) for node in nodes]
        stop = np.cumsum(lengths)
        return Grown(
            np.array([node.feature if node.is_split else -1 for node in nodes]),
            np.array([node.children if node.is_split else (-1, -1) for node in nodes]),
            np.array([node.edges for node in nodes]),
            np.array([node.side for node in nodes]),
            np.array([np.ones(S, np.int64) if node.sums is None else node.sums for node in nodes]),
            np.array([node.pure for node in nodes]),
            np.array([node.gain for node in nodes]),
            np.array([node.root.key for node in nodes], np.uint64),
            np.array([(node.root.low, node.root.high) for node in nodes]),
            stop - lengths,
            stop,
            np.concatenate([node.sets for node in nodes]),
        )

    def _keep_best(self) -> None:
        """Undo the splits that best-first growth does not choose, and drop their nodes."""
        heap, leaves, kept = [self._priority(0)], 1, {0}
        while heap and leaves < self.limits.max_leaves:
            *_, t = heapq.heappop(heap)
            if self.nodes[t].feature < 0:
                continue
            kept.update(self.nodes[t].children or ())
            leaves += 1
            for child in self.nodes[t].children or ():
                if self.nodes[child].feature >= 0:
                    heapq.heappush(heap, self._priority(child))
        place = {t: i for i, t in enumerate(sorted(kept))}
        for t in place:
            node = self.nodes[t]
            node.is_split = node.children is not None and node.children[0] in place
            if node.is_split:
                node.children = tuple(place[c] for c in node.children or ())  # type: ignore[assignment]
        self.nodes = [self.nodes[t] for t in sorted(kept)]


@dataclass
class FoldedGrowth(Growth):
    """Growth of a tree of an impurity by folds over rows that do not fit in this process."""

    data: Partitions
    most: int  # rows that are gathered at a time
    trees: int  # number of trees that grow in the same passes

    def _search(self, fresh: list[int]) -> None:
        small = [t for t in fresh if self.nodes[t].rows <= self.most]
        large = [t for t in fresh if self.nodes[t].rows > self.most]
        tree, place = self._drawn()
        for group in self._groups(large, self._histogram_nodes(self.trees)):
            self._fold(tree, place, group)
        for group in self._groups_of_rows(small):
            self._finish(tree, place, group)

    def _groups_of_rows(self, nodes: list[int]) -> Iterator[list[int]]:
        group: list[int] = []
        for t in nodes:
            if group and sum(self.nodes[u].rows for u in group) + self.nodes[t].rows > self.most:
                yield group
                group = []
            group.append(t)
        if group:
            yield group

    def _fold(self, tree: Tree, place: np.ndarray, group: list[int]) -> None:
        """Find the splits of some nodes from their histograms, in one pass."""
        at = place[group]
        classes = self.target.criterion < SQUARED_ERROR
        h = self.data.fold(Histograms.of, tree.leading_to(at), at, classes, self.target.n_outputs)
        for i, t in enumerate(group):
            node = self.nodes[t]
            node.sums, node.pure, node.rows = h.sums[i], bool(h.low[i] == h.high[i]), float(h.rows[i])
            self._find(node, h.count[i])

    def _find(self, node: Node, count: np.ndarray) -> None:
        """Find the best split of a node from its histogram."""
        limits, total = self.limits, node.sums[: self.target.n_outputs]
        if node.pure or not limits.may_split(self.target.size(total), node.root.depth):
            return
        features = _features(self.bins, limits)
        split = Split(*find_split(count, total, features, self.target.criterion, limits, node.root))
        if split.feature >= 0 and split.gain >= limits.least_gain:
            first, stop = features.offset[split.feature : split.feature + 2]
            self._set_split(node, split, count[first:stop])

    def _finish(self, tree: Tree, place: np.ndarray, group: list[int]) -> None:
        """Gather the rows of some nodes, and grow their subtrees in this process."""
        at = place[group]
        tree = tree.leading_to(at)
        rows = self.data.map(_in_nodes, tree, at).gather(None)
        leaf = tree.leaves_of_codes(rows.codes) if len(group) > 1 else None
        for t, place_of_t in zip(group, at, strict=True):
            node = self.nodes[t]
            part = rows if leaf is None else rows[np.flatnonzero(leaf == place_of_t)]
            self._graft(t, _grown_here(part, self.bins, self.target, self.limits, node.root))

    def _graft(self, t: int, part: Grown) -> None:
        """Replace a node by a subtree."""
        first = len(self.nodes) - 1  # node 0 of the part is t, node i > 0 is first + i
        for i in range(len(part.feature)):
            if i:  # neither its depth nor its number of rows is needed any more
                self.nodes.append(Node(Root(int(part.keys[i]), 0, *part.bounds[i].tolist()), 0.0))
            node = self.nodes[first + i] if i else self.nodes[t]
            node.feature, node.side = int(part.feature[i]), int(part.side[i])
            node.edges = (int(part.edges[i, 0]), int(part.edges[i, 1]))
            node.sums, node.pure, node.gain = part.sums[i], bool(part.pure[i]), float(part.gains[i])
            node.sets = part.sets[part.set_start[i] : part.set_stop[i]]
            if node.feature >= 0:
                node.children = (first + int(part.children[i, 0]), first + int(part.children[i, 1]))
                node.is_split = True


def root(bins: FeatureBins) -> Tree:
    """A tree of one leaf."""
    one, zero, minus = np.ones(1), np.zeros(1, np.int64), np.full(1, -1)
    return Tree(
        bins, minus, np.zeros(1), np.full((1, 2), -1), zero > 0, zero > 0, zero, minus, np.zeros(0, bool),
        np.zeros((1, 1)), one, np.zeros(1),
    )  # fmt: skip
