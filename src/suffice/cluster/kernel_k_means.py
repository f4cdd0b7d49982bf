"""k-means in the space of a kernel: exact, or with landmarks where the rows are.

Dhillon, Guan and Kulis, "Kernel k-means, spectral clustering and normalized cuts", 2004; Gong and Xu 3.5.4;
STATS 601 6.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from ..core.arguments import MaybePath, Seed
from ..core.blocks import Matrix, Rows
from ..core.loop import Progress, Watch
from ..core.model import Model
from ..core.partitions import Partitions
from ..estimator.base import Iterative, must_have_rows
from ..estimator.guarantees import DRAWS_STARTS
from ..estimator.kernel import INSTEAD, KernelEstimator
from ..estimator.parameters import AT_LEAST_1, StrOptions
from ..fitting.landmarks import Features, Landmarks
from ..inputs import in_blocks
from ..kernels.base import KernelLike
from ..statistics import describe
from .base import must_have_enough
from .clusterer import Clusterer, Clusters
from .k_means import Centers, ClusterSums, lloyd, warn_of_fewer
from .k_medoids import Pairs, drawn_by, spread_out


@dataclass(frozen=True, eq=False)
class KernelCenters(Model):
    """Centres among the features of landmarks, whose inner products are the kernel."""

    landmarks: Annotated[Landmarks, "D"]
    linear: Annotated[Centers, "R"]

    def summarize(self, block: Rows) -> ClusterSums:
        return self.linear.summarize(block.replace(X=self.landmarks.features(block.X)))

    def estimate(self, s: ClusterSums) -> Self:
        return self.replace(linear=self.linear.estimate(s))

    def nearest(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        return self.linear.nearest(np.ascontiguousarray(self.landmarks.features(X)))


def feature_starts(
    candidates: np.ndarray, rows: Any, K: int, init: str, seeds: np.ndarray, precomputed: bool = False
) -> tuple[Centers, ...]:
    """Initial centres among the places of some rows.

    They are drawn by hashes of the rows, and not of the places, which differ by rounding in other blocks.
    """
    pairs, out = Pairs(candidates, "sqeuclidean"), []
    for seed in seeds:
        uniform = drawn_by(rows, int(seed), precomputed)
        if init == "k-means++":
            index = spread_out(pairs, min(K, len(candidates)), uniform)
        else:
            index = np.argsort(uniform(0), kind="stable")[:K]
        out.append(Centers(np.ascontiguousarray(candidates[index[np.arange(K) % len(index)]])))
    return tuple(out)


class KernelKMeans(Clusterer, KernelEstimator, Iterative):
    """k-means clustering in the space of a kernel: exact, or with landmarks.

    Without `landmarks`, the rows are gathered, and the features of their kernel matrix are computed. Memory
    is quadratic in the rows, and is estimated first. With `landmarks`, features are kernels with as many
    sampled rows, and each iteration is a pass over the data where it is.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : Kernel, str or callable, default='rbf'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two arrays of rows that returns their Gram matrix, or 'precomputed' if X is that matrix.
    gamma : float, default=None
        Parameter of a kernel that is passed by name; None is one over the number of features.
    degree : float, default=3
        Degree of the kernel 'poly'.
    coef0 : float, default=1
        Parameter of 'poly' and 'sigmoid'.
    kernel_params : dict, default=None
        Parameters of a kernel that is a function, passed as keywords.
    init : {'k-means++', 'random'}, default='k-means++'
        Method for the initial centres, in the space of the kernel: among the rows, or among the landmarks.
    n_init : int, default=10
        Number of initializations. The best result is kept.
    max_iter : int, default=300
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance of the squared movement of the centres, relative to the mean variance of the features.
    random_state : int, RandomState or None, default=None
        Seed for the initialization, and of the sample of landmarks.
    landmarks : int, default=None
        Number of rows to sample by a hash of their values. If None, all rows are used, and the solution is
        exact.
    checkpoint : str or path, default=None
        File in which progress is saved while the fit runs. A fit that was interrupted resumes from it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    inertia_ : float
        Sum of squared distances to the nearest centre, in the space of the kernel.
    n_iter_ : int
        Number of iterations.
    trace_ : ndarray of shape (n_iter_,)
        Inertia at the start of each iteration.
    converged_ : bool
        Whether the fit converged.
    stopped_because_ : str
        Reason why the iterations stopped.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : KernelCenters
        The fitted model.
    statistics_ : ClusterSums
        The sums of the last pass.

    See Also
    --------
    SpectralClustering : The same objective with weights, relaxed to eigenvectors.
    normalized_cut_weights : Weights with which the objective is the normalized cut.
    suffice.decomposition.KernelPCA : Components in the space of a kernel.

    Notes
    -----
    With the weight :math:`W_c` of cluster c, the squared distance of a row from its centre is

    .. math::

        k(x, x) - \\frac{2}{W_c} ∑_{n ∈ c} w_n k(x, x_n) + \\frac{1}{W_c^2} ∑_{n, m ∈ c} w_n w_m k(x_n, x_m).

    The objective has many local minima: raise `n_init`.

    References
    ----------
    * Dhillon, Guan and Kulis (2004), "Kernel k-means, spectral clustering and normalized cuts", KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.cluster import KernelKMeans
    >>> angle = np.linspace(0.0, 2.0 * np.pi, 40)[:, None]
    >>> circle = np.hstack([np.cos(angle), np.sin(angle)])
    >>> rings = np.vstack([0.2 * circle, 2.0 * circle])
    >>> model = KernelKMeans(2, kernel=lambda X, Z: (X**2).sum(1)[:, None] * (Z**2).sum(1), random_state=0)
    >>> np.bincount(model.fit_predict(rings))
    array([40, 40])
    """

    exempt = (DRAWS_STARTS,)

    model_: Annotated[KernelCenters, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEstimator.kernel_constraints,
        "n_clusters": [AT_LEAST_1],
        "init": [StrOptions({"k-means++", "random"})],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelLike = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        init: str = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Seed = None,
        landmarks: int | None = None,
        checkpoint: MaybePath = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.landmarks = landmarks
        self.checkpoint = checkpoint

    @property
    def _gamma(self) -> float:
        return 1.0 / self.n_features_in_ if self.gamma is None else self.gamma

    def _solve(self, data: Partitions) -> Progress:
        features: Any
        if self.landmarks is not None:
            must_have_enough(data.fold(describe).rows, self.n_clusters)  # before landmarks warn of few rows
            landmarks = self._sampled(data)
            features, rows = Features(data, landmarks), landmarks.columns.points
            candidates = landmarks.features(rows)
        else:
            block = data.gather(INSTEAD)
            must_have_rows(block.weight)
            landmarks, phi = Landmarks.all_rows(self._kernel(), block, INSTEAD)
            present = np.flatnonzero(block.weight > 0)
            candidates, rows = np.ascontiguousarray(phi[present]), block.X[present]
            if isinstance(rows, np.ndarray) and rows.dtype.kind == "f":  # equal rows have equal features
                _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
                candidates = candidates[first[same.ravel()]]
            features = Features(in_blocks(Rows(candidates, None, block.weight[present])))
        description = features.fold(describe)
        must_have_rows(description.weight)
        must_have_enough(description.rows, self.n_clusters)
        tol = self.tol * float(description.features.variance.mean())
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_init)
        starts = feature_starts(candidates, rows, self.n_clusters, self.init, seeds, self.counts_rows)
        watch = Watch(
            self,
            self.checkpoint,
            data,
            as_model=lambda centers: KernelCenters(landmarks, centers),
            in_order=self.landmarks is None,
        )
        progress = lloyd(starts, features, tol, self.max_iter, watch)
        s = features.fold(Centers.summarize, progress.model)
        warn_of_fewer(int(np.count_nonzero(s.weight)), self.n_clusters, "n_clusters")
        return Clusters.after(progress, model=KernelCenters(landmarks, progress.model), inertia_=s.inertia)
