"""Several trees as one model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Annotated

import numpy as np

from ..core.blocks import Matrix
from ..core.model import Predictor
from ..core.shapes import must, must_index
from .model import Tree


@dataclass(frozen=True, eq=False)
class Forest(Predictor):
    """Trees of the same features. Their nodes are those of one `Tree`, one tree after the other."""

    nodes: Annotated[Tree, "D"]
    root: Annotated[np.ndarray, "int (M,)"]  # the first node of each tree

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Forest:
        first, first_set = np.zeros(len(trees), np.int64), 0
        parts: dict[str, list[np.ndarray]] = {f.name: [] for f in fields(Tree) if f.name != "bins"}
        n = 0
        for m, tree in enumerate(trees):
            first[m] = n
            shifted = tree.replace(
                children=np.where(tree.children < 0, -1, tree.children + n),
                set_start=np.where(tree.set_start < 0, -1, tree.set_start + first_set),
            )
            for name, part in parts.items():
                part.append(getattr(shifted, name))
            n += len(tree.feature)
            first_set += len(tree.goes_left)
        joined = {name: np.concatenate(part) for name, part in parts.items()}
        return cls(Tree(trees[0].bins.of_categories(), **joined), first)

    def check_loaded(self, sizes: dict[str, int]) -> None:
        must(len(self.root) > 0 and self.root[0] == 0, "A forest has no trees.")
        must((np.diff(self.root) > 0).all(), "The roots of trees are not in order.")
        must_index(self.root, len(self.nodes.feature), "Roots")

    def __len__(self) -> int:
        return len(self.root)

    def __iter__(self) -> Iterator[Tree]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, m: int) -> Tree:
        """Tree m."""
        nodes, m = self.nodes, range(len(self))[m]
        a = self.root[m]
        b = self.root[m + 1] if m + 1 < len(self) else len(nodes.feature)
        sets = nodes.set_start[a:b]
        begin = sets[sets >= 0].min(initial=len(nodes.goes_left))
        later = nodes.set_start[b:]
        end = later[later >= 0].min(initial=len(nodes.goes_left))
        part = {
            f.name: getattr(nodes, f.name)[a:b] for f in fields(Tree) if f.name not in ("bins", "goes_left")
        }
        part["children"] = np.where(part["children"] < 0, -1, part["children"] - a)
        part["set_start"] = np.where(sets < 0, -1, sets - begin)
        return Tree(nodes.bins, goes_left=nodes.goes_left[begin:end], **part)

    def first(self, n: int) -> Forest:
        """The first n trees."""
        return Forest.of(tuple(islice(self, n)))

    def leaves(self, X: Matrix) -> np.ndarray:
        """The leaf of each row in each tree, (N, M)."""
        from ..loops.trees import leaves_of_rows

        out = np.empty((X.shape[0], len(self)), np.int64)
        leaves_of_rows(self.nodes.bins.with_codes(X), self.root, *self.nodes.splits, out)
        return out

    def sum(self, X: Matrix, output: np.ndarray | None = None, n_outputs: int = 0) -> np.ndarray:
        """The sum over the trees of the leaf values of each row, (N, K). If trees have one value each and
        `output` names the column to which it is added, (N, `n_outputs`)."""
        from ..loops.trees import add_leaf_values

        if output is None:
            output, n_outputs = np.zeros(len(self), np.int64), self.nodes.value.shape[1]
        out = np.zeros((X.shape[0], n_outputs))
        add_leaf_values(
            self.nodes.bins.with_codes(X), self.root, *self.nodes.splits, self.nodes.value, output, out
        )
        return out
