"""Display of the tree of a hierarchical clustering."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..core.extras import required
from .base import MANY, Display, colors, last_step, shorten

BETWEEN = "0.55"  # color of nodes with rows of several clusters


class DendrogramDisplay(Display):
    """Dendrogram: the tree of a hierarchical clustering, each merge at its height, each cluster in a color.

    Parameters
    ----------
    linkage : ndarray of shape (n_leaves - 1, 4)
        The two nodes of each merge, its height and the weight of its rows, as SciPy's `linkage` returns them:
        nodes below n_leaves are leaves, and merge i is node ``n_leaves + i``.
    labels : ndarray of shape (n_leaves,), default=None
        Cluster of each leaf. If None, all are one cluster.
    height : float, default=None
        Height of the cut, drawn as a line.
    names : sequence of shape (n_leaves,), default=None
        Names of the leaves. If None, their numbers.
    max_leaves : int, default=30
        Maximum number of leaves to draw. If there are more, only the last merges are drawn; a node below them
        is a triangle up to its height, with the weight of its rows in parentheses.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    leaves_ : list of int
        The nodes that are drawn as leaves, from left to right.
    lines_ : matplotlib LineCollection
        For each merge that is drawn, the stems of its two nodes and the bar between them.
    triangles_ : matplotlib PolyCollection
        Nodes whose merges are not drawn; None if there are none.
    cut_ : matplotlib Line2D
        The cut; None if there is none.

    See Also
    --------
    suffice.cluster.AgglomerativeClustering : The tree, by merges.
    suffice.cluster.DivisiveClustering : The tree, by splits.
    SilhouetteDisplay : How well rows fit in their clusters.
    scipy.cluster.hierarchy.dendrogram : Other orientations and orders of the leaves.

    Examples
    --------
    >>> from suffice.cluster import AgglomerativeClustering
    >>> from suffice.plot import DendrogramDisplay
    >>> tree = AgglomerativeClustering(2).fit([[0.0], [1.0], [10.0], [12.0]])
    >>> display = DendrogramDisplay.from_estimator(tree, names=["a", "b", "c", "d"])
    >>> display.linkage.round(1)
    array([[ 0. ,  1. ,  1. ,  2. ],
           [ 2. ,  3. ,  2. ,  2. ],
           [ 4. ,  5. , 14.8,  4. ]])
    """

    def __init__(
        self,
        linkage: Any,
        labels: Any = None,
        height: float | None = None,
        names: Any = None,
        max_leaves: int = 30,
    ) -> None:
        self.linkage, self.labels, self.height = linkage, labels, height
        self.names, self.max_leaves = names, max_leaves

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, names: Any = None, max_leaves: int = 30, ax: Any = None
    ) -> Self:
        """Draw the tree of a fitted hierarchical clustering.

        Parameters
        ----------
        estimator : AgglomerativeClustering or DivisiveClustering
            Fitted, or a pipeline that ends with one. scikit-learn's needs ``compute_distances=True``.
        names : sequence of shape (n_leaves,), default=None
            Names of the leaves. If None, the numbers of the rows; a leaf of several rows has their weight in
            parentheses.
        max_leaves : int, default=30
            Maximum number of leaves to draw. If there are more, only the last merges are drawn.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        DendrogramDisplay
        """
        estimator, _ = last_step(estimator)
        if hasattr(estimator, "splits_"):
            linkage, labels, weight = _of_splits(estimator)
        elif hasattr(estimator, "distances_") and hasattr(estimator, "children_"):
            linkage, labels, weight = _of_merges(estimator)
        else:
            raise TypeError(
                f"{type(estimator).__name__} has no tree with heights: pass a fitted AgglomerativeClustering "
                "(of scikit-learn, with compute_distances=True) or DivisiveClustering."
            )
        if not len(linkage):
            raise ValueError("The tree has one leaf, expected at least one merge.")
        if names is None:
            rows = np.asarray(getattr(estimator, "labels_", ()))
            names = range(len(labels)) if len(rows) == len(labels) else [f"({w:,.6g})" for w in weight]
        elif len(names) != len(labels):
            raise ValueError(f"There are {len(names)} names, expected {len(labels)}: one for each leaf.")
        threshold = getattr(estimator, "distance_threshold", None)
        height = _cut(linkage[:, 2], labels) if threshold is None else threshold
        return cls(linkage, labels, height, list(names), max_leaves).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        DendrogramDisplay
        """
        collections = required("matplotlib.collections", "plot")
        Patch = required("matplotlib.patches", "plot").Patch

        from .drawing import SMALLEST, legend_beside

        Z = np.asarray(self.linkage, dtype=np.float64)
        children, N = Z[:, :2].astype(int), len(Z) + 1
        labels = np.zeros(N, int) if self.labels is None else np.asarray(self.labels)
        names = range(N) if self.names is None else self.names
        clusters = np.unique(labels)
        palette = dict(zip(clusters.tolist(), colors(len(clusters)), strict=True)) | {None: BETWEEN}
        cluster = labels.tolist()
        for a, b in children:
            cluster.append(cluster[a] if cluster[a] == cluster[b] else None)
        height = np.append(np.zeros(N), Z[:, 2])
        first = 2 * N - max(2, min(N, self.max_leaves))  # merges from this node on are drawn
        self.leaves_, x = _placed(children, first)

        ax = self._on(ax, figsize=(float(np.clip(0.22 * len(self.leaves_) + 1.5, 5.0, 16.0)), 3.8))
        lines, inks = [], []
        for node in range(first, 2 * N - 1):
            a, b = children[node - N]
            for child in (a, b):
                lines.append([(x[child], height[child]), (x[child], height[node])])
                inks.append(palette[cluster[child]])
            lines.append([(x[a], height[node]), (x[b], height[node])])
            inks.append(palette[cluster[node]])
        self.lines_ = ax.add_collection(collections.LineCollection(lines, colors=inks, lw=1.4))
        below = [node for node in self.leaves_ if node >= N]
        self.triangles_ = self.cut_ = None
        if below:
            shapes = [[(x[n] - 0.35, 0.0), (x[n] + 0.35, 0.0), (x[n], height[n])] for n in below]
            fill = [palette[cluster[node]] for node in below]
            triangles = collections.PolyCollection(shapes, facecolors=fill, edgecolors=fill, alpha=0.55)
            self.triangles_ = ax.add_collection(triangles)
        if self.height is not None:
            self.cut_ = ax.axhline(self.height, color="0.3", lw=1.0, ls="--", zorder=0)
        texts = [
            shorten(names[node], 20) if node < N else f"({Z[node - N, 3]:,.6g})" for node in self.leaves_
        ]
        room = 72.0 / ax.figure.dpi * ax.bbox.width / len(texts)
        size = float(np.clip(0.85 * room, SMALLEST, 9.0))
        turn = {"rotation": 90} if 0.65 * size * max(map(len, texts)) > room else {}
        ax.set_xticks([])
        if room >= SMALLEST:
            ax.set_xticks(range(len(texts)), texts, fontsize=size, **turn)
        ax.tick_params(axis="x", length=0)
        ax.set(xlim=(-0.7, len(texts) - 0.3), ylim=(0.0, 1.05 * height.max() or 1.0), ylabel="height")
        if 1 < len(clusters) <= MANY:
            handles = [Patch(color=palette[c], label=f"cluster {c}") for c in clusters.tolist()]
            legend_beside(ax, handles)
        ax.spines[["top", "right", "bottom"]].set_visible(False)
        return self


