"""Truncated singular value decomposition, by sums of X'X times a few columns.

Halko, Martinsson and Tropp, "Finding structure with randomness", 2011; Tropp, Yurtsever, Udell and Cevher,
"Fixed-rank approximation of a positive-semidefinite matrix from streaming data", 2017; Li ch. 15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, eigh, lu, qr, svd
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import Seed
from ..core.blocks import Rows, rows_beside
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import row_wise
from ..estimator.base import Estimator, must_have_rows
from ..estimator.guarantees import OF_LENGTHS
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, StrOptions
from ..estimator.tags import tags
from ..fitting.linear_algebra import columns_apart, columns_together, gram, gram_times, roots, signs, times
from ..inputs import map_rows, read_rows
from ..statistics import Moments, moments
from .pca import _completed, _padded

ALGORITHMS = ("randomized", "arpack", "gram")


@dataclass(frozen=True, eq=False)
class GramMatrix(Statistics):
    """The product of X'X, summed over all rows, and some columns."""

    weight: float
    product: Annotated[np.ndarray, "(D, L)"]


@dataclass(frozen=True, eq=False)
class SingularAxes(Model):
    """The first K right singular vectors and singular values.

    It sums X'X times a probe. An empty probe stands for the identity.
    """

    threads_share_blocks: ClassVar[bool] = True
    axes: Annotated[np.ndarray, "(K, D)"]  # orthonormal rows
    value: Annotated[np.ndarray, "(K,)"]  # descending
    probe: Annotated[np.ndarray, "(D, L)"]

    def summarize(self, block: Rows, each: Callable[..., Iterable[Any]] = map) -> GramMatrix:
        weight = float(block.weight.sum())
        if not self.probe.shape[1]:
            return GramMatrix(weight, gram(block.X, block.weight))
        parts = each(partial(gram_times, block.X, block.weight), columns_apart(block.X, self.probe))
        return GramMatrix(weight, columns_together(parts))

    def turned(self, s: GramMatrix, normalized: Callable[[np.ndarray], np.ndarray]) -> Self:
        """One power iteration of the probe."""
        return self.replace(probe=normalized(s.product))

    def estimate(self, s: GramMatrix) -> Self:
        """Nyström approximation: the axes of the matrix of rank L with this product with the probe. Exact if
        X'X has rank L."""
        K, D = self.axes.shape
        if self.probe.shape[1]:
            _, inverse = roots(self.probe.T @ s.product)
            if not inverse.shape[1]:  # nothing but zeros
                return self.of(np.zeros(0), np.zeros((0, D)))
            vectors, value, _ = svd(s.product @ inverse, full_matrices=False, check_finite=False)
        else:
            squares, vectors = eigh(s.product, subset_by_index=(D - K, D - 1), check_finite=False)
            squares, vectors = squares[::-1], vectors[:, ::-1]
            value = np.sqrt(np.where(squares > D * np.finfo(np.float64).eps * squares[0], squares, 0.0))
        return self.of(value, vectors.T)

    def of(self, value: np.ndarray, axes: np.ndarray) -> Self:
        K = len(self.axes)
        seen = value > np.finfo(np.float64).eps * value.max(initial=0.0)
        axes = axes[seen][:K]
        return self.replace(axes=_completed(axes * signs(axes)[:, None], K), value=_padded(value[seen], K))

    def diagonalized(self, scores: Moments) -> Self:
        """Ritz vectors: the axes rotated within their span so that the scores are orthogonal."""
        seen = int(np.count_nonzero(self.value))
        if not seen:
            return self
        A = (scores.scatter + scores.weight * np.outer(scores.mean, scores.mean))[:seen, :seen]
        size = np.sqrt(np.diag(A))
        # The root, and not A, keeps the digits of the smallest.
        root = cholesky(A / np.outer(size, size)) * size
        _, value, turn = svd(root, check_finite=False)
        axes = turn @ self.axes[:seen]
        axes = np.concatenate([axes * signs(axes)[:, None], self.axes[seen:]])
        return self.replace(axes=axes, value=_padded(value, len(axes)))


