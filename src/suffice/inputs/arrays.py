"""Sources in memory: arrays, lists, sparse matrices, DataFrames, Arrow tables and graphs."""

from __future__ import annotations

import numbers
import re
from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..core.arguments import MaybeArray
from ..core.blocks import Edges, Rows, Sequences, missing, offsets
from ..core.callers import warn
from ..core.partitions import Partitions
from .checks import Check, checked_weights, is_object, must_be_dense, objects_of, weights_of
from .conversions import as_numbers, check_labels, explained, explained_objects
from .features import depth_of_steps, first_leaf, is_list, named_rows
from .links import MIXED_IDS, ids_of, named_edges, sorted_nodes
from .readers import DenseColumns, Reader, list_sizes
from .sequences import Seen, arrangement, of_sequences, runs
from .sources import Opening, Source, TableSource, must_be_columns, must_name_sequences
from .tables import MISSING_LABEL, Columns, Table, as_arrow
from .validation import must_be_sound, unmasked

OF_SEQUENCES = (
    "A list of sequences holds arrays of shape (n_steps, n_features): for a single feature, pass "
    "[sequence.reshape(-1, 1) for sequence in X]; and np.stack(X) if these are the rows of one sequence."
)
WORDS = (
    "y is a list of sequences, and X is one sequence of steps with named features. If X is a list of "
    "sentences, pass a dict or list of features per word: [[[word] for word in sentence] for sentence in X]."
)
LENGTHS = "Pass groups=np.repeat(np.arange(len(lengths)), lengths), or a list of sequences"
LOST_GROUPS = (
    "A clone of {} is fitted to one long sequence, without ids, as by a cross-validation that drops the "
    "ids. If the rows are of several sequences, call sklearn.set_config(enable_metadata_routing=True) and "
    "pass groups to the search, e.g. search.fit(X, y, groups=ids); or pass a list of sequences."
)


@dataclass(frozen=True)
class ArraySource(Source):
    """Arrays, lists, sparse matrices, DataFrames without a description, pairs of ids, and graphs."""

    in_memory: ClassVar[bool] = True

    def open_rows(self, opening: Opening, y: MaybeArray, sample_weight: MaybeArray) -> Partitions:
        return opening.local(rows_of_arrays(opening, self.container, y, sample_weight))

    def open_sequences(
        self, opening: Opening, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
    ) -> Partitions:
        return opening.local(sequences_of_arrays(opening, self.container, y, groups, sample_weight))

    def open_edges(self, opening: Opening, sample_weight: MaybeArray) -> tuple[Partitions, np.ndarray | None]:
        X, nodes, check = self.container, None, opening.check
        if sp.issparse(X):
            must_be_sound(X)
            matrix = X.tocoo()
            if matrix.shape[0] != matrix.shape[1]:
                raise ValueError(
                    f"The matrix of a graph must be square; got shape {matrix.shape}: pass one with "
                    "a row and a column for each node, or fit((source, target)), two arrays of ids."
                )
            if sample_weight is not None:
                raise ValueError("The entries of the matrix are the weights: leave sample_weight out.")
            nodes, sample_weight = np.arange(matrix.shape[0]), matrix.data
            X = (matrix.row, matrix.col)
        elif all(hasattr(X, name) for name in ("nodes", "edges", "is_directed")):
            if sample_weight is not None:
                raise ValueError(
                    "The weights of a graph are its attribute 'weight': leave sample_weight out."
                )
            nodes, X, sample_weight = _of_graph(X)
        if not isinstance(X, tuple) or len(X) != 2:
            return super().open_edges(opening, sample_weight)
        source, target = (
            ids_of(unmasked(part, name), name) for part, name in zip(X, ("source", "target"), strict=True)
        )
        if len(source) != len(target):
            raise ValueError(
                f"There are {len(source)} sources and {len(target)} targets: expected one for each link."
            )
        weight = unmasked(sample_weight, "sample_weight")
        weight = None if weight is None else as_numbers(weight, "sample_weight", check.name)
        if weight is not None and weight.shape != source.shape:
            raise ValueError(
                f"The weights have shape {weight.shape}, expected {source.shape}: one for each link."
            )
        if weight is not None and (weight == 1.0).all():
            weight = None
        are_integers = source.dtype.kind in "iu", target.dtype.kind in "iu"
        if len(source) and are_integers[0] != are_integers[1]:
            raise TypeError(MIXED_IDS.format("whole numbers", "strings"))
        if all(are_integers):
            return opening.local(Edges(source, target, weight)), nodes
        return edges_in_memory(opening, check.kept(named_edges(source, target, weight)))

    def read_rows(self, estimator: BaseEstimator, check: Check, late: bool) -> Any:
        block = Rows(check.array(estimator, self.container, reset=False, late=late))
        return block.piece(0, len(block), 0).X

    def read_sequences(
        self, estimator: BaseEstimator, check: Check, groups: MaybeArray
    ) -> tuple[Sequences, Shape]:
        if check.sparse and groups is None and (depth := depth_of_steps(self.container)):  # as in serving
            X, offset, names = named_rows(estimator, self.container, depth, reset=False)
            check.must_pass(X, names)
            offset = offsets([X.shape[0]]) if offset is None else offset
            block = Sequences(X, offset, None, np.ones(len(offset) - 1), (0, 0))
            return block, Shape(offset, depth == 2)
        opening = Opening(estimator, replace(check, target=None), reset=False)
        block = sequences_of_arrays(opening, self.container, None, groups, None)
        listed = are_sequences(self.container, check.sparse, check.strings)
        return block.piece(0, len(block), 0), Shape(block.offset, listed)

    def categorical_features(self) -> np.ndarray | None:
        return columns_of_categories(self.container)

    def flat_target(self, y: MaybeArray) -> bool:
        return _ndim(y) < 2


