"""Whitening: features of unit variance that are not correlated, from one sum of moments.

Kessy, Lewin and Strimmer, "Optimal whitening and decorrelation", 2018; Gong and Xu section 2.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.cost import afford
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Updatable
from ..estimator.parameters import StrOptions
from ..fitting.linear_algebra import signs
from ..inputs import map_rows, read_rows
from ..statistics import Moments, moments


@dataclass(frozen=True, eq=False)
class WhiteningMatrix(Model):
    """z = W (x - mean), with W S W' = I for the covariance S; and its inverse, x = mean + V z."""

    mean: Annotated[np.ndarray, "(D,)"]
    W: Annotated[np.ndarray, "(K, D)"]
    V: Annotated[np.ndarray, "(D, K)"]
    kind: str

    def summarize(self, block: Rows) -> Moments:
        return moments(block.X, block.weight)

    def estimate(self, s: Moments) -> Self:
        if not s.weight > 1.0:
            raise ValueError(f"Whitening needs at least 2 rows, but n_samples={s.weight:g}.")
        S = s.scatter / (s.weight - 1.0)
        W, V = _triangular(S) if self.kind == "cholesky" else _spectral(S, self.kind == "zca")
        return self.replace(mean=s.mean, W=W, V=V)


def _spectral(S: np.ndarray, turned_back: bool) -> tuple[np.ndarray, np.ndarray]:
    """D^-1/2 E' and E D^1/2 for S = E D E', or E D^-1/2 E' and E D^1/2 E', with the eigenvalues above 0
    only."""
    values, E = eigh(S)
    positive = values > len(S) * np.finfo(np.float64).eps * values[-1]
    if not positive.any():
        raise ValueError("All features are constant: there is no variance to scale.")
    root, E = np.sqrt(values[positive][::-1]), E[:, positive][:, ::-1]
    E = E * signs(E.T)
    W, V = (E / root).T, E * root
    return (E @ W, V @ E.T) if turned_back else (W, V)


def _triangular(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L^-1 and L for S = L L', with L lower triangular."""
    size = np.sqrt(np.diag(S))
    try:
        L = cholesky(S / np.outer(size, size), lower=True) if size.all() else np.zeros((1, 1))
    except LinAlgError:
        L = np.zeros((1, 1))
    if np.diag(L).min() ** 2 <= len(S) * np.finfo(np.float64).eps:
        raise ValueError(
            "kind='cholesky' needs a covariance that is not singular, but a feature is constant or a "
            "linear combination of those before it: leave it out, or use kind='pca' or 'zca'."
        )
    return solve_triangular(L, np.diag(1.0 / size), lower=True), size[:, None] * L


class Whitening(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Updatable):
    """Whitening: linear combinations of the features with covariance I. The data is read once.

    Parameters
    ----------
    kind : {'zca', 'pca', 'cholesky'}, default='zca'
        Which of the whitening matrices, which differ by a rotation. 'zca' (Mahalanobis) is symmetric: of all
        whitened rows these are the nearest to the centred rows. 'pca' orders them by variance: scores of
        principal components, divided by their standard deviations. 'cholesky' is triangular: each feature
        minus its regression on those before it.

    Attributes
    ----------
    whitening_ : ndarray of shape (n_components, n_features)
        The matrix by which centred rows are multiplied.
    dewhitening_ : ndarray of shape (n_features, n_components)
        Its inverse, or its pseudo-inverse.
    mean_ : ndarray of shape (n_features,)
        Mean of each feature.
    rank_ : int
        Rank of the covariance.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : WhiteningMatrix
        The fitted model.
    statistics_ : Moments
        The sums. `partial_fit` adds to them.

    See Also
    --------
    PCA : With ``whiten=True``, 'pca' for the first components.
    FastICA : Whitens, then rotates to independent components.
    suffice.preprocessing.StandardScaler : Unit variances; features stay correlated.

    Notes
    -----
    With the eigenvectors E and eigenvalues D of the sample covariance, :math:`S = E D E^T = L L^T`, the
    matrices are

    .. math::

        W_{zca} = E D^{-1/2} E^T, \\qquad W_{pca} = D^{-1/2} E^T, \\qquad W_{cholesky} = L^{-1}.

    If S is singular, 'zca' and 'pca' leave out its null space: 'pca' has `rank_` components, and 'zca' the
    pseudo-inverse. 'cholesky' raises an error.

    References
    ----------
    * Kessy, Lewin and Strimmer (2018), "Optimal whitening and decorrelation", The American Statistician 72.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.decomposition import Whitening
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)) @ [[2.0, 1.0], [0.0, 0.5]]
    >>> Z = Whitening().fit_transform(X)
    >>> np.cov(Z.T).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    model_: Annotated[WhiteningMatrix, "D"]
    mean_: Annotated[np.ndarray, "real (D,)"]
    whitening_: Annotated[np.ndarray, "real (F, D)"]
    preserves_dtype: ClassVar[tuple[str, ...]] = ("whitening_", "dewhitening_", "mean_", "transform")
    _parameter_constraints: ClassVar[dict[str, Any]] = {"kind": [StrOptions({"zca", "pca", "cholesky"})]}

    def __init__(self, kind: str = "zca") -> None:
        self.kind = kind

    @classmethod
    def from_covariance(cls, covariance: Any, *, mean: Any = None, kind: str = "zca") -> Self:
        """Whitening of a known covariance."""
        self = cls(kind)
        self.n_features_in_ = len(covariance)
        s = Moments.of_covariance(covariance, mean, 2.0)
        return self._publish(self._estimated(self._start(None), s))

    def _start(self, data: Partitions | None, classes: MaybeArray = None) -> WhiteningMatrix:
        D = self.n_features_in_
        afford(D**2, f"the moments of {D} features", "reduce them first, by TruncatedSVD.")
        return WhiteningMatrix(np.zeros(D), np.zeros((0, D)), np.zeros((D, 0)), self.kind)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model: WhiteningMatrix = progress.model
        rank = round(float((model.W * model.V.T).sum()))  # the trace of a projection
        return {"whitening_": model.W, "dewhitening_": model.V, "mean_": model.mean, "rank_": rank}

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """The whitened rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        X = read_rows(self, X)
        return map_rows(lambda rows: (rows - self.mean_) @ self.whitening_.T, X)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Map whitened rows back to the space of the rows."""
        check_is_fitted(self)
        return np.asarray(X) @ self.dewhitening_.T + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.whitening_)