@dataclass(frozen=True, eq=False)
class Spread(Statistics):
    """The moments of the scores, and those of the features."""

    scores: Moments  # (K,)
    features: Moments  # diagonal, (D,)

    @classmethod
    def of(cls, axes: np.ndarray, block: Rows) -> Spread:
        X, weight = block.X, block.weight
        return cls(moments(times(X, axes), weight), moments(X, weight, "diagonal"))


def _orthonormal(A: np.ndarray) -> np.ndarray:
    return qr(A, mode="economic", check_finite=False)[0]


NORMALIZERS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "QR": _orthonormal,
    "LU": lambda A: lu(A, permute_l=True, check_finite=False)[0],
    "none": lambda A: A,
}


def powers(
    data: Partitions,
    K: int,
    D: int,
    n_iter: int,
    n_oversamples: int,
    normalizer: str,
    random: np.random.RandomState,
) -> tuple[SingularAxes, GramMatrix]:
    """The first K axes by randomized power iterations, and the sums of the last pass."""
    L = min(K + n_oversamples, D)
    afford(4 * D * L, f"products of {D} features and {L} columns", "use fewer components.")
    model = SingularAxes(np.zeros((K, D)), np.zeros(K), random.normal(size=(D, L)))
    for turn in range(n_iter):
        s = data.fold(SingularAxes.summarize, model)
        model = model.turned(s, NORMALIZERS[normalizer if turn < n_iter - 1 else "QR"])
    s = data.fold(SingularAxes.summarize, model)
    return model.estimate(s), s


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Truncated singular value decomposition (SVD), without centring.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    algorithm : {'randomized', 'arpack', 'gram'}, default='randomized'
        'randomized' is randomized SVD, with a pass per power iteration. 'arpack' is the Lanczos method to
        `tol`, with a pass per step. 'gram' sums the Gram matrix X'X in one pass; it needs memory for the
        square of the number of features.
    n_iter : int, default=5
        Number of power iterations of 'randomized'. Each is a pass over the data; one more pass gives the
        axes.
    n_oversamples : int, default=10
        Number of additional random columns of 'randomized', beyond the components.
    power_iteration_normalizer : str, default='auto'
        Normalizer of the power iterations of 'randomized': 'QR', 'LU' or 'none'. 'auto' is 'LU', or 'none'
        for two iterations or fewer.
    random_state : int, RandomState or None, default=None
        Seed for the random columns.
    tol : float, default=0.0
        Tolerance of 'arpack'. 0 means machine precision.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Right singular vectors. The entry of largest magnitude of each is positive.
    singular_values_ : ndarray of shape (n_components,)
        Singular values, descending.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of the transformed rows along each component.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the total variance explained by each component.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : SingularAxes
        The fitted model.
    statistics_ : GramMatrix
        The sums of the last pass.

    See Also
    --------
    PCA : Centred rows, up to a few thousand features.
    suffice.topics.LatentSemanticAnalysis : The same for documents and queries.
    NMF : Components without negative entries.

    Notes
    -----
    The K largest singular values give the best approximation of rank K in the squared distance:

    .. math::

        X ≈ U Σ V^T.

    The rows of `components_` are the columns of V, and `transform` returns X V.

    References
    ----------
    * Halko, Martinsson and Tropp (2011), "Finding structure with randomness", SIAM Review 53.
    * Tropp, Yurtsever, Udell and Cevher (2017), "Fixed-rank approximation of a positive-semidefinite matrix
      from streaming data", NIPS 30.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from suffice.decomposition import TruncatedSVD
    >>> X = sp.csr_array([[3.0, 0.0, 0.0], [0.0, 0.0, 4.0], [0.0, 1.0, 0.0]])
    >>> svd = TruncatedSVD(2, random_state=0).fit(X)
    >>> svd.singular_values_.round(6)
    array([4., 3.])
    >>> abs(svd.transform(X).round(6))
    array([[0., 3.],
           [4., 0.],
           [0., 0.]])
    """

    exempt = (OF_LENGTHS,)

    model_: Annotated[SingularAxes, "D"]
    components_: Annotated[np.ndarray, "real (F, D)"]
    preserves_dtype = (
        *("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_", "transform"),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1],
        "algorithm": [StrOptions(set(ALGORITHMS))],
        "n_iter": [AT_LEAST_0],
        "n_oversamples": [AT_LEAST_1],
        "power_iteration_normalizer": [StrOptions({"auto", *NORMALIZERS})],
    }
    __sklearn_tags__ = tags(sparse=True)

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Seed = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    def _solve(self, data: Partitions) -> Progress:
        model, s = self._axes(data)
        must_have_rows(s.weight)
        spread = data.fold(Spread.of, np.ascontiguousarray(model.axes.T))
        axes, model = model.axes, model.diagonalized(spread.scores)
        turn = model.axes @ axes.T
        variance = ((turn @ spread.scores.variance) * turn).sum(axis=1)
        total = spread.features.variance.sum()
        self.explained_variance_ = variance
        self.explained_variance_ratio_ = variance / (total or 1.0)
        return Progress(model, statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        return {"components_": progress.model.axes, "singular_values_": progress.model.value}

    def _columns(self, D: int) -> int:
        return min(self.n_components + self.n_oversamples, D) if self.algorithm == "randomized" else D

    def _block_rows(self, block: Rows) -> float | None:
        D = block.X.shape[1]
        return rows_beside(block, 8.0 * D * (1 if self.algorithm == "arpack" else self._columns(D)))

    def _axes(self, data: Partitions) -> tuple[SingularAxes, GramMatrix]:
        K, D = self.n_components, self.n_features_in_
        if K > D:
            raise ValueError(f"n_components={K} must not be more than n_features={D}.")
        random = check_random_state(self.random_state)
        start = SingularAxes(np.zeros((K, D)), np.zeros(K), np.zeros((D, 0)))
        if self.algorithm == "arpack" and K < D:
            return self._lanczos(data, start, random)
        if self.algorithm == "randomized":
            name = self.power_iteration_normalizer
            if name == "auto":
                name = "LU" if self.n_iter > 2 else "none"
            return powers(data, K, D, self.n_iter, self.n_oversamples, name, random)
        afford(D**2, f"the products of {D} features", "use algorithm='randomized'.")
        s = data.fold(SingularAxes.summarize, start)
        return start.estimate(s), s

    def _lanczos(
        self, data: Partitions, start: SingularAxes, random: np.random.RandomState
    ) -> tuple[SingularAxes, GramMatrix]:
        D = self.n_features_in_

        def product(columns: np.ndarray) -> GramMatrix:
            return data.fold(SingularAxes.summarize, start.replace(probe=columns.reshape(D, -1)))

        square = LinearOperator(
            (D, D), matvec=lambda v: product(v).product[:, 0], matmat=lambda V: product(V).product
        )
        values, vectors = eigsh(square, self.n_components, tol=self.tol, v0=random.uniform(-1, 1, size=D))
        model = start.of(np.sqrt(np.maximum(values[::-1], 0.0)), vectors.T[::-1])
        model = model.replace(probe=np.ascontiguousarray(model.axes.T))
        return model, product(model.probe)

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Project the rows on the components.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        axes = np.ascontiguousarray(self.components_.T)
        return map_rows(lambda rows: times(rows, axes), X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map projections back to the space of the rows."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_

    def reconstruction_error(self, X: Any, sample_weight: Any = None) -> float:
        """Mean squared distance between rows and their reconstructions."""
        X = read_rows(self, X)
        axes = np.ascontiguousarray(self.components_.T)

        def squares(rows: Any) -> np.ndarray:
            scores = times(rows, axes)
            if sp.issparse(rows):
                square = rows.multiply(rows).sum(axis=1)
                return np.maximum(np.asarray(square).ravel() - (scores**2).sum(axis=1), 0.0)
            return ((rows - scores.dot(axes.T)) ** 2).sum(axis=1)

        return float(np.average(map_rows(squares, X), weights=sample_weight))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
