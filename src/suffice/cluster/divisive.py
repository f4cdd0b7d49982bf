"""Divisive clustering: the cluster with the largest diameter is split, again and again.

Li 14.2; Gong and Xu 3.1; STATS 601 6.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ..core.arguments import Seed
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.parameters import AT_LEAST_1, AT_LEAST_2, StrOptions, seed_of
from .base import (
    EXACT_ROWS,
    Clustering,
    Leaves,
    gathered,
    micro_clusters,
    must_have_enough,
    n_micro_clusters,
    n_rows,
    numbered,
    selected,
)
from .clusterer import Clusters
from .k_means import warn_of_fewer
from .k_medoids import BLOCK, Pairs


def farthest_pair(pairs: Pairs, rows: np.ndarray) -> tuple[float, int, int]:
    """The largest distance of two of these rows, and the first such pair."""
    best, a, b = 0.0, int(rows[0]), int(rows[0])
    step = max(1, BLOCK // len(rows))
    for start in range(0, len(rows), step):
        D = pairs.rows_between(rows[start : start + step], rows)
        place = int(D.argmax())
        if D.flat[place] > best:
            i, j = divmod(place, len(rows))
            best, a, b = float(D.flat[place]), int(rows[start + i]), int(rows[j])
    return best, a, b


@dataclass(frozen=True, eq=False, kw_only=True)
class Splits(Clusters):
    """A fit with its splits: their nodes, farthest leaves and diameters, and the last node of each leaf."""

    splits_: Annotated[np.ndarray, "int (M, 3)"]
    seeds_: Annotated[np.ndarray, "int (M, 2)"]
    diameters_: Annotated[np.ndarray, "(M,)"]
    nodes_: Annotated[np.ndarray, "int (L,)"]
    n_leaves_: int


class DivisiveClustering(Clustering):
    """Divisive clustering: the cluster with the largest diameter is split between its farthest rows.

    Up to 16,384 rows are gathered; distances are computed some rows at a time. More rows are first summed to
    `micro_clusters` small clusters, by passes over the data where it is.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters; None splits until the rows of each cluster are equal.
    metric : str or callable, default='euclidean'
        Distance of rows: 'euclidean', 'manhattan', 'cosine' or another name that SciPy's `cdist` knows, a
        function of two rows, or 'precomputed' if X is the distance matrix.
    micro_clusters : 'auto', int or None, default='auto'
        Number of small clusters to which the rows are summed first. 'auto' is none up to 16,384 rows, and
        1,000 beyond. None takes all rows.
    random_state : int, RandomState or None, default=None
        Seed of the small clusters.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    n_clusters_ : int
        Number of clusters.
    splits_ : ndarray of shape (n_clusters_ - 1, 3)
        The node that was split, and its two parts. Nodes are numbered from 0, all rows, as they appear.
    seeds_ : ndarray of shape (n_clusters_ - 1, 2)
        The numbers of the two farthest leaves of each split.
    diameters_ : ndarray of shape (n_clusters_ - 1,)
        Diameter of the cluster that was split.
    nodes_ : ndarray of shape (n_leaves_,)
        The node of each leaf at the end.
    n_leaves_ : int
        Number of leaves: rows with a weight, or small clusters.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Leaves
        The leaves and their clusters, for `predict`.

    See Also
    --------
    AgglomerativeClustering : Merges, from the rows.
    BisectingKMeans : Splits by k-means, in passes over the data.
    suffice.plot.DendrogramDisplay : Draws the tree of splits.

    Notes
    -----
    The two rows with the largest distance in the cluster are the seeds,

    .. math::

        (a, b) = \\operatorname{argmax}_{i, j ∈ G} d(x_i, x_j),

    and each other row joins the nearer one, the first of two at the same distance. Each partition refines the
    one before. Weights do not matter, unless they are zero.

    References
    ----------
    * Kaufman and Rousseeuw (1990), "Finding Groups in Data", chapter 6.

    Examples
    --------
    >>> from suffice.cluster import DivisiveClustering
    >>> model = DivisiveClustering(3).fit([[0.0], [1.0], [10.0], [12.0], [40.0]])
    >>> model.labels_, model.diameters_
    (array([0, 0, 1, 1, 2], dtype=int32), array([40., 12.]))
    """

    exempt = (
        Exempt(
            "shift",
            "Micro-clusters are drawn by the values of rows.",
            lambda e: isinstance(e.micro_clusters, int),
        ),
    )

    counts_rows = True  # those of weight zero have a label, too
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1, None],
        "metric": [str, callable],
        "micro_clusters": [StrOptions({"auto"}), AT_LEAST_2, None],
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        micro_clusters: Any = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.micro_clusters = micro_clusters
        self.random_state = random_state

    def _guarantee(self) -> Guarantee:
        exact = self.micro_clusters in ("auto", None)
        return Guarantee("order", gathers=True) if exact else Guarantee()

    def _solve(self, data: Partitions) -> Progress:
        size, rows = self.micro_clusters, n_rows(self, data)
        if size == "auto":
            many = rows > EXACT_ROWS and self.metric != "precomputed"
            size = n_micro_clusters(self.n_clusters) if many else None
        if size is not None:
            if self.metric == "precomputed":
                raise ValueError(
                    "micro_clusters needs rows: use micro_clusters=None with precomputed distances."
                )
            points, _ = micro_clusters(data, int(size), seed_of(self.random_state))
            splits = self._split(Pairs(points, self.metric))
            return splits.replace(model=Leaves(points, numbered(splits.nodes_, points)))
        X, _, present = gathered(data, "use micro_clusters=1000, whose sums are computed where the rows are.")
        must_have_enough(float(len(present)), self.n_clusters)
        points = selected(X, present, self.metric)
        splits = self._split(Pairs(points, self.metric))
        label = numbered(splits.nodes_, None if self.metric == "precomputed" else points)
        leaves = Leaves.among(X, present, label, self.metric)
        return splits.replace(model=leaves, labels_=leaves.labels(X, present, self.metric))

    def _split(self, pairs: Pairs) -> Splits:
        N = len(pairs.X)
        node, width = np.zeros(N, np.int64), {0: farthest_pair(pairs, np.arange(N))}
        splits: list[tuple[int, int, int]] = []
        seeds: list[tuple[int, int]] = []
        diameters: list[float] = []
        limit = N if self.n_clusters is None else self.n_clusters
        while len(width) < limit:
            parent = max(width, key=lambda n: width[n][0])
            diameter, a, b = width.pop(parent)
            if diameter == 0.0:  # the rows of each cluster are equal
                width[parent] = diameter, a, b
                break
            rows = np.flatnonzero(node == parent)
            D = pairs.rows_between(np.array([a, b]), rows)
            left, right = 2 * len(splits) + 1, 2 * len(splits) + 2
            node[rows] = np.where(D[1] < D[0], right, left)
            for part in (left, right):
                width[part] = farthest_pair(pairs, np.flatnonzero(node == part))
            splits.append((parent, left, right))
            seeds.append((a, b))
            diameters.append(diameter)
        if self.n_clusters is not None:
            warn_of_fewer(len(width), self.n_clusters, "n_clusters")
        return Splits(
            model=None,
            n_clusters_=len(width),
            splits_=np.array(splits, np.int64).reshape(-1, 3),
            seeds_=np.array(seeds, np.int64).reshape(-1, 2),
            diameters_=np.array(diameters, np.float64),
            nodes_=node,
            n_leaves_=N,
        )
