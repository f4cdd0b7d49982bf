"""Categories as numbers. The categories of a column and their counts are a sum over the rows.

scikit-learn's encoders say what the codes of categories are, and encode rows in memory. For rows that are
read from a table, they are fitted to the distinct values of each column, with their counts; and they encode
the distinct values of a batch, of which each row takes those of its values. Two of their methods are refined
for it: `_check_X`, which divides the input into columns, and `_fit_infrequent_category_mapping`, which takes
counts of categories.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from inspect import unwrap
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing
from sklearn.utils.validation import check_array, check_is_fitted

from ..core.arguments import MaybeArray
from ..core.blocks import Rows, missing
from ..core.coded import Coded, coded, objects
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.answers import nameless, row_wise
from ..estimator.base import Estimator, must_have_rows
from ..estimator.guarantees import Exempt, Guarantee
from ..estimator.tags import tags
from ..inputs import open_rows, source_of
from ..inputs.arrays import ArraySource
from ..inputs.readers import CategoryColumns, Reader, Transformed
from ..inputs.sources import TableSource, as_kind, set_features
from ..statistics import CategoryCounts


@dataclass(frozen=True, eq=False)
class Occurrences(Statistics):
    """The sorted categories of each column and their weights, and the weight of missing values."""

    weight: float  # of all rows
    missing: Annotated[np.ndarray, "(D,)"]
    categories: CategoryCounts  # of one group

    @classmethod
    def of(cls, block: Rows) -> Occurrences:
        if not block.weight.all():  # rows of weight zero have no categories
            block = block[np.flatnonzero(block.weight)]
        columns = [weigh_categories(*column, block.weight[:, None]) for column in columns_of(block.X)]
        holes = np.array([float(hole[0]) for _, _, hole in columns])
        counts = CategoryCounts(tuple(v for v, _, _ in columns), tuple(c for _, c, _ in columns))
        return cls(float(block.weight.sum()), holes, counts)

    def counts_of(self, d: int, categories: np.ndarray) -> np.ndarray:
        """The weights of these categories of column d."""
        count = dict(
            zip(self.categories.values[d].tolist(), self.categories.count[d][0].tolist(), strict=True)
        )
        holes = missing(categories)
        return np.array(
            [
                self.missing[d] if hole else count.get(c, 0.0)
                for c, hole in zip(categories.tolist(), holes, strict=True)
            ]
        )


def columns_of(X: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """The codes and the values of each column."""
    rows = coded(X)
    return list(zip(rows.codes.T, rows.values, strict=True))


def weigh_categories(
    codes: np.ndarray, values: np.ndarray, R: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sorted categories that occur, their sums of R (N, K), (K, V), and those of missing values, (K,)."""
    sums = np.stack([np.bincount(codes, r, minlength=len(values)) for r in R.T]).astype(
        np.float64, copy=False
    )
    rows = np.bincount(codes, minlength=len(values)) > 0
    hole = missing(values)
    present = np.flatnonzero(rows & ~hole)
    categories = values[present]
    if categories.dtype == object and all(isinstance(value, bool) for value in categories):
        categories = categories.astype(bool)  # among which some were missing
    try:
        order = np.argsort(categories, kind="stable")
    except TypeError:
        kinds = sorted({type(value).__name__ for value in categories})
        raise TypeError(
            "Encoders require their input argument must be uniformly strings or numbers. Got "
            f"{kinds}: write all as strings."
        ) from None
    return categories[order], sums[:, present[order]], sums[:, hole].sum(axis=1)


