"""Scalers: each column by its own location and scale. Hastie, Tibshirani and Friedman, "The elements of
statistical learning", 2009, sections 3.4 and 11.5.3."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm
from sklearn import preprocessing

from ..core.arguments import MaybeArray
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..estimator.answers import row_wise
from ..estimator.base import Updatable
from ..estimator.guarantees import KEEPS_NAN, OF_PLACES, SKETCHES, Guarantee
from . import compat
from .columns import ColumnMoments, ColumnTransform, QuantileTransform, RangeTransform, counts, nonzero_scale

CENTERED = "Cannot center sparse matrices: pass `{}=False` instead, since centred rows have no zeros."


class StandardScaler(Updatable, ColumnTransform, preprocessing.StandardScaler):
    """Standardize features: subtract the mean and divide by the standard deviation.

    NaN counts in no sum, and stays NaN in `transform`.

    Parameters
    ----------
    copy : bool, default=True
        Whether `transform` copies rows in memory. If False, it changes arrays in place where it can.
    with_mean : bool, default=True
        Whether to subtract the mean. Sparse rows require False.
    with_std : bool, default=True
        Whether to divide by the standard deviation.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,) or None
        Mean of each feature. None if both `with_mean` and `with_std` are False.
    var_ : ndarray of shape (n_features,) or None
        Variance of each feature, over the number of rows. None if `with_std` is False.
    scale_ : ndarray of shape (n_features,) or None
        Standard deviation of each feature; 1 for constant features. None if `with_std` is False.
    n_samples_seen_ : int, float or ndarray of shape (n_features,)
        Number of rows, or their total weight; by feature if values are missing.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : ColumnMoments
        Mean and variance of each feature.
    statistics_ : Observations
        The sums. `partial_fit` adds to them.

    See Also
    --------
    MinMaxScaler : Scales features to a range.
    RobustScaler : Scales features by quantiles, which outliers do not change.

    Notes
    -----
    One pass over the data sums the weight, the mean and the centred scatter of each feature. With the mean
    :math:`μ_d` and the variance :math:`σ_d^2` of feature d,

    .. math::

        x'_d = (x_d - μ_d) / σ_d.

    References
    ----------
    * Chan, Golub and LeVeque (1983), "Algorithms for computing the sample variance", The American
      Statistician 37.

    Examples
    --------
    >>> from suffice.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit([[0.0, 5.0], [2.0, 5.0]])
    >>> scaler.mean_, scaler.scale_
    (array([1., 5.]), array([1., 1.]))
    >>> scaler.transform([[3.0, 5.0]])
    array([[2., 0.]])
    """

    exempt = (KEEPS_NAN,)

    model_: Annotated[ColumnMoments, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = preprocessing.StandardScaler._parameter_constraints

    def _check_input(self, X: Any) -> None:
        if self.with_mean and sp.issparse(X):
            raise ValueError(CENTERED.format("with_mean"))

    def _start(self, data: Partitions, classes: MaybeArray = None) -> ColumnMoments:
        return ColumnMoments(np.zeros(self.n_features_in_), np.ones(self.n_features_in_))

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        n = counts(s.columns.weight)
        eps = np.finfo(np.float64).eps
        # Up to the rounding error of the variance, a feature is constant.
        constant = model.variance <= n * eps * model.variance + (n * model.mean * eps) ** 2
        variance = np.where(constant, 0.0, model.variance)
        moved = self.with_mean or self.with_std
        return {
            "mean_": model.mean if moved else None,
            "var_": variance if self.with_std else None,
            "scale_": nonzero_scale(np.sqrt(variance), constant) if self.with_std else None,
            "n_samples_seen_": n[0] if (n == n[0]).all() else n,
        }

    @row_wise
    def transform(self, X: Any, copy: Any = None) -> Any:
        """Standardize the rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return super().transform(X, copy)