class MemoryTableSource(TableSource):
    """A table in memory. The rows of a sequence need not be contiguous."""

    in_memory: ClassVar[bool] = True

    def open_sequences(
        self, opening: Opening, y: MaybeArray, groups: MaybeArray, sample_weight: MaybeArray
    ) -> Partitions:
        must_name_sequences(self.table)
        assert self.table is not None
        must_be_columns(opening.check, self.table, "sequences", y, sample_weight, groups)
        block, _ = self.sequences(opening, self.table.columns(self.names(), self.sizes()))
        return opening.local(block)

    def read_sequences(
        self, estimator: BaseEstimator, check: Check, groups: MaybeArray
    ) -> tuple[Sequences, Shape]:
        must_name_sequences(self.table)
        if groups is not None:
            raise ValueError("A column of the table names the sequences: leave groups out.")
        opening = Opening(estimator, replace(check, target=None), reset=False)
        block, positions = self.sequences(opening, self.columns_for(estimator))
        return block.piece(0, len(block), 0), Shape(block.offset, positions=positions)

    def sequences(self, opening: Opening, columns: Columns) -> tuple[Sequences, np.ndarray]:
        """The sequences, and the positions of their rows in the table."""
        assert columns.sequence is not None
        order = None if columns.order is None else np.asarray(self.column(columns.order))
        ids = np.asarray(self.column(columns.sequence))
        positions, offset = arrangement(ids, order, (columns.sequence, columns.order))
        return self.take(positions).sequences_in_order(
            opening, replace(columns, order=None), offset
        ), positions

    @abstractmethod
    def column(self, name: str) -> Any:
        """One column of the table."""

    @abstractmethod
    def take(self, positions: np.ndarray) -> MemoryTableSource:
        """The same table with these rows."""

    @abstractmethod
    def sequences_in_order(self, opening: Opening, columns: Columns, offset: np.ndarray) -> Sequences:
        """The sequences, whose rows are in order."""


