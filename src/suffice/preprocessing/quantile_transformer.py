"""Features mapped to a uniform or a normal distribution by their quantiles. Conover and Iman, "Rank
transformations as a bridge between parametric and nonparametric statistics", 1981."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing

from ..core.callers import warn
from ..core.loop import Progress
from ..estimator.answers import row_wise
from ..estimator.base import must_have_rows
from ..estimator.guarantees import KEEPS_NAN, OF_PLACES, SKETCHES, Guarantee
from ..inputs import Table
from ..statistics import QuantileSketch
from .columns import ColumnQuantiles, QuantileTransform, canonical


class QuantileTransformer(QuantileTransform, preprocessing.QuantileTransformer):
    """Map each feature to a uniform or a normal distribution by its quantiles.

    NaN is ignored in `fit`, and stays NaN in `transform`.

    Parameters
    ----------
    n_quantiles : int, default=1000
        Number of quantiles. At most the number of rows are used.
    output_distribution : {'uniform', 'normal'}, default='uniform'
        The distribution of the transformed features.
    ignore_implicit_zeros : bool, default=False
        For sparse rows, whether the entries that are not stored are ignored.
    subsample : int or None, default=10_000
        All rows are used, so it only bounds `n_quantiles`.
    random_state : int, RandomState instance or None, default=None
        Ignored: the fit is not random.
    copy : bool, default=True
        Whether `transform` copies rows in memory. If False, it changes arrays in place where it can.

    Attributes
    ----------
    n_quantiles_ : int
        Number of quantiles.
    quantiles_ : ndarray of shape (n_quantiles, n_features)
        The quantiles of each feature.
    references_ : ndarray of shape (n_quantiles,)
        Their probabilities.
    quantile_error_ : ndarray of shape (n_features,)
        No quantile is off by more. 0 for features with up to 16384 distinct values.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : ColumnQuantiles
        The quantiles.
    statistics_ : QuantileSketch
        The sketch of each feature.

    See Also
    --------
    RobustScaler : Scales features by quantiles.
    KBinsDiscretizer : Bins with the same number of rows.

    Notes
    -----
    One pass over the data sums a sketch of each feature, as for :class:`RobustScaler`. With the distribution
    function F of a feature, interpolated between the quantiles, and that of the standard normal, Φ,

    .. math::

        x' = F(x) \\quad \\text{or} \\quad x' = Φ^{-1}(F(x)).

    References
    ----------
    * Masson, Rim and Lee (2019), "DDSketch: a fast and fully-mergeable quantile sketch with relative-error
      guarantees", PVLDB 12.

    Examples
    --------
    >>> from suffice.preprocessing import QuantileTransformer
    >>> QuantileTransformer(n_quantiles=3).fit_transform([[1.0], [10.0], [1000.0]]).ravel()
    array([0. , 0.5, 1. ])
    """

    exempt = (
        OF_PLACES,
        KEEPS_NAN,
        SKETCHES,
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = (
        preprocessing.QuantileTransformer._parameter_constraints
    )
    _guarantee = Guarantee.always("bit")

    def _check_input(self, X: Any) -> None:
        if self.subsample is not None and self.n_quantiles > self.subsample:
            raise ValueError(
                "The number of quantiles cannot be greater than the number of samples used. Got "
                f"{self.n_quantiles} quantiles and {self.subsample} samples."
            )
        if sp.issparse(X):
            if not self.ignore_implicit_zeros and (X.tocsr().data < 0).any():
                raise ValueError(
                    "QuantileTransformer only accepts non-negative sparse matrices. Pass X.toarray(), or set "
                    "ignore_implicit_zeros=True."
                )
        elif self.ignore_implicit_zeros and not isinstance(X, Table):
            warn(
                "'ignore_implicit_zeros' takes effect only with sparse matrix. This parameter has no effect.",
            )

    def _probabilities(self) -> Any:
        return ()  # which follow from the number of rows

    def _estimated(self, start: ColumnQuantiles, s: QuantileSketch) -> Progress:
        must_have_rows(s.weight)
        n_samples = int(np.ceil(s.weight))
        if self.n_quantiles > n_samples:
            warn(
                f"n_quantiles ({self.n_quantiles}) is greater than the total number of samples ({n_samples})."
                " n_quantiles is set to n_samples.",
            )
        references = np.linspace(0.0, 1.0, max(1, min(self.n_quantiles, n_samples)))
        return super()._estimated(start.replace(probabilities=references), s)

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        empty = self.ignore_implicit_zeros & (s.observed == 0)  # a column that stores nothing
        return {
            "n_quantiles_": len(model.probabilities),
            "references_": model.probabilities,
            "quantiles_": np.where(empty, 0.0, model.values),
            "quantile_error_": s.error,
        }

    @row_wise
    def transform(self, X: Any) -> Any:
        """Map the rows to the distribution.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return super().transform(canonical(X))
