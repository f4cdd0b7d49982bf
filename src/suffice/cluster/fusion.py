"""Clustering by fusion: each row has its own centre, and a penalty of different centres fuses them.

Hocking, Joulin, Bach and Vert, "Clusterpath", 2011; Chi and Lange, "Splitting methods for convex clustering",
2015; STATS 601 6.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.isotonic import isotonic_regression

from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import NON_NEGATIVE, StrOptions
from .base import Clustering, Leaves, gathered, n_rows, numbered
from .clusterer import Clusters

INSTEAD = "fit to a sample of the rows, or to the centers of KMeans with their weights."


def fused_columns(X: np.ndarray, weight: np.ndarray, alpha: float) -> np.ndarray:
    """Centres with absolute differences, exactly.

    Each column is the isotonic regression of its sorted values, each moved by alpha for each row above minus
    each below.
    """
    out = np.empty_like(X)
    for d, x in enumerate(X.T):
        order = np.argsort(x, kind="stable")
        w = weight[order]
        below = np.concatenate([[0.0], np.cumsum(w)[:-1]])
        above = w.sum() - below - w
        # Equal values have one centre: isotonic regression pools what the pull would part or cross.
        out[order, d] = isotonic_regression(x[order] + alpha * (above - below), sample_weight=w)
    return out


def fused_vectors(
    X: np.ndarray, weight: np.ndarray, alpha: float, tol: float, max_iter: int
) -> tuple[np.ndarray, int, bool]:
    """Centres with Euclidean differences: accelerated projected gradient of the dual (AMA).

    The dual has a vector u_ij = -u_ji of length at most alpha w_i w_j for each pair, and the centres are
    x_i - (1 / w_i) sum_j u_ij. Stops at a duality gap of `tol` times the scatter.
    """
    N = len(X)
    pairs = alpha * weight[:, None] * weight
    U = np.zeros((N, N, X.shape[1]))
    V, momentum = U, 1.0
    step = 1.0 / float((1.0 / weight).max() * N) if N > 1 else 1.0
    mean = weight @ X / weight.sum()
    scatter = float(weight @ ((X - mean) ** 2).sum(axis=1)) or 1.0
    best = X
    for n in range(1, max_iter + 1):
        M = X - V.sum(axis=1) / weight[:, None]
        W = V + step * (M[:, None] - M)
        length = np.sqrt((W**2).sum(axis=2))
        shrink = np.minimum(1.0, np.divide(pairs, length, out=np.ones_like(length), where=length > 0))
        new = W * shrink[:, :, None]
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        change = new - U
        if float(((V - new) * change).sum()) > 0:  # restart: the momentum points away from the optimum
            following, V = 1.0, new
        else:
            V = new + ((momentum - 1.0) / following) * change
        U, momentum = new, following
        if n % 10 == 0 or n == max_iter:
            best = X - U.sum(axis=1) / weight[:, None]
            size = np.sqrt(((best[:, None] - best) ** 2).sum(axis=2))
            # Half: each pair is there twice.
            gap = 0.5 * float((pairs * size).sum() - (U * (best[:, None] - best)).sum())
            if gap <= tol * scatter:
                return best, n, True
    return best, max_iter, False


def merge_path(X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Greedy merges with a count of different pairs: the two groups that pay at the least alpha, each time.

    To merge a and b adds w_a w_b / (w_a + w_b) |a - b|^2 to the squares, and takes alpha w_a w_b from the
    penalty. Returns a row of each of the two groups, (N - 1, 2), and the alpha from which it pays.
    """
    C, w = X - X[0], weight.astype(np.float64)
    leaf, merges, at = np.arange(len(X)), [], []
    Y = C[:, None] - C
    price = (Y**2).sum(axis=2) / (w[:, None] + w)
    np.fill_diagonal(price, np.inf)
    while len(w) > 1:
        a, b = sorted(divmod(int(price.argmin()), len(w)))
        merges.append((leaf[a], leaf[b]))
        at.append(price[a, b])
        C[a] += (C[b] - C[a]) * (w[b] / (w[a] + w[b]))
        w[a] += w[b]
        keep = np.arange(len(w)) != b
        C, w, leaf, price = C[keep], w[keep], leaf[keep], price[np.ix_(keep, keep)]
        price[a] = price[:, a] = ((C - C[a]) ** 2).sum(axis=1) / (w + w[a])
        price[a, a] = np.inf
    return np.array(merges, np.int64).reshape(-1, 2), np.maximum.accumulate(np.array(at, np.float64))


