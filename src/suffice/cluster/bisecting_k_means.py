"""Bisecting k-means: one cluster after the other is split in two.

Steinbach, Karypis and Kumar, "A comparison of document clustering techniques", 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Matrix, Rows
from ..core.loop import Progress
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..core.shapes import must, must_index
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.guarantees import DRAWS_STARTS
from ..estimator.parameters import AT_LEAST_1, StrOptions
from ..fitting.nearest import nearest, squared_distances
from ..fitting.seeding import SEEDINGS
from ..inputs import map_rows, open_rows, read_rows
from ..statistics import describe
from .k_means import Centers, NearestCenters, initial_centers, lloyd, warn_of_fewer
from .parts import within


@dataclass(frozen=True, eq=False)
class BisectingTree(Predictor):
    """Nodes with a centre each; a row goes from the root to the nearer of two children."""

    center: Annotated[np.ndarray, "(M, D)"]  # of each node
    child: Annotated[np.ndarray, "int (M, 2)"]  # nodes, or -1 for a leaf

    def check_loaded(self, sizes: dict[str, int]) -> None:
        inner = np.flatnonzero(self.child[:, 0] >= 0)
        must_index(self.child[inner], len(self.center), "Children")
        must((self.child[inner] > inner[:, None]).all(), "Children are not after their parents.")

    @property
    def leaves(self) -> np.ndarray:
        return np.flatnonzero(self.child[:, 0] < 0)

    def nearest(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """The number of the leaf of each row, and the squared distance from its centre."""
        node, distance = np.zeros(X.shape[0], np.int64), squared_distances(X, self.center[:1])[:, 0].copy()
        for parent, (a, b) in enumerate(self.child):  # children come after their parent
            if a >= 0:
                rows = np.flatnonzero(node == parent)
                second, distance[rows] = nearest(X[rows], self.center[[a, b]])
                node[rows] = np.where(second == 1, b, a)
        return np.searchsorted(self.leaves, node), distance

    def summarize(self, block: Rows) -> LeafSums:
        labels, distance = self.nearest(block.X)
        K = len(self.leaves)
        return LeafSums(np.bincount(labels, block.weight * distance, K), np.bincount(labels, block.weight, K))

    def split(self, leaf: int, centers: np.ndarray) -> Self:
        """The tree after the leaf with this index gets two children with these centres."""
        child, M = self.child.copy(), len(self.center)
        child[self.leaves[leaf]] = M, M + 1
        return self.replace(
            center=np.concatenate([self.center, centers]),
            child=np.concatenate([child, np.full((2, 2), -1)]),
        )


@dataclass(frozen=True, eq=False)
class LeafSums(Statistics):
    """The weight of each leaf, and the sum of squared distances from its centre."""

    inertia: Annotated[np.ndarray, "(K,)"]
    weight: Annotated[np.ndarray, "(K,)"]

    def split(self, leaf: int, halves: Self) -> Self:
        """The sums after a leaf is split: the new leaves are the last."""
        inertia, weight = np.delete(self.inertia, leaf), np.delete(self.weight, leaf)
        return self.replace(
            inertia=np.append(inertia, halves.inertia), weight=np.append(weight, halves.weight)
        )


def _at_root(block: Rows) -> Any:
    """The block with the node of each row as its target."""
    return block.replace(y=np.zeros(len(block), np.int64))


def _descended(node: int, child: int, centers: np.ndarray, block: Rows) -> Any:
    """The block with targets as in `_at_root`, after this node is split into `child` and ``child + 1``."""
    at, rows = block.y.copy(), np.flatnonzero(block.y == node)
    X = block.piece(0, len(block), 0).X
    at[rows] = child + nearest(X[rows], centers)[0]
    return block.replace(y=at)


def _halves(centers: np.ndarray, block: Rows) -> LeafSums:
    """The sums of the rows nearest to each of two centres."""
    labels, distance = nearest(block.X, centers)
    return LeafSums(np.bincount(labels, block.weight * distance, 2), np.bincount(labels, block.weight, 2))


class BisectingKMeans(NearestCenters):
    """Bisecting k-means: one cluster after the other is split in two by k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'k-means++', 'k-means||', 'random'} or callable, default='random'
        Method for the initial centres of a split. A callable takes the rows of the cluster, in memory, the
        number 2 and `random_state`, and returns two centres.
    n_init : int, default=1
        Number of initializations of each split. The best result is kept. All runs share each pass.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.
    max_iter : int, default=300
        Maximum number of iterations.
    verbose : int, default=0
        Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.
    tol : float, default=1e-4
        Tolerance of the squared movement of the centres, relative to the mean variance of the features.
    copy_x : bool, default=True
        Ignored: `X` is never modified.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        Ignored: both give the same result.
    bisecting_strategy : {'biggest_inertia', 'largest_cluster'}, default='biggest_inertia'
        Which cluster is split next: that with the largest inertia, or with the largest weight.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    inertia_ : float
        Sum of squared distances to the centre of the cluster.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : BisectingTree
        The tree of splits.
    statistics_ : LeafSums
        Inertia and weight by cluster.

    See Also
    --------
    KMeans : All clusters at once.
    DivisiveClustering : Splits by distances of rows.

    Notes
    -----
    Each split minimizes the inertia of two centres among the rows of its cluster,

    .. math::

        ∑_{n ∈ k} w_n \\min(‖x_n - a‖^2, ‖x_n - b‖^2).

    A row belongs to a cluster by its path from the root: at each split, to the nearer of the two centres.
    That may not be the nearest of all centres.

    References
    ----------
    * Steinbach, Karypis and Kumar (2000), "A comparison of document clustering techniques", KDD Workshop on
      Text Mining.

    Examples
    --------
    >>> from suffice.cluster import BisectingKMeans
    >>> model = BisectingKMeans(3, random_state=0).fit([[0.0], [1.0], [10.0], [11.0], [30.0], [31.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 10.5, 30.5]
    """

    exempt = (DRAWS_STARTS,)

    model_: Annotated[BisectingTree, "D"]  # type: ignore[assignment]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1],
        "init": [StrOptions(set(SEEDINGS)), callable],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
        "bisecting_strategy": [StrOptions({"biggest_inertia", "largest_cluster"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "random",
        n_init: int = 1,
        random_state: Seed = None,
        max_iter: int = 300,
        verbose: int = 0,
        tol: float = 1e-4,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        bisecting_strategy: str = "biggest_inertia",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy

    def _solve(self, data: Partitions) -> Progress:
        tol = self._tolerance(data, self.n_clusters)
        tree = BisectingTree(data.fold(describe).features.mean[None], np.full((1, 2), -1))
        random = check_random_state(self.random_state)
        s = data.fold(BisectingTree.summarize, tree)
        labelled = data.map(_at_root) if data.in_memory else None
        while len(tree.leaves) < self.n_clusters:
            size = s.inertia if self.bisecting_strategy == "biggest_inertia" else s.weight
            size = np.where(s.inertia > 0, size, -1.0)  # equal rows stay together
            leaf = int(size.argmax())
            if size[leaf] < 0:
                break
            node = int(tree.leaves[leaf])
            part = within(data, tree, leaf) if labelled is None else within(labelled, None, node)
            centers = lloyd(self._starts(part, random), part, tol, self.max_iter).model.center
            if labelled is not None:
                labelled = labelled.map(_descended, node, len(tree.center), centers)
            tree, s = tree.split(leaf, centers), s.split(leaf, part.fold(_halves, centers))
            if self.verbose:
                print(f"New centers from bisection, inertia {s.inertia.sum():.3f}.")
        warn_of_fewer(len(tree.leaves), self.n_clusters, "n_clusters")
        return Progress(tree, statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        tree, s = progress.model, progress.statistics
        return {"cluster_centers_": tree.center[tree.leaves], "inertia_": float(s.inertia.sum())}

    def _starts(self, part: Any, random: np.random.RandomState) -> tuple[Centers, ...]:
        """Initial centres of the split of a cluster."""
        if callable(self.init):
            X = part.gather("use init='k-means++' or 'random'.").X
            drawn = (self.init(X, 2, random_state=random) for _ in range(self.n_init))
            return tuple(initial_centers(centers, 2, X.shape[1]) for centers in drawn)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_init)
        return tuple(Centers(SEEDINGS[self.init](part, 2, int(seed))) for seed in seeds)

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Distances from each row to the centres of the clusters.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        centers = self.model_.center[self.model_.leaves]
        return map_rows(lambda rows: np.sqrt(squared_distances(rows, centers)), X)

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Minus the sum of squared distances to the centre of the cluster."""
        data = open_rows(self, X, None, sample_weight, reset=False)
        return -float(data.fold(BisectingTree.summarize, self.model_).inertia.sum())
