"""Kernel principal component analysis: exact, or from sums over the rows with landmarks.

Schölkopf, Smola and Müller, "Nonlinear component analysis as a kernel eigenvalue problem", 1998; STATS 601
4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, solve
from scipy.sparse.linalg import eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Matrix, Rows
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model, Predictor
from ..core.partitions import Partitions
from ..core.randomness import Purpose, generator
from ..estimator.answers import row_wise
from ..estimator.base import must_have_rows
from ..estimator.guarantees import Exempt
from ..estimator.kernel import INSTEAD, KernelEstimator
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, NON_NEGATIVE, StrOptions
from ..fitting.landmarks import Landmarks
from ..fitting.linear_algebra import signs
from ..inputs import map_rows, read_rows
from ..kernels import Kernel, KernelColumns
from ..kernels.base import KernelLike, must_be_finite
from ..statistics import Moments
from .pca import PrincipalAxes

ZERO = 1e-12  # eigenvalues below this fraction of the largest are zero
NEGATIVE = 1e-5  # negative eigenvalues beyond this fraction of the largest are not rounding errors
MANY_ROWS, FEW = 200, 10  # with more rows and fewer components, Lanczos iterations are used


@dataclass(frozen=True, eq=False)
class KernelAxes(Predictor):
    """Exact components: weighted sums of the kernels with the rows, about their mean."""

    columns: Annotated[KernelColumns, "M, D"]
    center: Annotated[np.ndarray, "(M,)"]  # the mean kernel with each row
    vectors: Annotated[np.ndarray, "(M, K)"]  # coefficients times the square roots of the eigenvalues
    values: Annotated[np.ndarray, "(K,)"]

    def project(self, X: Matrix) -> np.ndarray:
        size = np.sqrt(np.where(self.values > 0, self.values, np.inf))
        return (self.columns(X) - self.center).dot(self.vectors / size)

    @classmethod
    def of(cls, kernel: Kernel, n_components: int | None, lanczos: bool, block: Rows) -> KernelAxes:
        """Eigenvectors of the kernel matrix, centred by the weighted mean."""
        N, root = len(block), np.sqrt(block.weight)
        afford(N**2, f"the kernels of {N} rows", INSTEAD)
        K = kernel(block.X)
        must_be_finite(K)
        mean, of_rows = (np.average(K, axis=axis, weights=block.weight) for axis in (0, 1))
        centred = K - mean - of_rows[:, None] + np.average(mean, weights=block.weight)
        rounding = 100.0 * block.weight.sum() * float(np.finfo(np.float64).eps * np.abs(K).max())
        count = N if n_components is None else min(N, n_components)
        values, vectors = _largest(root[:, None] * centred * root, count, lanczos, rounding)
        repeated = vectors / np.where(root > 0, root, 1.0)[:, None]  # as if rows were
        vectors = vectors * signs(repeated.T) * root[:, None]  # coefficients of the rows
        return cls(KernelColumns.of(kernel, block.X, np.arange(N), INSTEAD), mean, vectors, values)


def _largest(K: np.ndarray, count: int, lanczos: bool, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues in decreasing order, and their vectors. Rounding errors become zero."""
    N = len(K)
    if lanczos and count < N:
        start = generator(Purpose.PROBES).uniform(-1.0, 1.0, size=N)
        values, vectors = eigsh(K, count, which="LA", v0=start)
    else:
        values, vectors = eigh(K, subset_by_index=(N - count, N - 1))
    if values.min() < -max(NEGATIVE * values.max(), rounding):
        raise ValueError(
            f"There are significant negative eigenvalues ({values.min():g}, the largest is "
            f"{values.max():g}): the kernel is not positive definite. See "
            "suffice.kernels.is_positive_definite."
        )
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    return np.where(values > ZERO * max(values[0], 0.0), values, 0.0), vectors


@dataclass(frozen=True, eq=False)
class Invertible(Progress):
    """Exact components, and the kernel ridge regression of the rows on their components."""

    X_transformed_fit_: Any = None  # (M, K), the components of the rows
    dual_coef_: Any = None  # (M, D)


