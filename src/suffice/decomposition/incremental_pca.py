"""Principal component analysis in batches of rows.

Moments of batches add up to those of all rows, so this is PCA, with the parameters of scikit-learn's class.
Ross, Lim, Lin and Yang, "Incremental learning for robust visual tracking", 2008, keep a few components only.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from ..core.arguments import MaybeArray
from ..core.loop import Progress
from ..estimator.parameters import AT_LEAST_1
from .pca import PCA, PrincipalAxes


class IncrementalPCA(PCA):
    """Principal component analysis (PCA) in batches: `partial_fit` adds rows. The result is that of PCA.

    Parameters
    ----------
    n_components : int, default=None
        Number of components to keep. None keeps min(n_samples, n_features) of the first batch.
    whiten : bool, default=False
        Whether to scale the transformed data to unit variance.
    copy : bool, default=True
        Ignored: `X` is never modified.
    batch_size : int, default=None
        Ignored: `fit` sums blocks that fit in the cache, and the result does not depend on them.

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
    var_ : ndarray of shape (n_features,)
        Variance of each feature.
    n_components_ : int
        Number of components kept.
    n_samples_seen_ : int
        Number of rows so far, or their total weight.
    batch_size_ : int
        `batch_size`, or five times the number of features.
    noise_variance_ : float
        Mean variance of the discarded components: the noise of probabilistic PCA.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : PrincipalAxes
        The fitted model, with all axes.
    statistics_ : Moments or Factor
        The sums. `partial_fit` adds to them.

    See Also
    --------
    PCA : The same, with a choice of solvers.
    TruncatedSVD : Very many features; rows are not centred.

    Notes
    -----
    The moments of batches a and b, with n rows, mean m and scatter S each, are merged exactly:

    .. math::

        S = S_a + S_b + \\frac{n_a n_b}{n_a + n_b} (m_b - m_a)(m_b - m_a)^T.

    References
    ----------
    * Chan, Golub and LeVeque (1983), "Algorithms for computing the sample variance", The American
      Statistician 37.

    Examples
    --------
    >>> from suffice.decomposition import IncrementalPCA
    >>> pca = IncrementalPCA(1).partial_fit([[0.0, 0.0], [1.0, 2.0]]).partial_fit([[2.0, 4.0]])
    >>> pca.explained_variance_ratio_
    array([1.])
    """

    svd_solver: Any = "auto"
    preserves_dtype: ClassVar[tuple[str, ...]] = (*PCA.preserves_dtype, "var_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [AT_LEAST_1, None],
        "whiten": ["boolean"],
        "copy": ["boolean"],
        "batch_size": [AT_LEAST_1, None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def partial_fit(  # type: ignore[override]
        self, X: Any, y: MaybeArray = None, check_input: bool = True, sample_weight: MaybeArray = None
    ) -> Self:
        """Update the model with more rows. The result equals one `fit` to all rows.

        `check_input` is ignored: rows are always checked.
        """
        if sp.issparse(X):
            raise TypeError(
                "IncrementalPCA.partial_fit does not support sparse input. Either convert data to dense or "
                "use IncrementalPCA.fit to do so in batches."
            )
        known = getattr(self, "n_components_", None)
        if known is not None and self.n_components not in (None, known):
            raise ValueError(
                f"n_components={self.n_components} differs from the {known} components of the batches so "
                "far: call fit."
            )
        return self._add(X, y, sample_weight)

    def _count(self, model: PrincipalAxes, weight: float) -> int:
        n, D, requested = int(np.ceil(weight)), len(model.mean), self.n_components
        before = getattr(self, "statistics_", None)
        if requested is None:
            # As in scikit-learn, the first batch decides.
            return self.n_components_ if before is not None else min(n, D)
        if requested > D:
            raise ValueError(
                f"n_components={requested} invalid for n_features={D}, need more rows than columns for "
                "IncrementalPCA processing."
            )
        if requested > n:
            raise ValueError(
                f"n_components={requested} must be less or equal to the batch number of samples {n} for the "
                "first partial_fit call."
            )
        return int(requested)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        fitted = super()._fitted(progress)
        unused = ("n_samples_", "loadings_", "variable_contributions_")
        return {name: value for name, value in fitted.items() if name not in unused} | {
            "var_": model.spread * (s.weight - 1.0) / s.weight,
            "n_samples_seen_": int(s.weight) if float(s.weight).is_integer() else float(s.weight),
            "batch_size_": self.batch_size or 5 * len(model.mean),
        }