@dataclass(frozen=True)
class FrameSource(MemoryTableSource):
    """A described pandas or polars table."""

    def names(self) -> list[str]:
        return list(self.container.columns)

    def partitions(self, columns: Any, check: Check) -> Partitions:
        return ArrowSource(as_arrow(self.container, columns.names()), self.table).partitions(columns, check)

    def _open(self, opening: Opening, verb: str, *given: Any) -> Partitions:
        assert self.table is not None
        must_be_columns(opening.check, self.table, verb, *given)
        return opening.local(self._rows(opening, self.table.columns(self.names())))

    def open_edges(self, opening: Opening, sample_weight: MaybeArray) -> tuple[Partitions, np.ndarray | None]:
        columns = self._edge_columns(opening, sample_weight)
        ends = tuple(np.asarray(self.container[name]) for name in columns.ends)
        weight = None if columns.weight is None else self.container[columns.weight]
        return ArraySource(ends, None).open_edges(opening, weight)

    def read_rows(self, estimator: BaseEstimator, check: Check, late: bool) -> Any:
        columns = self.container[list(estimator.feature_names_in_)]
        return ArraySource(columns, None).read_rows(estimator, check, late)

    def transformed(self, estimator: BaseEstimator) -> Table | None:
        assert self.table is not None
        table = replace(self.table, features=self.reader_for(estimator))
        used = list(dict.fromkeys(table.columns(self.names()).names()))
        return ArrowSource(as_arrow(self.container, used), self.table).transformed(estimator)

    def read_as(self, kind: type[DenseColumns]) -> TableSource:
        return self._arrow().read_as(kind)

    def read_by(self, reader: Reader) -> Table:
        return self._arrow().read_by(reader)

    def types(self) -> dict[str, Any]:
        return ArrowSource(as_arrow(self.container[:0], self.names()), None).types()

    def categorical_features(self) -> np.ndarray | None:
        assert self.table is not None
        reader = self.table.columns(self.names()).reader
        if not isinstance(reader, DenseColumns):
            return None
        return columns_of_categories(self.container[list(reader.columns)])

    def _arrow(self) -> ArrowSource:
        """The columns that the description names, as an Arrow table."""
        assert self.table is not None
        used = list(dict.fromkeys(self.table.columns(self.names()).names()))
        return ArrowSource(as_arrow(self.container, used), self.table)

    def column(self, name: str) -> Any:
        return self.container[name]

    def take(self, positions: np.ndarray) -> FrameSource:
        rows = getattr(self.container, "iloc", self.container)[positions]
        return FrameSource(rows, self.table)

    def sequences_in_order(self, opening: Opening, columns: Columns, offset: np.ndarray) -> Sequences:
        block = self._rows(opening, columns)
        if block.y is None and columns.target is not None:  # labels that an estimator may use
            block = block.replace(y=objects_of(self.container[columns.target]))
        weight = None if block.unweighted else of_sequences(block.weight, offset)
        return Sequences(block.X, offset, block.y, weight)

    def _rows(self, opening: Opening, columns: Columns) -> Rows:
        check, source = opening.check, self.container
        if not isinstance(columns.reader, DenseColumns):
            raise TypeError(
                f"suffice.sparse describes lists of Arrow, and this is a {type(source).__name__}: pass "
                "pyarrow.Table.from_pandas(table), or a CSR matrix to fit(X, y)."
            )
        target = columns.target if isinstance(columns.target, str) else list(columns.target or ())
        if check.target == "label" and not check.unlabelled and isinstance(target, str):
            part = source[target]
            if (part.is_null() if hasattr(part, "is_null") else part.isnull()).any():
                raise ValueError(MISSING_LABEL.format(target))
        y = None if columns.target is None else np.asarray(source[target])
        weight = None if columns.weight is None else np.asarray(source[columns.weight])
        return rows_of_arrays(opening, source[list(columns.reader.columns)], y, weight)


