"""A tree as arrays, with the names that scikit-learn gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .model import Tree


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """The nodes of a fitted tree, as scikit-learn's `tree_` has them.

    Attributes
    ----------
    n_features, n_outputs, node_count, n_leaves, max_depth : int
        Number of features, targets, nodes and leaves, and the largest number of splits above a leaf.
    n_classes : ndarray of shape (n_outputs,)
        Number of classes of each target; 1 for numbers.
    children_left, children_right : ndarray of shape (node_count,)
        Children of each node; -1 for leaves.
    feature, threshold : ndarray of shape (node_count,)
        Split of each node; -2 for leaves.
    missing_go_to_left : ndarray of shape (node_count,)
        Whether missing values go left.
    value : ndarray of shape (node_count, n_outputs, max_n_classes)
        Shares of the classes, or means of the targets.
    impurity, weighted_n_node_samples : ndarray of shape (node_count,)
        Impurity and weight of each node.
    n_node_samples : ndarray of shape (node_count,)
        The weight, rounded: rows count by their weights.
    """

    tree: Tree
    n_classes: np.ndarray

    def _split(self, numbers: np.ndarray, leaf: float) -> np.ndarray:
        return np.where(self.tree.is_leaf, leaf, numbers)

    @property
    def n_features(self) -> int:
        return len(self.tree.bins.n_bins)

    @property
    def n_outputs(self) -> int:
        return len(self.n_classes)

    @property
    def max_n_classes(self) -> int:
        return int(self.n_classes.max())

    @property
    def node_count(self) -> int:
        return len(self.tree.feature)

    capacity = node_count

    @property
    def n_leaves(self) -> int:
        return int(self.tree.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        return int(self.tree.depth.max())

    @property
    def children_left(self) -> np.ndarray:
        return self.tree.children[:, 0]

    @property
    def children_right(self) -> np.ndarray:
        return self.tree.children[:, 1]

    @property
    def feature(self) -> np.ndarray:
        return self._split(self.tree.feature, -2)

    @property
    def threshold(self) -> np.ndarray:
        return self._split(self.tree.threshold, -2.0)

    @property
    def missing_go_to_left(self) -> np.ndarray:
        return self.tree.missing_left

    @property
    def value(self) -> np.ndarray:
        """The values of each node and target, padded with zeros to the largest number of classes."""
        out = np.zeros((self.node_count, self.n_outputs, self.max_n_classes))
        for t, part in enumerate(np.split(self.tree.value, np.cumsum(self.n_classes)[:-1], axis=1)):
            out[:, t, : part.shape[1]] = part
        return out

    @property
    def impurity(self) -> np.ndarray:
        return self.tree.impurity

    @property
    def n_node_samples(self) -> np.ndarray:
        return np.rint(self.tree.weight).astype(np.int64)

    @property
    def weighted_n_node_samples(self) -> np.ndarray:
        return self.tree.weight

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row."""
        return self.tree.leaves(_rows(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the values of the leaf of each row. For a single target, the axis of targets is dropped."""
        value = self.value[self.apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def decision_path(self, X: Any) -> sp.csr_array:
        """The nodes that each row passes, as a sparse indicator matrix (n_samples, node_count)."""
        return paths(self.tree, self.apply(X))

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """The decrease of impurity by the splits of each feature."""
        return importances(self.tree) if normalize else decreases(self.tree) / self.tree.weight[0]


def _rows(X: Any) -> Any:
    return sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, np.float64)


def decreases(tree: Tree) -> np.ndarray:
    """The decrease of the total impurity by the splits of each feature."""
    inner = np.flatnonzero(~tree.is_leaf)
    R = tree.impurity * tree.weight
    decrease = R[inner] - R[tree.children[inner]].sum(axis=1)
    return np.bincount(tree.feature[inner], decrease, minlength=len(tree.bins.n_bins))


def importances(tree: Tree) -> np.ndarray:
    """The decrease of impurity by the splits of each feature, normalized to one."""
    out = decreases(tree)
    return out / total if (total := out.sum()) > 0 else out


def paths(tree: Tree, leaves: np.ndarray) -> sp.csr_array:
    """The nodes that rows with these leaves pass, as a sparse indicator matrix."""
    parent, rows, nodes, at = tree.parent, [], [], leaves
    index = np.arange(len(leaves))
    while len(index):
        rows.append(index)
        nodes.append(at)
        at = parent[at]
        index, at = index[at >= 0], at[at >= 0]
    pair = (np.concatenate(rows), np.concatenate(nodes))
    return sp.csr_array((np.ones(len(pair[0]), np.int64), pair), shape=(len(leaves), len(parent)))