class Encoder(Estimator):
    """Base class of the encoders: fits to tables, and rows that are encoded when they are read."""

    categories_: list[np.ndarray]
    statistics_: Any
    __sklearn_tags__ = tags(string=True)
    _guarantee = Guarantee.always("bit")

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """Partitions of rows; or arrays without weights, which scikit-learn fits."""
        source = source_of(X)
        if isinstance(source, ArraySource) and sample_weight is None:
            return without_na(X)
        source = source.read_as(CategoryColumns) if isinstance(source, TableSource) else source
        return open_rows(self, source, None, sample_weight)

    def _solve(self, data: Any) -> Progress:
        if not isinstance(data, Partitions):
            self._fit_distinct(data)
            return Progress(None)
        s = data.fold(Occurrences.of)
        self._learn(s)
        return Progress(None, statistics=s)

    def _learn(self, s: Occurrences) -> None:
        """Fit to the categories and their counts."""
        must_have_rows(s.weight)
        features = (
            tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else self.n_features_in_
        )
        self._skl_counts = s
        try:
            self._fit_distinct(coded_categories(s))
        finally:
            del self._skl_counts
        set_features(self, features, reset=True)

    def _fit_distinct(self, X: Any) -> None:
        """scikit-learn's fit, to arrays or to the distinct values, without its context, which would end the
        callbacks."""
        unwrap(super(Estimator, self).fit)(self, X)

    def _check_X(self, X: Any, ensure_all_finite: Any = True) -> Any:
        if isinstance(X, Coded):
            columns = [values[codes] for codes, values in zip(X.codes.T, X.values, strict=True)]
            return columns, *X.shape
        if is_polars(X):  # scikit-learn would convert it to one array
            arrays = (_polars_column(X[:, d]) for d in range(X.shape[1]))
            options = {"ensure_2d": False, "dtype": None, "ensure_all_finite": ensure_all_finite}
            return [check_array(column, **options) for column in arrays], *X.shape
        return super()._check_X(X, ensure_all_finite=ensure_all_finite)

    def _transform(self, X: Any, *args: Any, **how: Any) -> Any:
        try:
            return super()._transform(X, *args, **how)
        except TypeError as error:
            if "isnan" not in str(error):
                raise
            fitted = ["numbers" if values.dtype.kind in "fiub" else "strings" for values in self.categories_]
            raise TypeError(
                f"{type(self).__name__} was fitted to columns of {fitted}, and X holds others: pass values "
                "of these types, e.g. X.astype(str) or X.astype(float)."
            ) from error

    def _fit_infrequent_category_mapping(self, n_samples: int, counts: Any, missing_indices: Any) -> None:
        s = getattr(self, "_skl_counts", None)
        if s is not None:
            n_samples = s.weight
            counts = [s.counts_of(d, categories) for d, categories in enumerate(self.categories_)]
        super()._fit_infrequent_category_mapping(n_samples, counts, missing_indices)

    def _transformed_reader(self, reader: Reader) -> Reader:
        return Transformed(
            as_kind(reader, CategoryColumns), nameless(self), len(self.get_feature_names_out())
        )

    def transform_rows(self, X: Any) -> Any:
        """Encode the rows of a block."""
        rows = coded(X)
        few, places = rows.distinct()
        if not len(few):
            return self._taken(None, rows.codes, places)
        pairs = zip(few.values, self.categories_, strict=True)
        few = few.replace(values=tuple(_with_missing_as(*pair) for pair in pairs))
        return self._taken(super().transform(few), rows.codes, places)

    def _taken(self, table: Any, codes: np.ndarray, places: list[np.ndarray]) -> Any:
        """The encoded rows: in column d, code c has the encoding of row places[d][c] of the table."""
        raise NotImplementedError

    def _in_memory(self, X: Any) -> Any:
        """The encoded rows of a table in memory; None for other input."""
        check_is_fitted(self)
        source = source_of(X)
        if not isinstance(source, TableSource):
            return None
        reader = source.reader_for(self)
        return self._transformed_reader(reader).rows(source.container)


def coded_categories(s: Occurrences) -> Coded:
    """Rows that contain all categories of each column. Missing values are the last."""
    columns = [
        _with_nan(values) if hole else values
        for values, hole in zip(s.categories.values, s.missing, strict=True)
    ]
    most = max(map(len, columns))
    codes = np.zeros((most, len(columns)), np.intp)
    for d, values in enumerate(columns):
        codes[: len(values), d] = np.arange(len(values))
    return Coded(codes, tuple(columns))


def _with_nan(values: np.ndarray) -> np.ndarray:
    return np.append(values, np.nan) if values.dtype.kind in "iuf" else objects([*values, np.nan])


def _with_missing_as(values: np.ndarray, categories: np.ndarray) -> np.ndarray:
    """The values, with None or NaN in place of missing ones, whichever is a category."""
    hole = missing(values)
    if not hole.any() or not missing(categories[-1:]).any():
        return values
    values = values.astype(np.result_type(values, categories.dtype))
    values[hole] = categories[-1]
    return values


def serving(encoder: Any, X: Any) -> tuple[Any, Any]:
    """The encoder and a table in memory, with the same marker of missing values: None, NaN and NA are one
    category, as in tables that are not in memory."""
    categories = encoder.categories_
    if not hasattr(X, "columns") or X.shape[1] != len(categories):
        return encoder, X
    if hasattr(X, "iloc"):
        return encoder, with_marker(X, [v[-1] if missing(v[-1:]).any() else np.nan for v in categories])
    if is_polars(X) and any(v.dtype == object and v[-1:] == [None] for v in categories):
        encoder = copy(encoder)
        encoder.categories_ = [
            objects([*v[:-1], np.nan]) if v.dtype == object and v[-1:] == [None] else v for v in categories
        ]
    return encoder, X