@dataclass(frozen=True)
class ArrowSource(MemoryTableSource):
    """An Arrow table or record batch."""

    def names(self) -> list[str]:
        return list(self.container.schema.names)

    def types(self) -> dict[str, Any]:
        return dict(zip(self.container.schema.names, self.container.schema.types, strict=True))

    def sizes(self) -> dict[str, int]:
        return list_sizes(self.container.schema)

    def partitions(self, columns: Any, check: Check) -> Partitions:
        return Opening(None, check).local(columns.block(check, 0, self.container))

    def open_rows(self, opening: Opening, y: MaybeArray, sample_weight: MaybeArray) -> Partitions:
        if self.table is None and (y is not None or sample_weight is not None):  # all columns are features
            reader = DenseColumns(tuple(self.names()))
            opening.set_features(reader.features)
            check = replace(opening, estimator=nameless_copy(opening.estimator))
            block = rows_of_arrays(check, reader.rows(self.container), y, sample_weight)
            return opening.local(block)
        return super().open_rows(opening, y, sample_weight)

    def _open(self, opening: Opening, verb: str, *given: Any) -> Partitions:
        columns = self._described(opening, verb, *given)
        return opening.local(columns.block(opening.check, 0, self.container))

    def open_edges(self, opening: Opening, sample_weight: MaybeArray) -> tuple[Partitions, np.ndarray | None]:
        columns = self._edge_columns(opening, sample_weight)
        return edges_in_memory(opening, columns.block(opening.check, 0, self.container))

    def read_rows(self, estimator: BaseEstimator, check: Check, late: bool) -> Any:
        columns = replace(self.columns_for(estimator), sequence=None, order=None)
        if columns.reader.width != estimator.n_features_in_:
            raise ValueError(
                f"X has {columns.reader.width} features, but {check.name} is expecting "
                f"{estimator.n_features_in_}."
            )
        block = columns.block(check, 0, self.container)
        return block.piece(0, len(block), 0).X

    def column(self, name: str) -> Any:
        return self.container.column(name)

    def take(self, positions: np.ndarray) -> ArrowSource:
        return ArrowSource(self.container.take(positions), self.table)

    def sequences_in_order(self, opening: Opening, columns: Columns, offset: np.ndarray) -> Sequences:
        opening.set_features(columns.reader.features)
        return columns.block(opening.check, 0, self.container)  # type: ignore[return-value]


CATEGORIES = re.compile(r"(?i)categor|enum|str(ing)?\b|large_string|dictionary")  # types of pandas and polars


def columns_of_categories(X: Any) -> np.ndarray | None:
    """Which columns of a pandas or polars table hold categories or strings; None for other containers."""
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return None
    return np.array([_are_categories(X, d, dtype) for d, dtype in enumerate(X.dtypes)], bool)


def _are_categories(X: Any, d: int, dtype: Any) -> bool:
    if str(dtype) == "object":  # of pandas: strings, unless no value is one
        return any(isinstance(value, str) for value in X.iloc[:, d])
    return CATEGORIES.match(str(dtype)) is not None


def nameless_copy(estimator: BaseEstimator) -> Any:
    """The estimator, for an array whose columns were compared with its features before."""
    bare = copy(estimator)
    bare.__dict__.pop("feature_names_in_", None)
    return bare


def edges_in_memory(opening: Opening, block: Edges) -> tuple[Partitions, np.ndarray | None]:
    """Partitions of links in memory, and the ids of their nodes if the ends are indices into a list of
    them."""
    if block.ids is None or not len(block):
        return opening.local(block), None
    block, nodes = sorted_nodes(block)
    return opening.local(block), nodes


def rows_of_arrays(opening: Opening, X: Any, y: Any, sample_weight: MaybeArray) -> Rows:
    estimator, check, reset = opening.estimator, opening.check, opening.reset
    if check.target is None:
        X, y = check.array(estimator, X, reset=reset), None
    else:
        if check.unlabelled and y is not None:
            X, y = _partly_labelled(estimator, check, X, y, reset)
        else:
            if check.target == "label" and is_object(y) and any(v is None for v in y):
                raise ValueError("y has missing labels (None): leave those rows out.")
            X, y = check.array(estimator, X, y, reset=reset)
        if check.target == "label":
            known = y[~missing(y)] if check.unlabelled else y
            check_labels(known)
            if not _are_numbered(known):
                check_classification_targets(known)
        else:
            check.targets(y)
    return Rows(X, y, weights_of(check.name, sample_weight, X.shape[0]))


def _are_numbered(y: np.ndarray) -> bool:
    """Whether labels are few whole numbers. They need no check by scikit-learn, which would only count
    them, and take longer than some fits."""
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "iu" or not len(y):
        return False
    return int(y.max()) - int(y.min()) < len(y) // 2


def _partly_labelled(
    estimator: BaseEstimator, check: Check, X: Any, y: Any, reset: bool
) -> tuple[Any, np.ndarray]:
    """Check rows and labels of which some may be missing."""
    X, y = check.array(estimator, X, reset=reset), unmasked(y, "y")
    try:
        y = column_or_1d(y, warn=True)
    except (TypeError, ValueError) as error:
        raise explained_objects(error, y, "y", check.name) from None
    check_consistent_length(X, y)
    if y.dtype == object:
        y = objects_of(y)
        if not all(isinstance(label, numbers.Real) for label in y[~missing(y)]):
            return X, y
        y = y.astype(np.float64)  # None becomes NaN
    assert_all_finite(y, allow_nan=True, input_name="y")
    return X, y


