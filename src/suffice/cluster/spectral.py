"""Spectral clustering by four criteria: exact, or through landmarks where the rows are.

Shi and Malik, "Normalized cuts and image segmentation", 2000; Ng, Jordan and Weiss, "On spectral clustering",
2001; Gong and Xu 3.2; Chen and Cai, "Large scale spectral clustering with landmark-based representation",
2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, qr, svd
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.utils import check_random_state

from ..core.arguments import Seed
from ..core.blocks import Rows, dense
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress, Watch
from ..core.model import Model, Predictor
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..core.values import Value
from ..estimator.guarantees import DRAWS_STARTS, Guarantee
from ..estimator.parameters import AT_LEAST_1, AT_LEAST_2, FINITE, NON_NEGATIVE, StrOptions, seed_of
from ..fitting.landmarks import Features
from ..fitting.nearest import squared_distances
from ..inputs import in_blocks
from ..kernels import Kernel, as_kernel
from ..statistics.nearest import search
from .base import must_be_square, must_have_enough, n_rows, spread_rows, symmetric
from .clusterer import Clusterer, Clusters
from .k_centroids import directions
from .k_means import Centers, lloyd, printed, warn_of_fewer
from .kernel_k_means import feature_starts
from .measures import CRITERIA

INSTEAD = "use affinity='landmarks', whose sums are computed where the rows are."
# Tolerance of the squared movement of centres in the embedding, whose points have length one.
PLACES_TOL = 1e-6
DENSE = 300  # rows up to which all eigenvectors are computed


@dataclass(frozen=True, eq=False)
class GraphEmbedding(Value):
    """Eigenvectors of a graph of rows. The embedding of a new row is the mean of its neighbours, weighted
    by the affinities and divided by the eigenvalues.

    `points` are the rows, or with `column` their numbers among the columns of precomputed affinities.
    """

    points: Annotated[np.ndarray, "(M, D)"]
    column: Annotated[np.ndarray | None, "int (M,)"]
    weight: Annotated[np.ndarray, "(M,)"]
    degree: Annotated[np.ndarray, "(M,)"]
    vectors: Annotated[np.ndarray, "(M, C)"]  # of the rows, before they have length one
    values: Annotated[np.ndarray, "(C,)"]
    criterion: str
    kernel: Kernel | None
    n_neighbors: int  # of a graph of nearest neighbours; 0 for a kernel
    graph: Annotated[Any, "(M, M) or None"] = None  # affinities that no kernel has: an array, or CSR

    @property
    def matrix(self) -> Any:
        """Affinities of the rows of the fit, (M, M)."""
        if self.kernel is not None:
            A = self.kernel(self.points)
            return 0.5 * (A + A.T)
        return self.graph

    def affinities(self, X: np.ndarray) -> np.ndarray:
        """The affinities of new rows with the rows of the fit, (N, M)."""
        if self.column is not None:
            return dense(X[:, self.column])
        if self.kernel is not None:
            return self.kernel(X, self.points)
        square = squared_distances(X, self.points)
        nearest = np.argpartition(square, self.n_neighbors - 1, axis=1)[:, : self.n_neighbors]
        out = np.zeros(square.shape)
        np.put_along_axis(out, nearest, 0.5, axis=1)
        return out

    def features(self, X: np.ndarray) -> np.ndarray:
        """The embedding of each row, scaled to length one, (N, C)."""
        A = self.affinities(X)
        total = A @ self.weight
        if self.criterion == "ratio-cut":  # (d - A) u = value u
            below = total[:, None] - self.values
            below = np.where(np.abs(below) > 1e-300, below, 1.0)
            return directions((A @ (self.weight[:, None] * self.vectors)) / below)
        root = np.ones_like(self.degree) if self.criterion == "average-weight" else np.sqrt(self.degree)
        large = np.where(np.abs(self.values) > 1e-300, self.values, 1.0)
        return directions(A @ ((self.weight / root)[:, None] * self.vectors) / large)


@dataclass(frozen=True, eq=False)
class LandmarkSums(Statistics):
    """Sums of the weights of landmarks in rows, and of their products."""

    weight: float
    total: Annotated[np.ndarray, "(M,)"]
    gram: Annotated[np.ndarray, "(M, M)"]


@dataclass(frozen=True, eq=False)
class LandmarkGraph(Model):
    """Rows as weighted means of their nearest landmarks: affinities are Z total^-1 Z', all degrees one."""

    points: Annotated[np.ndarray, "(M, D)"]
    gamma: float
    n_neighbors: int
    vectors: Annotated[np.ndarray, "(M, C)"]

    def weights(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest landmarks of each row, and their weights with sum one, (N, r)."""
        r = min(self.n_neighbors, len(self.points))
        X = np.ascontiguousarray(X, dtype=np.float64)
        square, index, _ = search(self.points, np.ones(len(self.points)), X, r, 2.0)
        z = np.exp(-self.gamma * (square - square[:, :1]))
        return index, z / z.sum(axis=1, keepdims=True)

    def matrix(self, X: np.ndarray) -> Any:
        """Z, (N, M)."""
        index, z = self.weights(X)
        ends = np.arange(len(X) + 1) * index.shape[1]
        return sp.csr_array((z.ravel(), index.ravel(), ends), shape=(len(X), len(self.points)))

    def summarize(self, block: Rows) -> LandmarkSums:
        M = len(self.points)
        if not len(block):
            return LandmarkSums(0.0, np.zeros(M), np.zeros((M, M)))
        Z = self.matrix(block.X)
        W = sp.diags_array(block.weight) @ Z
        return LandmarkSums(float(block.weight.sum()), np.asarray(Z.T @ block.weight), (Z.T @ W).toarray())

    def estimate(self, s: LandmarkSums) -> Self:
        """Left singular vectors of Z total^-1/2 are Z times these."""
        count = self.vectors.shape[1]
        root = np.where(s.total > 0, np.sqrt(np.where(s.total > 0, s.total, 1.0)), np.inf)
        M = len(root)
        values, V = eigh(s.gram / root[:, None] / root, subset_by_index=(max(0, M - count), M - 1))
        values, V = values[::-1], V[:, ::-1]
        size = np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
        keep = values > 1e-12
        return self.replace(vectors=(V / root[:, None] / size)[:, keep])

    def features(self, X: np.ndarray) -> np.ndarray:
        """The embedding of each row, scaled to length one, (N, C)."""
        return (
            directions(np.asarray(self.matrix(X) @ self.vectors))
            if len(X)
            else np.empty((0, self.vectors.shape[1]))
        )


@dataclass(frozen=True, eq=False)
class SpectralModel(Predictor):
    """Cluster centres in the embedding of the rows."""

    embedding: Any  # GraphEmbedding or LandmarkGraph
    centers: Annotated[Centers, "C"]

    def nearest(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.centers.nearest(np.ascontiguousarray(self.embedding.features(X)))


def embedded(A: Any, weight: np.ndarray, K: int, criterion: str) -> tuple[np.ndarray, ...]:
    """Eigenvalues, eigenvectors and degrees of the matrix of a criterion, for nodes of these weights.

    A node of weight two is the node twice: with W = diag(weight), the matrices are symmetric after a
    factor sqrt(W) on both sides.
    """
    root = np.sqrt(weight)
    degree = np.asarray(A @ weight).ravel()
    half = sp.diags_array(root)
    A = half @ A @ half if sp.issparse(A) else root[:, None] * A * root
    if criterion == "average-weight":
        values, vectors = _extreme(A, K, largest=True)
    elif criterion == "ratio-cut":
        L = sp.diags_array(degree) - A if sp.issparse(A) else np.diag(degree) - A
        values, vectors = _extreme(L, K, largest=False)
    else:
        isolated = np.where(degree > 0, degree, 1.0)
        scale = 1.0 / np.sqrt(isolated)
        M = (
            sp.diags_array(scale) @ A @ sp.diags_array(scale)
            if sp.issparse(A)
            else scale[:, None] * A * scale
        )
        values, vectors = _extreme(M, K, largest=True)
        degree = isolated
    sign = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return values, vectors * np.where(sign == 0, 1.0, sign) / root[:, None], degree


def _extreme(M: Any, K: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """The K largest eigenvalues in decreasing order, or smallest in increasing order, and their vectors."""
    N = M.shape[0]
    if N <= DENSE or K >= N - 1:
        values, vectors = eigh(dense(M), subset_by_index=(N - K, N - 1) if largest else (0, K - 1))
    else:
        start = generator(Purpose.PROBES).uniform(-1.0, 1.0, N)
        bound = float(abs(M).sum(axis=1).max())  # of the absolute eigenvalues: the shift makes all positive
        eye = sp.eye_array(N) if sp.issparse(M) else np.eye(N)
        values, vectors = eigsh(M + bound * eye if largest else bound * eye - M, K, which="LA", v0=start)
        values = values - bound if largest else bound - values
    order = np.argsort(-values if largest else values, kind="stable")
    return values[order], vectors[:, order]


def cluster_qr(Y: np.ndarray) -> np.ndarray:
    """Labels by a pivoted QR factorization. Damle, Minden and Ying, 2019."""
    _, _, pivot = qr(Y.T, pivoting=True)
    u, _, v = svd(Y[pivot[: Y.shape[1]]].T)
    return np.abs(Y @ (u @ v)).argmax(axis=1)


def discretize(Y: np.ndarray, rng: np.random.Generator, max_iter: int = 30) -> np.ndarray:
    """Labels by the rotation nearest to a partition. Yu and Shi, 2003."""
    Y, K = directions(Y), Y.shape[1]
    rotation = np.zeros((K, K))
    rotation[:, 0] = Y[rng.integers(len(Y))]
    seen = np.zeros(len(Y))
    for k in range(1, K):
        seen += np.abs(Y @ rotation[:, k - 1])
        rotation[:, k] = Y[seen.argmin()]
    last, labels = 0.0, np.zeros(len(Y), np.int64)
    for _ in range(max_iter):
        labels = (Y @ rotation).argmax(axis=1)
        u, size, v = svd(np.eye(K)[labels].T @ Y)
        if abs(size.sum() - last) < np.finfo(np.float64).eps * size.sum():
            break
        last, rotation = size.sum(), v.T @ u.T
    return labels


@dataclass(frozen=True, eq=False, kw_only=True)
class Cuts(Clusters):
    """A fit with all pairs of rows: the eigenvalues, and the bound of the criterion that they give."""

    eigenvalues_: Annotated[np.ndarray, "(C,)"]
    bound_: float


class SpectralClustering(Clusterer):
    """Spectral clustering: k-means on eigenvectors of a graph of the rows, by four criteria.

    The affinities of all pairs of rows need memory quadratic in the rows, which is estimated first. With
    ``affinity='landmarks'``, each row is the mean of its nearest landmarks, and passes over the data where it
    is draw these, sum the products of their weights, and run k-means on places that are computed as
    rows are read.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    eigen_solver : {'arpack', 'lobpcg', 'amg'}, default=None
        Ignored: few rows have all eigenvectors computed, and others the first by Lanczos iterations.
    n_components : int, default=None
        Number of eigenvectors; None is the number of clusters.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of landmarks.
    n_init : int, default=10
        Number of initializations of k-means. With 'landmarks', they are compared on the landmarks, and passes
        over the rows continue from the best.
    gamma : float, default=1.0
        Parameter of the kernels 'rbf', 'poly', 'sigmoid', 'laplacian' and 'chi2'. With 'landmarks', it is
        divided by the mean squared distance of a landmark to its nearest other, or of a row to its nearest
        landmark, if that is larger.
    affinity : str, Kernel or callable, default='rbf'
        'rbf' or another kernel that scikit-learn's `pairwise_kernels` knows, a kernel of
        :mod:`suffice.kernels`, or a function of two rows or of two arrays of rows; 'nearest_neighbors', a
        graph of these;
        'precomputed', if X is a matrix of affinities, or a sparse graph, whose links get both directions;
        'precomputed_nearest_neighbors', if X is a sparse graph of distances; or 'landmarks'.
    n_neighbors : int, default=10
        Number of neighbours of a row, with 'nearest_neighbors'; of landmarks of a row, with 'landmarks', half
        of it.
    eigen_tol : float or 'auto', default='auto'
        Ignored: eigenvectors are computed to full precision.
    assign_labels : {'kmeans', 'discretize', 'cluster_qr'}, default='kmeans'
        How rows are labelled from their places. 'landmarks' needs 'kmeans'.
    degree : float, default=3
        Degree of the kernel 'poly'.
    coef0 : float, default=1
        Parameter of 'poly' and 'sigmoid'.
    kernel_params : dict, default=None
        Parameters of a kernel that is a function, passed as keywords.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    verbose : bool, default=False
        Whether to print how rows are labelled, and the iterations of k-means.
    criterion : {'normalized-cut', 'average-weight', 'ratio-cut', 'min-max-cut'}, default='normalized-cut'
        What the eigenvectors relax: see :func:`graph_cut`. 'min-max-cut' has the partition of
        'normalized-cut'. 'ratio-cut' does not work with 'landmarks'.
    landmarks : int, default=1000
        Number of landmarks, with ``affinity='landmarks'``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, if the rows are in memory.
    affinity_matrix_ : ndarray or sparse array of shape (n_samples, n_samples)
        Affinities of the rows with a weight. Only if they are not through landmarks.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues. Only if affinities are not through landmarks.
    bound_ : float
        Bound of the criterion for any partition, from the eigenvalues. Only if affinities are not through
        landmarks.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : SpectralModel
        The embedding and the centres, for `predict`.

    See Also
    --------
    graph_cut : The value of a partition.
    KernelKMeans : k-means in the space of a kernel.
    suffice.decomposition.KernelPCA : Components of a kernel.

    Notes
    -----
    With affinities A and degrees D, the eigenvectors are of the largest eigenvalues of A ('average-weight'),
    of the smallest of D - A ('ratio-cut'), or of the largest of

    .. math::

        D^{-1/2} A D^{-1/2}.

    Places of rows have length one. New rows are placed by the means of eigenvectors with their affinities
    (Nyström).

    Landmarks are rows that are far apart. A landmark is left out if it is the nearest of few rows, less than
    half of the mean, so that outliers are not clusters. A row has the Gaussian affinities z to
    its nearest landmarks, with sum one. Two rows have the affinity :math:`z^T Λ^{-1} z'` with the sums Λ of
    all z, so that all degrees are one.

    References
    ----------
    * Shi and Malik (2000), "Normalized cuts and image segmentation", IEEE Transactions on Pattern Analysis
      and Machine Intelligence 22.
    * Ng, Jordan and Weiss (2001), "On spectral clustering: analysis and an algorithm", NIPS 14.
    * Chen and Cai (2011), "Large scale spectral clustering with landmark-based representation", AAAI.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.cluster import SpectralClustering
    >>> angle = np.linspace(0.0, 2.0 * np.pi, 60)[:, None]
    >>> circle = np.hstack([np.cos(angle), np.sin(angle)])
    >>> rings = np.vstack([circle, 4.0 * circle])
    >>> model = SpectralClustering(2, gamma=2.0, random_state=0).fit(rings)
    >>> np.bincount(model.labels_), bool(np.ptp(model.labels_[:60]) == 0)
    (array([60, 60]), True)
    """

    exempt = (DRAWS_STARTS,)

    model_: SpectralModel
    counts_rows = True  # those of weight zero have a label, and a column in precomputed affinities
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [AT_LEAST_1],
        "eigen_solver": [StrOptions({"arpack", "lobpcg", "amg"}), None],
        "n_components": [AT_LEAST_1, None],
        "gamma": [NON_NEGATIVE],
        "affinity": [str, callable],
        "n_neighbors": [AT_LEAST_1],
        "eigen_tol": [NON_NEGATIVE, StrOptions({"auto"})],
        "assign_labels": [StrOptions({"kmeans", "discretize", "cluster_qr"})],
        "degree": [NON_NEGATIVE],
        "coef0": [FINITE],
        "kernel_params": [dict, None],
        "criterion": [StrOptions(set(CRITERIA))],
        "landmarks": [AT_LEAST_2],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: str | None = None,
        n_components: int | None = None,
        random_state: Seed = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: Any = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        criterion: str = "normalized-cut",
        landmarks: int = 1000,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.criterion = criterion
        self.landmarks = landmarks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return self.affinity in ("precomputed", "precomputed_nearest_neighbors")

    def _guarantee(self) -> Guarantee:
        return Guarantee() if self.affinity == "landmarks" else Guarantee("order", gathers=True)

    def _solve(self, data: Partitions) -> Progress:
        n_rows(self, data)
        return self._of_landmarks(data) if self.affinity == "landmarks" else self._of_rows(data)

    # --- all pairs of rows --------------------------------------------------------------------------------

    def _of_rows(self, data: Partitions) -> Progress:
        block = data.gather(INSTEAD)
        present = np.flatnonzero(block.weight > 0)
        must_have_enough(float(len(present)), self.n_clusters)
        weight, N = block.weight[present], len(present)
        X = block.X if sp.issparse(block.X) else np.asarray(block.X, dtype=np.float64)
        kernel, A = self._affinities(X, present)
        self._must_be_linked(A)
        count = min(self.n_components or self.n_clusters, N)
        values, vectors, degree = embedded(A, weight, count, self.criterion)
        column = present if self._precomputed else None
        points = np.empty((0, X.shape[1])) if self._precomputed else np.asarray(X)[present]
        near = min(self.n_neighbors, N) if self.affinity == "nearest_neighbors" else 0
        graph = None if kernel is not None else A
        embedding = GraphEmbedding(
            points, column, weight, degree, vectors, values, self.criterion, kernel, near, graph
        )
        label, centers = self._labels(directions(vectors), weight, X[present])
        model = SpectralModel(embedding, centers)
        labels = np.empty(len(block), np.int32)
        labels[present] = label
        warn_of_fewer(len(np.unique(label)), self.n_clusters, "n_clusters")
        rest = np.flatnonzero(block.weight == 0)
        if len(rest):
            labels[rest] = model.nearest(X[rest])[0]
        limit = bound(values, self.criterion)
        return Cuts(model=model, labels_=labels, eigenvalues_=values, bound_=limit)

    def _affinities(self, X: Any, present: np.ndarray) -> tuple[Kernel | None, Any]:
        N = len(present)
        if self._precomputed:
            must_be_square(X, "Affinity matrix")
        if self.affinity == "precomputed":
            A = X[present][:, present]
            return None, symmetric(A, "Affinity matrix", directed=sp.issparse(A))
        if self.affinity == "precomputed_nearest_neighbors":
            from sklearn.neighbors import NearestNeighbors

            graph = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed").fit(
                X[present][:, present]
            )
            links = graph.kneighbors_graph(X[present][:, present], mode="connectivity")
            return None, sp.csr_array(0.5 * (links + links.T))
        X = np.asarray(X)[present]
        if self.affinity == "nearest_neighbors":
            from ..neighbors import NearestNeighbors as Search

            near = min(self.n_neighbors, N)
            index = Search(n_neighbors=near).fit(X).kneighbors(X, return_distance=False)
            ends = np.arange(N + 1) * near
            links = sp.csr_array((np.ones(N * near), index.ravel(), ends), shape=(N, N))
            return None, sp.csr_array(0.5 * (links + links.T))
        afford(3.0 * N**2, f"the affinities of {N} rows", INSTEAD)
        if isinstance(self.affinity, str):
            params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
            kernel = as_kernel(self.affinity, params)
        else:
            kernel = as_kernel(self.affinity, self.kernel_params or {})
        A = kernel(X)
        if not np.isfinite(A).all():
            raise ValueError(f"Affinities must be finite; affinity={self.affinity!r} has NaN or infinity.")
        if A.min(initial=0.0) < 0:
            raise ValueError(
                f"Affinities must not be negative; affinity={self.affinity!r} has {A.min():g}: use 'rbf', or "
                "pass the matrix with affinity='precomputed'."
            )
        return kernel, 0.5 * (A + A.T)

    def _must_be_linked(self, A: Any) -> None:
        groups = connected_components(sp.csr_array(A), directed=False)[0]
        if groups > 1:
            warn(
                f"Graph is not fully connected: it has {groups} parts without links, so an eigenvalue is "
                "repeated. Increase n_neighbors, or decrease gamma.",
            )

    def _labels(self, Y: np.ndarray, weight: np.ndarray, rows: Any) -> tuple[np.ndarray, Centers]:
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")
        if self.assign_labels == "kmeans":
            centers = self._k_means(in_blocks(Rows(Y, None, weight)), Y, rows)
            return centers.nearest(Y)[0], centers
        if Y.shape[1] != self.n_clusters:
            raise ValueError(
                f"assign_labels={self.assign_labels!r} needs n_components == n_clusters: use 'kmeans'."
            )
        rng = generator(Purpose.START, seed_of(self.random_state))
        labels = cluster_qr(Y) if self.assign_labels == "cluster_qr" else discretize(Y, rng)
        sums = [np.average(Y[labels == k], axis=0, weights=weight[labels == k]) for k in np.unique(labels)]
        names = np.unique(labels, return_inverse=True)[1]
        return names, Centers(np.array(sums))

    def _k_means(self, data: Partitions, candidates: np.ndarray, rows: Any) -> Centers:
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_init)
        options = (self.n_clusters, "k-means++", seeds, self._precomputed)
        starts = feature_starts(candidates, rows, *options)
        if self.verbose:
            print("Initialization complete")
        watch = Watch(report=printed(1e-12)) if self.verbose else None
        model: Centers = lloyd(starts, data, 1e-12, 300, watch).model
        return model

    # --- landmarks ----------------------------------------------------------------------------------------

    def _of_landmarks(self, data: Partitions) -> Progress:
        if self.criterion == "ratio-cut" or self.assign_labels != "kmeans":
            raise ValueError(
                f"affinity='landmarks' does not work with criterion={self.criterion!r} and assign_labels="
                f"{self.assign_labels!r}: use 'normalized-cut' and 'kmeans'."
            )
        size = int(self.landmarks)
        afford(3.0 * size**2, f"the products of {size} landmarks", "use fewer landmarks.")
        points = self._with_rows(data, spread_rows(data, size, seed_of(self.random_state)))
        nearest = data.fold(Centers.summarize, Centers(points))
        apart = max(nearest.inertia / float(nearest.weight.sum()), spacing(points))
        gamma = self.gamma / apart if apart > 0 else 1.0
        near = max(2, self.n_neighbors // 2)
        count = min(self.n_components or self.n_clusters, len(points))
        start = LandmarkGraph(points, gamma, near, np.zeros((len(points), count)))
        embedding = start.estimate(data.fold(LandmarkGraph.summarize, start))
        places = embedding.features(points)  # of a sample, on which the starts are compared
        best = self._k_means(in_blocks(Rows(places, None, nearest.weight)), places, points)
        rows: Any = Features(data, embedding)  # type: ignore[arg-type]
        progress = lloyd((best,), rows, PLACES_TOL, 300)
        warn_of_fewer(int(np.count_nonzero(progress.statistics.weight)), self.n_clusters, "n_clusters")
        return Progress(SpectralModel(embedding, progress.model))

    def _with_rows(self, data: Partitions, points: np.ndarray) -> np.ndarray:
        """Drop landmarks that are nearest to too few rows: landmarks of a few outliers would become
        clusters."""
        weight = data.fold(Centers.summarize, Centers(points)).weight
        largest = np.sort(weight)[::-1]
        least = min(0.5 * weight.mean(), largest[min(self.n_clusters, len(points)) - 1])
        return points[weight >= least]

    @property
    def affinity_matrix_(self) -> Any:
        """Affinities of the rows with a weight, after a fit without landmarks."""
        embedding = getattr(getattr(self, "model_", None), "embedding", None)
        if not isinstance(embedding, GraphEmbedding):
            raise AttributeError("affinity_matrix_ is there after a fit without landmarks.")
        return embedding.matrix


def spacing(points: np.ndarray) -> float:
    """The mean squared distance of points to their nearest other."""
    if len(points) < 2:
        return 0.0
    return float(search(points, np.ones(len(points)), points, 2, 2.0)[0][:, 1].mean())


def bound(values: np.ndarray, criterion: str) -> float:
    """The bound of the criterion for any partition. Gong and Xu, equations 3.16 to 3.19."""
    K, total = len(values), float(values.sum())
    if criterion == "normalized-cut":
        return K - total
    if criterion == "min-max-cut":
        return K**2 / total - K if total > 0 else 0.0
    return total
