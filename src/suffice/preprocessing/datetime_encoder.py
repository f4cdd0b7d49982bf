"""Dates and timestamps as numbers: their parts, as numbers or as points on a circle."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ..core.arguments import MaybeArray
from ..core.loop import Progress
from ..estimator.answers import row_wise
from ..estimator.base import Estimator
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.tags import tags
from ..inputs import source_of
from ..inputs.readers import Reader, TimeColumns, Transformed
from ..inputs.sources import TableSource, as_kind, set_features
from ..inputs.tables import as_arrow

# The parts of a time, and their periods.
PERIODS = {
    "year": None,
    "month": 12,
    "day": 31,
    "weekday": 7,
    "day_of_year": 366,
    "hour": 24,
    "minute": 60,
    "second": 60,
    "total_seconds": None,
}


class DatetimeEncoder(TransformerMixin, Estimator):
    """Encode dates and timestamps as numbers: year, month, day, weekday, hour and others.

    Rows are encoded when they are read. There is nothing to learn, so that `fit` does not read the data.
    Timestamps with a time zone are encoded in local time.

    Parameters
    ----------
    features : sequence of str, default=('year', 'month', 'day', 'weekday', 'hour')
        The parts of a time: 'year', 'month' (1 to 12), 'day' (of the month), 'weekday' (0 is Monday),
        'day_of_year', 'hour', 'minute', 'second', and 'total_seconds' since 1970.
    cyclic : bool, default=False
        Whether parts that recur become points on a circle, a sine and a cosine, so that December is next to
        January. 'year' and 'total_seconds' stay numbers.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.

    See Also
    --------
    suffice.compose.ColumnTransformer : Encodes some columns of a table.
    BasisFunctions : Smooth functions of numbers.

    Notes
    -----
    With `cyclic`, a part u with period P, counted from 0, becomes

    .. math::

        (\\sin 2πu/P, \\; \\cos 2πu/P).

    A missing time is NaN in all its features.

    References
    ----------
    * Mardia and Jupp (2000), Directional Statistics, Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.preprocessing import DatetimeEncoder
    >>> times = np.array([["2024-02-29T18:00"], ["2025-01-01T00:00"]], dtype="datetime64[s]")
    >>> encoder = DatetimeEncoder(features=("month", "weekday", "hour")).fit(times)
    >>> encoder.transform(times)
    array([[ 2.,  3., 18.],
           [ 1.,  2.,  0.]])
    >>> encoder.get_feature_names_out()
    array(['x0_month', 'x0_weekday', 'x0_hour'], dtype=object)
    """

    exempt = (Exempt("model", "Nothing is fitted."),)

    takes: ClassVar[str] = "times"

    _parameter_constraints: ClassVar[dict[str, Any]] = {"features": [list, tuple], "cyclic": ["boolean"]}
    __sklearn_tags__ = tags(allow_nan=True, string=True, two_d_array=False, requires_fit=True)
    _guarantee = Guarantee.always("bit")

    def __init__(
        self, features: Any = ("year", "month", "day", "weekday", "hour"), *, cyclic: bool = False
    ) -> None:
        self.features = features
        self.cyclic = cyclic

    def _check_options(self) -> None:
        unknown = [part for part in self.features if part not in PERIODS]
        if unknown or not self.features:
            raise ValueError(f"features={self.features!r} must name parts of a time, of {list(PERIODS)}.")

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """Learn the names of the columns. The data is not read."""
        source = source_of(X)
        if isinstance(source, TableSource):
            described: Any = source.read_as(TimeColumns)
            set_features(self, described.table.columns(described.names()).reader.features, reset)
        else:
            _times(self, X, reset)

    def _solve(self, data: Any) -> Progress:
        return Progress(None)

    @row_wise
    def transform(self, X: Any) -> Any:
        """The parts of the times of each row, (n_samples, n_features_out).

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        check_is_fitted(self, "n_features_in_")
        source = source_of(X)
        if isinstance(source, TableSource):
            return self._transformed_reader(source.reader_for(self)).rows(source.container)
        return self.transform_rows(_times(self, X, reset=False))

    def _transformed_reader(self, reader: Reader) -> Reader:
        return Transformed(as_kind(reader, TimeColumns), self, len(self.get_feature_names_out()))

    def transform_rows(self, X: np.ndarray) -> np.ndarray:
        """Encode the rows of a block, (N, D)."""
        if X.dtype.kind != "M":
            raise ValueError(f"DatetimeEncoder takes dates or timestamps, and X holds {X.dtype}.")
        columns = [column for times in X.T for part in self.features for column in self._encoded(times, part)]
        return np.stack(columns, axis=1)

    def _encoded(self, times: np.ndarray, part: str) -> list[np.ndarray]:
        numbers, period = part_of(times, part), PERIODS[part]
        if not self.cyclic or period is None:
            return [numbers]
        angle = 2.0 * np.pi * (numbers - (part in ("month", "day", "day_of_year"))) / period
        return [np.sin(angle), np.cos(angle)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output features: of the column and the part.

        Parameters
        ----------
        input_features : array of str, default=None
            Names of the input features. If None, those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "n_features_in_")
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        suffixes = [
            f"{part}{suffix}"
            for part in self.features
            for suffix in (("_sin", "_cos") if self.cyclic and PERIODS[part] else ("",))
        ]
        return np.array([f"{name}_{suffix}" for name in names for suffix in suffixes], dtype=object)


def part_of(times: np.ndarray, part: str) -> np.ndarray:
    """A part of times, as numbers; NaN for missing times."""
    years, days = times.astype("datetime64[Y]"), times.astype("datetime64[D]")
    months = times.astype("datetime64[M]")
    numbers: np.ndarray
    if part == "year":
        numbers = years.astype(np.int64) + 1970
    elif part == "month":
        numbers = (months - years.astype("datetime64[M]")).astype(np.int64) + 1
    elif part == "day":
        numbers = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
    elif part == "day_of_year":
        numbers = (days - years.astype("datetime64[D]")).astype(np.int64) + 1
    elif part == "weekday":
        numbers = (days.astype(np.int64) + 3) % 7  # 1970 began with a Thursday
    elif part == "total_seconds":
        numbers = times.astype("datetime64[us]").astype(np.int64) / 1e6
    else:
        seconds = (times.astype("datetime64[s]") - days.astype("datetime64[s]")).astype(np.int64)
        numbers = {"hour": seconds // 3600, "minute": seconds // 60 % 60, "second": seconds % 60}[part]
    return np.where(np.isnat(times), np.nan, numbers)


def _times(estimator: BaseEstimator, X: Any, reset: bool) -> np.ndarray:
    """Times in memory, (N, D), in microseconds."""
    validate_data(estimator, X=X, skip_check_array=True, reset=reset)
    if hasattr(X, "columns"):
        if reset and not len(X):
            raise ValueError(
                f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required by "
                "DatetimeEncoder."
            )
        return TimeColumns(tuple(X.columns)).rows(as_arrow(X, list(X.columns)))
    X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=int(reset))
    if X.dtype.kind not in "MOU":
        raise ValueError(
            f"DatetimeEncoder takes dates or timestamps, and X holds {X.dtype}: pass "
            "X.astype('datetime64[s]'), with the unit of its numbers."
        )
    try:
        return X.astype("datetime64[us]")
    except ValueError as error:
        raise ValueError(
            f"DatetimeEncoder takes dates or timestamps, as '2024-05-17 08:30': {error}. For other formats, "
            "pass times of pandas.to_datetime(..., format=...)."
        ) from error
