"""k-d trees with a median at each node. Bentley 1975; Friedman, Bentley and Finkel 1977; Li 3.3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..core.values import Value
from ..statistics.nearest import Minkowski, nobody

NOT_RECORDED = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class KDTree(Value):
    """A balanced binary tree of points: build it with :meth:`of`.

    A node has the median of its points along the axis of their widest spread. Points that are not larger are
    to the left of it, and points that are not smaller to the right. Up to `leaf_size` points are a leaf.

    Attributes
    ----------
    points : ndarray of shape (n_features, n_points)
        The points, in the order of the tree: the node of the points from lo to hi is the one at
        ``(lo + hi) // 2``, and those before and after it are its children.
    index : ndarray of shape (n_points,)
        The row of each point.
    axis : ndarray of shape (n_points,)
        The feature by which a node divides its points; -1 for the points of leaves.
    weight : ndarray of shape (n_points,)
        The weight of each point: a point of weight two is two neighbours.
    leaf_size : int
        Number of points of a leaf at most.

    References
    ----------
    * Friedman, Bentley and Finkel, "An algorithm for finding best matches in logarithmic expected time", ACM
      Transactions on Mathematical Software 3, 1977.

    Examples
    --------
    >>> from suffice.neighbors import KDTree
    >>> points = [[2, 3], [5, 4], [9, 6], [4, 7], [8, 1], [7, 2]]
    >>> tree = KDTree.of(points, leaf_size=1)
    >>> root = tree.nodes()
    >>> root["row"], root["axis"], root["split"], root["left"]["row"], root["right"]["row"]
    (5, 0, 7.0, 1, 2)
    >>> distance, row = tree.query([[3.0, 4.5]], k=2)
    >>> distance.round(2), row
    (array([[1.8 , 2.06]]), array([[0, 1]]))
    >>> tree.visited([3.0, 4.5])
    [3, 1, 0, 5]
    """

    points: Annotated[np.ndarray, "(D, N)"]
    index: Annotated[np.ndarray, "int (N,)"]
    axis: Annotated[np.ndarray, "int (N,)"]
    weight: Annotated[np.ndarray, "(N,)"]
    leaf_size: int

    @classmethod
    def of(cls, X: Any, leaf_size: int = 30, weight: np.ndarray | None = None) -> KDTree:
        """The tree of the rows with a positive weight."""
        from ..loops.neighbors import build_tree

        X = np.ascontiguousarray(X, dtype=np.float64)
        weight = np.ones(len(X)) if weight is None else weight
        present = np.flatnonzero(weight > 0)
        order, axis = build_tree(X[present], leaf_size)
        index = present[order]
        return cls(np.ascontiguousarray(X[index].T), index, axis, weight[index], leaf_size)

    def search(self, queries: np.ndarray, k: int, p: float) -> tuple[np.ndarray, ...]:
        """Distances before the root, rows and votes of the k nearest points of each query, (Q, K)."""
        return self._searched(queries, k, p, NOT_RECORDED)[0]

    def _searched(self, queries: np.ndarray, k: int, p: float, visited: np.ndarray) -> tuple[Any, int]:
        from ..loops.neighbors import nearest_in_tree

        nearest = nobody(len(queries), k)
        tree = self.points, self.index, self.axis, self.leaf_size, self.weight
        return nearest, nearest_in_tree(*tree, queries, float(p), *nearest, visited)

    def query(self, X: Any, k: int = 1, p: float = 2) -> tuple[np.ndarray, np.ndarray]:
        """Distances and rows of the k nearest points of each row of X, nearest first.

        At equal distances, earlier rows come first. `p` is the power of the Minkowski distance.
        """
        distance, row, _ = self.search(np.ascontiguousarray(X, dtype=np.float64), k, p)
        return Minkowski(float(p)).rooted(distance), row

    def visited(self, x: Any, k: int = 1, p: float = 2) -> list[int]:
        """The rows whose distance from x is computed in a search for k neighbours, in order."""
        visited = np.empty(len(self.index), np.int64)
        query = np.ascontiguousarray(x, dtype=np.float64)[None]
        count = self._searched(query, k, p, visited)[1]
        return self.index[visited[:count]].tolist()

    def nodes(self) -> dict[str, Any]:
        """The tree as nested dictionaries: 'row', 'axis', 'split', 'left' and 'right' of nodes, and the
        'rows' of leaves; None where there are no points."""
        return self._node(0, len(self.index))

    def _node(self, lo: int, hi: int) -> Any:
        if lo == hi:
            return None
        if hi - lo <= self.leaf_size:
            return {"rows": self.index[lo:hi].tolist()}
        mid = (lo + hi) // 2
        axis = int(self.axis[mid])
        return {
            "row": int(self.index[mid]),
            "axis": axis,
            "split": float(self.points[axis, mid]),
            "left": self._node(lo, mid),
            "right": self._node(mid + 1, hi),
        }