@dataclass(frozen=True, eq=False, kw_only=True)
class Fusion(Clusters):
    """A fit with the centres of the rows and of the clusters, the objective, and the alpha of each merge."""

    centers_: Annotated[np.ndarray, "(N, D)"]
    cluster_centers_: Annotated[np.ndarray, "(K, D)"]
    objective_: float
    path_: Annotated[np.ndarray | None, "(M,)"] = None

    @classmethod
    def of(
        cls, centers: np.ndarray, weight: np.ndarray, label: np.ndarray, objective: float, **more: Any
    ) -> Fusion:
        """The centre of a cluster is the mean of those of its rows."""
        parts = [
            np.average(centers[label == k] - centers[0], axis=0, weights=weight[label == k])
            for k in range(int(label.max()) + 1)
        ]
        means = np.array(parts) + centers[0]
        return cls(
            model=None,
            centers_=centers,
            cluster_centers_=means,
            n_clusters_=len(means),
            objective_=objective,
            **more,
        )


class FusionClustering(Clustering):
    """Clustering by fusion: a centre for each row, and a penalty that makes centres equal.

    Pairs of rows are compared, so that memory is quadratic in the rows; it is estimated first. Rows are
    gathered.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. 0 leaves each row alone, and a large one fuses all.
    penalty : {'l2', 'l1', 'l0'}, default='l2'
        Of the difference of two centres: its length (convex clustering), the sum of its absolute entries,
        which is solved exactly for each feature, or one if they are not equal, minimized by greedy merges.
    tol : float, default=1e-08
        With 'l2', tolerance of the duality gap, relative to the scatter of the rows.
    max_iter : int, default=20000
        Maximum number of iterations.
    fusion_tol : float, default=1e-3
        Centres are one cluster if their distance is at most this part of the largest distance of a row from
        the mean.

    Attributes
    ----------
    centers_ : ndarray of shape (n_samples, n_features)
        The centre of each row with a weight.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
        Centres of the clusters.
    objective_ : float
        The value that is minimized.
    path_ : ndarray of shape (n_samples - 1,)
        With 'l0', the alpha from which each merge pays.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Leaves
        The rows and their clusters, for `predict`.

    See Also
    --------
    AgglomerativeClustering : Merges by a distance of clusters.
    KMeans : A number of centres that is chosen.

    Notes
    -----
    The centres :math:`μ_n` minimize

    .. math::

        \\frac{1}{2} ∑_n w_n ‖x_n - μ_n‖^2 + α ∑_{n < m} w_n w_m ‖μ_n - μ_m‖_q

    for q = 1 or 2. With 'l0', the squares have no factor 1/2, and the penalty counts the pairs that differ.
    The mean of the centres is that of the rows.

    References
    ----------
    * Hocking, Joulin, Bach and Vert (2011), "Clusterpath: an algorithm for clustering using convex fusion
      penalties", ICML.
    * Chi and Lange (2015), "Splitting methods for convex clustering", Journal of Computational and Graphical
      Statistics 24.

    Examples
    --------
    >>> from suffice.cluster import FusionClustering
    >>> model = FusionClustering(1.0).fit([[0.0], [4.0]])
    >>> model.centers_.ravel().round(4), model.n_clusters_
    (array([1., 3.]), 2)
    >>> FusionClustering(5.0).fit([[0.0], [4.0]]).centers_.ravel().round(4)
    array([2., 2.])
    """

    counts_rows = True  # those of weight zero have a label, too
    metric = "euclidean"
    centers_: Annotated[np.ndarray, "(N, D)"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE],
        "penalty": [StrOptions({"l0", "l1", "l2"})],
        "fusion_tol": [NON_NEGATIVE],
    }
    _guarantee = Guarantee.always("order", gathers=True)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        penalty: str = "l2",
        tol: float = 1e-8,
        max_iter: int = 20000,
        fusion_tol: float = 1e-3,
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter
        self.fusion_tol = fusion_tol

    def _solve(self, data: Partitions) -> Progress:
        n_rows(self, data)
        X, weight, present = gathered(data, INSTEAD)
        fusion, label = self._fuse(X[present], weight[present])
        leaves = Leaves.among(X, present, label, self.metric)
        return fusion.replace(model=leaves, labels_=leaves.labels(X, present, self.metric))

    def _fuse(self, X: np.ndarray, weight: np.ndarray) -> tuple[Fusion, np.ndarray]:
        """The centres, and the label of each row."""
        N, D = X.shape
        if self.penalty != "l1":
            numbers = N**2 * (6.0 * D if self.penalty == "l2" else 2.0 + D)
            afford(numbers, f"the differences of {N} rows", INSTEAD)
        first, n_iter = X[0], 1
        Y = X - first  # far from the origin, differences are exact
        if self.penalty == "l0":
            return self._merge(X, Y, weight)
        if self.penalty == "l1":
            centers = fused_columns(Y, weight, self.alpha)
        else:
            centers, n_iter, converged = fused_vectors(Y, weight, self.alpha, self.tol, self.max_iter)
            if not converged:
                warn(
                    f"FusionClustering did not converge in max_iter={self.max_iter}: raise max_iter or tol.",
                    ConvergenceWarning,
                )
        label = self._equal(centers, Y, weight)
        q = 1 if self.penalty == "l1" else 2
        objective = 0.5 * float(weight @ ((Y - centers) ** 2).sum(axis=1))
        for n in range(N):
            size = np.linalg.norm(centers[n + 1 :] - centers[n], ord=q, axis=1)
            objective += self.alpha * weight[n] * float(weight[n + 1 :] @ size)
        return Fusion.of(centers + first, weight, label, objective, n_iter_=n_iter), label

    def _equal(self, centers: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Groups of centres that are linked by small distances."""
        from scipy.spatial import KDTree

        spread = float(np.sqrt(((Y - weight @ Y / weight.sum()) ** 2).sum(axis=1).max()))
        near = KDTree(centers).query_pairs(self.fusion_tol * spread, output_type="ndarray")
        links = sp.coo_array((np.ones(len(near)), (near[:, 0], near[:, 1])), shape=(len(Y), len(Y)))
        return numbered(connected_components(links.tocsr(), directed=False)[1], Y)

    def _merge(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> tuple[Fusion, np.ndarray]:
        """The centres with a count of different pairs, and the label of each row."""
        merges, path = merge_path(X, weight)
        pays = merges[path <= self.alpha]
        links = sp.coo_array((np.ones(len(pays)), (pays[:, 0], pays[:, 1])), shape=(len(X), len(X)))
        label = numbered(connected_components(links.tocsr(), directed=False)[1], X)
        total = np.bincount(label, weight)
        means = np.stack([np.bincount(label, weight * y) / total for y in Y.T], axis=1)
        squares = float(weight @ ((Y - means[label]) ** 2).sum(axis=1))
        objective = squares + self.alpha * 0.5 * float(total.sum() ** 2 - (total**2).sum())
        return Fusion.of(means[label] + X[0], weight, label, objective, n_iter_=1, path_=path), label