@dataclass(frozen=True, eq=False)
class LandmarkAxes(Model):
    """Principal components of the features of landmarks."""

    landmarks: Annotated[Landmarks, "D"]
    axes: Annotated[PrincipalAxes, "R"]
    count: int

    def summarize(self, block: Rows) -> Moments:
        return self.axes.summarize(block.replace(X=self.landmarks.features(block.X)))  # type: ignore[return-value]

    def estimate(self, s: Moments) -> Self:
        return self.replace(axes=self.axes.estimate(s))

    def project(self, X: Matrix) -> np.ndarray:
        return (self.landmarks.features(X) - self.axes.mean).dot(self.axes.axes[: self.count].T)


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Principal component analysis in the space of a kernel: exact, or with landmarks.

    Without `landmarks`, the rows are gathered, and the eigenvectors of their kernel matrix are computed. With
    `landmarks`, components are sums of kernels with as many sampled rows, and two passes over the data fit
    them where the rows are: one samples the landmarks, and one sums the moments of their kernels.

    Parameters
    ----------
    n_components : int, default=None
        Number of components. If None, all with a positive eigenvalue are kept.
    kernel : Kernel, str or callable, default='linear'
        A kernel of :mod:`suffice.kernels`, a name that scikit-learn's `pairwise_kernels` knows, a function of
        two rows that returns a number, or of two arrays of rows that returns their Gram matrix, or
        'precomputed' if X is that matrix. With a kernel of strings, :class:`~suffice.kernels.Subsequences`, X
        is a list of strings or of sequences of symbols.
    gamma : float, default=None
        Parameter of a kernel that is passed by name; None is one over the number of features.
    degree : float, default=3
        Degree of the kernel 'poly'.
    coef0 : float, default=1
        Parameter of 'poly' and 'sigmoid'.
    kernel_params : dict, default=None
        Parameters of a kernel that is a function, passed as keywords.
    alpha : float, default=1.0
        Penalty of the ridge regression that learns the inverse transform.
    fit_inverse_transform : bool, default=False
        Whether to learn the inverse transform: the ridge regression of the rows on their components, in the
        space of the kernel. It needs ``landmarks=None``.
    eigen_solver : {'auto', 'dense', 'arpack', 'randomized'}, default='auto'
        'dense' computes all eigenvectors, 'arpack' and 'randomized' the largest by Lanczos iterations, to
        full precision. 'auto' is 'arpack' for fewer than 10 components of more than 200 rows. Ignored with
        landmarks.
    tol : float, default=0
        Ignored: eigenvectors are computed to full precision.
    max_iter : int, default=None
        Maximum number of iterations.
    iterated_power : int or 'auto', default='auto'
        Ignored.
    remove_zero_eig : bool, default=False
        Whether to remove components whose eigenvalue is zero.
    random_state : int, RandomState or None, default=None
        Seed of the sample of landmarks.
    copy_X : bool, default=True
        Ignored: `X` is never modified.
    n_jobs : int, default=None
        Ignored: see `suffice.threads`.
    landmarks : int, default=None
        Number of rows to sample by a hash of their values. If None, all rows are used, and the solution is
        exact.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, in decreasing order.
    eigenvectors_ : ndarray of shape (n_points, n_components)
        Coefficients of the kernels with `X_fit_`, times the square roots of the eigenvalues: without weights,
        the eigenvectors.
    X_fit_ : ndarray of shape (n_points, n_features)
        The rows with a weight, or the landmarks. For a precomputed kernel, the numbers of its columns.
    gamma_ : float
        The value of gamma.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the inverse transform. Only if it is learned.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Components of the rows of the fit. Only if the inverse transform is learned.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : KernelAxes or LandmarkAxes
        The fitted model.
    statistics_ : Moments
        Only with landmarks: the moments of their features.

    See Also
    --------
    PCA : Components of the features themselves, in one pass.
    suffice.kernel_approximation.Nystroem : The features of landmarks.

    Notes
    -----
    With the kernel matrix K, centred in the space of the kernel,

    .. math::

        K v_j = λ_j v_j, \\qquad t_j(x) = λ_j^{-1/2} ∑_n v_{nj} \\, (k(x, x_n) - \\bar k(x_n)),

    where :math:`\\bar k(x_n)` is the mean kernel of all rows with row n. With landmarks, these are the
    principal components of the features of :class:`~suffice.kernel_approximation.Nystroem`; if all rows are
    landmarks, they are exact.

    References
    ----------
    * Schölkopf, Smola and Müller (1998), "Nonlinear component analysis as a kernel eigenvalue problem",
      Neural Computation 10.
    * Bakır, Weston and Schölkopf (2004), "Learning to find pre-images", NIPS 16.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import KernelPCA
    >>> angle = np.linspace(0.0, 2.0 * np.pi, 60)[:, None]
    >>> circle = np.hstack([np.cos(angle), np.sin(angle)])
    >>> rings = np.vstack([circle, 3.0 * circle])
    >>> kpca = KernelPCA(1, kernel="rbf", gamma=0.3).fit(rings)
    >>> kpca.transform(rings)[[0, 20, 60, 80]].round(1).ravel()
    array([-0.4, -0.4,  0.4,  0.4])
    """

    exempt = (
        Exempt("shift", "Inner products of rows are others."),
        Exempt("rounding", "Landmarks are drawn by their values.", lambda e: e.landmarks is not None),
    )

    model_: Annotated[KernelAxes | LandmarkAxes, "D"]
    preserves_dtype: ClassVar[tuple[str, ...]] = ("eigenvalues_", "eigenvectors_", "transform")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEstimator.kernel_constraints,
        "n_components": [AT_LEAST_1, None],
        "alpha": [NON_NEGATIVE],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "max_iter": [AT_LEAST_1, None],
        "iterated_power": [AT_LEAST_0, StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: Any = "auto",
        remove_zero_eig: bool = False,
        random_state: Seed = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        landmarks: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.landmarks = landmarks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse &= not self.fit_inverse_transform
        return tags

    @property
    def _gamma(self) -> float:
        return self.gamma_

    def _check_options(self) -> None:
        if self.fit_inverse_transform and (
            self.counts_rows or self.takes_symbols or self.landmarks is not None
        ):
            obstacle = "landmarks: use landmarks=None"
            if self.counts_rows or self.takes_symbols:
                obstacle = "a precomputed kernel" if self.counts_rows else "a kernel of strings"
            raise ValueError(f"Cannot fit_inverse_transform with {obstacle}.")

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        if self.fit_inverse_transform and sp.issparse(X):
            raise NotImplementedError(
                "Inverse transform not implemented for sparse matrices! Pass X.toarray(), or set "
                "fit_inverse_transform=False."
            )
        data = super()._opened(X, y, sample_weight, reset)
        self.gamma_ = 1.0 / self.n_features_in_ if self.gamma is None else self.gamma
        return data

    def _solve(self, data: Partitions) -> Progress:
        if self.landmarks is not None:
            return self._of_landmarks(data)
        block = data.gather(INSTEAD)
        must_have_rows(block.weight)
        kernel = self._kernel().with_rows(block.X, block.weight)
        few = (self.n_components or len(block)) < FEW and len(block) > MANY_ROWS
        lanczos = few if self.eigen_solver == "auto" else self.eigen_solver != "dense"
        model = KernelAxes.of(kernel, self.n_components, lanczos, block)
        if self.remove_zero_eig or self.n_components is None:
            positive = model.values > 0
            model = model.replace(values=model.values[positive], vectors=model.vectors[:, positive])
        if not self.fit_inverse_transform:
            return Progress(model)
        rows, root = map_rows(model.project, block.X), np.sqrt(block.weight)[:, None]
        K = root * self._kernel()(rows) * root.T + self.alpha * np.eye(len(rows))
        dual_coef = root * solve(K, root * block.X, assume_a="pos")
        return Invertible(model, X_transformed_fit_=rows, dual_coef_=dual_coef)

    def _of_landmarks(self, data: Partitions) -> Progress:
        landmarks = self._sampled(data)
        R = landmarks.root.shape[1]
        axes = PrincipalAxes(np.zeros(R), np.zeros((0, R)), np.zeros(0), np.zeros(R))
        model = LandmarkAxes(landmarks, axes, R if self.n_components is None else self.n_components)
        s = data.fold(LandmarkAxes.summarize, model)
        return Progress(model.estimate(s), statistics=s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model = progress.model
        if isinstance(model, KernelAxes):
            values, vectors, points = model.values, model.vectors, model.columns.points
        else:
            values = model.axes.variance[: model.count] * (progress.statistics.weight - 1.0)
            vectors = model.landmarks.root @ model.axes.axes[: model.count].T * np.sqrt(values)
            points = model.landmarks.columns.points
        return {"eigenvalues_": values, "eigenvectors_": vectors, "X_fit_": points}

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Project the rows on the components.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self)
        return map_rows(self.model_.project, read_rows(self, X))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map components back to the space of the rows, as learned by ``fit_inverse_transform=True``."""
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the "
                "inverse transform is not available."
            )
        return self._kernel()(np.asarray(X), self.X_transformed_fit_).dot(self.dual_coef_)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)