class MinMaxScaler(Updatable, RangeTransform, preprocessing.MinMaxScaler):
    """Scale each feature to a range, by default from 0 to 1.

    NaN is ignored in `fit`, and stays NaN in `transform`.

    Parameters
    ----------
    feature_range : tuple (min, max), default=(0, 1)
        The range of the transformed rows of `fit`.
    copy : bool, default=True
        Whether `transform` copies rows in memory. If False, it changes arrays in place where it can.
    clip : bool, default=False
        Whether to clip transformed values of new rows to `feature_range`.

    Attributes
    ----------
    data_min_ : ndarray of shape (n_features,)
        Minimum of each feature.
    data_max_ : ndarray of shape (n_features,)
        Maximum of each feature.
    data_range_ : ndarray of shape (n_features,)
        Their difference.
    scale_ : ndarray of shape (n_features,)
        Factor of each feature.
    min_ : ndarray of shape (n_features,)
        What is added to each feature after the multiplication.
    n_samples_seen_ : int or float
        Number of rows, or their total weight.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : ColumnRanges
        Minimum and maximum of each feature.
    statistics_ : Ranges
        The sums. `partial_fit` adds to them.

    See Also
    --------
    MaxAbsScaler : Keeps zeros, and so sparse rows.
    StandardScaler : Scales by the standard deviation.

    Notes
    -----
    One pass over the data finds the minimum and the maximum of each feature. With the range from a to b,

    .. math::

        x'_d = a + (b - a) (x_d - \\min_d) / (\\max_d - \\min_d).

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, Springer, section 11.5.3.

    Examples
    --------
    >>> from suffice.preprocessing import MinMaxScaler
    >>> MinMaxScaler().fit_transform([[1.0], [2.0], [5.0]]).ravel()
    array([0.  , 0.25, 1.  ])
    """

    exempt = (
        OF_PLACES,
        KEEPS_NAN,
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = preprocessing.MinMaxScaler._parameter_constraints
    _guarantee = Guarantee.always("bit")

    def _check_input(self, X: Any) -> None:
        low, high = self.feature_range
        if low >= high:
            raise ValueError(
                "Minimum of desired feature range must be smaller than maximum. Got "
                f"feature_range={self.feature_range}."
            )
        if sp.issparse(X):
            raise TypeError(
                "MinMaxScaler does not support sparse input. Consider using MaxAbsScaler instead, or pass "
                "X.toarray()."
            )

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        low, high = self.feature_range
        width = model.high - model.low
        scale = (high - low) / nonzero_scale(width)
        return {
            "data_min_": model.low,
            "data_max_": model.high,
            "data_range_": width,
            "scale_": scale,
            "min_": low - model.low * scale,
            "n_samples_seen_": counts(s.weight).item(),
        }

    @row_wise
    def transform(self, X: Any) -> Any:
        """Scale the rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return super().transform(X)


class MaxAbsScaler(Updatable, RangeTransform, compat.MaxAbsScaler):
    """Divide each feature by its maximum absolute value. Zeros stay zeros, and so sparse rows sparse.

    NaN is ignored in `fit`, and stays NaN in `transform`.

    Parameters
    ----------
    copy : bool, default=True
        Whether `transform` copies rows in memory. If False, it changes arrays in place where it can.
    clip : bool, default=False
        Whether to clip transformed values of new rows to the range from -1 to 1.

    Attributes
    ----------
    max_abs_ : ndarray of shape (n_features,)
        Maximum absolute value of each feature.
    scale_ : ndarray of shape (n_features,)
        The same, with 1 in the place of 0.
    n_samples_seen_ : int or float
        Number of rows, or their total weight.
    n_features_in_ : int
        Number of features seen during `fit`.
    model_ : ColumnRanges
        Minimum and maximum of each feature.
    statistics_ : Ranges
        The sums. `partial_fit` adds to them.

    See Also
    --------
    MinMaxScaler : Scales features to a range.
    StandardScaler : Scales by the standard deviation.

    Notes
    -----
    One pass over the data finds the minimum and the maximum of each feature:

    .. math::

        x'_d = x_d / \\max_n |x_{nd}|.

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, Springer, section 11.5.3.

    Examples
    --------
    >>> from suffice.preprocessing import MaxAbsScaler
    >>> MaxAbsScaler().fit_transform([[1.0], [-4.0], [0.0]]).ravel()
    array([ 0.25, -1.  ,  0.  ])
    """

    exempt = (
        OF_PLACES,
        KEEPS_NAN,
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = compat.MaxAbsScaler._parameter_constraints
    _guarantee = Guarantee.always("bit")

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        largest = np.maximum(np.abs(model.low), np.abs(model.high))
        return {
            "max_abs_": largest,
            "scale_": nonzero_scale(largest),
            "n_samples_seen_": counts(s.weight).item(),
        }

    @row_wise
    def transform(self, X: Any) -> Any:
        """Scale the rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return super().transform(X)


class RobustScaler(QuantileTransform, preprocessing.RobustScaler):
    """Subtract the median of each feature, and divide by the range between two quantiles.

    Outliers do not change these. NaN is ignored in `fit`, and stays NaN in `transform`.

    Parameters
    ----------
    with_centering : bool, default=True
        Whether to subtract the median. Sparse rows require False.
    with_scaling : bool, default=True
        Whether to divide by the range between the quantiles.
    quantile_range : tuple (q_min, q_max), default=(25.0, 75.0)
        The two quantiles, in percent.
    copy : bool, default=True
        Whether `transform` copies rows in memory. If False, it changes arrays in place where it can.
    unit_variance : bool, default=False
        Whether to divide by a range for which a normal feature has variance 1.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,) or None
        Median of each feature. None if `with_centering` is False.
    scale_ : ndarray of shape (n_features,) or None
        Range between the quantiles of each feature. None if `with_scaling` is False.
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
    StandardScaler : Scales by the standard deviation.
    QuantileTransformer : Maps features to a uniform or a normal distribution.

    Notes
    -----
    One pass over the data sums a sketch of each feature: its distinct values and their weights, if there are
    at most 16384, else buckets of values that agree in their leading bits. The result does not depend on the
    blocks, nor on the order of the rows. With the quantiles :math:`Q_d`,

    .. math::

        x'_d = (x_d - Q_d(1/2)) / (Q_d(3/4) - Q_d(1/4)).

    References
    ----------
    * Masson, Rim and Lee (2019), "DDSketch: a fast and fully-mergeable quantile sketch with relative-error
      guarantees", PVLDB 12.

    Examples
    --------
    >>> from suffice.preprocessing import RobustScaler
    >>> RobustScaler().fit_transform([[1.0], [2.0], [3.0], [4.0], [1000.0]]).ravel()
    array([ -1. ,  -0.5,   0. ,   0.5, 498.5])
    """

    exempt = (
        OF_PLACES,
        KEEPS_NAN,
        SKETCHES,
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = preprocessing.RobustScaler._parameter_constraints
    _guarantee = Guarantee.always("bit")

    def _check_input(self, X: Any) -> None:
        low, high = self.quantile_range
        if not 0 <= low <= high <= 100:
            raise ValueError(
                f"Invalid quantile range: {self.quantile_range}. Expected two percentages, 0 <= q_min <= "
                "q_max <= 100."
            )
        if self.with_centering and sp.issparse(X):
            raise ValueError(CENTERED.format("with_centering"))

    def _probabilities(self) -> Any:
        low, high = self.quantile_range
        return low / 100.0, 0.5, high / 100.0

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        model, s = progress.model, progress.statistics
        low, median, high = model.values
        scale = nonzero_scale(high - low)
        if self.unit_variance:
            scale = scale / np.diff(norm.ppf(model.probabilities[[0, 2]]))
        return {
            "center_": median if self.with_centering else None,
            "scale_": scale if self.with_scaling else None,
            "quantile_error_": s.error,
        }

    @row_wise
    def transform(self, X: Any) -> Any:
        """Scale the rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        return super().transform(X)