def is_polars(X: Any) -> bool:
    return isinstance(X, getattr(sys.modules.get("polars"), "DataFrame", ()))


def _polars_column(column: Any) -> np.ndarray:
    """A column of Polars, with NaN for nulls."""
    values = column.to_numpy()
    return np.where(missing(values), np.nan, values) if values.dtype == object else values


def without_na(X: Any) -> Any:
    """A pandas table with NaN for NA, which has no order among categories."""
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return X
    holes = (X.iloc[:, d][X.iloc[:, d].isna()] for d in range(X.shape[1]))
    has_na = [any(type(value).__name__ == "NAType" for value in hole) for hole in holes]
    return with_marker(X, [np.nan] * X.shape[1], has_na) if any(has_na) else X


def with_marker(X: Any, markers: Sequence[Any], columns: Sequence[bool] | None = None) -> Any:
    """A pandas table with these markers of missing values in some or all of its columns that are not
    numbers."""
    changed = None
    for d, marker in enumerate(markers):
        column = X.iloc[:, d]
        if columns is not None and not columns[d]:
            continue
        if getattr(column.dtype, "kind", "O") not in "biufMm" and column.isna().any():
            changed = X.copy() if changed is None else changed
            changed.isetitem(d, column.astype(object).where(column.notna(), marker))
    return X if changed is None else changed


