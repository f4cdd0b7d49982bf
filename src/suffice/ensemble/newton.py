"""Newton trees: regression trees of gradients and curvatures, the steps of histogram-based boosting.

If the raw scores of the rows of a leaf change by v, their loss changes to second order by G v + H v^2 / 2,
where G and H are the sums of their gradients and curvatures. With the penalty λ v^2 / 2, the best value and
the decrease of the loss are

    v = -G / (H + λ)    and    G^2 / (H + λ) / 2,

so that a split decreases the loss by

    (G_L^2 / (H_L + λ) + G_R^2 / (H_R + λ) - G^2 / (H + λ)) / 2.

This is the gain of a split, up to the factor 1 / 2. `NewtonTarget` has the sums as integers, and the value of
a leaf; `loops.boosting.find_newton_split` finds the split with the largest gain from a histogram.

One call grows a tree to rows in memory (`GatheredNewton`). The rows are kept in the order of the leaves,
which are split best-first, one at a time. Where rows do not fit, histograms are folded (`FoldedNewton`): each
pass splits all leaves that best-first growth could still choose. In both, the histogram of the larger child
is that of its parent less that of the other child, and both give the same tree.
Friedman, 2001; Chen and Guestrin, "XGBoost", 2016; Ke and others, "LightGBM", 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..core.threads import n_threads, short_tasks
from ..core.values import Value
from ..loops.boosting import (
    BINS,
    COUNT_LANE,
    CURVATURE_LANE,
    WEIGHT_IS_COLUMN,
    WEIGHT_IS_COUNTED,
    WEIGHT_IS_CURVATURE,
    add_entries,
    add_to_rows,
    find_newton_split,
    grow_newton,
    pack,
    value_of,
)
from ..loops.trees import mixed, preorder
from ..statistics.bins import FeatureBins, grid
from ..statistics.histograms import Binned
from ..tree.growth import Grown, Growth, Limits, Node, Split
from ..tree.model import Tree
from ..tree.targets import WEIGHT_BITS, weighted

COUNTED_BITS = 38  # bits of a gradient beside a count: 13 + 38 + 12 bits are a run of rows
GRADIENT_BITS, CURVATURE_BITS = 19, 20  # of the two beside each other
LEAST_CURVATURE = 1e-3  # least curvature of a leaf, as in scikit-learn
CATEGORY_SMOOTHING = 10.0  # number of rows of no effect that are added to a category
LEAST_PACKED = 1 << 18  # weight times features above which gradients and curvatures are packed with few bits
# Rows of a node that threads share: with twice as many, trees of 400,000 rows took 7 % longer.
LEAST_SHARED = 1 << 13
# Rows below which a node is not divided among threads in Python, whose tasks take longer to begin.
LEAST_PART = 1 << 14


class Rules(NamedTuple):
    """The conditions on the leaves of a Newton tree, and terms of its gains, in integers of the grid."""

    mode: int  # where the weights of bins are found
    least_curvature: int  # of a leaf
    most: int  # the largest curvature of a row of weight one
    smoothing: float  # curvature that is added to a category when categories are ordered
    penalty: float  # λ


@dataclass(frozen=True, eq=False)
class NewtonTarget(Value):
    """Gradients, curvatures and weights as integers. Without a curvature, it is the weight."""

    gradient_unit: float  # integers of a unit
    curvature_unit: float
    weight_unit: float
    most: int  # the largest curvature of a row of weight one
    packed: bool  # whether rows of weight one have both numbers in one integer
    penalty: float  # λ
    learning_rate: float

    @classmethod
    def of(
        cls, weights: Weights, largest: np.ndarray, coarse: bool, penalty: float, learning_rate: float
    ) -> NewtonTarget:
        """The target for rows with these largest gradient and curvature. A largest curvature of zero means
        that there is none.

        Whole weights have integers of few bits, if `coarse`, so that the lanes of an integer hold them.
        """
        g, h = float(largest[0]), float(largest[1])
        unit_g, unit_h = grid(weights.total * g), grid(weights.total * h)
        unit_w = 1.0 if weights.whole else grid(weights.total, WEIGHT_BITS)
        packed = weights.whole and (coarse or not h)  # a count leaves enough bits in any case
        if packed:
            unit_g = min(unit_g, grid(g, GRADIENT_BITS if h else COUNTED_BITS))
            unit_h = min(unit_h, grid(h, CURVATURE_BITS))
        most = int(np.rint(h * unit_h))
        return cls(unit_g, unit_h if h else unit_w, unit_w, most, packed, penalty, learning_rate)

    @property
    def constant(self) -> bool:
        """Whether the curvature of a row is its weight."""
        return self.most == 0

    @property
    def n_outputs(self) -> int:
        return 2 if self.constant else 3

    def entries(self, g: np.ndarray, h: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Weighted curvature and gradient of rows, and the weight unless it is the curvature: (N, C). Without
        a curvature, h is empty."""
        ones = np.full(len(g), self.weight_unit)
        columns = [np.rint(h * self.curvature_unit) if len(h) else ones, np.rint(g * self.gradient_unit)]
        if not self.constant:
            columns.append(ones)
        return np.stack([weighted(weight, x) for x in columns], axis=1)

    def packed_entries(self, g: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Gradient and curvature of rows of weight one in one integer, (N, 1)."""
        out = np.empty((len(g), 1), np.int64)
        g, h = np.ascontiguousarray(g), np.ascontiguousarray(h)
        pack(g, h, self.gradient_unit, self.curvature_unit, self.lane, out)
        return out

    def rules(self, lane: int = 0) -> Rules:
        """The rules of a tree. A lane that is not zero says that the integers of rows are packed."""
        mode = WEIGHT_IS_COUNTED if lane else WEIGHT_IS_COLUMN
        unit = self.curvature_unit
        least_curvature = max(1, int(np.ceil(LEAST_CURVATURE * unit)))
        return Rules(
            WEIGHT_IS_CURVATURE if self.constant else mode,
            least_curvature,
            self.most,
            CATEGORY_SMOOTHING * unit,
            self.penalty * unit,
        )

    def size(self, s: np.ndarray) -> int:
        """The curvature of nodes with these sums, which estimates the number of their rows."""
        return s[0]

    def ordered(self, s: np.ndarray, low: float, high: float) -> float:
        """The quantity that a monotonicity constraint orders: the value of a leaf with these sums, within
        bounds."""
        return value_of(float(s[1]), float(s[0]), self.penalty * self.curvature_unit, low, high)

    @property
    def lane(self) -> int:
        """The number of bits of the lower number in a packed entry."""
        return COUNT_LANE if self.constant else CURVATURE_LANE

    @property
    def unit(self) -> float:
        """The number of integers per unit of the value of a leaf."""
        return self.gradient_unit / self.curvature_unit

    def described(
        self, sums: np.ndarray, pure: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Value and weight of nodes, and minus the decrease of the loss by the value, per weight. `sums`
        are those of curvature, gradient and weight."""
        curvature = sums[:, 0] + self.penalty * self.curvature_unit
        step = np.divide(-sums[:, 1], curvature, out=np.zeros(len(sums)), where=curvature > 0)
        step = np.clip(step, *bounds.T) / self.unit
        weight = sums[:, 2] / self.weight_unit
        decrease = -0.5 * step * (sums[:, 1] / self.gradient_unit)
        impurity = np.divide(-decrease, weight, out=np.zeros(len(sums)), where=weight > 0)
        if len(sums) == 1:  # no split lowers the loss
            step = np.zeros(1)
        return self.learning_rate * step[:, None], weight, impurity


@dataclass(frozen=True)
class Weights:
    """The weights of the rows of a fit."""

    total: float
    whole: bool  # whether all are whole numbers
    one: bool  # whether all are one


# --- folded ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NewtonHistograms(Statistics):
    """Sums of curvature, gradient and weight in T nodes, for each bin of each feature."""

    count: Annotated[np.ndarray, "int (T, D, 256, C)"]

    any_order: ClassVar[bool] = True

    @classmethod
    def of(cls, tree: Tree, nodes: np.ndarray, block: Binned, onto: Any = None) -> NewtonHistograms:
        """The sums over the rows of a block whose leaf is one of the nodes."""
        D, T = block.X.shape[1], len(nodes)
        if onto is None:
            onto = cls(np.zeros((T, D, BINS, block.entry.shape[1]), np.int64))
        place = np.full(len(tree.feature), T, np.uint16)
        place[nodes] = np.arange(T)
        node, codes = place[tree.leaves_of_codes(block.X.T)], np.ascontiguousarray(block.X)
        order = np.argsort(node, kind="stable").astype(np.uint32)
        stop = np.cumsum(np.bincount(node, minlength=T))
        for hist, a, b in zip(onto.count, np.append(0, stop), stop, strict=False):
            add_entries(codes, order[a:b], block.entry[order[a:b]], hist)
        return onto


@dataclass
class FoldedNewton(Growth):
    """Growth of a Newton tree by folds over rows that do not fit in this process."""

    target: NewtonTarget
    groups: np.ndarray | None  # (n, D), bool: the features that may be on one path together
    data: Partitions  # of `Binned`
    parents: dict[int, int] = field(default_factory=dict, init=False)  # of nodes
    kept: dict[int, np.ndarray] = field(default_factory=dict, init=False)  # histograms of nodes with a split
    rules: Rules = field(init=False)

    def __post_init__(self) -> None:
        self.rules = self.target.rules()

    def _search(self, fresh: list[int]) -> None:
        """Find the splits of new nodes. If the histogram of a parent was kept, that of its larger child is
        the difference to the smaller."""
        tree, place = self._drawn()
        at_once = max(1, self._histogram_nodes() * int(self.bins.n_bins.max() + 1) // BINS)
        wanted = {t for t in fresh if self._needs_histogram(self.nodes[t])}
        for group in self._groups(sorted({self._smaller(t) for t in wanted}), at_once):
            h = self.data.fold(NewtonHistograms.of, tree, place[group])
            for hist, t in zip(h.count, group, strict=True):
                histograms = {t: hist}
                if (parent := self.parents.get(t)) in self.kept:
                    other = sum(self.nodes[parent].children) - t  # type: ignore[arg-type]
                    histograms[other] = self.kept.pop(parent) - hist
                for node in wanted & histograms.keys():
                    self._find_in(node, histograms[node])
                    if self.nodes[node].feature >= 0 and len(self.kept) < at_once:
                        self.kept[node] = histograms[node]

    def _smaller(self, t: int) -> int:
        """The smaller of a node and its sibling, if the histogram of their parent was kept; else the node."""
        parent = self.parents.get(t)
        if parent not in self.kept:
            return t
        return min(self.nodes[parent].children or (), key=lambda child: self.nodes[child].rows)

    def _find_in(self, t: int, hist: np.ndarray) -> None:
        self.nodes[t].sums = self._sums(hist[0].sum(axis=0))
        self._find(self.nodes[t], hist)

    def _needs_histogram(self, node: Node) -> bool:
        """Whether a node is the root, or may be split. The sums of other nodes follow from their parents."""
        most = self.limits.max_leaves
        return node.sums is None or (self._may_split(node) and not 0 < most <= node.ahead + 1)

    def _sums(self, part: np.ndarray) -> np.ndarray:
        """Curvature, gradient and weight."""
        return part if len(part) == 3 else part[[0, 1, 0]]

    def _split(self, t: int) -> Iterator[int]:
        for child, part in zip(super()._split(t), self.nodes[t].parts, strict=True):
            self.nodes[child].sums, self.nodes[child].ahead = self._sums(part), self.nodes[t].ahead + 1
            self.parents[child] = t
            yield child

    def _may_split(self, node: Node) -> bool:
        h, _, w = node.sums
        return self.limits.may_split(w, node.root.depth) and h >= 2 * self.rules.least_curvature

    def _features(self, node: Node) -> np.ndarray:
        """The features that may split a node: a random sample of those that may interact with its path."""
        D = len(self.bins.n_bins)
        allowed: Any = np.ones(D, bool)
        if self.groups is not None:
            allowed = self.groups[self.groups[:, list(node.path)].all(axis=1)].any(axis=0)
        if self.limits.max_features < D:
            with np.errstate(over="ignore"):
                draw = mixed(np.uint64(node.root.key) + np.arange(D, dtype=np.uint64))
            candidates = np.flatnonzero(allowed)
            n = -(-self.limits.max_features * len(candidates) // D)
            allowed[:] = False
            allowed[candidates[np.argsort(draw[candidates], kind="stable")[:n]]] = True
        return allowed

    def _find(self, node: Node, hist: np.ndarray) -> None:
        """Find the best split of a node from its histogram."""
        if not self._may_split(node):
            return
        no_codes, no_rows = np.empty((0, len(hist)), np.uint8), np.empty(0, np.uint32)
        gain, feature, edge, side, left = find_newton_split(
            hist, node.sums, (self.bins.n_bins, self.bins.categorical), self._features(node), self.rules,
            self.limits, node.root, no_codes, no_rows,
        )  # fmt: skip
        if feature >= 0:
            self._set_split(node, Split(gain, feature, edge, edge + 1, side, left), hist[feature])


# --- gathered --------------------------------------------------------------------------------------------


@dataclass
class GatheredNewton:
    """Growth to rows in this process, in one call."""

    bins: FeatureBins
    target: NewtonTarget
    limits: Limits
    groups: np.ndarray | None
    matrix: np.ndarray  # (N, D), the codes, contiguous rows
    columns: np.ndarray  # (D, N), the same
    order: np.ndarray  # (n,) uint32, the rows; once the tree is grown, in the order of its leaves
    entry: np.ndarray  # (n, 1), packed, or (n, C)
    lane: int  # zero if it is not packed
    spans: np.ndarray = field(init=False)  # (T, 2), where the rows of each node start and stop

    def run(self) -> Grown:
        bins = self.bins
        groups = np.empty((0, len(bins.n_bins)), bool) if self.groups is None else self.groups
        *nodes, self.spans, self.order = grow_newton(
            self.matrix, self.columns, self.order, self.entry, self.lane, (bins.n_bins, bins.categorical),
            groups, self.target.rules(self.lane), self.limits, n_threads(), LEAST_SHARED,
        )  # fmt: skip
        return Grown(*nodes)

    def add_values(self, grown: Grown, tree: Tree, k: int, score: np.ndarray) -> None:
        """Add the values of the leaves of the tree to raw score k of the rows."""
        leaves = np.flatnonzero(grown.feature < 0)
        value = tree.value[np.argsort(preorder(grown.children))[leaves], 0]
        start, stop = self.spans[leaves].T

        def add(part: tuple[int, int]) -> None:  # of the rows; leaves are cut where a part ends
            first, last = np.maximum(start, part[0]), np.minimum(stop, part[1])
            add_to_rows(self.order, first, np.maximum(first, last), value, k, score)

        with short_tasks() as each:
            each(add, parts(0, len(self.order)))


def parts(a: int, b: int) -> tuple[tuple[int, int], ...]:
    """The rows from a to b, in one part for each thread if they are many."""
    if b - a < LEAST_PART:
        return ((a, b),)
    n = n_threads()
    cuts = np.linspace(a, b, n + 1).astype(int).tolist()
    return tuple(pairwise(cuts))
