"""Sources: one for each type of container of data.

`containers.source_of` finds the type, once. A source opens partitions for fits, reads rows in memory, and
runs row-wise methods where its rows are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.blocks import Block, Sequences, cut
from ..core.partitions import Partitions
from ..engines.local import LocalPartitions
from .checks import Check
from .readers import DenseColumns, Reader, are_categories, columns_of, dense
from .tables import Columns, EdgeColumns, EdgeTable, Table


@dataclass(frozen=True)
class Source(ABC):
    """Data in a container of one type, with the description of its columns."""

    container: Any
    table: Table | None  # None if nothing was said

    in_memory: ClassVar[bool] = False  # whether results for all rows fit in memory

    @abstractmethod
    def open_rows(self, opening: Opening, y: MaybeArray, sample_weight: MaybeArray) -> Partitions:
        """Partitions of checked rows."""

    @abstractmethod
    def open_sequences(
        self, opening: Opening, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
    ) -> Partitions:
        """Partitions of checked sequences."""

    def open_edges(self, opening: Opening, sample_weight: MaybeArray) -> tuple[Partitions, np.ndarray | None]:
        """Return partitions of checked links, and the ids of all nodes if the data lists them, or None."""
        raise self.no_links(opening)

    def read_rows(self, estimator: BaseEstimator, check: Check, late: bool) -> Any:
        """Checked rows in memory."""
        raise self.elsewhere(estimator)

    def read_sequences(
        self, estimator: BaseEstimator, check: Check, groups: MaybeArray
    ) -> tuple[Sequences, Any]:
        """Checked sequences in memory, and the shape of the input."""
        raise self.elsewhere(estimator)

    def answer(self, request: Any, to: Any) -> Any:
        """The result of a row-wise method for rows that are not in memory, beside the rows; see `Request`."""
        raise self.elsewhere(request.estimator)

    def transformed(self, estimator: BaseEstimator) -> Table | None:
        """The same table with rows that are transformed when they are read; None if that is not supported."""
        return None

    def categorical_features(self) -> np.ndarray | None:
        """Which features hold categories or strings, (D,), by the types of the columns; None if features are
        not columns of a table."""
        return None

    def flat_target(self, y: MaybeArray) -> bool:
        """Whether y is one-dimensional: predictions get the same shape."""
        return isinstance(self.table.target, str) if self.table is not None else True

    @property
    def weighted(self) -> bool:
        """Whether a column of the table holds the weights."""
        return self.table is not None and self.table.weight is not None

    @property
    def is_plain(self) -> bool:
        """Whether this is a container in memory without a description of its columns."""
        return self.in_memory and self.table is None

    def no_links(self, opening: Opening) -> TypeError:
        return TypeError(
            f"{opening.check.name} takes links, and got {type(self.container).__name__}: pass "
            "fit((source, target)), two arrays of ids; a sparse matrix, e.g. scipy.sparse.csr_array(A); a "
            'graph of networkx; or suffice.edges(table, source="...", target="...").'
        )

    def elsewhere(self, estimator: BaseEstimator) -> TypeError:
        return TypeError(
            f"This method of {type(estimator).__name__} takes rows in memory, and these are not. "
            f"Row-wise methods (predict, predict_proba, transform) and score accept rows that are not "
            f"in memory."
        )


@dataclass(frozen=True)
class Opening:
    """Options of an estimator for opening its data."""

    estimator: Any
    check: Check
    reset: bool = True  # whether the estimator learns the names of the features, or compares them
    block_rows: Callable[[Any], float | None] | None = None  # rows of a block in memory; None: by their size

    @property
    def iterates(self) -> bool:
        """Whether the estimator makes many passes over the data."""
        return self.reset and getattr(self.estimator, "iterates", False)

    def set_features(self, features: tuple[str, ...] | int) -> None:
        set_features(self.estimator, features, self.reset)

    def local(self, block: Block) -> Partitions:
        """Partitions of a block in memory."""
        block = self.check.kept(block)
        return LocalPartitions(cut(block, None if self.block_rows is None else self.block_rows(block)))


class TableSource(Source):
    """A container with named columns."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all columns."""

    def sizes(self) -> Mapping[str, int]:
        """The columns that hold lists of a fixed size, and these sizes."""
        return {}

    @abstractmethod
    def partitions(self, columns: Columns | EdgeColumns, check: Check) -> Partitions:
        """Partitions of blocks made from these columns."""

    def repeated(self, columns: Columns | EdgeColumns, check: Check) -> Partitions:
        """The same partitions, for many passes."""
        return self.partitions(columns, check)

    def open_rows(self, opening: Opening, y: MaybeArray, sample_weight: MaybeArray) -> Partitions:
        return self._open(opening, "rows", y, sample_weight)

    def open_sequences(
        self, opening: Opening, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
    ) -> Partitions:
        must_name_sequences(self.table)
        return self._open(opening, "sequences", y, sample_weight, groups)

    def _open(self, opening: Opening, verb: str, *given: Any) -> Partitions:
        return self._partitions(opening, self._described(opening, verb, *given))

    def _partitions(self, opening: Opening, columns: Columns | EdgeColumns) -> Partitions:
        make = self.repeated if opening.iterates else self.partitions
        return make(columns, opening.check)

    def _described(self, opening: Opening, verb: str, *given: Any) -> Columns:
        table = self.table or Table(self.container)
        must_be_columns(opening.check, table, verb, *given)
        columns = table.columns(self.names(), self.sizes())
        opening.set_features(columns.reader.features)
        return columns

    def open_edges(self, opening: Opening, sample_weight: MaybeArray) -> tuple[Partitions, np.ndarray | None]:
        return self._partitions(opening, self._edge_columns(opening, sample_weight)), None

    def _edge_columns(self, opening: Opening, sample_weight: MaybeArray) -> EdgeColumns:
        if not isinstance(self.table, EdgeTable):
            raise self.no_links(opening)
        if sample_weight is not None:
            raise ValueError('The weights of a table are a column: call suffice.edges(table, weight="...").')
        return self.table.columns(self.names())

    def reader_for(self, estimator: BaseEstimator) -> Reader:
        """The reader of rows for a fitted estimator."""
        if self.table is not None and isinstance(self.table.features, Reader):
            return self.table.features
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None:
            sizes = self.sizes()
            return dense(columns_of(names.tolist(), sizes) if sizes else tuple(names), sizes)
        return (self.table or Table(self.container)).columns(self.names(), self.sizes()).reader

    def read_as(self, kind: type[DenseColumns]) -> TableSource:
        """The same table with a reader of this kind, unless its rows are transformed."""
        table = self.table or Table(self.container)
        reader = table.columns(self.names(), self.sizes()).reader
        return replace(self, table=replace(table, features=as_kind(reader, kind)))

    def columns_for(self, estimator: BaseEstimator) -> Columns:
        """The columns that a fitted estimator reads."""
        table = self.table or Table(self.container)
        reader = self.reader_for(estimator)
        return replace(table, features=reader, target=None, weight=None).columns(self.names())

    def transformed(self, estimator: BaseEstimator) -> Table | None:
        if self.table is None:
            return None
        return self.read_by(self.transformed_reader(estimator))

    def read_by(self, reader: Reader) -> Table:
        """The same table with rows that this reader makes."""
        table = self.table or Table(self.container)
        changed = {"source": self.container, "features": reader, "origin": self}
        return TransformedTable(**{**vars(table), **changed})

    @abstractmethod
    def types(self) -> dict[str, Any]:
        """The Arrow types of all columns."""

    def categorical_features(self) -> np.ndarray | None:
        reader = (self.table or Table(self.container)).columns(self.names(), self.sizes()).reader
        if not isinstance(reader, DenseColumns):
            return None
        types = self.types()
        columns = [name for name in reader.columns if are_categories(types[name])]
        return np.isin(reader.features, columns)

    def transformed_reader(self, estimator: BaseEstimator) -> Reader:
        """The reader with the transformer."""
        assert self.table is not None
        check_is_fitted(estimator)
        reader = self.reader_for(estimator)
        if hasattr(estimator, "n_features_in_"):  # as those of texts have not
            if isinstance(self.table.features, tuple):
                described = dense(self.table.features, self.sizes()).features
            else:
                described = reader.features  # type: ignore[assignment]
            set_features(estimator, described, reset=False)
        return estimator._transformed_reader(reader)


