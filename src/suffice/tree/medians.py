"""Trees of the absolute error: leaves predict medians. Breiman et al. 1984, section 8.11.

Medians cannot be added up, so the rows of a tree are gathered. Deviations are compared as integers on a grid,
whose sums are exact: the order of the rows changes no bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from ..core.blocks import Rows
from ..core.partitions import Partitions
from ..core.values import Value
from ..loops.medians import median_errors
from ..loops.trees import MISSING_LEFT, MISSING_RIGHT, NONE_MISSING, mixed
from ..statistics.bins import FeatureBins, grid
from ..statistics.histograms import Binned
from .growth import Grown, Growth, Limits, Node

WEIGHT_BITS, TARGET_BITS = 30, 30  # of sums of weights, and of targets: together less than 63
NO_FEATURE = 1 << 40  # larger than any feature index
INSTEAD = "use criterion='squared_error', which reads the rows where they are."


@dataclass(frozen=True, eq=False)
class MedianTarget(Value):
    """Numbers of one or several targets, whose medians are predicted."""

    center: Annotated[np.ndarray, "(T,)"]
    weight_unit: float
    target_unit: float  # integers of a unit of target

    n_entries = 1

    @classmethod
    def of(cls, low: np.ndarray, high: np.ndarray, weight: float) -> MedianTarget:
        """The targets of numbers in these ranges, for rows with this total weight."""
        center = low + 0.5 * (high - low)
        largest = float(np.maximum(high - center, center - low).max())
        return cls(center, grid(weight, WEIGHT_BITS), grid(largest, TARGET_BITS))

    @property
    def n_outputs(self) -> int:
        return len(self.center)

    @property
    def gain_unit(self) -> float:
        return self.weight_unit * self.target_unit * len(self.center)

    def integers(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The bits of the targets of each row, (N, T), and its weight, (N, 1)."""
        y = rows.y.astype(np.float64).reshape(len(rows), -1) + 0.0  # turns -0.0 into 0.0
        weight = np.rint(rows.weight * self.weight_unit).astype(np.int64)
        return y.view(np.int64), np.maximum(weight, rows.weight > 0)[:, None]

    def on_grid(self, y: np.ndarray) -> np.ndarray:
        """Targets as integers."""
        return np.rint((y - self.center) * self.target_unit).astype(np.int64)

    def described(
        self, sums: np.ndarray, pure: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Medians, weight and impurity of nodes: their sums are these numbers already."""
        return sums[:, 2:], sums[:, 0], sums[:, 1]

    def observed(self, block: Binned) -> np.ndarray:
        """The targets of a binned block."""
        y = np.asarray(block.y).view(np.float64)
        return y[:, 0] if self.n_outputs == 1 else y

    def grown(self, data: Partitions, bins: FeatureBins, limits: Limits) -> Grown:
        """The nodes of a tree, from rows that are gathered."""
        block = data.gather(INSTEAD)
        return MedianGrowth(bins, self, limits, len(block), block).run()

    def loss(self, value: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The absolute error; its mean over several targets."""
        return np.abs(y.reshape(len(value), -1) - value).mean(axis=1)


def weighted_median(y: np.ndarray, weight: np.ndarray) -> float:
    """The median of numbers with these integer weights; between two numbers, their mean."""
    order = np.argsort(y, kind="stable")
    total = np.cumsum(weight[order])
    k = int(np.searchsorted(2 * total, total[-1]))
    above = min(k + (2 * total[k] == total[-1]), len(y) - 1)
    return float(y[order[k]] / 2 + y[order[above]] / 2)


@dataclass
class MedianGrowth(Growth):
    """Growth of a tree of the absolute error to rows in memory."""

    block: Binned
    codes: np.ndarray = field(init=False)  # (D, N)
    y: np.ndarray = field(init=False)  # (N, T)
    integer: np.ndarray = field(init=False)  # (N, T), on the grid
    weight: np.ndarray = field(init=False)  # (N,)
    members: dict[int, np.ndarray] = field(default_factory=dict, init=False)  # the rows of nodes to split

    def run(self) -> Grown:
        if self.bins.categorical.any() or self.limits.constraints.any():
            raise ValueError(
                "criterion='absolute_error' takes no categorical features and no monotonicity constraints: "
                "use criterion='squared_error'."
            )
        if not len(self.block):
            raise ValueError("There are no rows to grow a tree to.")
        bits: Any = self.block.y
        self.codes, self.y = self.block.codes, bits.view(np.float64)
        self.integer, self.weight = self.target.on_grid(self.y), self.block.entry[:, 0]
        self.members[0] = np.arange(len(self.block))
        return super().run()

    def _search(self, fresh: list[int]) -> None:
        with np.errstate(over="ignore"):  # of hashes
            for t in fresh:
                self._find(self.nodes[t], self.members[t])

    def _find(self, node: Node, rows: np.ndarray) -> None:
        """Describe a node, and find its best split."""
        y, w, limits = self.y[rows], self.weight[rows], self.limits
        W, T = int(w.sum()), y.shape[1]
        medians = [weighted_median(y[:, t], w) for t in range(T)]
        error = math.fsum((w[:, None] * np.abs(y - medians)).ravel()) / W / T
        node.sums = np.array([W / self.target.weight_unit, error, *medians])
        node.pure = bool((y == y[0]).all())
        if node.pure or not limits.may_split(W, node.root.depth):
            return
        pairs = [np.unique(self.integer[rows, t], return_inverse=True) for t in range(T)]
        best, D, tried = (-1, NO_FEATURE, 0, 0, NONE_MISSING), len(self.bins.n_bins), 0
        key = draw = np.uint64(node.root.key)
        features = np.arange(D)
        for i in range(D):
            if tried >= limits.max_features:
                break
            if limits.max_features < D:
                key = mixed(key)
                other = i + int(key % np.uint64(D - i))
                features[i], features[other] = features[other], features[i]
            d = int(features[i])
            draw = mixed(draw ^ np.uint64(d + 3))
            codes = self.codes[d, rows].astype(np.int64)
            if (codes == codes[0]).all():
                continue
            tried += 1
            for split in self._splits(d, codes, w, pairs, draw):
                if split[0] > best[0] or (split[0] == best[0] and split[1] < best[1]):
                    best = split
        gain, feature, below, above, side = best
        if gain >= max(limits.least_gain, 0.0):
            node.feature, node.gain, node.edges, node.side = feature, float(gain), (below, above), side

    def _splits(
        self, d: int, codes: np.ndarray, w: np.ndarray, pairs: list[Any], draw: np.uint64
    ) -> Iterator[tuple[int, int, int, int, int]]:
        """The best split of a feature for each side of missing values: gain, feature, bins at both sides of
        the threshold, and the side."""
        missing = codes == self.bins.n_bins[d]
        order = np.argsort(codes, kind="stable")
        n_missing = int(missing.sum())
        directions = (MISSING_RIGHT, MISSING_LEFT) if n_missing else (MISSING_RIGHT,)
        if n_missing and self.limits.random:
            directions = (directions[int(mixed(draw) & np.uint64(1))],)
        for side in directions:
            # Missing values have the largest code; on the left, they come first.
            placed = np.roll(order, n_missing) if side == MISSING_LEFT else order
            sorted_codes, total = codes[placed], np.cumsum(w[placed])
            between = sorted_codes[1:] > sorted_codes[:-1]
            if side == MISSING_LEFT:
                between[n_missing - 1] = False
            allowed = between & (np.minimum(total[:-1], total[-1] - total[:-1]) >= self.limits.least)
            if self.limits.random:
                allowed &= self._is_drawn(d, sorted_codes, n_missing, side, between, draw)
            if not allowed.any():
                continue
            error = np.zeros(len(w) - 1, np.int64)
            undivided_error = 0
            for value, rank in pairs:
                left = median_errors(rank[placed], w[placed], value)
                right = median_errors(rank[placed[::-1]], w[placed[::-1]], value)[::-1]
                error += left[:-1] + right[1:]
                undivided_error += int(left[-1])
            gains = np.where(allowed, undivided_error - error, -1)
            i = int(gains.argmax())
            if gains[i] >= 0:
                missing_side = side if n_missing else NONE_MISSING
                yield int(gains[i]), d, int(sorted_codes[i]), int(sorted_codes[i + 1]), missing_side

    def _is_drawn(
        self, d: int, codes: np.ndarray, n_missing: int, side: int, between: np.ndarray, draw: np.uint64
    ) -> np.ndarray:
        """The place of a threshold that is drawn uniformly between the smallest and the largest value."""
        present = slice(n_missing, None) if side == MISSING_LEFT else slice(0, len(codes) - n_missing)
        low = self.bins.low[d][codes[present]]
        threshold = low[0] + int(draw >> np.uint64(11)) * 2.0**-53 * (low[-1] - low[0])
        place = present.start + int(np.searchsorted(low, threshold, "right")) - 1
        places = np.flatnonzero(between)
        out = np.zeros(len(between), bool)
        if len(places):
            out[places[min(int(np.searchsorted(places, place)), len(places) - 1)]] = True
        return out

    def _split(self, t: int) -> Iterator[int]:
        node, rows = self.nodes[t], self.members.pop(t)
        left, right = super()._split(t)
        codes = self.codes[node.feature, rows]
        goes_left = codes <= node.edges[0]
        if node.side == MISSING_LEFT:
            goes_left |= codes == self.bins.n_bins[node.feature]
        self.members[left], self.members[right] = rows[goes_left], rows[~goes_left]
        yield from (left, right)
