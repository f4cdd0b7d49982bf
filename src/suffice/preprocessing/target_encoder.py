"""Categories as means of the target, shrunk to the overall mean. The moments of the target by category are a
sum over the rows.

Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes in classification and
prediction problems", 2001.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from inspect import unwrap
from itertools import count
from numbers import Integral
from operator import add
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn import preprocessing
from sklearn.utils import check_consistent_length, column_or_1d

from ..core.arguments import MaybeArray
from ..core.blocks import Rows, missing
from ..core.coded import coded
from ..core.extras import required
from ..core.loop import Progress, one_task
from ..core.statistics import Parts, Statistics
from ..estimator.answers import nameless, row_wise
from ..estimator.base import Estimator, must_have_rows
from ..estimator.guarantees import Exempt, Guarantee
from ..inputs import Check, in_blocks, open_rows, source_of
from ..inputs.arrays import ArrowSource
from ..inputs.checks import weights_of
from ..inputs.readers import CategoryColumns, Reader, Transformed
from ..inputs.selection import WithFold
from ..inputs.sources import TableSource, set_features
from ..inputs.tables import Columns, rows
from ..statistics import CategoryCounts, Distinct, class_codes, distinct
from .encoders import Encoder, Occurrences, serving, weigh_categories, without_na


def with_target(source: Any, y: MaybeArray, sample_weight: MaybeArray) -> Any:
    """The source. If targets and weights are passed beside an Arrow table, they become columns of the
    table."""
    if y is None or not isinstance(source, ArrowSource) or source.table is not None:
        if isinstance(source, TableSource) and (y is not None or sample_weight is not None):
            raise ValueError(
                "The target and the weight of a table are columns of it: call "
                'fit(suffice.rows(table, target="...", weight="...")) without y and sample_weight.'
            )
        return source
    pa = required("pyarrow", "parquet")
    table, names = pa.table(source.container), source.names()
    parts: dict[str, Any] = {}
    for role, values in (("target", y), ("weight", sample_weight)):
        if values is not None:
            values = column_or_1d(np.asarray(values))
            if len(values) != len(table):
                raise ValueError(f"X has {len(table)} rows, and there are {len(values)} {role}s.")
            parts[role] = next(name for n in count() if (name := f"{role}{n or ''}") not in names)
            table = table.append_column(parts[role], pa.array(values))
    return source_of(rows(table, features=names, **parts))


@dataclass(frozen=True, eq=False)
class TargetMoments(Statistics):
    """Moments of T targets for each category of each column. The last are the moments of missing
    categories."""

    values: Annotated[tuple[np.ndarray, ...], "D of labels (V_d,)"]
    weight: Annotated[tuple[np.ndarray, ...], "D of real (S_d,)"]  # S_d = V_d + 1
    mean: Annotated[tuple[np.ndarray, ...], "D of real (T, S_d)"]
    scatter: Annotated[tuple[np.ndarray, ...], "D of real (T, S_d)"]  # sum of (y - mean)^2

    @classmethod
    def of(cls, X: Any, Y: np.ndarray, weight: np.ndarray) -> TargetMoments:
        """The moments of the targets Y (N, T)."""
        rows = coded(X)
        parts = [
            _moments(codes, values, Y, weight)
            for codes, values in zip(rows.codes.T, rows.values, strict=True)
        ]
        return cls(*(tuple(part) for part in zip(*parts, strict=True)))

    def __add__(self, other: Self) -> Self:
        columns = []
        for d in range(len(self.values)):
            a, b = ((s.values[d], s.weight[d], s.mean[d], s.scatter[d]) for s in (self, other))
            columns.append(_merged(*_aligned(a, b)))
        return type(self)(*(tuple(part) for part in zip(*columns, strict=True)))

    def __mul__(self, factor: float) -> Self:
        weight, scatter = (tuple(part * factor for part in parts) for parts in (self.weight, self.scatter))
        return self.replace(weight=weight, scatter=scatter)

    __rmul__ = __mul__

    def total(self) -> tuple[float, np.ndarray, np.ndarray]:
        """The weight of all rows, and the means and variances of the targets, (T,)."""
        w, mean = self.weight[0], self.mean[0]
        total = float(w.sum())
        center = mean @ w / total if total else np.zeros(len(mean))
        spread = (self.scatter[0] + w * (mean - center[:, None]) ** 2).sum(axis=1)
        return total, center, spread / max(total, 1.0)


def _moments(codes: np.ndarray, values: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> tuple[Any, ...]:
    """Categories, weights, means and scatter of one column."""
    categories, sums, holes = weigh_categories(codes, values, np.column_stack([weight, weight[:, None] * Y]))
    sums = np.column_stack([sums, holes])
    mean = np.divide(sums[1:], sums[0], out=np.zeros_like(sums[1:]), where=sums[0] > 0)
    place = np.full(len(values), len(categories))  # missing values are the last
    known = {value: n for n, value in enumerate(categories.tolist())}
    hole = missing(values)
    place[~hole] = [known.get(value, len(categories)) for value in values[~hole].tolist()]
    index = place[codes]
    scatter = [
        np.bincount(index, weight * (y - m[index]) ** 2, minlength=len(categories) + 1)
        for y, m in zip(Y.T, mean, strict=True)
    ]
    return categories, sums[0], mean, np.stack(scatter)


def _aligned(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same moments with all categories of both."""
    if len(a[0]) == len(b[0]) and (a[0] == b[0]).all():
        return a, b
    empty = (np.zeros((1, len(values))) for values in (a[0], b[0]))
    counts = (CategoryCounts((s[0],), (zero,)) for s, zero in zip((a, b), empty, strict=True))
    values = reduce(add, counts).values[0]

    def spread(s: tuple[Any, ...]) -> tuple[Any, ...]:
        place = np.append(np.searchsorted(values, s[0]) if len(s[0]) else [], len(values)).astype(int)
        parts = []
        for part in s[1:]:
            out = np.zeros((*part.shape[:-1], len(values) + 1))
            out[..., place] = part
            parts.append(out)
        return values, *parts

    return spread(a), spread(b)