def _placed(children: np.ndarray, first: int) -> tuple[list[int], np.ndarray]:
    """The nodes below the merges that are drawn, from left to right, and the places of all nodes on the x
    axis. SciPy's `dendrogram` recurses: a chain of single linkage exceeds the stack of Python."""
    N = len(children) + 1
    leaves, stack = [], [2 * N - 2]
    while stack:
        node = stack.pop()
        if node >= first:
            stack += children[node - N, ::-1].tolist()
        else:
            leaves.append(node)
    x = np.full(2 * N - 1, np.nan)
    x[leaves] = np.arange(len(leaves))
    for node in range(first, 2 * N - 1):
        x[node] = x[children[node - N]].mean()
    return leaves, x


def _of_merges(estimator: BaseEstimator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Linkage matrix of an agglomerative clustering, and label and weight of each leaf."""
    children, heights = np.asarray(estimator.children_), np.asarray(estimator.distances_)
    N = len(children) + 1
    weight = np.asarray(getattr(estimator, "leaf_weights_", np.ones(N)))
    labels = estimator.model_.label if hasattr(estimator, "model_") else estimator.labels_
    return _linkage(children, heights, weight), np.asarray(labels), weight


def _of_splits(estimator: BaseEstimator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of a divisive clustering. Its leaves are its clusters, and its heights diameters."""
    labels, nodes = np.asarray(estimator.model_.label), np.asarray(estimator.nodes_)
    K = estimator.n_clusters_
    place = dict(zip(nodes.tolist(), labels.tolist(), strict=True))
    children = np.empty((K - 1, 2), np.int64)
    for n, (parent, left, right) in enumerate(estimator.splits_[::-1].tolist()):
        children[n] = sorted((place[left], place[right]))
        place[parent] = K + n
    weight = np.bincount(labels, minlength=K).astype(np.float64)
    return _linkage(children, estimator.diameters_[::-1], weight), np.arange(K), weight


def _linkage(children: np.ndarray, heights: np.ndarray, weight: np.ndarray) -> np.ndarray:
    total = weight.tolist()
    for a, b in children.tolist():
        total.append(total[a] + total[b])
    return np.column_stack([children, heights, total[len(weight) :]])


def _cut(heights: np.ndarray, labels: np.ndarray) -> float | None:
    """A height between the merges inside of clusters and those of clusters, if there is one."""
    K, N = len(np.unique(labels)), len(labels)
    if not 1 < K < N:
        return None
    below, above = float(heights[: N - K].max()), float(heights[N - K :].min())
    return 0.5 * (below + above) if below < above else None