def sequences_of_arrays(
    opening: Opening, X: Any, y: Any, groups: MaybeArray, sample_weight: MaybeArray
) -> Sequences:
    check, names = opening.check, None
    must_be_dense(y, check.name)
    listed = are_sequences(X, check.sparse, check.strings)
    if listed and groups is not None:
        raise ValueError("A list of sequences needs no groups: pass one or the other.")
    if check.sparse and (depth := depth_of_steps(X)):
        X, offset, names = named_rows(opening.estimator, X, depth, opening.reset)
    elif listed:
        X, offset = _stacked(check, [as_column(part) for part in X] if check.strings else X)
    elif check.strings and (column := as_column(X)) is not X:
        X, offset = column, None
    elif is_list(X) and not len(X):
        raise ValueError(f"There are no sequences: found an empty {type(X).__name__}, with 0 sample(s).")
    elif is_list(X) and len({len(row) for row in X if isinstance(row, list | tuple)}) > 1:
        raise ValueError(f"The rows of X differ in length. {OF_SEQUENCES}")
    elif getattr(X, "ndim", 2) == 3:
        raise ValueError(
            f"Found array with dim 3, of shape {np.shape(X)}, while dim <= 2 is required: pass list(X) if "
            "these are sequences of one length."
        )
    else:
        offset = None
    if offset is not None and y is not None:
        y = _labels_of(y, np.diff(offset))
    elif names is not None and is_list(y) and len(y) and is_list(y[0]):
        raise ValueError(WORDS)
    y = flat_labels(y)
    if names is not None:
        check.must_pass(X, names)
    if names is not None and not opening.reset:  # of the columns of the estimator
        block = Rows(X)
    else:
        n = 0 if listed or not getattr(X, "shape", ()) else X.shape[0]
        if y is not None and n and hasattr(y, "__len__") and len(y) != n and _are_lengths(y, n):
            raise ValueError(f"X has {n} rows, and y has {len(y)} lengths of sequences. {LENGTHS}.")
        block = rows_of_arrays(opening, X, y, None)
        if names is not None:
            opening.set_features(tuple(names))
    if offset is None:
        offset = _offset_of_groups(opening, groups, len(block))
    if y is not None and check.target is None:  # labels that an estimator may use, but does not require
        y = column_or_1d(unmasked(y, "y"))
        check_consistent_length(block.X, y)
        block = block.replace(y=y)
    weight = of_sequences(checked_weights(check.name, sample_weight, len(offset) - 1), offset)
    return Sequences(block.X, offset, block.y, weight)


def _offset_of_groups(opening: Opening, groups: MaybeArray, n: int) -> np.ndarray:
    if groups is None:
        if opening.reset and getattr(opening.estimator, "_skl_is_clone", False):
            warn(LOST_GROUPS.format(opening.check.name), UserWarning)
        return offsets([n])
    ids = column_or_1d(unmasked(groups, "groups"))
    if len(ids) != n:
        hint = ": pass one per row" if not _are_lengths(ids, n) else f", and these are lengths. {LENGTHS}"
        raise ValueError(f"groups has {len(ids)} ids, but X has {n} rows{hint}.")
    starts, firsts = runs(ids, "groups")
    Seen().add(firsts)
    return np.append(starts, n)


def _are_lengths(values: Any, n: int) -> bool:
    """Whether the values are lengths of sequences with n rows in total, which hmmlearn takes in place of
    y."""
    values = np.asarray(values)
    return values.ndim == 1 and values.dtype.kind in "iu" and len(values) != n == values.sum()


def _stacked(check: Check, X: Any) -> tuple[Any, np.ndarray]:
    """The concatenated rows of a list of sequences, and their offsets."""
    if len(X) > 1:  # one alone is checked with its rows
        for part in X:
            must_be_sound(part)
    parts = [part if sp.issparse(part) else np.asarray(unmasked(part, "X", check.nan)) for part in X]
    shapes = sorted({part.shape[1:] for part in parts})
    if len(shapes) > 1 or parts[0].ndim != 2:
        raise ValueError(
            f"The sequences do not have the same features: their steps have shapes {shapes}. {OF_SEQUENCES}"
        )
    if len(parts) == 1:
        return parts[0], offsets([parts[0].shape[0]])
    stacked = sp.vstack(parts, format="csr") if any(map(sp.issparse, parts)) else np.concatenate(parts)
    return stacked, offsets([part.shape[0] for part in parts])


