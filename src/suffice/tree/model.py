"""A fitted tree: its splits, and what its nodes predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ..core.blocks import Matrix
from ..core.model import Predictor
from ..core.shapes import must, must_index
from ..statistics.bins import FeatureBins


@dataclass(frozen=True, eq=False)
class Tree(Predictor):
    """A binary tree. Its nodes are in preorder: each before its left subtree, then its right one.

    A row goes left if its value is at most the threshold; a category, if `goes_left` says so.
    """

    bins: Annotated[FeatureBins, "D"]
    feature: Annotated[np.ndarray, "int (N,)"]  # of the split; -1 of leaves
    threshold: Annotated[np.ndarray, "(N,)"]  # zero of leaves, and of categories
    children: Annotated[np.ndarray, "int (N, 2)"]  # left and right; -1 of leaves
    missing_left: Annotated[np.ndarray, "bool (N,)"]
    saw_missing: Annotated[np.ndarray, "bool (N,)"]  # whether values were missing when the node was split
    edge: Annotated[np.ndarray, "int (N,)"]  # the last bin on the left
    set_start: Annotated[np.ndarray, "int (N,)"]  # of categories, their first place in `goes_left`; else -1
    goes_left: Annotated[np.ndarray, "bool (C,)"]
    value: Annotated[np.ndarray, "(N, K)"]  # the share of each class, or the mean of each target
    weight: Annotated[np.ndarray, "(N,)"]
    impurity: Annotated[np.ndarray, "(N,)"]

    def check_loaded(self, sizes: dict[str, int]) -> None:
        inner = self.feature >= 0
        nodes = np.flatnonzero(inner)
        must_index(self.feature[inner], len(self.bins.n_bins), "Features of splits")
        must_index(self.children[inner], len(self.feature), "Children")
        must((self.children[inner] > nodes[:, None]).all(), "Children are not after their parents.")
        sets = inner & (self.set_start >= 0)
        must_index(self.set_start[sets], len(self.goes_left), "Sets of categories")
        ends = self.set_start[sets] + self.bins.n_bins[self.feature[sets]]
        must((ends <= len(self.goes_left)).all(), "Sets of categories are too short.")
        must((self.bins.categorical[self.feature[inner]] == (self.set_start[inner] >= 0)).all(),
             "Splits are not of the kind of their features.")  # fmt: skip
        must(len(self.feature) > 0, "A tree has no nodes.")

    def leaves(self, X: Matrix) -> np.ndarray:
        """The leaf of each row."""
        from ..loops.trees import leaves_of_rows

        out = np.empty((X.shape[0], 1), np.int64)
        leaves_of_rows(self.bins.with_codes(X), np.zeros(1, np.int64), *self.splits, out)
        return out[:, 0]

    @property
    def splits(self) -> tuple[Any, Any, Any, Any, Any, Any]:
        """The arrays of the splits, in the order of the arguments of the compiled loops."""
        return (
            self.feature,
            self.children,
            self.threshold,
            self.missing_left,
            self.set_start,
            self.goes_left,
        )

    def leaves_of_codes(self, codes: np.ndarray) -> np.ndarray:
        """The leaf of each row, from its codes (D, N)."""
        from ..loops.trees import leaves_by_table, leaves_of_codes

        out = np.empty(codes.shape[1], np.int64)
        if codes.dtype == np.uint8 and codes.T.flags.c_contiguous:
            leaves_by_table(codes.T, *self._table, out)
            return out
        leaves_of_codes(
            np.ascontiguousarray(codes), self.bins.n_bins, self.feature, self.children, self.edge,
            self.missing_left, self.set_start, self.goes_left, out,
        )  # fmt: skip
        return out

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The feature of each node, the child that follows it by code (of one byte), and the depth of the
        tree."""
        code, feature = np.arange(256), np.where(self.is_leaf, 0, self.feature)
        left = code <= self.edge[:, None]
        for t in np.flatnonzero(~self.is_leaf & (self.set_start >= 0)):
            n = self.bins.n_bins[feature[t]]
            left[t, :n] = self.goes_left[self.set_start[t] : self.set_start[t] + n]
        left[np.arange(len(feature)), self.bins.n_bins[feature]] = self.missing_left
        following = np.where(left, self.children[:, :1], self.children[:, 1:])
        following[self.is_leaf] = np.flatnonzero(self.is_leaf)[:, None]
        return feature, following.astype(np.int32).reshape(-1), int(self.depth.max())

    @property
    def is_leaf(self) -> np.ndarray:
        return self.feature < 0

    @property
    def parent(self) -> np.ndarray:
        """The parent of each node; -1 of the root."""
        out = np.full(len(self.feature), -1)
        inner = np.flatnonzero(~self.is_leaf)
        out[self.children[inner]] = inner[:, None]
        return out

    @property
    def depth(self) -> np.ndarray:
        """The depth of each node."""
        out, parent = np.zeros(len(self.feature), np.int64), self.parent
        for t in range(1, len(out)):  # parents come first
            out[t] = out[parent[t]] + 1
        return out

    def leading_to(self, nodes: np.ndarray) -> Tree:
        """The tree with only the splits above some nodes, so that other rows stop early. Nodes keep their
        numbers."""
        above, parent = np.zeros(len(self.feature), bool), self.parent
        t = parent[nodes]
        while (t >= 0).any():
            t = np.unique(t[t >= 0])
            above[t] = True
            t = parent[t]
        return self.replace(
            feature=np.where(above, self.feature, -1),
            children=np.where(above[:, None], self.children, -1),
        )

    def pruned(self, to_leaf: np.ndarray) -> Tree:
        """The tree in which some nodes are leaves."""
        keep = np.ones(len(self.feature), bool)
        parent = self.parent
        for t in range(1, len(keep)):
            keep[t] = keep[parent[t]] and not to_leaf[parent[t]]
        place = np.cumsum(keep) - 1
        leaf = to_leaf[keep]
        feature = np.where(leaf, -1, self.feature[keep])
        children = np.where((feature < 0)[:, None], -1, place[self.children[keep]])
        in_set = (feature >= 0) & (self.set_start[keep] >= 0)
        first, n = self.set_start[keep][in_set], self.bins.n_bins[feature[in_set]]
        sets = [self.goes_left[a : a + m] for a, m in zip(first, n, strict=True)]
        set_start, goes_left = joined_sets(in_set, sets)
        return self.replace(
            feature=feature,
            threshold=np.where(feature < 0, 0.0, self.threshold[keep]),
            children=children,
            missing_left=self.missing_left[keep] & ~leaf,
            saw_missing=self.saw_missing[keep] & ~leaf,
            edge=np.where(feature < 0, 0, self.edge[keep]),
            set_start=set_start,
            goes_left=goes_left,
            value=self.value[keep],
            weight=self.weight[keep],
            impurity=self.impurity[keep],
        )


def joined_sets(in_set: np.ndarray, sets: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The start of the category set of each node in the concatenated sets, -1 for nodes without one; and
    the concatenated sets."""
    lengths = np.array([len(s) for s in sets], np.int64)
    start = np.full(len(in_set), -1)
    start[in_set] = np.cumsum(lengths) - lengths
    return start, np.concatenate([np.zeros(0, bool), *sets])