def _merged(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Chan, Golub and LeVeque (1983)."""
    (values, wa, ma, sa), (_, wb, mb, sb) = a, b
    weight = wa + wb
    share = np.divide(wb, weight, out=np.zeros_like(weight), where=weight > 0)
    change = mb - ma
    return values, weight, ma + change * share, sa + sb + change**2 * wa * share


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Encodes rows whose last column is their fold by the encoder that was fitted without that fold."""

    encoders: tuple[Any, ...]

    def transform_rows(self, X: Any) -> np.ndarray:
        D = X.shape[1] - 1
        rows, fold = X[:, list(range(D))], X.codes[:, D]
        parts = [encoder.transform_rows(rows[fold == f]) for f, encoder in enumerate(self.encoders)]
        out = np.empty((len(X), parts[0].shape[1]))
        for f, part in enumerate(parts):
            out[fold == f] = part
        return out


class TargetEncoder(Encoder, preprocessing.TargetEncoder):
    """Encode categories as the mean of the target, shrunk to the overall mean.

    The moments of the target by category are summed in one pass over the data, and rows are encoded when they
    are read. `fit_transform` encodes each row by an encoder that was fitted without the fold of the row. For
    arrays and DataFrames in memory, and in all parameters, it is scikit-learn's encoder.

    Parameters
    ----------
    categories : 'auto' or list of array-like, default='auto'
        The categories of each feature. 'auto' learns them from the data.
    target_type : {'auto', 'continuous', 'binary', 'multiclass'}, default='auto'
        Type of the target. 'auto' takes whole numbers, strings and booleans as classes, which needs one more
        pass over a table.
    smooth : 'auto' or float, default='auto'
        Weight of the overall mean, in rows. 'auto' takes an empirical Bayes estimate.
    cv : int, cross-validation generator or iterable, default=5
        Number of folds of `fit_transform`. For a table, an int: the fold of a row is drawn by a hash of its
        values.
    shuffle : bool, default='deprecated'
        Whether to shuffle the rows before they are divided into folds; for rows in memory.
    random_state : int, RandomState or None, default='deprecated'
        Seed for the folds; for rows in memory.

    Attributes
    ----------
    encodings_ : list of ndarray
        The encodings of the categories of each feature; for more than two classes, of each feature and class.
    categories_ : list of ndarray
        The sorted categories of each feature. Missing values are the last, NaN.
    target_type_ : str
        Type of the target.
    target_mean_ : float or ndarray of shape (n_classes,)
        Overall mean of the target, which encodes unknown categories.
    classes_ : ndarray or None
        The classes, if there are any.
    n_features_in_ : int
        Number of features seen during `fit`.
    statistics_ : TargetMoments
        The moments of the target by category. Only if the encoder was fitted to a table or with weights.

    See Also
    --------
    OneHotEncoder : One feature for each category.
    suffice.compose.ColumnTransformer : Encodes some columns of a table.

    Notes
    -----
    The encoding of a category with n rows, mean :math:`\\bar y_v` and variance :math:`s_v^2` is

    .. math::

        λ_v \\bar y_v + (1 - λ_v) \\bar y, \\qquad
        λ_v = \\frac{n τ^2}{n τ^2 + s_v^2} \\text{ or } \\frac{n}{n + m},

    for ``smooth='auto'``, where :math:`τ^2` is the variance of the target, or for ``smooth=m``. In a table, a
    row of weight 2 counts twice.

    References
    ----------
    * Micci-Barreca (2001), "A preprocessing scheme for high-cardinality categorical attributes in
      classification and prediction problems", SIGKDD Explorations 3.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.preprocessing import TargetEncoder
    >>> table = pa.table({"city": ["Bonn", "Bonn", "Kiel", "Kiel"], "rent": [8.5, 9.5, 6.0, 7.0]})
    >>> encoder = TargetEncoder(smooth=2.0).fit(suffice.rows(table, target="rent"))
    >>> encoder.encodings_[0]
    array([8.375, 7.125])
    """

    exempt = (Exempt("model", "It is scikit-learn's encoder, fitted to categories and their sums."),)

    _parameter_constraints: ClassVar[dict[str, Any]] = preprocessing.TargetEncoder._parameter_constraints
    _guarantee = Guarantee.always()

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Any:
        """Partitions of rows; or arrays without weights, with the targets, which scikit-learn fits."""
        source: Any = with_target(source_of(X), y, sample_weight)
        self._must_have_target(source, y)
        if isinstance(source, TableSource):
            source, columns = self._columns(source)
            return open_rows(self, source.read_by(columns.reader))
        if sample_weight is None:
            return without_na(X), y
        check = Check.of(self)
        rows = check.array(self, X)
        check_consistent_length(rows, y)
        weight = weights_of(check.name, sample_weight, len(rows))
        return in_blocks(check.kept(Rows(rows, column_or_1d(y), weight)))

    def _solve(self, data: Any) -> Progress:
        if isinstance(data, tuple):
            unwrap(super(Estimator, self).fit)(self, *data)  # as `_fit_distinct`
            return Progress(None)
        (s,) = data.fold(_by_fold, self._learn_type(data), 1).parts
        return self._learnt(s)

    def fit_transform(self, X: Any, y: MaybeArray = None, **params: Any) -> Any:
        """Learn the encodings, and encode each row by those that were learned without its fold.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows.
        y : array of shape (n_samples,), optional
            Targets. Leave out if a column of the table holds them.
        **params : dict
            Parameters of the splitter, if metadata routing is enabled.

        Returns
        -------
        array or table
        """
        bare = source_of(X)
        source: Any = with_target(bare, y, None)
        self._must_have_target(source, y)
        if not isinstance(source, TableSource):
            return super().fit_transform(without_na(X), y, **params)
        if not isinstance(self.cv, Integral):
            raise ValueError(
                f"The folds of a table are drawn by a hash of its rows: pass cv as a number; got {self.cv!r}."
            )
        with one_task(self):
            reader = self._fit_by_fold(source, int(self.cv))
        return reader.rows(source.container) if bare.is_plain else source.read_by(reader)

    def _must_have_target(self, source: Any, y: MaybeArray) -> None:
        """Raise for rows without targets. A column of a table may hold them."""
        if y is None and not isinstance(source, TableSource):
            raise ValueError(
                "TargetEncoder requires y to be passed, but the target y is None: call fit(X, y)."
            )

    def _columns(self, source: Any) -> tuple[TableSource, Columns]:
        """The table that is read as categories, and its columns."""
        source = source.read_as(CategoryColumns)
        if not isinstance(source.table.target, str):
            raise ValueError(
                f"TargetEncoder requires one target; got {source.table.target!r}: call "
                'fit(suffice.rows(table, target="...")).'
            )
        return source, source.table.columns(source.names())

    def _fit_by_fold(self, source: Any, n_folds: int) -> Reader:
        """Fit to a table in one pass, and return the reader of rows that are encoded without their fold."""
        source, columns = self._columns(source)
        reader = WithFold(columns.reader, tuple(sorted(source.names())), 0, n_folds)
        data = open_rows(self, source.read_by(reader))
        s = data.fold(_by_fold, self._learn_type(data), n_folds).parts
        set_features(self, columns.reader.features, reset=True)
        self._publish(self._learnt(reduce(add, s)))
        without = (reduce(add, (*s[:f], *s[f + 1 :])) for f in range(n_folds))
        encoders = tuple(self._encoded_by(part) for part in without)
        return Transformed(reader, CrossFitted(encoders), len(self.get_feature_names_out()))

    def _learn_type(self, data: Any) -> np.ndarray | None:
        """Set the type of the target, and return its classes; None for numbers."""
        self.target_type_, self.classes_ = self.target_type, None
        if self.target_type == "continuous":
            return None
        numbers, labels = data.fold(_labels).parts
        if self.target_type == "auto":
            n = len(labels.values[0])
            self.target_type_ = "continuous" if numbers[0] else "multiclass" if n > 2 else "binary"
        if self.target_type_ == "continuous":
            return None
        self.classes_ = labels.values[0]
        return self.classes_

    def _learnt(self, s: TargetMoments) -> Progress:
        """Learn the categories and their encodings."""
        weight, _, _ = s.total()
        must_have_rows(weight)
        holes = np.array([w[-1] for w in s.weight])
        counts = CategoryCounts(s.values, tuple(w[None, :-1] for w in s.weight))
        self._learn(Occurrences(weight, holes, counts))
        self.target_mean_, self.encodings_ = self._encodings(s)
        return Progress(None, statistics=s)

    def _fit_distinct(self, X: Any) -> None:
        self._fit(X, handle_unknown="ignore", ensure_all_finite="allow-nan")

    def _encodings(self, s: TargetMoments) -> tuple[Any, list[np.ndarray]]:
        """The overall mean, and the encodings of the categories of each feature; with several classes,
        for each class."""
        _, center, variance = s.total()
        encodings = []
        for d, categories in enumerate(self.categories_):
            place = _places(categories, s.values[d])
            w, mean, scatter = (
                np.append(p, np.zeros((*p.shape[:-1], 1)), axis=-1)[..., place]
                for p in (s.weight[d], s.mean[d], s.scatter[d])
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                if self.smooth == "auto":
                    share = variance[:, None] * w / (variance[:, None] * w + scatter / w)
                else:
                    share = np.broadcast_to(w / (w + self.smooth), mean.shape)
            shrunk = share * mean + (1.0 - share) * center[:, None]
            encodings.append(np.where(np.isnan(share), center[:, None], shrunk))
        several = self.target_type_ == "multiclass"
        return (center if several else center[0]), [row for part in encodings for row in part]

    def _encoded_by(self, s: TargetMoments) -> Self:
        """The same encoder with the encodings of some of the rows."""
        other = copy(nameless(self))
        other.target_mean_, other.encodings_ = self._encodings(s)
        return other

    @row_wise
    def transform(self, X: Any) -> Any:
        """Encode each row by the means that were learned from all rows.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        encoded = self._in_memory(X)
        if encoded is not None:
            return encoded
        encoder, X = serving(self, X)
        return super(TargetEncoder, encoder).transform(X)

    def _taken(self, table: Any, codes: np.ndarray, places: list[np.ndarray]) -> Any:
        N, D = codes.shape
        C = len(self.encodings_) // D  # classes, or one target
        X = np.empty((N, D, C))
        if table is not None:
            of_row = np.asarray(table).reshape(-1, D, C)
            for d, place in enumerate(places):
                X[:, d] = of_row[place, d][codes[:, d]]
        return X.reshape(N, D * C)


def _places(categories: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The index of each category among the values; missing ones are the last, and others are after these."""
    place = {value: n for n, value in enumerate(values.tolist())}
    hole = missing(categories)
    return np.array(
        [
            len(values) if h else place.get(c, len(values) + 1)
            for c, h in zip(categories.tolist(), hole, strict=True)
        ],
        dtype=int,
    )


def _labels(block: Rows) -> Parts:
    """The weight of targets that are not whole numbers, and the distinct values of the others."""
    y = block.y
    if missing(y).any():
        raise ValueError("Input y contains NaN: leave those rows out.")
    parts = y != np.floor(y) if y.dtype.kind == "f" else np.zeros(len(y), bool)
    return Parts((block.weight[parts].sum(keepdims=True), Distinct((distinct(y[~parts]),))))


def _by_fold(classes: Sequence[Any] | None, n_folds: int, block: Rows) -> Parts:
    """The moments of the targets of each fold, which is the last column."""
    X, y = block.X, block.y
    if missing(y).any():
        raise ValueError("Input y contains NaN: leave those rows out.")
    if classes is None:
        Y = y.astype(np.float64)[:, None]
    elif len(classes) <= 2:
        Y = class_codes(np.asarray(classes), y).astype(np.float64)[:, None] if len(y) else np.zeros((0, 1))
    else:
        Y = (y[:, None] == np.asarray(classes)).astype(np.float64)
    if n_folds == 1:
        return Parts((TargetMoments.of(X, Y, block.weight),))
    fold, rows = X.codes[:, -1], X[:, list(range(X.shape[1] - 1))]
    parts = (TargetMoments.of(rows[fold == f], Y[fold == f], block.weight[fold == f]) for f in range(n_folds))
    return Parts(tuple(parts))
