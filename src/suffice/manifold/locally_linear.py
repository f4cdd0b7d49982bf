"""Locally linear embedding. Roweis and Saul 2000; Gong and Xu 2.4."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.callers import warn
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Predictor
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..core.threads import in_order
from ..estimator.answers import row_wise
from ..estimator.base import Estimator, must_have_rows
from ..estimator.guarantees import Guarantee
from ..estimator.parameters import AT_LEAST_1, NON_NEGATIVE, Interval, StrOptions
from ..inputs import read_rows
from ..neighbors import NearestNeighbors
from ..neighbors.base import Neighbors
from .factors import Neighborhoods, hessian_factors, modified_factors, tangent_factors

INSTEAD = "embed a sample of the rows, and transform the others."
DENSE = 200  # points up to which all eigenvectors are computed
SOME = 4096  # rows whose weights are solved for together


def reconstruction_weights(X: Any, neighbors: Any, reg: float = 1e-3) -> np.ndarray:
    """Weights with sum one whose mean of the neighbors of a row is nearest to the row.

    Parameters
    ----------
    X : array of shape (n_samples, n_features) or (n_features,)
        The rows, or one.
    neighbors : array of shape (n_samples, n_neighbors, n_features) or (n_neighbors, n_features)
        The neighbors of each row, or of the one.
    reg : float, default=1e-3
        Strength of the penalty on squared weights, times the sum of squared distances. With zero, the
        shortest of the best weights.

    Returns
    -------
    weights : ndarray of shape (n_samples, n_neighbors) or (n_neighbors,)
        The weights, which may be negative.

    See Also
    --------
    LocallyLinearEmbedding : The embedding with the same weights.

    Notes
    -----
    With the Gram matrix of the differences, :math:`G_{jk} = (x - z_j)^T (x - z_k)`, the weights minimize

    .. math::

        \\Big\\| x - ∑_j w_j z_j \\Big\\|^2 + r \\, \\mathrm{tr}(G) \\, ‖w‖^2, \\qquad ∑_j w_j = 1,

    so that :math:`w ∝ (G + r \\, \\mathrm{tr}(G) I)^{-1} 1`. They do not change if all points are shifted,
    rotated or scaled. This is least squares of any target x in columns z with coefficients of sum one, too.

    References
    ----------
    * Saul and Roweis, "Think globally, fit locally", Journal of Machine Learning Research 4, 2003.

    Examples
    --------
    >>> from suffice.manifold import reconstruction_weights
    >>> reconstruction_weights([1.0, 0.0], [[0.0, 0.0], [4.0, 0.0]], reg=0.0).round(6)
    array([0.75, 0.25])
    """
    X, neighbors = np.asarray(X, dtype=np.float64), np.asarray(neighbors, dtype=np.float64)
    if neighbors.ndim != X.ndim + 1 or (*neighbors.shape[:-2], neighbors.shape[-1]) != X.shape:
        raise ValueError(
            f"neighbors has shape {neighbors.shape}, and X {X.shape}: expected the neighbors of each row, "
            "e.g. Z[index] of shape (n_samples, n_neighbors, n_features)."
        )
    Y = X[..., None, :] - neighbors
    G = Y @ np.swapaxes(Y, -1, -2)
    K = G.shape[-1]
    if reg == 0.0:  # solve the conditions of the optimum, since G may be singular
        conditions = np.ones((*G.shape[:-2], K + 1, K + 1))
        scale = np.trace(G, axis1=-2, axis2=-1)[..., None, None]
        conditions[..., :K, :K] = G / np.where(scale > 0.0, scale, 1.0)
        conditions[..., K, K] = 0.0
        return np.linalg.pinv(conditions, hermitian=True)[..., :K, K]
    trace = np.trace(G, axis1=-2, axis2=-1)
    G = G + (reg * np.where(trace > 0.0, trace, 1.0))[..., None, None] * np.eye(K)
    try:
        w = np.linalg.solve(G, np.ones((*G.shape[:-1], 1)))[..., 0]
    except np.linalg.LinAlgError:
        raise ValueError(
            f"reg={reg:.3g} is lost to rounding, and the neighbors of a row are linearly dependent: raise "
            "it, or set reg=0."
        ) from None
    return w / w.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Reconstruction(Predictor):
    """Places of points in the embedding: a row is at the weighted mean of those of its neighbours."""

    points: Annotated[np.ndarray, "(N, D)"]  # distinct
    embedding: Annotated[np.ndarray, "(N, C)"]
    reg: float

    def weights(self, X: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The weights of the points with these numbers in each row, (N, K)."""
        parts = tuple(slice(n, n + SOME) for n in range(0, max(1, len(X)), SOME))
        weights = in_order(lambda p: reconstruction_weights(X[p], self.points[index[p]], self.reg), parts)
        return np.concatenate(list(weights))

    def place(self, X: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The places of rows with these neighbours, (N, C)."""
        return np.einsum("nk,nkc->nc", self.weights(X, index), self.embedding[index])


class LocallyLinearEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Locally linear embedding: a map of rows that lie near a curved surface.

    The rows are gathered in memory. The nearest neighbours of each row and its weights in their mean are
    computed in threads, and one sparse eigenproblem finds the places. New rows are placed by their
    neighbours, where they are.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours of each row.
    n_components : int, default=2
        Number of features of the embedding.
    reg : float, default=0.001
        Strength of the penalty on squared weights, times the sum of squared distances of the neighbours.
    eigen_solver : {'auto', 'arpack', 'dense'}, default='auto'
        Solver of the eigenproblem: 'arpack' for few eigenvectors of a sparse matrix, 'dense' for all of a
        dense one, and 'auto' takes the second for few rows.
    tol : float, default=1e-06
        Stopping criterion of 'arpack'.
    max_iter : int, default=100
        Maximum number of iterations.
    method : {'standard', 'hessian', 'modified', 'ltsa'}, default='standard'
        The conditions on the places of neighbours: 'standard' has one set of weights for each row and
        'modified' several independent ones; 'hessian' minimizes second derivatives, and 'ltsa' (local tangent
        space alignment) aligns local principal components.
    hessian_tol : float, default=0.0001
        Sums of the coefficients of second derivatives below it are not divided by. Only for 'hessian'.
    modified_tol : float, default=1e-12
        Reflections by shorter vectors are left out. Only for 'modified'.
    neighbors_algorithm : {'auto', 'ball_tree', 'brute', 'kd_tree'}, default='auto'
        Search for neighbours: see :class:`~suffice.neighbors.NearestNeighbors`.
    random_state : int, RandomState or None, default=None
        Ignored: 'arpack' starts from the same vector.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the rows of the fit.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : Reconstruction
        The distinct rows and their places.
    nbrs_ : NearestNeighbors
        The search of distinct rows.
    reconstruction_error_ : float
        The minimum: with 'standard', the sum over the rows of squared distances of their places from the
        means of their neighbours.

    See Also
    --------
    reconstruction_weights : The weights of neighbours.
    suffice.decomposition.PCA : A flat map.
    suffice.decomposition.KernelPCA : Components in the space of a kernel.

    Notes
    -----
    With weights W of the neighbours of each row, see :func:`reconstruction_weights`, the places minimize

    .. math::

        ∑_n s_n \\Big\\| y_n - ∑_j W_{nj} y_j \\Big\\|^2, \\qquad ∑_n s_n y_n = 0, \\quad
        ∑_n s_n y_n y_n^T = I,

    for rows of weight s. The other methods have other sums of squares, of linear functions of the places of a
    row and its neighbours. The places are eigenvectors of the smallest eigenvalues but zero, of the constant.
    The entry of each with the largest size is positive.

    Equal rows are one point, with the sum of their weights: else they would be neighbours of each other
    alone. So a row of weight two is the row twice. If the neighbours divide the rows into groups without
    links, there are several constants, and a warning says so: raise `n_neighbors`, or embed each group.

    References
    ----------
    * Roweis and Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290, 2000.
    * Saul and Roweis, "Think globally, fit locally: unsupervised learning of low dimensional manifolds",
      Journal of Machine Learning Research 4, 2003.
    * Donoho and Grimes, "Hessian eigenmaps: locally linear embedding techniques for high-dimensional data",
      PNAS 100, 2003.
    * Zhang and Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent space alignment",
      SIAM Journal on Scientific Computing 26, 2004.
    * Zhang and Wang, "MLLE: Modified locally linear embedding using multiple weights", NIPS 19, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.manifold import LocallyLinearEmbedding
    >>> angle = np.linspace(0.0, 4.5, 300)
    >>> spiral = np.stack([angle * np.cos(angle), angle * np.sin(angle)], axis=1)
    >>> place = LocallyLinearEmbedding(n_components=1).fit_transform(spiral)[:, 0]
    >>> bool((np.diff(place) > 0).all() or (np.diff(place) < 0).all())
    True
    """

    model_: Annotated[Reconstruction, "D"]
    nbrs_: Any
    preserves_dtype: ClassVar[tuple[str, ...]] = ("embedding_", "transform")
    counts_rows = True  # those of weight zero are placed, too

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [AT_LEAST_1],
        "n_components": [AT_LEAST_1],
        "reg": [NON_NEGATIVE],
        "eigen_solver": [StrOptions({"auto", "arpack", "dense"})],
        "method": [StrOptions({"standard", "hessian", "modified", "ltsa"})],
        "hessian_tol": [Interval(Real, 0, None, closed="left")],
        "modified_tol": [Interval(Real, 0, None, closed="left")],
        "neighbors_algorithm": Neighbors._parameter_constraints["algorithm"],
    }
    _guarantee = Guarantee.always("order", gathers=True)

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        n_components: int = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: str = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: str = "auto",
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _solve(self, data: Partitions) -> Progress:
        block = data.gather(INSTEAD)
        must_have_rows(block.weight)
        points, weight, number = distinct(block.X[block.weight > 0], block.weight[block.weight > 0])
        N, K = len(points), int(self.n_neighbors)
        if self.n_components > block.X.shape[1]:
            raise ValueError(
                f"output dimension must be less than or equal to input dimension: n_components = "
                f"{self.n_components}, and there are {block.X.shape[1]} features."
            )
        if K >= N or self.n_components >= N:
            raise ValueError(
                f"Expected n_neighbors < n_samples and n_components < n_samples, but n_samples = {N}, "
                f"n_neighbors = {K}, n_components = {self.n_components}: equal rows count once. Fit to more "
                "rows, or lower them."
            )
        search = NearestNeighbors(n_neighbors=K, algorithm=self.neighbors_algorithm).fit(points)
        index = search.kneighbors(return_distance=False)
        start = Reconstruction(points, np.zeros((N, self.n_components)), float(self.reg))
        conditions, row = self._conditions(start, index)
        self._must_be_linked(
            sp.csr_array((np.ones(N * K), index.ravel(), np.arange(N + 1) * K), shape=(N, N))
        )
        values, vectors = self._smallest(conditions, np.sqrt(weight)[row], np.sqrt(weight))
        self.nbrs_ = search
        self.reconstruction_error_ = float(values.sum())
        self.embedding_ = np.full((len(block), self.n_components), np.nan)
        self.embedding_[block.weight > 0] = vectors[number]
        return Progress(start.replace(embedding=vectors))

    def _finish(self, progress: Progress, data: Partitions) -> None:
        rest = np.isnan(self.embedding_[:, 0])  # rows of weight zero
        if rest.any():
            self.embedding_[rest] = self._places(data.gather(INSTEAD).X[rest])

    def _conditions(self, start: Reconstruction, index: np.ndarray) -> tuple[Any, np.ndarray]:
        """Return the linear forms of the places whose squares are summed, and the row that each belongs to.

        The forms are rows of a sparse matrix.
        """
        rows = Neighborhoods(start.points, index, int(self.n_components))
        if self.method == "hessian":
            return rows.assembled(hessian_factors(rows, self.hessian_tol))
        if self.method == "ltsa":
            return rows.assembled(tangent_factors(rows))
        weights = start.weights(start.points, index)
        if self.method == "modified":
            return rows.assembled(modified_factors(rows, weights, self.modified_tol))
        return rows.assembled(np.hstack([np.ones((len(weights), 1)), -weights])[:, :, None])

    def _must_be_linked(self, graph: Any) -> None:
        groups, label = connected_components(graph, directed=False)
        if groups > 1:
            warn(
                f"The neighbours divide the rows into {groups} groups without links, of up to "
                f"{np.bincount(label).max()} rows: the places of a group say nothing of the others. Raise "
                f"n_neighbors (it is {self.n_neighbors}), or embed each group by itself."
            )

    def _smallest(self, F: Any, strength: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of F' S F y = value R^2 y, without the first ones, where S is the
        square of `strength` and R is `root`, both diagonal."""
        N, C = len(root), int(self.n_components)
        A = sp.diags_array(strength) @ F @ sp.diags_array(1.0 / root)
        M = sp.csc_array(A.T @ A)
        if self.eigen_solver == "dense" or (self.eigen_solver == "auto" and N <= DENSE):
            afford(2.0 * N**2, f"the pairs of {N} rows", "use eigen_solver='arpack'.")
            values, vectors = eigh(M.toarray(), subset_by_index=(0, C))
        else:
            values, vectors = self._by_arpack(M, C + 1)
        vectors = vectors[:, 1:] / root[:, None]
        sign = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(C)])
        return values[1:], np.ascontiguousarray(vectors * np.where(sign == 0.0, 1.0, sign))

    def _by_arpack(self, M: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
        # Below zero, so that the factored matrix is not singular: zero is an eigenvalue.
        shift = -1e-10 * float(M.diagonal().mean())
        start = generator(Purpose.PROBES).uniform(-1.0, 1.0, M.shape[0])
        try:
            values, vectors = eigsh(M, count, sigma=shift, tol=self.tol, maxiter=self.max_iter, v0=start)
        except ArpackNoConvergence as error:
            raise ValueError(
                f"ARPACK found {len(error.eigenvalues)} of {count} eigenvectors in max_iter={self.max_iter} "
                "iterations: raise max_iter or tol, or use eigen_solver='dense'."
            ) from None
        order = np.argsort(values)
        return values[order], vectors[:, order]

    def fit_transform(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> np.ndarray:
        """Place the rows, and return their places.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows.
        y : None
            Ignored.
        sample_weight : array, optional
            Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            The places.
        """
        return self.fit(X, y, sample_weight).embedding_

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Place rows by their neighbours among those of the fit.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return self._places(read_rows(self, X))

    def _places(self, X: np.ndarray) -> np.ndarray:
        index = self.nbrs_.kneighbors(X, self.n_neighbors, return_distance=False) if len(X) else None
        return self.model_.place(X, index) if index is not None else np.empty((0, self.n_components))

    @property
    def _n_features_out(self) -> int:
        return self.model_.embedding.shape[1]


def distinct(X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct rows in the order of their first places, their weights, and the number of each row."""
    _, first, number = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    number = rank[number.ravel()]
    return X[np.sort(first)], np.bincount(number, weight), number