class OneHotEncoder(Encoder, preprocessing.OneHotEncoder):
    """Encode categorical features as a one-hot numeric array.

    The categories are learned in one pass over the data, and rows are encoded when they are read. For arrays
    and DataFrames in memory, and in all parameters, it is scikit-learn's encoder.

    Parameters
    ----------
    categories : 'auto' or list of array-like, default='auto'
        The categories of each feature. 'auto' learns them from the data.
    drop : {'first', 'if_binary'} or array-like of shape (n_features,), default=None
        Which category of each feature is dropped: the first; the first of features with two categories; or
        the category that the array names. If None, none is dropped.
    sparse_output : bool, default=True
        Whether to return CSR, or a dense array.
    dtype : number type, default=np.float64
        Type of the output.
    handle_unknown : {'error', 'ignore', 'infrequent_if_exist', 'warn'}, default='error'
        What to do with a category in `transform` that was not seen in `fit`: raise an error; encode it as
        zeros; take it as infrequent, if there is such a category, else as zeros; or do so with a warning.
    min_frequency : int or float, default=None
        Least number of rows of a category, or its least share of the rows. Others are infrequent, and are
        encoded as one category.
    max_categories : int, default=None
        Maximum number of output features for each input feature, with the infrequent one.
    feature_name_combiner : 'concat' or callable, default='concat'
        Function of the name of a feature and a category that returns the name of the output feature.

    Attributes
    ----------
    categories_ : list of ndarray
        The sorted categories of each feature. Missing values are the last, NaN.
    drop_idx_ : ndarray of shape (n_features,) or None
        Index in `categories_` of the dropped category of each feature.
    infrequent_categories_ : list of ndarray
        Infrequent categories of each feature. Only with `min_frequency` or `max_categories`.
    n_features_in_ : int
        Number of features seen during `fit`.
    statistics_ : Occurrences
        The categories and their weights. Only if the encoder was fitted to a table or with weights.

    See Also
    --------
    OrdinalEncoder : One integer for each category.
    TargetEncoder : The mean of the target for each category, for features with many of them.
    suffice.compose.ColumnTransformer : Encodes some columns of a table.

    Notes
    -----
    A category v of feature j becomes

    .. math::

        x_{jv} = 1 \\text{ if } x_j = v, \\text{ else } 0.

    In a table, a row of weight 2 counts twice for `min_frequency`.

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, 2nd edition, Springer,
      section 2.2.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, suffice
    >>> from suffice.preprocessing import OneHotEncoder
    >>> table = suffice.rows(pa.table({"country": ["DE", "FR", "DE"], "device": [2, 1, 2]}))
    >>> encoder = OneHotEncoder(sparse_output=False).fit(table)
    >>> encoder.get_feature_names_out()
    array(['country_DE', 'country_FR', 'device_1', 'device_2'], dtype=object)
    >>> np.asarray(encoder.transform(table))
    array([[1., 0., 0., 1.],
           [0., 1., 1., 0.],
           [1., 0., 0., 1.]])
    """

    exempt = (Exempt("model", "It is scikit-learn's encoder, fitted to categories and their sums."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = preprocessing.OneHotEncoder._parameter_constraints

    @row_wise
    def transform(self, X: Any) -> Any:
        """One-hot encoding of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        encoded = self._in_memory(X)
        if encoded is not None:
            return encoded
        encoder, X = serving(self, X)
        return super(OneHotEncoder, encoder).transform(X)

    def _taken(self, table: Any, codes: np.ndarray, places: list[np.ndarray]) -> Any:
        N, D = codes.shape
        starts = np.cumsum([0, *self._n_features_outs])
        column = np.full((N, D), -1, np.int32)  # of the one in each feature, if there is one
        if table is not None:
            ones = sp.coo_array(table)
            of_row = np.full((table.shape[0], D), -1, np.int32)
            of_row[ones.row, np.searchsorted(starts, ones.col, "right") - 1] = ones.col
            for d, place in enumerate(places):
                column[:, d] = of_row[place, d][codes[:, d]]
        present = column >= 0
        if present.all():
            indices, indptr = column.ravel(), np.arange(0, N * D + 1, D or 1, dtype=np.int32)
        else:
            indices, indptr = column[present], np.zeros(N + 1, np.int32)
            np.cumsum(present.sum(axis=1), out=indptr[1:])
        X = sp.csr_array((np.ones(len(indices), self.dtype), indices, indptr), (N, starts[-1]))
        return X if self.sparse_output else X.toarray()

    def _entries(self) -> float | None:
        """The maximum number of non-zero entries of a row; None if the output is dense."""
        return float(self.n_features_in_) if self.sparse_output else None


class OrdinalEncoder(Encoder, preprocessing.OrdinalEncoder):
    """Encode categorical features as integers.

    The categories are learned in one pass over the data, and rows are encoded when they are read. For arrays
    and DataFrames in memory, and in all parameters, it is scikit-learn's encoder.

    Parameters
    ----------
    categories : 'auto' or list of array-like, default='auto'
        The categories of each feature. 'auto' learns them from the data.
    dtype : number type, default=np.float64
        Type of the output.
    handle_unknown : {'error', 'use_encoded_value'}, default='error'
        What to do with a category in `transform` that was not seen in `fit`: raise an error, or encode it as
        `unknown_value`.
    unknown_value : int or np.nan, default=None
        Code of unknown categories, with ``handle_unknown='use_encoded_value'``.
    encoded_missing_value : int or np.nan, default=np.nan
        Code of missing values.
    min_frequency : int or float, default=None
        Least number of rows of a category, or its least share of the rows. Others are infrequent, and have
        one code.
    max_categories : int, default=None
        Maximum number of codes of each feature, with the infrequent one and without missing values.

    Attributes
    ----------
    categories_ : list of ndarray
        The sorted categories of each feature. Missing values are the last, NaN.
    infrequent_categories_ : list of ndarray
        Infrequent categories of each feature. Only with `min_frequency` or `max_categories`.
    n_features_in_ : int
        Number of features seen during `fit`.
    statistics_ : Occurrences
        The categories and their weights. Only if the encoder was fitted to a table or with weights.

    See Also
    --------
    OneHotEncoder : One feature for each category.
    TargetEncoder : The mean of the target for each category.
    suffice.naive_bayes.CategoricalNB : Takes such codes.

    Notes
    -----
    The code of a category is its place in the sorted categories of its feature:

    .. math::

        x_j ↦ \\#\\{v ∈ \\mathrm{categories}_j: v < x_j\\}.

    References
    ----------
    * Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, 2nd edition, Springer,
      section 2.2.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, suffice
    >>> from suffice.preprocessing import OrdinalEncoder
    >>> table = suffice.rows(pa.table({"size": ["S", "L", "M", None]}))
    >>> encoder = OrdinalEncoder(categories=[["S", "M", "L", np.nan]]).fit(table)
    >>> np.asarray(encoder.transform(table)).ravel()
    array([ 0.,  2.,  1., nan])
    """

    exempt = (Exempt("model", "It is scikit-learn's encoder, fitted to categories and their sums."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = preprocessing.OrdinalEncoder._parameter_constraints

    @row_wise
    def transform(self, X: Any) -> Any:
        """The codes of each row.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        encoded = self._in_memory(X)
        if encoded is not None:
            return encoded
        encoder, X = serving(self, X)
        return super(OrdinalEncoder, encoder).transform(X)

    def _taken(self, table: Any, codes: np.ndarray, places: list[np.ndarray]) -> Any:
        X = np.empty(codes.shape, self.dtype)
        if table is not None:
            for d, place in enumerate(places):
                X[:, d] = table[place, d][codes[:, d]]
        return X
