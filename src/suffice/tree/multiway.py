"""Multiway classification trees: ID3 and C4.5. Quinlan, 1986 and 1993; Li 5.3 and 5.4."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core.blocks import Matrix, Rows
from ..core.model import Predictor
from ..core.partitions import Opened, Partitions
from ..core.shapes import must, must_index
from ..core.statistics import Statistics
from ..estimator.base import Estimator, must_have_rows
from ..estimator.guarantees import SKETCHES
from ..estimator.parameters import Interval, StrOptions
from ..inputs import Check, map_rows, read_rows
from ..statistics import FeatureBins, afford_classes, class_codes
from ..statistics.histograms import bin_offsets
from .base import MAX_BINS, TreeClassifier, Trees, TreeStart, categorical_mask, opened_for
from .growth import HISTOGRAM_BYTES, NO_LIMIT
from .impurity import gains, impurity

# Gains in bits that differ by less count as equal: such differences depend on the order of sums.
ROUNDING = 1e-10


def coded(bins: FeatureBins, classes: np.ndarray, rows: Rows) -> Rows:
    """A block with the bins of features and the numbers of classes."""
    return Rows(bins.codes(rows.X).T, class_codes(classes, rows.y), rows.weight, rows.index)


@dataclass(frozen=True, eq=False)
class LevelCounts(Statistics):
    """The weight of each class in T nodes, for each bin of each feature."""

    count: Annotated[np.ndarray, "(T, B, K)"]  # bins of all features, one after the other

    @classmethod
    def of(cls, tree: MultiwayTree, nodes: np.ndarray, block: Rows) -> LevelCounts:
        """The sums over a block of codes. A row may be in several nodes, by parts of its weight."""
        offset, K = bin_offsets(tree.bins.n_bins), tree.count.shape[1]
        shape = len(nodes), int(offset[-1]), K
        place = np.full(len(tree.feature), -1)
        place[nodes] = np.arange(len(nodes))
        row, node, share = tree.leaves_of_codes(block.X)
        inside = place[node] >= 0
        row, node, share = row[inside], node[inside], share[inside]
        cell = place[node][:, None] * shape[1] + offset[:-1] + block.X[row].astype(np.int64)
        y: Any = block.y
        weight = np.repeat(share * block.weight[row], block.X.shape[1])
        flat = (cell * K + y[row][:, None]).ravel()
        return cls(np.bincount(flat, weight, minlength=int(np.prod(shape))).reshape(shape))


@dataclass(frozen=True, eq=False)
class MultiwayTree(Predictor):
    """A tree whose nodes have a branch for each category, or two branches for numbers. Parents come first.

    A row without a known branch goes to all branches, with shares of its weight in proportion to theirs.
    """

    bins: Annotated[FeatureBins, "D"]
    feature: Annotated[np.ndarray, "int (N,)"]  # of the split; -1 of leaves
    threshold: Annotated[np.ndarray, "(N,)"]  # numbers up to it take the first branch; zero of all others
    edge: Annotated[np.ndarray, "int (N,)"]  # the last bin of the first branch
    branch_start: Annotated[np.ndarray, "int (N,)"]  # the first of the branches of a node; -1 of leaves
    branches: Annotated[np.ndarray, "int (B,)"]  # the child of each branch; -1 of categories without rows
    count: Annotated[np.ndarray, "(N, K)"]  # the weight of each class

    def check_loaded(self, sizes: dict[str, int]) -> None:
        inner = np.flatnonzero(self.feature >= 0)
        must(len(self.feature) > 0, "A tree has no nodes.")
        must_index(self.feature[inner], len(self.bins.n_bins), "Features of splits")
        must((self.branch_start[inner] >= 0).all(), "Branches are not in the tree.")
        ends = self.branch_start[inner] + self.n_branches(inner)
        must((ends <= len(self.branches)).all(), "Branches are not in the tree.")
        for node in inner.tolist():
            children = self.children(node)
            must_index(children, len(self.feature), "Children")
            must((children > node).all() and len(children) > 0, "Children are not after their parents.")

    @property
    def is_leaf(self) -> np.ndarray:
        return self.feature < 0

    @cached_property
    def weight(self) -> np.ndarray:
        """The weight of each node, (N,)."""
        return self.count.sum(axis=1)

    @cached_property
    def value(self) -> np.ndarray:
        """The share of each class, (N, K)."""
        return self.count / self.weight[:, None]

    @property
    def impurity(self) -> np.ndarray:
        """The entropy of each node in bits, (N,)."""
        return impurity(self.count, "entropy")

    def n_branches(self, nodes: np.ndarray) -> np.ndarray:
        """The number of branches of inner nodes, with those of categories that have no rows."""
        d = self.feature[nodes]
        return np.where(self.bins.categorical[d], self.bins.n_bins[d], 2)

    def branches_of(self, node: int) -> Iterator[tuple[int, int]]:
        """The branches of an inner node that have rows, with their children."""
        start = self.branch_start[node]
        of_node = self.branches[start : start + self.n_branches(np.array([node]))[0]]
        return ((b, int(child)) for b, child in enumerate(of_node) if child >= 0)

    def children(self, node: int) -> np.ndarray:
        return np.array([child for _, child in self.branches_of(node)], np.int64)

    @cached_property
    def parent(self) -> np.ndarray:
        """The parent of each node, (N,); -1 of the root."""
        out = np.full(len(self.feature), -1)
        for node in np.flatnonzero(~self.is_leaf).tolist():
            out[self.children(node)] = node
        return out

    @property
    def depth(self) -> np.ndarray:
        """The depth of each node, (N,)."""
        out = np.zeros(len(self.feature), np.int64)
        for t in range(1, len(out)):  # parents come first
            out[t] = out[self.parent[t]] + 1
        return out

    @cached_property
    def share(self) -> np.ndarray:
        """The share of each node in the weight of its siblings and itself, (N,)."""
        out = self.weight.copy()
        total = np.bincount(self.parent[1:], out[1:], minlength=len(out))
        out[1:] /= total[self.parent[1:]]
        return out

    def leaves(self, X: Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The leaves of rows: row, leaf and share of the weight of the row."""
        return self._routed(self.bins.with_codes(X), self.threshold)

    def leaves_of_codes(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The leaves of rows of codes, (N, D), as in `leaves`."""
        X = np.where(codes == self.bins.n_bins, np.nan, codes)
        return self._routed(X, self.edge)

    def _routed(self, X: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        row, node, share = np.arange(len(X)), np.zeros(len(X), np.int64), np.ones(len(X))
        parts: list[tuple[np.ndarray, ...]] = []
        while len(row):
            leaf = self.is_leaf[node]
            parts.append((row[leaf], node[leaf], share[leaf]))
            row, node, share = row[~leaf], node[~leaf], share[~leaf]
            d = self.feature[node]
            x = X[row, d]
            known = ~np.isnan(x)
            branch = np.where(self.bins.categorical[d], np.where(known, x, 0.0), x > at[node])
            child = self.branches[self.branch_start[node] + branch.astype(np.int64)]
            known &= child >= 0
            lost = np.flatnonzero(~known)
            size = self.n_branches(node[lost])
            each = np.repeat(lost, size)
            number = np.arange(len(each)) - np.repeat(np.cumsum(size) - size, size)
            to = self.branches[self.branch_start[node[each]] + number]
            each, to = each[to >= 0], to[to >= 0]
            share = np.concatenate([share[known], share[each] * self.share[to]])
            row, node = np.concatenate([row[known], row[each]]), np.concatenate([child[known], to])
        none = np.zeros(0, np.int64)
        row, node, share = (
            np.concatenate(part) for part in zip(*parts, (none, none, none * 1.0), strict=True)
        )
        return row, node, share

    def shares_of_classes(self, X: Matrix) -> np.ndarray:
        """The shares of the classes in the leaves of each row, (N, K)."""
        row, leaf, share = self.leaves(X)
        shape = X.shape[0], self.count.shape[1]
        return np.stack(
            [np.bincount(row, share * p[leaf], minlength=shape[0]) for p in self.value.T], axis=1
        ).reshape(shape)

    def cost(self, alpha: float) -> float:
        """The sum over leaves of weight times entropy in bits, plus alpha for each leaf."""
        leaf = self.is_leaf
        return float((self.weight * self.impurity)[leaf].sum() + alpha * leaf.sum())

    def pruned(self, alpha: float) -> MultiwayTree:
        """The subtree with the smallest cost, and of equal ones the smallest."""
        as_leaf = self.weight * self.impurity + alpha
        best = np.where(self.is_leaf, as_leaf, 0.0)
        to_leaf = self.is_leaf.copy()
        for t in range(len(best) - 1, -1, -1):  # children come after their parents
            to_leaf[t] |= as_leaf[t] <= best[t] * (1.0 + ROUNDING)
            best[t] = as_leaf[t] if to_leaf[t] else best[t]
            if t:
                best[self.parent[t]] += best[t]
        return self._cut(to_leaf)

    def _cut(self, to_leaf: np.ndarray) -> MultiwayTree:
        """The tree in which some nodes are leaves."""
        keep = np.ones(len(self.feature), bool)
        for t in range(1, len(keep)):
            keep[t] = keep[self.parent[t]] and not to_leaf[self.parent[t]]
        place = np.where(keep, np.cumsum(keep) - 1, -1)
        inner = np.flatnonzero(keep & ~to_leaf)
        size = self.n_branches(inner)
        start = np.full(len(keep), -1)
        start[inner] = np.cumsum(size) - size
        parts = [self.branches[self.branch_start[t] :][:n] for t, n in zip(inner, size, strict=True)]
        branches = np.concatenate([np.zeros(0, np.int64), *parts])
        return self.replace(
            feature=np.where(to_leaf, -1, self.feature)[keep],
            threshold=np.where(to_leaf, 0.0, self.threshold)[keep],
            edge=np.where(to_leaf, 0, self.edge)[keep],
            branch_start=start[keep],
            branches=np.where(branches < 0, -1, place[branches]),
            count=self.count[keep],
        )


# --- growth --------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """A split of a node: the score of its feature, the bins of its branches and their class weights."""

    score: float
    feature: int
    branches: np.ndarray  # the categories that have rows; 0 and 1 of numbers
    counts: np.ndarray  # (branches, K), without missing values
    below: int = 0  # of numbers, the last bin of the first branch that has rows
    above: int = 0  # and the first bin of the second one


@dataclass
class _Growing:
    """Growth of a tree, by a fold for each level."""

    data: Partitions
    bins: FeatureBins
    by_ratio: bool  # whether features are compared by gain ratio
    epsilon: float
    max_depth: int
    least: float  # weight that at least two branches have
    count: list[np.ndarray]
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    edge: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    used: list[np.ndarray] = field(default_factory=list)  # categorical features that were split above
    branches: list[int] = field(default_factory=list)

    def run(self) -> MultiwayTree:
        D, K = len(self.bins.n_bins), len(self.count[0])
        self._add_leaf(np.zeros(D, bool))
        at_once = max(1, int(HISTOGRAM_BYTES / (8.0 * bin_offsets(self.bins.n_bins)[-1] * K)))
        fresh, depth = [0], 0
        while depth < self.max_depth and (open_ := [t for t in fresh if self._is_open(t)]):
            tree, first = self.tree(), len(self.feature)
            for i in range(0, len(open_), at_once):
                group = np.array(open_[i : i + at_once])
                level = self.data.fold(LevelCounts.of, tree, group)
                for t, count in zip(group.tolist(), level.count, strict=True):
                    self._grow(t, count)
            fresh, depth = list(range(first, len(self.feature))), depth + 1
        return self.tree()

    def tree(self) -> MultiwayTree:
        return MultiwayTree(
            self.bins,
            np.array(self.feature),
            np.array(self.threshold),
            np.array(self.edge),
            np.array(self.start),
            np.array(self.branches, np.int64),
            np.stack(self.count),
        )

    def _add_leaf(self, used: np.ndarray) -> None:
        self.feature.append(-1)
        self.threshold.append(0.0)
        self.edge.append(0)
        self.start.append(-1)
        self.used.append(used)

    def _is_open(self, t: int) -> bool:
        """Whether a node may be split: it has several classes, enough weight and an unused feature."""
        count = self.count[t]
        return bool((count > 0.0).sum() > 1 and count.sum() >= 2.0 * self.least and not self.used[t].all())

    def _grow(self, t: int, count: np.ndarray) -> None:
        split = self._best(count, self.used[t])
        if split is None:
            return
        d = split.feature
        self.feature[t], self.start[t] = d, len(self.branches)
        used, size = self.used[t], 2
        if self.bins.categorical[d]:
            used, size = used.copy(), int(self.bins.n_bins[d])
            used[d] = True
        else:
            ends = np.array([[d], [split.below], [split.above]])
            threshold, edge = self.bins.thresholds(*ends)
            self.threshold[t], self.edge[t] = float(threshold[0]), int(edge[0])
        children = np.full(size, -1)
        children[split.branches] = len(self.feature) + np.arange(len(split.branches))
        self.branches += children.tolist()
        weight = split.counts.sum(axis=1)
        missing = count[bin_offsets(self.bins.n_bins)[d + 1] - 1]
        self.count += list(split.counts + np.outer(weight / weight.sum(), missing))
        for _ in split.branches:
            self._add_leaf(used)

    def _best(self, count: np.ndarray, used: np.ndarray) -> Split | None:
        """The split with the best score. Ties go to the first feature."""
        offset = bin_offsets(self.bins.n_bins)
        best = None
        for d in np.flatnonzero(~used).tolist():
            of_d = count[offset[d] : offset[d + 1]]
            split = self._of_feature(d, of_d[:-1], float(of_d[-1].sum()))
            if split is not None and (best is None or split.score > best.score + ROUNDING):
                best = split
        return best

    def _of_feature(self, d: int, count: np.ndarray, missing: float) -> Split | None:
        """The split by a feature, from the class weights of its bins, (B, K)."""
        seen = np.flatnonzero(count.any(axis=1))
        count = count[seen]
        if len(seen) < 2:
            return None
        if self.bins.categorical[d]:
            candidates = count[None]
        else:  # of numbers, the threshold with the largest gain; the ratio would prefer uneven splits
            left, right = np.cumsum(count, axis=0)[:-1], np.cumsum(count[::-1], axis=0)[-2::-1]
            candidates = np.stack([left, right], axis=1)
        gain, entropy = gains(candidates, missing)
        enough = (candidates.sum(axis=2) >= self.least).sum(axis=1) >= 2
        gain = np.where(enough, gain, 0.0)
        i = int(np.argmax(gain >= gain.max() - ROUNDING))
        score = float(gain[i] / entropy[i] if self.by_ratio else gain[i])
        if gain[i] <= ROUNDING or score < self.epsilon - ROUNDING:
            return None
        if self.bins.categorical[d]:
            return Split(score, d, seen, count)
        return Split(score, d, np.arange(2), candidates[i], int(seen[i]), int(seen[i + 1]))


class MultiwayTreeClassifier(TreeClassifier, Estimator):
    r"""A classification tree with a branch for each category (ID3, C4.5), grown where the data is.

    A categorical feature splits a node into one branch for each of its categories, and is not used again
    below. A numeric feature splits it at a threshold. Each level of the tree is one pass over the rows.

    Parameters
    ----------
    criterion : {'information_gain', 'gain_ratio'}, default='information_gain'
        Score of a feature: information gain in bits (ID3), or information gain divided by the entropy of the
        branches (C4.5). The threshold of a numeric feature is the one with the largest gain.
    epsilon : float, default=0.0
        Minimum score of a split. A split without any gain is never made.
    max_depth : int, default=None
        Maximum depth of the tree. If None, nodes are split until no split has enough gain.
    min_samples_leaf : int, default=1
        Minimum weight of at least two branches of a split, as in C4.5. Other branches may have less.
    alpha : float, default=0.0
        Complexity of pruning: the tree is pruned to the subtree with the smallest sum of weight times entropy
        of its leaves, plus `alpha` for each leaf. See `prune`.
    categorical_features : array-like or 'from_dtype', default=None
        Indices, names or mask of the categorical features, which may be strings; 'from_dtype' takes those of
        a table that hold categories or strings. If None, all features are numeric.
    max_bins : int, default=255
        Maximum number of bins of a numeric feature. With fewer distinct values, each has its own, and every
        threshold is a candidate.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    n_classes_ : int
        Number of classes.
    model_ : MultiwayTree
        The tree.

    See Also
    --------
    DecisionTreeClassifier : Binary trees (CART).

    Notes
    -----
    With the entropy :math:`H` of the classes of :math:`n` rows, in bits, a feature that splits them into
    branches of :math:`n_b` rows with entropy :math:`H_b` has the information gain and the gain ratio

    .. math::

        g = H - \sum_b \frac{n_b}{n} H_b, \qquad
        g \Big/ \Big(-\sum_b \frac{n_b}{n} \log_2 \frac{n_b}{n}\Big),

    and a tree :math:`T` with leaves :math:`t` costs :math:`\sum_t n_t H_t + \alpha |T|`.

    Missing values (NaN or None) are treated as in C4.5. The gain of a feature is that of the rows with known
    values, times their share of the weight. A row without a value goes to all branches, with shares of its
    weight in proportion to those of the branches; so do categories that a node has not seen.

    References
    ----------
    * Quinlan (1986), "Induction of decision trees", Machine Learning 1.
    * Quinlan (1993), "C4.5: Programs for Machine Learning", Morgan Kaufmann.

    Examples
    --------
    >>> from suffice.tree import MultiwayTreeClassifier, export_rules
    >>> X = [["sunny", "dry"], ["sunny", "wet"], ["rain", "dry"], ["rain", "wet"], ["fog", "dry"]]
    >>> y = ["out", "out", "out", "in", "in"]
    >>> tree = MultiwayTreeClassifier(categorical_features=[0, 1]).fit(X, y)
    >>> print(export_rules(tree, feature_names=["sky", "ground"]))
    if sky = fog then in (1 of 1)
    if sky = rain and ground = dry then out (1 of 1)
    if sky = rain and ground = wet then in (1 of 1)
    if sky = sunny then out (1 of 2)
    """

    exempt = (SKETCHES,)

    model_: Annotated[MultiwayTree, "D"]

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions({"information_gain", "gain_ratio"})],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    }

    def __init__(
        self,
        *,
        criterion: str = "information_gain",
        epsilon: float = 0.0,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        alpha: float = 0.0,
        categorical_features: Any = None,
        max_bins: int = 255,
    ) -> None:
        self.criterion = criterion
        self.epsilon = epsilon
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.max_bins = max_bins

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = self.categorical_features is not None
        return tags

    def _opened(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> Opened:
        return opened_for(self, self, super()._opened(X, y, sample_weight, reset), X)

    def _solve(self, data: Any) -> Trees:
        categorical = categorical_mask(self, data.categorical)
        start = data.fold(TreeStart.of, categorical, MAX_BINS, True)
        afford_classes(len(start.target.values[0]))
        must_have_rows(start.weight)
        bins = FeatureBins.of(categorical, start.features, self.max_bins)
        (classes,), (totals,) = start.target.values, start.target.count
        tree = _Growing(
            data.map(coded, bins, classes).persisted(),
            bins,
            self.criterion == "gain_ratio",
            self.epsilon,
            NO_LIMIT if self.max_depth is None else int(self.max_depth),
            float(self.min_samples_leaf) if self.min_samples_leaf > 1 else 0.0,  # whatever a row weighs
            [totals[0]],
        ).run()
        tree = tree.replace(bins=bins.of_categories())
        tree = tree.pruned(self.alpha) if self.alpha > 0.0 else tree
        return Trees(tree, classes_=classes, n_classes_=len(classes))

    def cost(self, alpha: float = 0.0) -> float:
        """Compute the cost of the tree: weight times entropy in bits, summed over leaves, plus `alpha` each.

        Parameters
        ----------
        alpha : float, default=0.0
            Complexity: cost of a leaf. Since the entropies are not divided by the number of samples, it grows
            with them.

        Returns
        -------
        cost : float
        """
        check_is_fitted(self)
        return self.model_.cost(alpha)

    def prune(self, alpha: float) -> Self:
        """Prune the tree to the subtree with the smallest cost.

        Parameters
        ----------
        alpha : float
            Complexity: cost of a leaf. Each node is compared with its best pruned subtree, from the leaves
            upwards, and becomes a leaf if that costs no more.

        Returns
        -------
        pruned : MultiwayTreeClassifier
            A fitted copy, with its parameter `alpha` set. This estimator does not change.
        """
        check_is_fitted(self)
        out = copy(self).set_params(alpha=alpha)
        out.model_ = self.model_.pruned(alpha)
        return out

    def get_depth(self) -> int:
        """The depth of the tree: the largest number of splits to a leaf."""
        check_is_fitted(self)
        return int(self.model_.depth.max())

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return int(self.model_.is_leaf.sum())

    def _leaf_values(self, X: Any) -> np.ndarray:
        X, check = read_rows(self, X, late=True), Check.of(self)

        def of_rows(rows: Any) -> np.ndarray:
            if isinstance(rows, np.ndarray) and rows.dtype != object:
                check.must_pass(rows)
            return self.model_.shares_of_classes(rows)

        return map_rows(of_rows, X)