def _labels_of(y: Any, lengths: np.ndarray) -> Any:
    """The labels of a list of sequences: a list of arrays of the same lengths."""
    if not hasattr(y, "__len__"):
        raise ValueError(
            f"y is {y!r:.60}, and X has {len(lengths)} sequences: pass one array of labels each."
        )
    if len(y) != len(lengths):
        raise ValueError(
            f"X has {len(lengths)} sequences, but y has {len(y)}: pass one array of labels per sequence."
        )
    if [len(part) if np.ndim(part) else None for part in y] != lengths.tolist():
        raise ValueError("y must have one label per step: some of its sequences have other lengths than X.")
    return list(y)


@dataclass(frozen=True)
class Shape:
    """The shape in which sequences were passed. Answers have the same shape."""

    offset: np.ndarray  # (S + 1,)
    listed: bool = False  # whether they were passed as a list of sequences
    positions: np.ndarray | None = None  # (N,), of the rows in the table, if they were passed as one

    def __call__(self, answer: np.ndarray) -> Any:
        if self.positions is not None:
            return answer[np.argsort(self.positions)]
        return [answer[a:b] for a, b in pairwise(self.offset)] if self.listed else answer

    def rows(self, values: Any, name: str) -> np.ndarray:
        """One value per row, in the order of the rows."""
        values = np.asarray(unmasked(flat_labels(values), name))
        if len(values) != self.offset[-1]:
            raise ValueError(
                f"{name} has {len(values)} entries, but X has {self.offset[-1]} steps: pass one per step."
            )
        return values if self.positions is None else values[self.positions]


def are_sequences(X: Any, named: bool = False, strings: bool = False) -> bool:
    """Whether X is a list of sequences. A list of rows is one sequence.

    With `named`, a list of lists of steps with named features is one, too. With `strings`, a list of
    strings is one sequence.
    """
    if not is_list(X) or len(X) == 0:
        return False
    if named and (depth := depth_of_steps(X)):
        return depth > 1
    if strings and isinstance((first := first_leaf(X))[0], str):
        return first[1] > 1
    return sp.issparse(X[0]) or hasattr(X[0], "ndim") or np.ndim(X[0]) == 2


def as_column(X: Any) -> Any:
    """A list or 1-D array of strings as one column of objects; other input is returned unchanged."""
    leaf, depth = first_leaf(X)
    if (depth == 1 and isinstance(leaf, str)) or (is_list(X) and not len(X)):
        column = np.empty((len(X), 1), object)
        column[:, 0] = X
        return column
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind == "U":
        return X.astype(object)[:, None]
    return X


def flat_labels(y: Any) -> Any:
    """Concatenated labels of all steps, from a list of sequences or an array."""
    if not is_list(y) or not len(y) or not np.ndim(y[0]):
        return y
    parts = [np.asarray(unmasked(part, "y")) for part in y]
    return np.concatenate([part for part in parts if len(part)] or parts)  # an empty list is of no type


def _of_graph(graph: Any) -> tuple[np.ndarray, Any, Any]:
    """The nodes of a networkx graph, and its links as indices of nodes."""
    nodes = np.empty(len(graph), object)
    nodes[:] = list(graph)
    place = {node: n for n, node in enumerate(graph)}
    links = [(place[a], place[b], data.get("weight", 1.0)) for a, b, data in graph.edges(data=True)]
    if not graph.is_directed():
        links += [(b, a, weight) for a, b, weight in links if a != b]
    source, target = (np.array([link[end] for link in links], dtype=np.int64) for end in (0, 1))
    return nodes, (source, target), np.array([link[2] for link in links], dtype=np.float64)


def _ndim(y: Any) -> int:
    if hasattr(y, "ndim"):
        return y.ndim
    try:
        return np.asarray(y).ndim
    except ValueError as error:
        raise explained(error, y, "y", "A target") from None
