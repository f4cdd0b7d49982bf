"""X-means: clusters are split in two as long as the BIC improves.

Pelleg and Moore, "X-means: extending k-means with efficient estimation of the number of clusters", 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state

from ..core.arguments import Seed
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.guarantees import DRAWS_STARTS
from ..estimator.parameters import AT_LEAST_1, StrOptions
from ..estimator.tags import tags
from ..fitting.seeding import SEEDINGS
from .clusterer import Clusters
from .k_means import Centers, ClusterSums, NearestCenters, all_centers, lloyd
from .parts import by_label

# Numbers of parts into which a cluster may be split; those of a group share passes. Two are not enough:
# by two halves of the corners of a square, a row gains log(2) by the variance and loses it by the weights.
PARTS = ((2,), (3, 4, 5, 6, 7, 8))
ROWS = 5  # least rows per part for more than two parts, since parts of one row have no variance


def spherical_bic(inertia: float, weight: np.ndarray, D: int) -> float:
    """The BIC of K spherical Gaussians with one variance, each row in one of them; lower is better.

    There are K - 1 weights, K D means and a variance.
    """
    N, K = float(weight.sum()), int(np.count_nonzero(weight))
    present = weight[weight > 0]
    spare = max(N - K, 1.0)
    variance = max(inertia / (spare * D), np.finfo(np.float64).tiny)
    likelihood = (
        float(present @ np.log(present / N)) - 0.5 * N * D * np.log(2.0 * np.pi * variance) - 0.5 * spare * D
    )
    return (K - 1 + K * D + 1) * np.log(max(N, 1.0)) - 2.0 * likelihood


def spurious_gain(N: float, D: int, K: int) -> float:
    """Log-likelihood that K parts of one uniform density may gain.

    Cells of a uniform density have at least the second moment of spheres, less than that of cubes (Gersho,
    "Asymptotically optimal block quantization", 1979). On a line all equal cells gain zero, with a standard
    deviation of 0.63 sqrt(N), and in D dimensions of 0.63 sqrt(N D) at most. Two halves of a cube lose.
    """
    if K == 2 and D > 1:
        return 0.0
    sphere = np.exp(2.0 / D * gammaln(0.5 * D + 1.0)) / ((D + 2.0) * np.pi)
    return N * float(0.5 * D * np.log(1.0 / (12.0 * sphere))) + 2.0 * float(np.sqrt(N * D))


@dataclass(frozen=True, eq=False, kw_only=True)
class Rounds(Clusters):
    """A fit by rounds of splits, with the BIC of the clusters."""

    bic_: float


class XMeans(NearestCenters):
    """k-means that finds the number of clusters: they are split as long as the BIC improves.

    Parameters
    ----------
    min_clusters : int, default=1
        Number of clusters at the start, and the least.
    max_clusters : int, default=32
        Largest number of clusters.
    init : {'k-means++', 'k-means||', 'random'}, default='k-means++'
        Method for the initial centres: see :class:`KMeans`.
    n_init : int, default=3
        Number of initializations, of each split too. The best result is kept. All runs share each pass.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the squared movement of the centres, relative to the mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed for the initialization.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters that were found.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    inertia_ : float
        Sum of squared distances to the nearest centre.
    bic_ : float
        BIC of the clusters.
    n_iter_ : int
        Number of rounds of splits.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Centers
        The fitted model.
    statistics_ : ClusterSums
        The sums of the last pass.

    See Also
    --------
    choose_k : Compares several numbers of clusters, by four criteria.
    suffice.mixture.GaussianMixture : Groups of other shapes, with `bic`.

    Notes
    -----
    In each round, k-means splits the rows of each cluster in two, or else into 3 to 8 parts. The least
    number is kept for which the BIC of spherical Gaussians is lower than that of one,

    .. math::

        \\mathrm{BIC} = p \\log N - 2 \\log L, \\qquad p = K D + K,

    by more than parts of a uniform density can gain. (Pelleg and Moore split in two only. No two halves of
    four clusters at the corners of a square are better than one cluster. Those at all corners of a cube of
    four or more dimensions may still be missed.) Then k-means moves all centres. Rounds end when no split is
    kept.

    References
    ----------
    * Pelleg and Moore (2000), "X-means: extending k-means with efficient estimation of the number of
      clusters", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.cluster import XMeans
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 1.0, (100, 2)) for m in (0.0, 10.0, 20.0)])
    >>> XMeans(random_state=0).fit(X).n_clusters_
    3
    """

    exempt = (DRAWS_STARTS,)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "min_clusters": [AT_LEAST_1],
        "max_clusters": [AT_LEAST_1],
        "init": [StrOptions(set(SEEDINGS))],
    }
    __sklearn_tags__ = tags(sparse=False)

    def __init__(
        self,
        min_clusters: int = 1,
        *,
        max_clusters: int = 32,
        init: str = "k-means++",
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Seed = None,
    ) -> None:
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, data: Partitions) -> Progress:
        model, rounds = self._grown(data, self._tolerance(data, self.min_clusters))
        s: ClusterSums = data.fold(Centers.summarize, model)
        bic = spherical_bic(s.inertia, s.weight, model.center.shape[1])
        present = s.weight > 0
        s = s.replace(weight=s.weight[present], offset=s.offset[present])
        return Rounds(
            model=model.replace(center=model.center[present]),
            statistics=s,
            n_clusters_=len(s.weight),
            inertia_=s.inertia,
            n_iter_=rounds,
            bic_=bic,
        )

    def _grown(self, data: Partitions, tol: float) -> tuple[Centers, int]:
        """The centres after the last split, and the number of rounds."""
        random = check_random_state(self.random_state)

        def seeds() -> np.ndarray:
            return random.randint(np.iinfo(np.int32).max, size=self.n_init)

        def split(part: Any, k: int, most: int) -> np.ndarray:
            """The centre of a cluster, or those of the least number of parts that improve the BIC."""
            one = Centers(model.center[[k]])
            before = part.fold(Centers.summarize, one)
            if most < 2 or not before.weight[0] > 1 or not before.inertia > 0:
                return one.center
            N, D = float(before.weight[0]), one.center.shape[1]
            bic = spherical_bic(before.inertia, before.weight, D)
            for group in PARTS:
                numbers = [K for K in group if most >= K and (K == 2 or ROWS * K <= N)]
                results = all_centers(part, numbers, self, tol, seeds()) if numbers else []
                for K, (split_model, s) in zip(numbers, results, strict=True):
                    after = spherical_bic(s.inertia, s.weight, D)
                    if after < bic - 2.0 * spurious_gain(N, D, K) and (s.weight > 0).all():
                        return split_model.center
            return one.center

        model = all_centers(data, [self.min_clusters], self, tol, seeds())[0][0]
        rounds = 0
        while True:
            rounds += 1
            centers: list[np.ndarray] = []
            part = by_label(data, model)
            for k in range(len(model.center)):
                spare = self.max_clusters - len(model.center) - sum(len(c) - 1 for c in centers)
                centers.append(split(part(k), k, spare + 1))
            if all(len(part) == 1 for part in centers):
                return model, rounds
            model = lloyd((Centers(np.concatenate(centers)),), data, tol, self.max_iter).model
