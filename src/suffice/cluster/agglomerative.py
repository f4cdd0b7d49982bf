"""Agglomerative clustering: exact in memory linear in the rows, or of small clusters summed by passes.

Ward, "Hierarchical grouping to optimize an objective function", 1963; Li 14.2; Gong and Xu 3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..core.arguments import Seed
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, AT_LEAST_2, HasMethods, Interval, StrOptions, seed_of
from ..inputs.conversions import as_numbers
from .base import (
    Clustering,
    Leaves,
    afford_pairs,
    distances,
    gathered,
    micro_clusters,
    must_have_enough,
    n_micro_clusters,
    n_rows,
    numbered,
    selected,
)
from .clusterer import Clusters

MERGED_ROWS = 1 << 16  # with micro_clusters='auto', more rows are summed to small clusters first
INSTEAD = (
    "use linkage='ward', 'centroid' or 'single' with metric='euclidean', whose memory is linear in the "
    "rows, or micro_clusters=1000."
)


def merged(points: np.ndarray, weight: np.ndarray, linkage: str) -> tuple[np.ndarray, ...]:
    """The merges of points by Euclidean distances: leaves of both clusters, and the height."""
    from ..loops.linkage import centroid_merges, matrix_chain, spanning_tree, ward_chain

    X, weight = np.ascontiguousarray(points - points[0]), np.ascontiguousarray(weight, np.float64)
    if linkage in ("average", "complete"):
        afford_pairs(len(X), INSTEAD)
        return matrix_chain(np.ascontiguousarray(distances(X, X, "euclidean")), weight, linkage == "average")
    if linkage == "single":
        left, right, square = spanning_tree(X)
    else:
        left, right, square = (ward_chain if linkage == "ward" else centroid_merges)(X, weight)
    return left, right, np.sqrt(square)


def merged_matrix(D: np.ndarray, weight: np.ndarray, linkage: str) -> tuple[np.ndarray, ...]:
    """The merges by a distance matrix."""
    from scipy.cluster.hierarchy import linkage as scipy_linkage
    from scipy.spatial.distance import squareform

    from ..loops.linkage import matrix_chain

    if linkage == "single":
        Z = scipy_linkage(squareform(D, checks=False), "single") if len(D) > 1 else np.empty((0, 4))
        first = _first_leaves(Z[:, :2].astype(np.int64))
        return first[Z[:, 0].astype(np.int64)], first[Z[:, 1].astype(np.int64)], Z[:, 2]
    weight = np.ascontiguousarray(weight, np.float64)
    return matrix_chain(np.array(D, dtype=np.float64, order="C"), weight, linkage == "average")


def _first_leaves(children: np.ndarray) -> np.ndarray:
    """A leaf of each node."""
    N = len(children) + 1
    first = np.arange(2 * N - 1)
    for n, (a, _) in enumerate(children):
        first[N + n] = first[a]
    return first


def tree(
    left: np.ndarray, right: np.ndarray, height: np.ndarray, sort: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The tree as SciPy and scikit-learn number it: the two nodes of each merge, and its height."""
    if sort:
        order = np.argsort(height, kind="stable")
        left, right, height = left[order], right[order], height[order]
    N = len(left) + 1
    parent, node = list(range(N)), list(range(N))
    children = np.empty((N - 1, 2), np.int64)
    for n, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        a, b = _root(parent, a), _root(parent, b)
        children[n] = sorted((node[a], node[b]))
        parent[b], node[a] = a, N + n
    return children, height


def cut(children: np.ndarray, n_clusters: int) -> np.ndarray:
    """The node of each leaf before the last merges."""
    N = len(children) + 1
    parent = list(range(2 * N - 1))
    for n, (a, b) in enumerate(children[: N - n_clusters].tolist()):
        parent[a] = parent[b] = N + n
    return np.array([_root(parent, leaf) for leaf in range(N)], np.int64)


