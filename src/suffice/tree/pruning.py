"""Minimal cost-complexity pruning. Breiman, Friedman, Olshen and Stone, 1984, ch. 3; Li 5.5.2."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ..core.hashing import parts_of
from ..core.partitions import Partitions
from ..core.randomness import Purpose
from ..core.statistics import Statistics, tree_sum
from ..fitting.shared import Sharing, divide
from ..statistics import Binned
from .growth import grow_here, grow_tree, growth_bytes
from .model import Tree

if TYPE_CHECKING:
    from .base import Prepared


def pruning_path(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sequence of weakest links: the complexity at which each becomes a leaf, the impurity of the
    leaves afterwards, and the node. The first entry is the whole tree, with node -1.

    The complexity of node t is (R(t) - R(T_t)) / (|T_t| - 1), where R is the weighted impurity of a leaf, and
    T_t the subtree of t with |T_t| leaves.
    """
    R = tree.impurity * tree.weight / tree.weight[0]
    parent, inner = tree.parent, ~tree.is_leaf
    leaves, cost = np.where(inner, 0, 1), np.where(inner, 0.0, R)
    for t in range(len(R) - 1, 0, -1):  # children come after their parents
        leaves[parent[t]] += leaves[t]
        cost[parent[t]] += cost[t]

    def alpha(t: int) -> float:
        return (R[t] - cost[t]) / (leaves[t] - 1)

    heap = [(alpha(t), t) for t in np.flatnonzero(inner).tolist()]
    heapq.heapify(heap)
    alphas, impurities, nodes = [0.0], [cost[0]], [-1]
    last = 0.0
    while heap:
        a, t = heapq.heappop(heap)
        if not inner[t] or a != alpha(t):
            continue  # it is in a pruned subtree, or its complexity has changed
        removed, saved = leaves[t] - 1, R[t] - cost[t]
        stack = [t]
        while stack:  # nothing below t is a candidate any more
            u = stack.pop()
            if inner[u]:
                inner[u] = False
                stack += tree.children[u].tolist()
        u = t
        while u >= 0:
            leaves[u] -= removed
            cost[u] += saved
            if u != t:
                heapq.heappush(heap, (alpha(u), int(u)))
            u = parent[u]
        last = max(last, a)  # rounding may lower the next complexity
        alphas.append(last)
        impurities.append(cost[0])
        nodes.append(t)
    return np.array(alphas), np.array(impurities), np.array(nodes)


def pruned(tree: Tree, ccp_alpha: float) -> Tree:
    """The smallest tree with the least impurity plus `ccp_alpha` times the number of leaves.

    As in scikit-learn, a tree is not pruned with `ccp_alpha` = 0, though some splits may gain nothing.
    """
    if ccp_alpha <= 0.0:
        return tree
    alphas, _, nodes = pruning_path(tree)
    to_leaf = np.zeros(len(tree.feature), bool)
    to_leaf[nodes[1:][alphas[1:] <= ccp_alpha]] = True
    return tree.pruned(to_leaf)


def unpruned(alphas: list[float]) -> float:
    """The complexity with which to grow a tree that is pruned with each of these later."""
    return 0.0


# --- cross-validation ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PathLoss(Statistics):
    """The loss of rows under each tree of a pruning sequence."""

    weight: float
    total: Annotated[np.ndarray, "(A,)"]
    squares: Annotated[np.ndarray, "(A,)"]

    @classmethod
    def of(cls, tree: Tree, alphas: np.ndarray, target: Any, block: Binned) -> PathLoss:
        """The errors on a block of the trees pruned with each of these complexities, which ascend."""
        first = np.searchsorted(alphas, leaf_from(tree))  # from this complexity on, the node is a leaf
        parent, node = tree.parent, tree.leaves_of_codes(block.codes)
        weight, y = block.entry[:, 0] / target.weight_unit, target.observed(block)
        total, squares = np.zeros(len(alphas) + 1), np.zeros(len(alphas) + 1)
        row = np.arange(len(node))
        while len(row):  # from the leaf to the root: node t answers until its parent is a leaf
            loss = target.loss(tree.value[node], y[row])
            up = parent[node]
            end = np.where(up >= 0, first[up], len(alphas))
            for sums, x in ((total, weight[row] * loss), (squares, weight[row] * loss * loss)):
                sums += np.bincount(first[node], x, len(sums)) - np.bincount(end, x, len(sums))
            row, node = row[up >= 0], up[up >= 0]
        return cls(float(weight.sum()), np.cumsum(total)[:-1], np.cumsum(squares)[:-1])


def leaf_from(tree: Tree) -> np.ndarray:
    """The complexity from which on each node is a leaf, or pruned away."""
    alphas, _, nodes = pruning_path(tree)
    out = np.where(tree.is_leaf, 0.0, np.inf)
    out[nodes[1:]] = alphas[1:]
    parent = tree.parent
    for t in range(1, len(out)):  # parents come first
        out[t] = min(out[t], out[parent[t]])
    return out


def numbers_of_leaves(tree: Tree, alphas: np.ndarray) -> np.ndarray:
    """The number of leaves of the tree when it is pruned with each of these complexities, ascending."""
    first, parent = leaf_from(tree), tree.parent
    until = np.where(parent >= 0, first[parent], np.inf)  # then the parent is a leaf
    begin, end = (np.sort(np.searchsorted(alphas, part)) for part in (first, until))
    at = np.arange(len(alphas))
    return np.searchsorted(begin, at, "right") - np.searchsorted(end, at, "right")


def trees_of_folds(data: Partitions, p: Prepared, n_folds: int, seed: int) -> list[Tree]:
    """The tree of all rows outside each fold. If the rows are not gathered, all trees grow together.

    The fold of a row is drawn from the hash of its codes and its target: equal rows share a fold.
    """
    if (block := data.gather_if(p.rows, growth_bytes(p.bins, p.target))) is not None:
        fold = parts_of(block, n_folds, Purpose.INNER_FOLDS, seed)
        others = (np.flatnonzero(fold != k) for k in range(n_folds))
        return [grow_here(block[rows], p.bins, p.target, p.limits) for rows in others]
    division = (divide, (n_folds, Purpose.INNER_FOLDS, (seed,)))
    sharing = Sharing(data, n_folds, division)

    def grow_without(fold: int) -> Tree:
        rows = sharing.view(*(k for k in range(n_folds) if k != fold))
        return grow_tree(rows, p.rows, p.bins, p.target, p.limits, n_folds)

    return sharing.together([partial(grow_without, fold) for fold in range(n_folds)], forgive=False)


def held_out_loss(
    trees: list[Tree], alphas: np.ndarray, target: Any, n_folds: int, seed: int, block: Binned
) -> PathLoss:
    """The loss of the rows of each fold under the tree of the other folds, pruned with each complexity."""
    fold = parts_of(block, n_folds, Purpose.INNER_FOLDS, seed)
    return tree_sum(
        PathLoss.of(tree, alphas, target, block[np.flatnonzero(fold == k)]) for k, tree in enumerate(trees)
    )
