"""Missing values of a column replaced by one value: the mean, the median, the mode or a constant. Little and
Rubin, "Statistical analysis with missing data", 2002, section 4.2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import unwrap
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn import impute
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.arguments import MaybeArray
from ..core.blocks import Matrix, Rows, missing
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Parts, Statistics
from ..estimator.answers import nameless, row_wise
from ..estimator.base import must_have_rows
from ..estimator.guarantees import OF_PLACES, SKETCHES, Exempt, Guarantee
from ..inputs import Check, in_blocks, open_rows, source_of
from ..inputs.arrays import ArraySource
from ..inputs.checks import objects_of, weights_of
from ..inputs.conversions import CONVERSION, check_names, explained, explained_objects
from ..inputs.sources import set_features
from ..preprocessing.columns import ColumnTransform, canonical
from ..preprocessing.compat import type_of_constants
from ..statistics import CategoryCounts, count_categories, moments, quantile_sketch, sparse_columns


@dataclass(frozen=True, eq=False)
class Observed(Statistics):
    """The weight of the rows and of the missing entries of each column, and a summary of the others."""

    weight: float
    objects: float  # weight of the rows that are objects, not numbers
    missing: Annotated[np.ndarray, "(D,)"]
    columns: Statistics


@dataclass(frozen=True, eq=False)
class Filling(Model):
    """The values that replace missing ones."""

    strategy: str
    missing_values: Any
    values: Annotated[np.ndarray, "labels (D,)"]  # NaN where nothing was observed
    nulls: bool = False  # whether None, NaN and NA are missing too

    def summarize(self, block: Rows) -> Observed:
        X, w = block.X, block.weight
        total, D = float(w.sum()), X.shape[1]
        strings = X.dtype == object
        if sp.issparse(X):
            holes = is_missing(X.data, self.missing_values)
            data = np.where(holes, np.nan, X.data)
            X = sp.csr_array((data, X.indices, X.indptr), X.shape)
            entries = np.repeat(w, np.diff(X.indptr))
            absent = np.bincount(X.indices, entries * holes, minlength=D)
        else:
            holes = is_missing(X, self.missing_values)
            if self.nulls and strings:
                holes = holes | missing(X.ravel()).reshape(X.shape)
            X = np.where(holes, None if strings else np.nan, X)
            absent = w.dot(holes)
        return Observed(total, total * strings, absent, self._columns(X, w, holes))

    def _columns(self, X: Matrix, w: np.ndarray, holes: np.ndarray) -> Statistics:
        if self.strategy == "mean":
            return moments(X, w, "diagonal")
        if self.strategy == "median":
            return quantile_sketch(X, w)
        if self.strategy == "constant":
            return Parts((quantile_sketch(X, w).observed if sp.issparse(X) else w.dot(~holes),))
        columns = sparse_columns(X, w, True) if sp.issparse(X) else ((x, w) for x in X.T)
        pairs = [count_categories(np.empty(0, x.dtype), x, v[:, None]) for x, v in columns]
        return CategoryCounts(tuple(v for v, _ in pairs), tuple(c for _, c in pairs))

    def estimate(self, s: Observed) -> Self:
        columns: Any = s.columns
        if self.strategy == "constant":
            return self.replace(values=np.where(columns.parts[0] > 0, self.values, np.nan))
        if self.strategy == "mean":
            values = np.where(columns.weight > 0, columns.mean, np.nan)
            if np.isinf(values).any():
                raise ValueError(
                    f"The mean of the column at index {int(np.isinf(values).argmax())} overflows: divide the "
                    "column by its scale, or set strategy='median'."
                )
        elif self.strategy == "median":
            values = columns.quantiles([0.5])[0]
        else:
            # Ties are broken by the order of the values.
            pairs = zip(columns.values, columns.count, strict=True)
            modes = [v[np.argmax(c[0])] if len(v) else np.nan for v, c in pairs]
            values = np.array(modes, dtype=object if s.objects else np.float64)
        return self.replace(values=values)


# What scikit-learn raises for NaN and NA, unless `missing_values` is NaN or NA.
UNMARKED = re.compile("contains NaN|value of NA is ambiguous")


class Input(NamedTuple):
    """The rows of a fit, and what they were before they became partitions."""

    rows: Partitions
    in_arrays: bool
    sparse: bool
    nulls: bool  # whether None, NaN and NA are missing


@dataclass(frozen=True, eq=False)
class Filled(Progress):
    """The filling. Its `statistics` are the values that are filled in, as scikit-learn names them."""

    n_missing_: Any = None


def is_missing(values: np.ndarray, marker: Any) -> np.ndarray:
    """Mask of the values that equal the marker: NaN, None, NA, a number or a string."""
    if type(marker).__name__ == "NAType":
        return missing(values.ravel()).reshape(values.shape)
    is_marker = values != values if isinstance(marker, float) and marker != marker else values == marker
    return np.broadcast_to(np.asarray(is_marker, dtype=bool), values.shape)


class SimpleImputer(ColumnTransform, impute.SimpleImputer):
    """Replace missing values by the mean, the median or the mode of the feature, or by a constant.

    Parameters
    ----------
    missing_values : int, float, str, np.nan, None or pandas.NA, default=np.nan
        What marks a missing value. In tables, None, NaN and NA are all missing if one of them is the marker;
        nulls of tables that are not DataFrames always are.
    strategy : {'mean', 'median', 'most_frequent', 'constant'} or callable, default='mean'
        'mean' and 'median' take numbers, the others also strings. The median is exact for up to 16384
        distinct values. 'most_frequent' takes the smallest of several modes, and memory for each distinct
        value. A callable takes the observed values of a feature, which must be in memory.
    fill_value : str or number, default=None
        The value of 'constant'. If None, 0 for numbers and "missing_value" for strings.
    copy : bool, default=True
        Whether `transform` copies rows in memory. If False, it changes arrays in place where it can.
    add_indicator : bool, default=False
        Whether to append a column for each feature with missing values in `fit`, 1 where it is missing.
    keep_empty_features : bool, default=False
        Whether to keep features without observed values, filled with 0 or `fill_value`.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen during `fit`.
    statistics_ : ndarray of shape (n_features,)
        The value for each feature; NaN if there is none.
    indicator_ : MissingIndicator or None
        Indicator of missing values. None if `add_indicator` is False.
    n_missing_ : ndarray of shape (n_features,)
        Number of missing values of each feature, or their weight.
    model_ : Filling
        The values.

    See Also
    --------
    suffice.mixture.GaussianMixture : Takes missing values as they are.
    suffice.preprocessing.StandardScaler : Leaves missing values as they are.

    Notes
    -----
    One pass over the data sums the moments, a quantile sketch or the counts of each feature. With the set
    :math:`O_d` of the rows in which feature d is observed, the mean is

    .. math::

        \\bar x_d = \\frac{1}{|O_d|} ∑_{n ∈ O_d} x_{nd}.

    References
    ----------
    * Little and Rubin (2002), Statistical Analysis with Missing Data, Wiley, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.impute import SimpleImputer
    >>> SimpleImputer().fit_transform([[1.0, np.nan], [3.0, 5.0]])
    array([[1., 5.],
           [3., 5.]])
    """

    exempt = (
        OF_PLACES.only(lambda e: e.strategy != "constant"),
        Exempt("unobserved", "A feature without values is left out."),
        SKETCHES.only(lambda e: e.strategy == "median"),
        Exempt("memory", "Each distinct value is counted.", lambda e: e.strategy == "most_frequent"),
    )

    model_: Annotated[Filling, "D"]
    _parameter_constraints: ClassVar[dict[str, Any]] = impute.SimpleImputer._parameter_constraints
    _derived = ("indicator_",)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = self.strategy in ("most_frequent", "constant")
        tags.input_tags.allow_nan = tags.input_tags.allow_nan or self.missing_values is None
        return tags

    def _guarantee(self) -> Guarantee:
        return Guarantee("rounding" if self.strategy == "mean" else "bit")

    # The types with which `transform` compares. Files contain their names.

    @property
    def _fit_dtype(self) -> np.dtype:
        return np.dtype(self._dtype_name)

    @_fit_dtype.setter
    def _fit_dtype(self, dtype: Any) -> None:
        self._dtype_name = np.dtype(dtype).str

    _fill_dtype = _fit_dtype

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        in_arrays = isinstance(source_of(X), ArraySource)
        if callable(self.strategy) and not in_arrays:
            raise TypeError(
                "A callable strategy takes all observed values of a feature, and these rows are not arrays: "
                "use strategy='mean', 'median', 'most_frequent' or 'constant'."
            )
        if callable(self.strategy):
            return X
        if not in_arrays:
            return Input(open_rows(self, X), in_arrays, sparse=False, nulls=True)
        return Input(*self._arrays(X, sample_weight), self._is_table_of_nulls(X))

    def _solve(self, data: Any, classes: MaybeArray = None) -> Progress:
        if callable(self.strategy):
            unwrap(impute.SimpleImputer.fit)(self, data)  # without its context, which would end the callbacks
            return Progress(None)
        start = Filling(self.strategy, self.missing_values, np.full(self.n_features_in_, np.nan), data.nulls)
        s = data.rows.fold(Filling.summarize, start)
        must_have_rows(s.weight)
        if not data.in_arrays:
            self._fit_dtype = object if s.objects else np.float64
        if self.strategy == "constant":
            of_column = np.float64 if data.sparse else type_of_constants(self._fit_dtype)
            start = start.replace(values=np.full(self.n_features_in_, self._constant(), dtype=of_column))
        # Numbers have no null beside NaN: the same model, whatever held them.
        model = start.replace(nulls=bool(data.nulls and s.objects)).estimate(s)
        return Filled(model, statistics=self._filled(model.values, start.values), n_missing_=s.missing)

    def _arrays(self, X: Any, sample_weight: MaybeArray) -> tuple[Partitions, bool, bool]:
        """Partitions of rows in memory, which may be of any type of numbers; and whether they are arrays and
        sparse."""
        if hasattr(X, "columns"):
            check_names(list(X.columns), list(X.columns))
        if self._reads_cells(X):
            cells, names = self._cells(X, reset=True), tuple(X.columns)
            X = self._validate_input(cells, in_fit=True)
            if all(isinstance(name, str) for name in names):
                set_features(self, names, reset=True)
        else:
            X = self._validate_input(X, in_fit=True)
        check, sparse = Check.of(self), sp.issparse(X)
        rows = Rows(sp.csr_array(X) if sparse else X, None, weights_of(check.name, sample_weight, X.shape[0]))
        return in_blocks(check.kept(rows)), True, sparse

    def _validate_input(self, X: Any, in_fit: bool) -> Any:
        """Rows that scikit-learn has checked, whose errors name the value."""
        try:
            checked = super()._validate_input(X, in_fit)
            if checked.dtype == object:
                is_missing(
                    checked, self.missing_values
                )  # which raises an error for NA if another is the marker
            return checked
        except (TypeError, ValueError, OverflowError) as error:
            message = str(error)
            if UNMARKED.search(message):
                raise self._unmarked(X) from None
            if not in_fit or not CONVERSION.search(message):
                raise
            explain = explained_objects if get_tags(self).input_tags.string else explained
            clear = explain(error, X, "X", type(self).__name__)
            by_strategy = message.startswith("Cannot use")
            raise (ValueError(f"{message}. {clear}") if by_strategy else clear) from None

    def _unmarked(self, X: Any) -> ValueError:
        """The error for NaN or NA that `missing_values` does not mark."""
        place, marker = "", "numpy.nan"
        if not sp.issparse(X):
            cells = objects_of(X) if hasattr(X, "columns") else np.asarray(X, dtype=object)
            holes = np.argwhere(missing(cells.ravel()).reshape(cells.shape)).tolist()
            of_na = [(n, d) for n, d in holes if type(cells[n, d]).__name__ == "NAType"]
            place = " in row {}, column {}".format(*(of_na or holes)[0])
            marker = "pandas.NA" if of_na else marker
        return ValueError(
            f"Input X contains NaN{place}, which missing_values={self.missing_values!r} does not mark: set "
            f"missing_values={marker}."
        )

    def _is_table_of_nulls(self, X: Any) -> bool:
        """Whether X is a DataFrame in which None, NaN and NA are all missing, as in other tables."""
        return hasattr(X, "columns") and bool(missing(np.array([self.missing_values], dtype=object))[0])

    def _reads_cells(self, X: Any) -> bool:
        """Whether such a DataFrame may hold strings."""
        return self._is_table_of_nulls(X) and self.strategy in ("most_frequent", "constant")

    def _cells(self, X: Any, reset: bool) -> np.ndarray:
        """The cells of a DataFrame, with one marker of missing values."""
        validate_data(self, X, skip_check_array=True, reset=reset)
        cells = objects_of(X)
        if cells.dtype == object:
            cells[missing(cells.ravel()).reshape(cells.shape)] = self.missing_values
        return cells

    def _constant(self) -> Any:
        if self.fill_value is not None:
            return self.fill_value
        return "missing_value" if self._fit_dtype.kind == "O" else 0

    def _filled(self, values: np.ndarray, constant: np.ndarray) -> np.ndarray:
        """The values that `transform` fills in, also for features without observed values."""
        if not self.keep_empty_features:
            return values
        empty = np.array([v != v for v in values], dtype=bool)
        return np.where(empty, constant if self.strategy == "constant" else 0, values)

    def _derive(self) -> None:
        self._fit_indicator((self.n_missing_ > 0)[None])

    def transform_rows(self, X: Any) -> Any:
        if X.dtype == object:
            X = X.copy()
            X[missing(X.ravel()).reshape(X.shape)] = self.missing_values
        elif not sp.issparse(X):
            X = X.astype(self._fit_dtype)
        return super().transform_rows(X)

    @row_wise
    def transform(self, X: Any) -> Any:
        """Fill in the missing values.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        if self._reads_cells(X):
            check_is_fitted(self)
            fill = impute.SimpleImputer.transform.__wrapped__  # which returns arrays, whatever is configured
            return fill(nameless(self), self._cells(X, reset=False))
        return super().transform(canonical(X))