def as_kind(reader: Reader, kind: type[DenseColumns]) -> Reader:
    """A reader of this kind for the same columns, unless they are transformed or the reader is of another
    kind."""
    return kind(reader.columns) if type(reader) is DenseColumns else reader


@dataclass(frozen=True, repr=False)
class TransformedTable(Table):
    """A table whose rows are transformed when they are read."""

    origin: Any = None  # the source, which reads it

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The features of all rows, read into memory."""
        table = replace(self, target=None, weight=None, sequence=None, order=None)
        check = Check("numpy.asarray", sparse=True, nan=True, positive=False, strings=True, target=None)
        data = self.origin.partitions(table.columns(self.origin.names()), check)
        X = data.gather("fit or predict from the table as it is.").X
        if sp.issparse(X):
            raise TypeError(
                "The rows of this table are sparse, and cannot become an array: pass the "
                "table to fit or transform."
            )
        return np.asarray(X, dtype)


@dataclass(frozen=True)
class OpenedSource(Source):
    """Partitions that were already opened. An estimator checks them again only if its checks differ."""

    def open_rows(self, opening: Opening, y: MaybeArray, sample_weight: MaybeArray) -> Partitions:
        if y is not None or sample_weight is not None:
            raise ValueError("Open partitions hold their targets, weights and sequences: leave these out.")
        data = self.container
        opening.set_features(data.features)
        return data if opening.check == data.check else data.map(opening.check)

    def open_sequences(
        self, opening: Opening, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
    ) -> Partitions:
        return self.open_rows(opening, y, sample_weight if groups is None else groups)

    def categorical_features(self) -> np.ndarray | None:
        return self.container.categorical

    def flat_target(self, y: MaybeArray) -> bool:
        return self.container.flat_target


def set_features(estimator: BaseEstimator, features: tuple[str, ...] | int, reset: bool) -> None:
    """Set the names of the features, or their number if they have none; or compare with those of fit."""
    width = features if isinstance(features, int) else len(features)
    if reset:
        estimator.n_features_in_ = width
        vars(estimator).pop("feature_names_in_", None)
        if not isinstance(features, int):
            estimator.feature_names_in_ = np.asarray(features, dtype=object)
    elif (
        not isinstance(features, int) and tuple(getattr(estimator, "feature_names_in_", features)) != features
    ):
        raise ValueError(
            f"The columns are {list(features)}, but {type(estimator).__name__} was fitted with "
            f"{list(estimator.feature_names_in_)}."
        )
    elif width != estimator.n_features_in_:
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_}."
        )


@contextmanager
def same_features(estimator: BaseEstimator, reset: bool) -> Iterator[None]:
    """Open rows of the same features as those of the previous fit, if the fit continues it (`warm_start`)."""
    continues_fit = getattr(estimator, "_continues_fit", None)
    if not (reset and hasattr(estimator, "n_features_in_") and continues_fit is not None and continues_fit()):
        yield
        return
    fitted = vars(estimator)
    before = {k: fitted[k] for k in ("n_features_in_", "feature_names_in_") if k in fitted}
    yield
    width, names = before["n_features_in_"], before.get("feature_names_in_")
    now = fitted.get("feature_names_in_")
    by_name = names is not None and now is not None
    earlier, later = (list(names), list(now)) if by_name else (width, estimator.n_features_in_)  # type: ignore[arg-type]
    if earlier == later:
        return
    fitted.pop("feature_names_in_", None)
    fitted.update(before)  # the previous fit stays
    raise ValueError(
        "warm_start can only be used where X has the same features as in the previous call to fit. "
        f"Previously got {earlier}, X has {later}. Pass the same, or call set_params(warm_start=False) for a "
        "new fit."
    )


def must_be_columns(check: Check, table: Table, verb: str, *given: Any) -> None:
    """Raise for targets, weights and groups beside a table: they are columns of it."""
    if any(part is not None for part in given):
        raise ValueError(
            "The target, the weight and the sequences of a table are columns of it: "
            f'call fit(suffice.{verb}(table, target="...", weight="...")) without y, weights or groups.'
        )
    if check.target and table.target is None:
        raise ValueError(
            f"{check.name} requires y to be passed, but the target y is None: "
            f'call fit(suffice.{verb}(table, target="...")).'
        )


def must_name_sequences(table: Table | None) -> None:
    if table is None or table.sequence is None:
        raise ValueError(
            "A table of sequences has a column that says to which sequence each row belongs: "
            'call fit(suffice.sequences(table, sequence="...")).'
        )


def must_not_write(source: Source, to: Any) -> None:
    if to is not None:
        raise TypeError(
            f"to={to!r} requires a scan; for a {type(source.container).__name__}, write the returned "
            f"data set."
        )
