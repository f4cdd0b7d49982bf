"""Principal component analysis from moments, or from a QR factorization (TSQR): the data is read once.

Li ch. 16; Tipping and Bishop, "Probabilistic principal component analysis", 1999; Minka, "Automatic
choice of dimensionality for PCA", 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, qr, svd
from scipy.special import gammaln
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray, Seed
from ..core.blocks import Matrix, Rows, dense
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Updatable
from ..estimator.parameters import AT_LEAST_0, AT_LEAST_1, Interval, RealNotInt, StrOptions
from ..estimator.scores import mean_score
from ..fitting.linear_algebra import signs, times
from ..inputs import map_rows, read_rows
from ..statistics import Factor, Moments, factor, moments


@dataclass(frozen=True, eq=False)
class PrincipalAxes(Model):
    """Principal axes and their variances, in decreasing order."""

    mean: Annotated[np.ndarray, "(D,)"]
    axes: Annotated[np.ndarray, "(R, D)"]  # orthonormal rows
    variance: Annotated[np.ndarray, "(R,)"]
    spread: Annotated[np.ndarray, "(D,)"]  # variance of each feature
    rows: bool = False  # whether the triangular factor is kept, or its square

    @property
    def rounding(self) -> float:
        """Rounding error of the variances, relative to the largest."""
        eps = len(self.mean) * np.finfo(np.float64).eps
        return eps**2 if self.rows else eps

    def summarize(self, block: Rows) -> Moments | Factor:
        rows = self.rows and not sp.issparse(block.X)  # a factor of sparse rows is as dense as their moments
        return (factor if rows else moments)(block.X, block.weight)

    def estimate(self, s: Moments | Factor) -> Self:
        if not s.weight > 1.0:
            raise ValueError(f"PCA needs at least 2 rows, but n_samples={s.weight:g}.")
        model = self.replace(rows=isinstance(s, Factor))
        if isinstance(s, Factor):
            _, singular, axes = svd(s.R, full_matrices=False)
            values, axes, spread = singular**2, axes, (s.R**2).sum(axis=0)
        else:
            values, vectors = eigh(s.scatter)
            values, axes, spread = (
                np.maximum(values[::-1], 0.0),
                vectors.T[::-1],
                np.diag(s.scatter),
            )
        seen = values > model.rounding * values[0]
        axes, free = axes[: len(values)][seen], s.weight - 1.0
        return model.replace(
            mean=s.mean,
            axes=axes * signs(axes)[:, None],
            variance=values[seen] / free,
            spread=spread / free,
        )


def _completed(axes: np.ndarray, most: int) -> np.ndarray:
    """The axes of non-zero variance, completed to this number by axes orthogonal to them.

    The data does not determine the latter: they are taken from the axes of the features, so that they do not
    depend on rounding.
    """
    if len(axes) < most:
        # The unit vectors that the axes reach least, each less its part in them: enough to choose from.
        few = np.argsort((axes**2).sum(axis=0), kind="stable")[:most]
        beyond = -axes.T @ axes[:, few]
        beyond[few, np.arange(len(few))] += 1.0
        more = qr(beyond, mode="economic", pivoting=True)[0].T[: most - len(axes)]
        axes = np.concatenate([axes, more * signs(more)[:, None]])
    return axes[:most]


def _centred(X: Matrix, mean: np.ndarray) -> np.ndarray:
    return dense(X) - mean


def _padded(values: np.ndarray, most: int) -> np.ndarray:
    return np.concatenate([values[:most], np.zeros(max(0, most - len(values)))])


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Updatable):
    """Principal component analysis (PCA). The data is read once.

    Parameters
    ----------
    n_components : int, float or 'mle', default=None
        Number of components to keep, or the fraction of variance to explain. 'mle' is Minka's method. None
        keeps all.
    copy : bool, default=True
        Ignored: `X` is never modified.
    whiten : bool, default=False
        Whether to scale the transformed data to unit variance.
    svd_solver : {'auto', 'full', 'covariance_eigh', 'arpack', 'randomized'}, default='auto'
        'covariance_eigh' sums moments. 'full' sums triangular factors (TSQR), which is more accurate and
        slower. 'auto' is 'covariance_eigh' for sparse rows, and for up to a thousand features. 'arpack' and
        'randomized' give the exact solution of 'auto'; as in scikit-learn, 'arpack' has at most
        min(n_samples, n_features) - 1 components. Sparse rows are refused by 'full' and 'randomized'.
    tol : float, default=0.0
        Ignored: the fit does not iterate.
    iterated_power : int or 'auto', default='auto'
        Ignored.
    n_oversamples : int, default=10
        Ignored.
    power_iteration_normalizer : str, default='auto'
        Ignored.
    random_state : int, default=None
        Ignored: the fit is deterministic.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Principal axes: the directions of largest variance.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each component.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the total variance explained by each component.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred rows.
    mean_ : ndarray of shape (n_features,)
        Mean of each feature.
    n_components_ : int
        Number of components kept.
    n_samples_ : float
        Number of rows, or their total weight.
    noise_variance_ : float
        Mean variance of the discarded components: the noise of probabilistic PCA.
    loadings_ : ndarray of shape (n_components, n_features)
        Correlation of each component with each feature.
    variable_contributions_ : ndarray of shape (n_features,)
        Fraction of each feature's variance that the components explain.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : PrincipalAxes
        The fitted model, with all axes.
    statistics_ : Moments or Factor
        The sums. `partial_fit` adds to them.

    See Also
    --------
    TruncatedSVD : Sparse rows, or very many features; rows are not centred.
    NMF : Components without negative entries.
    suffice.discriminant_analysis.LinearDiscriminantAnalysis : Directions that separate classes.

    Notes
    -----
    The components are the eigenvectors of the sample covariance with the largest eigenvalues:

    .. math::

        S = \\frac{1}{N - 1} ∑_n (x_n - \\bar x)(x_n - \\bar x)^T, \\qquad S v_k = λ_k v_k.

    References
    ----------
    * Tipping and Bishop (1999), "Probabilistic principal component analysis", Journal of the Royal
      Statistical Society B 61.
    * Minka (2000), "Automatic choice of dimensionality for PCA", NIPS 13.

    Examples
    --------
    >>> from suffice.decomposition import PCA
    >>> pca = PCA(1).fit([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    >>> pca.explained_variance_ratio_
    array([1.])
    """

    model_: Annotated[PrincipalAxes, "D"]
    statistics_: Moments | Factor
    mean_: Annotated[np.ndarray, "real (D,)"]
    components_: Annotated[np.ndarray, "real (F, D)"]
    explained_variance_: Annotated[np.ndarray, "real (F,)"]
    noise_variance_: Annotated[Any, "number or real ()"]
    preserves_dtype: ClassVar[tuple[str, ...]] = (
        *("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"),
        *("noise_variance_", "transform"),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_0, Interval(RealNotInt, 0, 1, closed="neither"), StrOptions({"mle"}), None],
        "copy": ["boolean"],
        "whiten": ["boolean"],
        "svd_solver": [StrOptions({"auto", "full", "covariance_eigh", "arpack", "randomized"})],
        "iterated_power": [StrOptions({"auto"}), AT_LEAST_0],
        "n_oversamples": [AT_LEAST_1],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
    }

    def __init__(
        self,
        n_components: Any = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: Any = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    @classmethod
    def from_covariance(
        cls,
        covariance: Any,
        *,
        mean: Any = None,
        correlation: bool = False,
        n_components: Any = None,
    ) -> Self:
        """Principal components of a known covariance, or of its correlation matrix."""
        covariance = np.asarray(covariance, dtype=np.float64)
        if correlation:
            size = np.sqrt(np.diag(covariance))
            covariance = covariance / np.outer(size, size)
        D = len(covariance)
        self = cls(n_components)
        self.n_features_in_ = D
        s = Moments.of_covariance(covariance, mean, D + 1.0)  # any number of rows that allows D components
        return self._publish(self._estimated(self._start(None), s))

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        if sp.issparse(X) and self.svd_solver in ("full", "randomized"):
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{self.svd_solver}" was passed. See TruncatedSVD for a possible alternative.'
            )
        return super()._opened(X, y, sample_weight, reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in ("auto", "arpack", "covariance_eigh")
        return tags

    def _start(self, data: Partitions | None, classes: MaybeArray = None) -> PrincipalAxes:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "use TruncatedSVD, which does not centre.")
        rows = self.svd_solver == "full" or (self.svd_solver != "covariance_eigh" and D > 1000)
        return PrincipalAxes(np.zeros(D), np.zeros((0, D)), np.zeros(0), np.zeros(D), rows)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        K, total = self._count(model, float(s.weight)), model.spread.sum()
        axes, variance = _completed(model.axes, K), _padded(model.variance, K)
        left = min(int(np.ceil(s.weight)), len(model.mean)) - K
        noise = model.variance[K:].sum() / left if left > 0 else 0.0
        size = np.where(model.spread > 0, model.spread, 1.0)
        loadings = axes * np.sqrt(variance[:, None] / size)
        return {
            "components_": axes,
            "explained_variance_": variance,
            "explained_variance_ratio_": variance / (total or 1.0),
            "singular_values_": np.sqrt(variance * (s.weight - 1.0)),
            "mean_": model.mean,
            "n_components_": K,
            "n_samples_": float(s.weight),
            "noise_variance_": float(noise),
            "loadings_": loadings,
            "variable_contributions_": (loadings**2).sum(axis=0),
        }

    def _count(self, model: PrincipalAxes, weight: float) -> int:
        requested, most = self.n_components, min(int(np.ceil(weight)), len(model.mean))
        solver = "full" if self.svd_solver == "auto" else self.svd_solver
        truncated = solver in ("arpack", "randomized")
        if requested is None:
            return most - (solver == "arpack" and most > 1)
        if isinstance(requested, str):
            if truncated:
                raise ValueError(f"n_components={requested!r} cannot be a string with svd_solver={solver!r}.")
            if weight < len(model.mean):
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features.")
            return _minka(_padded(model.variance, len(model.mean)), weight, model.rounding)
        if 0 < requested < 1:
            share = np.cumsum(model.variance / model.spread.sum())
            return min(int(np.searchsorted(share, requested, side="right")) + 1, most)
        if not truncated <= requested <= most:
            raise ValueError(
                f"n_components={requested} must be between {int(truncated)} and min(n_samples, "
                f"n_features)={most} with svd_solver={solver!r}, or a fraction between 0 and 1."
            )
        if solver == "arpack" and requested == most:
            raise ValueError(
                f"n_components={requested} must be strictly less than min(n_samples, n_features)={most} with "
                f"svd_solver='arpack': use 'auto' for all components."
            )
        return int(requested)

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Project the rows on the components.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        scores = self._project(read_rows(self, X))
        return scores / self._scale() if self.whiten else scores

    def _project(self, X: Any) -> np.ndarray:
        """(X - mean) V, from X V if the rows are sparse."""
        if not sp.issparse(X):
            return (X - self.mean_) @ self.components_.T
        axes = np.ascontiguousarray(self.components_.T, dtype=np.float64)
        return map_rows(lambda rows: times(rows, axes), X) - self.mean_ @ axes

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map projections back to the space of the rows."""
        check_is_fitted(self)
        scores = np.asarray(X) * self._scale() if self.whiten else np.asarray(X)
        return scores @ self.components_ + self.mean_

    def reconstruction_error(self, X: Any, sample_weight: Any = None) -> float:
        """Mean squared distance between rows and their reconstructions."""

        def squares(rows: Any) -> np.ndarray:
            Y = _centred(rows, self.mean_)
            return ((Y - (Y @ self.components_.T) @ self.components_) ** 2).sum(axis=1)

        return float(np.average(map_rows(squares, read_rows(self, X)), weights=sample_weight))

    def get_covariance(self) -> np.ndarray:
        """Covariance of the rows under probabilistic PCA."""
        check_is_fitted(self)
        noise = self.noise_variance_
        beyond = np.maximum(self.explained_variance_ - noise, 0.0)
        scaled = self.components_.T * beyond
        return scaled @ self.components_ + noise * np.eye(len(self.mean_))

    def get_precision(self) -> np.ndarray:
        """The inverse of `get_covariance`."""
        try:
            return np.linalg.inv(self.get_covariance())
        except np.linalg.LinAlgError:
            raise np.linalg.LinAlgError(
                "The covariance of PCA is not positive definite, because the rows span fewer dimensions "
                "than there are features: it has no density. Fit more rows, or fewer features."
            ) from None

    @row_wise
    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of each row under probabilistic PCA.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        precision = self.get_precision()
        _, log_det = np.linalg.slogdet(precision)

        def squares(rows: Any) -> np.ndarray:
            Y = _centred(rows, self.mean_)
            return ((Y @ precision) * Y).sum(axis=1)

        return 0.5 * (log_det - len(precision) * np.log(2.0 * np.pi) - map_rows(squares, X))

    def score(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Mean log-likelihood of the rows under probabilistic PCA."""
        return mean_score(self, X, sample_weight)

    def _scale(self) -> np.ndarray:
        return np.maximum(np.sqrt(self.explained_variance_), float(np.finfo(np.float64).eps))

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _minka(variance: np.ndarray, N: float, rounding: float) -> int:
    """The number of components that maximizes the evidence: Minka 2000, equations 30 and 76 to 81.

    The noise is at least the rounding error, relative to the largest variance.
    """
    D, least = len(variance), rounding * variance[0]
    evidence = [-np.inf]
    for K in range(1, D):
        noise = max(variance[K:].sum() / (D - K), least)
        if variance[K - 1] <= least:
            evidence.append(-np.inf)
            continue
        i = np.arange(1, K + 1)
        uniform = -K * np.log(2.0) + (gammaln((D - i + 1) / 2.0) - np.log(np.pi) * (D - i + 1) / 2.0).sum()
        smoothed = np.concatenate([variance[:K], np.full(D - K, noise)])
        hessian = 0.0
        for a in range(K):
            b = slice(a + 1, D)
            hessian += np.log(
                (variance[a] - variance[b]) * (1.0 / smoothed[b] - 1.0 / smoothed[a])
            ).sum() + np.log(N) * (D - a - 1)
        m = D * K - K * (K + 1) / 2.0
        likelihood = -N / 2.0 * (np.log(variance[:K]).sum() + (D - K) * np.log(noise))
        evidence.append(
            uniform + likelihood + (m + K) / 2.0 * np.log(2.0 * np.pi) - hessian / 2.0 - K / 2.0 * np.log(N)
        )
    return int(np.argmax(evidence))