def _root(parent: list[int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@dataclass(frozen=True, eq=False, kw_only=True)
class Merges(Clusters):
    """A fit with its tree: the two nodes of each merge, its height, and the weights of the leaves."""

    children_: Annotated[np.ndarray, "int (M, 2)"]
    distances_: Annotated[np.ndarray, "(M,)"]
    n_leaves_: int
    leaf_weights_: Annotated[np.ndarray, "(L,)"]
    n_connected_components_: int


class AgglomerativeClustering(Clustering):
    """Agglomerative clustering: the two nearest clusters are merged, again and again.

    Up to 65,536 rows are gathered and merged exactly. Ward's, centroid and single linkage of Euclidean
    distances need memory linear in the rows; complete and average linkage, and other metrics, need the
    distances of all pairs, whose size is estimated first. More rows are first summed to `micro_clusters`
    small clusters, by five passes over the data where it is, and these are merged with their weights.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters. None if `distance_threshold` is set.
    metric : str or callable, default='euclidean'
        Distance of rows: 'euclidean', 'manhattan', 'cosine', 'chebyshev' or another name that SciPy's `cdist`
        knows, a function of two rows, or 'precomputed' if X is the distance matrix. Ward's and centroid
        linkage need 'euclidean'.
    memory : str or joblib.Memory, default=None
        Ignored: nothing is cached.
    connectivity : array, sparse matrix or callable, default=None
        Which rows may be merged, or a function that returns it from the rows. Such trees are
        scikit-learn's, and take no weights.
    compute_full_tree : 'auto' or bool, default='auto'
        Ignored: the full tree is always computed.
    linkage : {'ward', 'complete', 'average', 'single', 'centroid'}, default='ward'
        Distance of two clusters: the growth of the sum of squares ('ward'), the largest, mean or least
        distance of their rows, or the distance of their means ('centroid').
    distance_threshold : float, default=None
        Merges at this height or above are left out. `n_clusters` must then be None.
    compute_distances : bool, default=False
        Ignored: `distances_` is always there.
    micro_clusters : 'auto', int or None, default='auto'
        Number of small clusters to which the rows are summed first. 'auto' is none up to 65,536 rows, and
        1,000 beyond, or ten times `n_clusters`. None is always exact.
    random_state : int, RandomState or None, default=None
        Seed of the small clusters.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    n_leaves_ : int
        Number of leaves of the tree: rows with a weight, or small clusters.
    leaf_weights_ : ndarray of shape (n_leaves_,)
        Weight of each leaf.
    n_connected_components_ : int
        Number of connected components of `connectivity`.
    children_ : ndarray of shape (n_leaves_ - 1, 2)
        The two nodes of each merge. Nodes below `n_leaves_` are leaves, and the merge with number i is node
        ``n_leaves_ + i``.
    distances_ : ndarray of shape (n_leaves_ - 1,)
        Height of each merge.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Leaves
        The leaves and their clusters, for `predict`.

    See Also
    --------
    KMeans : Clusters of many rows in a few passes.
    suffice.plot.DendrogramDisplay : Draws the tree.

    Notes
    -----
    With weights :math:`w_A, w_B` and means :math:`c_A, c_B`, the height of a merge by Ward's linkage is

    .. math::

        \\sqrt{\\frac{2 w_A w_B}{w_A + w_B}} \\, ‖c_A - c_B‖,

    as in SciPy: half of its square is the growth of the sum of squares. A row of weight two has the merges of
    the row twice, but for their merge at height zero. By centroid linkage, a merge can be lower than the one
    before.

    Ward's merges are found by chains of nearest neighbours among the means, and those of single linkage by a
    minimum spanning tree; both compare all pairs of rows, and hold none of them.

    `predict` returns the cluster of the nearest leaf.

    References
    ----------
    * Ward (1963), "Hierarchical grouping to optimize an objective function", Journal of the American
      Statistical Association 58.
    * Müllner (2011), "Modern hierarchical, agglomerative clustering algorithms", arXiv:1109.2378.
    * Bahmani, Moseley, Vattani, Kumar and Vassilvitskii (2012), "Scalable k-means++", Proceedings of the
      VLDB Endowment 5.

    Examples
    --------
    >>> from suffice.cluster import AgglomerativeClustering
    >>> model = AgglomerativeClustering(2).fit([[0.0], [1.0], [10.0], [12.0]])
    >>> model.labels_
    array([0, 0, 1, 1], dtype=int32)
    >>> model.distances_.round(3)
    array([ 1.   ,  2.   , 14.849])
    """

    exempt = (
        Exempt(
            "rounding",
            "Micro-clusters are drawn by the values of rows.",
            lambda e: isinstance(e.micro_clusters, int),
        ),
    )

    counts_rows = True  # those of weight zero have a label, too
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1, None],
        "metric": [str, callable],
        "memory": [str, HasMethods("cache"), None],
        "connectivity": ["array-like", "sparse matrix", callable, None],
        "compute_full_tree": [StrOptions({"auto"}), "boolean"],
        "linkage": [StrOptions({"ward", "complete", "average", "single", "centroid"})],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
        "compute_distances": ["boolean"],
        "micro_clusters": [StrOptions({"auto"}), AT_LEAST_2, None],
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: str = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        micro_clusters: Any = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.micro_clusters = micro_clusters
        self.random_state = random_state

    def _guarantee(self) -> Guarantee:
        exact = self.micro_clusters in ("auto", None)
        return Guarantee("order", gathers=True) if exact else Guarantee()

    def _solve(self, data: Partitions) -> Progress:
        size = self._size(n_rows(self, data))
        if size is None:
            return self._merge_rows(data)
        points, weight = micro_clusters(data, size, seed_of(self.random_state))
        merges, label = self._cut(self._tree(merged(points, weight, self.linkage)), weight, points)
        return merges.replace(model=Leaves(points, label))

    def _check_options(self) -> None:
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be "
                "None."
            )
        if self.distance_threshold is not None and not self.compute_full_tree:
            raise ValueError("compute_full_tree must be True if distance_threshold is set.")
        if self.linkage in ("ward", "centroid") and self.metric not in ("euclidean", "l2"):
            raise ValueError(
                f"{self.metric} was provided as metric. {self.linkage.capitalize()} can only work with "
                "euclidean distances: use linkage='average', 'complete' or 'single'."
            )
        if self.connectivity is not None and self.linkage == "centroid":
            raise ValueError("connectivity does not work with linkage='centroid': use 'ward' or 'average'.")

    def _size(self, rows: float) -> int | None:
        """The number of small clusters, or None."""
        pairs = self.metric == "precomputed" or self.connectivity is not None
        if self.micro_clusters is None or (self.micro_clusters == "auto" and pairs):
            return None
        if pairs or self.metric not in ("euclidean", "l2"):
            if self.micro_clusters == "auto":
                return None
            raise ValueError(
                f"micro_clusters={self.micro_clusters} are means of rows, which need metric='euclidean' and "
                "connectivity=None: use micro_clusters=None."
            )
        if self.micro_clusters == "auto":
            return n_micro_clusters(self.n_clusters) if rows > MERGED_ROWS else None
        return int(self.micro_clusters)

    def _merge_rows(self, data: Partitions) -> Merges:
        instead = "use micro_clusters=1000, whose sums are computed where the rows are."
        X, all_weights, present = gathered(data, instead)
        must_have_enough(float(len(present)), self.n_clusters)
        points, weight = selected(X, present, self.metric), all_weights[present]
        components, pairs = 1, self.metric == "precomputed"
        merges: Any
        if self.connectivity is not None:
            *merges, components = self._connected(points, weight)
        elif self.metric in ("euclidean", "l2"):
            merges = self._tree(merged(points, weight, self.linkage))
        else:
            afford_pairs(len(points), INSTEAD)
            D = points if pairs else distances(points, points, self.metric)
            merges = self._tree(merged_matrix(D, weight, self.linkage))
        out, label = self._cut(merges, weight, None if pairs else points, components)
        leaves = Leaves.among(X, present, label, self.metric)
        return out.replace(model=leaves, labels_=leaves.labels(X, present, self.metric))

    def _connected(self, points: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The tree of rows that are linked, its heights, and the number of connected components."""
        from sklearn.cluster import linkage_tree, ward_tree

        if not (weight == 1).all():
            raise ValueError("connectivity takes no sample_weight: leave one of them out.")
        links = self.connectivity(points) if callable(self.connectivity) else self.connectivity
        if not sp.issparse(links):
            links = as_numbers(links, "connectivity", "AgglomerativeClustering")
        if links.shape != (len(points), len(points)):
            raise ValueError(
                f"connectivity has shape {links.shape}, expected {(len(points), len(points))}: a row and a "
                "column for each row of X."
            )
        options = {"connectivity": links, "return_distance": True}
        if self.linkage == "ward":
            result = ward_tree(points, **options)
        else:
            result = linkage_tree(points, **options, linkage=self.linkage, affinity=self.metric)
        return np.asarray(result[0], np.int64), result[4], result[1]

    def _tree(self, merges: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        left, right, height = merges
        return tree(left, right, height, sort=self.linkage != "centroid")

    def _cut(
        self, merges: Any, weight: np.ndarray, points: np.ndarray | None, components: int = 1
    ) -> tuple[Merges, np.ndarray]:
        """The tree of leaves with these weights, and the cluster of each leaf."""
        children, height = merges
        if self.distance_threshold is not None:
            K = int(np.count_nonzero(height >= self.distance_threshold)) + 1
        else:
            K = min(int(self.n_clusters or 1), len(weight))
        out = Merges(
            model=None,
            n_clusters_=K,
            children_=children,
            distances_=height,
            n_leaves_=len(weight),
            leaf_weights_=weight,
            n_connected_components_=components,
        )
        return out, numbered(cut(children, K), points)
