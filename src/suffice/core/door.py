"""The one door: whatever is passed to `fit` is checked here and becomes partitions on its engine."""

from __future__ import annotations

import numbers
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.utils import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_X_y,
    column_or_1d,
    get_tags,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .blocks import PIECE_BYTES, Block, Edges, Rows, Sequences, cut, offsets, one_a_place
from .conversions import (
    CONVERSION,
    as_numbers,
    check_labels,
    check_names,
    check_not_negative,
    check_numbers,
    check_weighted,
    check_weights,
    explained,
    has_times,
)
from .partitions import Opened, Partitions
from .sound import must_be_sound, unmasked
from .tables import (
    MISSING_LABEL,
    MIXED_IDS,
    Columns,
    Ends,
    Numbers,
    Seen,
    Sparse,
    Table,
    are_delayed,
    arrangement,
    as_arrow,
    ids_of,
    missing,
    named_edges,
    of_sequences,
    rows,
    runs,
)

# The type of the data picks the engine. Nothing is imported to ask: data of a type that was never
# imported cannot have come.
ENGINES = {
    ("suffice.engines.parquet", "ParquetScan"): "suffice.engines.parquet",
    ("suffice.engines.stream", "StreamScan"): "suffice.engines.stream",
    ("ray.data", "Dataset"): "suffice.engines.ray",
    ("dask.dataframe", "DataFrame"): "suffice.engines.dask",
    ("dask.array", "Array"): "suffice.engines.dask",
    ("dask.delayed", "Delayed"): "suffice.engines.dask",  # or a list of them
    ("pyspark.sql", "DataFrame"): "suffice.engines.spark",  # of Connect too
}


OF_SEQUENCES = (
    "A list of sequences holds arrays of shape (n_steps, n_features): for a single feature, pass "
    "[sequence.reshape(-1, 1) for sequence in X]; and np.stack(X) if these are the rows of one sequence."
)


def open_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    reset: bool = True,
    block_rows: Callable[[Any], float | None] | None = None,
) -> Partitions:
    """Partitions of checked rows, from arrays or from a table wherever it is.

    What is allowed (sparse, NaN, negative, strings) is what the tags of the estimator say. How many rows a
    block in memory has follows their size, or what `block_rows` says of the data.
    """
    check = Check.of(estimator)
    if isinstance(X, Opened):
        return _opened(estimator, check, X, reset, y, sample_weight)
    if engine := engine_of(source_of(X)):
        return _on_engine(engine, estimator, check, X, reset, "rows", y, sample_weight)
    table = X if isinstance(X, Table) else rows(X) if _is_arrow(X) else None
    if table is None:
        block = _from_arrays(estimator, check, X, y, sample_weight, reset)
    else:
        _in_columns(check, table, "rows", y, sample_weight)
        block = _from_table(estimator, check, table, reset)
    return _here(check, block, block_rows)


def open_sequences(
    estimator: Any,
    X: Any,
    y: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    *,
    reset: bool = True,
    block_rows: Callable[[Any], float] | None = None,
) -> Partitions:
    """Partitions of checked sequences: from one 2-D array, one with `groups`, a list of them, or a table.

    How many rows a block in memory has follows their size, or what `block_rows` says of the data.
    """
    check = Check.of(estimator)
    if isinstance(X, Opened):
        return _opened(estimator, check, X, reset, y, groups, sample_weight)
    if engine := engine_of(source_of(X)):
        return _on_engine(engine, estimator, check, X, reset, "sequences", y, sample_weight, groups)
    if isinstance(X, Table) or _is_arrow(X):
        _must_name_sequences(X)
        _in_columns(check, X, "sequences", y, sample_weight, groups)
        block, _ = _sequences_of_table(estimator, check, X, reset)
    else:
        block = _sequences_of_arrays(estimator, check, X, y, groups, sample_weight, reset)
    return _here(check, block, block_rows)


def open_edges(estimator: Any, X: Any, sample_weight: Any = None) -> tuple[Partitions, np.ndarray | None]:
    """Partitions of checked links; and the ids of all nodes where the data lists them, else None.

    From a pair of arrays, a table, a sparse matrix whose entry (i, j) is the weight of the link from i to j,
    or a graph of networkx.
    """
    check = Check.of(estimator)
    nodes = None
    if isinstance(X, Table) and isinstance(X.features, Ends):
        if sample_weight is not None:
            raise ValueError('The weights of a table are a column: call suffice.edges(table, weight="...").')
        if engine := engine_of(X.source):
            columns = X.columns(engine.column_names(X.source))
            return engine.open_partitions(X.source, columns, check), None
        columns = X.columns(_names_of(X.source))
        if _is_arrow(X.source):
            return _numbered(check, columns.block(check, 0, X.source))
        X, sample_weight = (
            tuple(np.asarray(X.source[name]) for name in columns.features),
            None if columns.weight is None else X.source[columns.weight],
        )
    if sp.issparse(X):
        must_be_sound(X)
        matrix = X.tocoo()
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"The matrix of a graph is square, and this one has shape {matrix.shape}: pass one with a "
                "row and a column for each node, or fit((source, target)), two arrays of ids."
            )
        if sample_weight is not None:
            raise ValueError("The entries of the matrix are the weights: leave sample_weight out.")
        nodes, sample_weight = np.arange(matrix.shape[0]), matrix.data
        X = (matrix.row, matrix.col)
    elif all(hasattr(X, name) for name in ("nodes", "edges", "is_directed")):
        if sample_weight is not None:
            raise ValueError("The weights of a graph are its attribute 'weight': leave sample_weight out.")
        nodes, X, sample_weight = _of_graph(X)
    if not isinstance(X, tuple) or len(X) != 2:
        raise TypeError(
            f"{check.name} takes links, and got {type(X).__name__}: pass fit((source, target)), two arrays "
            "of ids; a sparse matrix, e.g. scipy.sparse.csr_array(A); a graph of networkx; or "
            'suffice.edges(table, source="...", target="...").'
        )
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
    whole = source.dtype.kind in "iu", target.dtype.kind in "iu"
    if len(source) and whole[0] != whole[1]:
        raise TypeError(MIXED_IDS.format("whole numbers", "strings"))
    if all(whole):
        return _here(check, Edges(source, target, weight)), nodes
    return _numbered(check, check.kept(named_edges(source, target, weight)))


def _numbered(check: Check, block: Any) -> tuple[Partitions, np.ndarray | None]:
    """Links in memory whose ends are places in a list of ids, as partitions; and these ids, in order."""
    if block.ids is None or not len(block):
        return _here(check, block), None
    used = np.zeros(len(block.ids), bool)
    used[block.source] = used[block.target] = True
    names = block.ids[used]
    order = np.array(sorted(range(len(names)), key=names.tolist().__getitem__), np.int64)
    place = np.zeros(len(used), np.int64)
    place[np.flatnonzero(used)[order]] = np.arange(len(order))
    numbered = block.replace(source=place[block.source], target=place[block.target], ids=None)
    return _here(check, numbered), names[order]


def _of_graph(graph: Any) -> tuple[np.ndarray, Any, Any]:
    """The nodes of a graph of networkx, whatever they are; and its links as places among them."""
    nodes = np.empty(len(graph), object)
    nodes[:] = list(graph)
    place = {node: n for n, node in enumerate(graph)}
    links = [(place[a], place[b], data.get("weight", 1.0)) for a, b, data in graph.edges(data=True)]
    if not graph.is_directed():
        links += [(b, a, weight) for a, b, weight in links if a != b]
    source, target = (np.array([link[end] for link in links], dtype=np.int64) for end in (0, 1))
    return nodes, (source, target), np.array([link[2] for link in links], dtype=np.float64)


@dataclass(frozen=True)
class Shape:
    """How sequences came: answers return in that shape, and what is given with them is read from it."""

    offset: np.ndarray  # (S + 1,)
    listed: bool = False  # as a list of sequences
    positions: np.ndarray | None = None  # (N,), of the rows in the table, if they came as one

    def __call__(self, answer: np.ndarray) -> Any:
        if self.positions is not None:
            return answer[np.argsort(self.positions)]
        return [answer[a:b] for a, b in pairwise(self.offset)] if self.listed else answer

    def rows(self, values: Any, name: str) -> np.ndarray:
        """One value a row, in the order of the rows."""
        values = np.asarray(unmasked(flat_labels(values), name))
        if len(values) != self.offset[-1]:
            raise ValueError(
                f"{name} has {len(values)} entries, but X has {self.offset[-1]} steps: one a step."
            )
        return values if self.positions is None else values[self.positions]


def read_sequences(estimator: Any, X: Any, groups: Any = None) -> tuple[Sequences, Shape]:
    """Checked sequences to predict from, in memory; and the shape in which they came."""
    check_is_fitted(estimator)
    check = Check.of(estimator)
    must_be_in_memory(estimator, X)
    if isinstance(X, Table) or _is_table(X):
        _must_name_sequences(X)
        if groups is not None:
            raise ValueError("The sequences of a table are named by a column of it: leave groups out.")
        names = getattr(estimator, "feature_names_in_", None)
        features = X.columns(_names_of(X.source)).features if names is None else tuple(names)
        table = replace(X, features=features, target=None, weight=None)
        block, arranged = _sequences_of_table(estimator, replace(check, target=None), table, False)
        return block.piece(0, len(block), 0), Shape(block.offset, positions=arranged)
    block = _sequences_of_arrays(estimator, replace(check, target=None), X, None, groups, None, False)
    return block.piece(0, len(block), 0), Shape(block.offset, listed=are_sequences(X))


def are_sequences(X: Any) -> bool:
    """Whether X is a list of sequences, each with its rows; a list of rows is one sequence."""
    if not _is_list(X) or len(X) == 0:
        return False
    return sp.issparse(X[0]) or hasattr(X[0], "ndim") or np.ndim(X[0]) == 2


def flat_labels(y: Any) -> Any:
    """Labels of all steps one after the other, whether they came as a list of sequences or so already."""
    if not _is_list(y) or not len(y) or not np.ndim(y[0]):
        return y
    return np.concatenate([np.asarray(unmasked(part, "y")) for part in y])


def _is_list(X: Any) -> bool:
    return isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1)


def read_rows(estimator: Any, X: Any, late: bool = False) -> Any:
    """Checked rows to predict from, in memory: contiguous float64 or CSR.

    `late` if what is asked of them calls `Check.must_pass` piece by piece: many rows are then read once.
    """
    check_is_fitted(estimator)
    check = Check.of(estimator)
    source = source_of(X)
    must_be_in_memory(estimator, X)
    if _is_arrow(source):
        names: Any = tuple(getattr(estimator, "feature_names_in_", source.schema.names))
        if isinstance(X, Table) and isinstance(X.features, Sparse):
            names = X.features
        columns = rows(source, features=names).columns(source.schema.names)
        width = names.size if isinstance(names, Sparse) else len(names)
        if width != estimator.n_features_in_:
            raise ValueError(
                f"X has {width} features, but {check.name} is expecting {estimator.n_features_in_}."
            )
        block = columns.block(check, 0, source)
    else:
        if isinstance(X, Table):
            source = source[list(estimator.feature_names_in_)]
        block = Rows(check.array(estimator, source, reset=False, late=late))
    return block.piece(0, len(block), 0).X


def places_of(features: Any, names: Sequence[str], count: int) -> list[int]:
    """The places of features that are given by place or by name."""
    places = []
    for feature in features:
        if np.ndim(feature) or feature not in (names if isinstance(feature, str) else range(count)):
            known = f", or one of the names {list(names)}" if len(names) else "; there are no names"
            raise ValueError(f"No feature is {feature!r}: expected a place from 0 to {count - 1}{known}.")
        places.append(list(names).index(feature) if isinstance(feature, str) else int(feature))
    return places


def in_memory(X: Any) -> bool:
    """Whether the rows are here, so that an answer for each of them can be kept."""
    return engine_of(source_of(X)) is None and not isinstance(X, Opened)


def must_be_in_memory(estimator: Any, X: Any) -> None:
    if not in_memory(X):
        raise TypeError(
            f"This method of {type(estimator).__name__} takes rows in memory, and these are elsewhere. What "
            "answers for each row (predict, predict_proba, transform) and score take them where they are."
        )


def has_flat_target(X: Any, y: Any) -> bool:
    """Whether there is one target, without a second axis: answers return in the shape that came."""
    if isinstance(X, Opened):
        return X.flat_target
    return isinstance(X.target, str) if isinstance(X, Table) else _ndim(y) < 2


def _ndim(y: Any) -> int:
    if hasattr(y, "ndim"):
        return y.ndim
    try:
        return np.asarray(y).ndim
    except ValueError as error:
        raise explained(error, y, "y", "A target") from None


def _here(check: Check, block: Block, block_rows: Callable[[Any], float | None] | None = None) -> Partitions:
    kept = check.kept(block)
    blocks = cut(kept, None if block_rows is None else block_rows(kept))
    return import_module("suffice.engines.local").LocalPartitions(blocks)


def _opened(estimator: Any, check: Check, X: Opened, reset: bool, *given: Any) -> Partitions:
    """What came through the door before; it is checked again only for an estimator that asks otherwise."""
    if any(part is not None for part in given):
        raise ValueError("Open partitions hold their targets, weights and sequences: leave these out.")
    _set_features(estimator, X.features, reset)
    return X if check == X.check else X.map(check)


def _in_columns(check: Check, table: Table, verb: str, *given: Any) -> None:
    """What belongs to the rows of a table is in columns of it."""
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


def _on_engine(
    engine: Any, estimator: Any, check: Check, X: Any, reset: bool, verb: str, y: Any, *given: Any
) -> Partitions:
    names = engine.column_names(source_of(X))
    if isinstance(names, int):  # arrays, whose columns are only counted
        if isinstance(X, Table):
            raise TypeError(f"suffice.{verb} describes tables, and these blocks are arrays: call fit(X, y).")
        return _arrays_on_engine(engine, estimator, check, X, names, reset, verb, y, *given)
    if verb == "sequences":
        _must_name_sequences(X)
    table = X if isinstance(X, Table) else rows(X)
    _in_columns(check, table, verb, y, *given)
    columns = table.columns(names)
    _set_features(estimator, columns.features, reset)
    return engine.open_partitions(table.source, columns, check)


def _arrays_on_engine(
    engine: Any,
    estimator: Any,
    check: Check,
    X: Any,
    width: int,
    reset: bool,
    verb: str,
    y: Any,
    sample_weight: Any,
    groups: Any = None,
) -> Partitions:
    if check.target and y is None:
        raise ValueError(f"{check.name} requires y to be passed, but the target y is None.")
    if verb == "sequences" and groups is None:
        raise ValueError(
            "A distributed array without groups would be one sequence, in one block: pass groups=, an id a "
            'row, or fit(suffice.sequences(table, sequence="...")).'
        )
    if check.target is None and verb == "rows":
        y = None
    _set_features(estimator, width, reset)
    return engine.open_arrays(X, y, sample_weight, groups, check)


@dataclass(frozen=True)
class Check:
    """What rows must satisfy for one estimator; it travels to where the blocks are."""

    name: str
    sparse: bool
    nan: bool
    positive: bool
    strings: bool
    target: str | None  # "label", "number" or None
    unlabelled: bool = False  # whether labels may be missing: None or NaN
    counts_rows: bool = False  # whether the place of a row among all rows matters, those of weight zero too

    @classmethod
    def of(cls, estimator: Any) -> Check:
        tags = get_tags(estimator)
        target = {"classifier": "label", "regressor": "number"}.get(tags.estimator_type or "")
        given = tags.input_tags
        return cls(
            type(estimator).__name__,
            given.sparse,
            given.allow_nan,
            given.positive_only,
            given.string,
            target,
            getattr(estimator, "takes_unlabelled", False),
            getattr(estimator, "counts_rows", False),
        )

    def array(
        self, estimator: Any, X: Any, y: Any = "no_validation", reset: bool = True, late: bool = False
    ) -> Any:
        """Checked arrays; `late` if `must_pass` is called with the numbers of many rows as they are used."""
        must_be_sound(X)
        if sp.issparse(y):
            raise ValueError(f"y is a sparse matrix, and {self.name} takes an array: pass y.toarray().")
        X, y = unmasked(X, "X", self.nan), unmasked(y, "y")
        if self.strings and _is_object(X):  # NA answers no question that is asked of it below
            X = _objects(X)
        how: dict[str, Any] = {
            "accept_sparse": "csr" if self.sparse else False,
            "dtype": None if self.strings else [np.float64, np.float32],
            "ensure_all_finite": ("allow-nan" if self.nan else True) if self.strings else False,
        }
        alone = isinstance(y, str) and y == "no_validation"
        if not alone:
            how["y_numeric"] = self.target == "number"
            how["multi_output"] = self.target == "number" and get_tags(estimator).target_tags.multi_output
        if hasattr(X, "columns"):
            check_names(list(X.columns), list(X.columns))
        try:
            if not self.strings and has_times(X):
                raise ValueError("Cannot convert times to numbers.")
            if self.strings and hasattr(X, "columns"):  # of mixed kinds, with holes of many names
                validate_data(estimator, X, skip_check_array=True, reset=reset)
                checked = _objects(X)
                checked = check_array(checked, **how) if alone else check_X_y(checked, y, **how)
            else:
                checked = validate_data(estimator, X, y, reset=reset, **how)
        except (TypeError, ValueError, OverflowError) as error:
            if str(error).startswith("Input contains NaN"):
                # Of X, only strings may be refused so.
                of_y = not alone and (not self.strings or (_is_object(y) and missing(np.ravel(y)).any()))
                what = "y" if of_y else "X"
                raise ValueError(f"Input {what} contains NaN, None or NA: leave those rows out.") from None
            if not CONVERSION.search(str(error)):
                raise
            clear = error if self.strings else explained(error, X, "X", self.name)
            raise (clear if alone or clear is not error else explained(error, y, "y", self.name)) from None
        many, X = _are_many(X), checked if alone else checked[0]
        if self.target == "number" and not alone:  # None became NaN after the check of scikit-learn
            self.targets(checked[1])
        if not many:
            self.must_pass(X, getattr(estimator, "feature_names_in_", None))
        elif not late:
            size = max(1, PIECE_BYTES // (X.itemsize * max(1, X.shape[1])))
            parts = tuple(X[start : start + size] for start in range(0, len(X), size))
            try:
                list(import_module("suffice.engines.local").in_order(self.must_pass, parts))
            except ValueError:
                self.must_pass(X)  # which says in which row of all
                raise
        if sp.issparse(X):
            X = one_a_place(sp.csr_array(X))
        return X if alone else (X, checked[1])

    def must_pass(self, X: Any, names: Sequence[Any] | None = None) -> None:
        """Refuse numbers that are not finite or too large, or negative where that matters; `names` are those
        of the columns."""
        if X.dtype.kind not in "OU" and not get_config()["assume_finite"]:
            check_numbers(X, "X", self.name, nan=self.nan, names=names)
        if X.dtype == object and not self.nan and missing(X.ravel()).any():
            raise ValueError("Input X contains NaN, None or NA: leave those rows out.")
        if self.positive:
            check_not_negative(X, self.name, names)

    def __call__(self, block: Any, names: Sequence[str] | None = None) -> Any:
        """Check a block that came from a table, of which these are the columns of features."""
        X, y = block.X, block.y
        if sp.issparse(X) and not self.sparse:
            raise TypeError(f"{self.name} does not take sparse rows: describe dense columns.")
        if X.dtype == object and not self.strings:
            raise explained(ValueError(f"{self.name} takes numbers."), X, "X", self.name, names)
        self.must_pass(X, None if sp.issparse(X) else names)
        if y is not None and self.target is not None:
            self.targets(y)
        return self.kept(block)

    def targets(self, y: np.ndarray) -> None:
        if self.unlabelled:
            y = y[~missing(y)]
        if self.target == "number":
            if y.dtype.kind not in "fiub":
                raise explained(ValueError(f"{self.name} takes numbers in y."), y, "y", self.name)
            check_numbers(y, "y", self.name)
            return
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. A classifier expects classes, not numbers.")

    def kept(self, block: Any) -> Any:
        """Weights are not negative, and a weight of zero is the absence of the row."""
        weight = block.weight
        if block.unweighted:
            return block
        check_weights(weight)
        for part, what in ((getattr(block, "X", None), "X"), (getattr(block, "y", None), "y")):
            if part is not None:
                check_weighted(part, weight, what, self.name)
        present = weight > 0
        return block if self.counts_rows or present.all() else block[present]


def _from_arrays(estimator: Any, check: Check, X: Any, y: Any, sample_weight: Any, reset: bool) -> Rows:
    if check.target is None:
        X, y = check.array(estimator, X, reset=reset), None
    else:
        if check.unlabelled and y is not None:
            X, y = _partly_labelled(estimator, check, X, y, reset)
        else:
            if check.target == "label" and _is_object(y) and any(v is None for v in y):
                raise ValueError("y has missing labels (None): leave those rows out.")
            X, y = check.array(estimator, X, y, reset=reset)
        if check.target == "label":
            known = y[~missing(y)] if check.unlabelled else y
            check_labels(known)
            check_classification_targets(known)
        else:
            check.targets(y)
    return Rows(X, y, weights_of(check.name, sample_weight, X.shape[0]))


# From so many numbers on, threads check them faster than one does.
MANY = 1 << 22


def _are_many(X: Any) -> bool:
    if type(X) is not np.ndarray or X.ndim != 2 or X.size < MANY or get_config()["assume_finite"]:
        return False
    return X.flags.c_contiguous and X.dtype in (np.float64, np.float32)


def _partly_labelled(estimator: Any, check: Check, X: Any, y: Any, reset: bool) -> tuple[Any, np.ndarray]:
    """Rows and labels of which some are missing."""
    X, y = check.array(estimator, X, reset=reset), column_or_1d(unmasked(y, "y"), warn=True)
    check_consistent_length(X, y)
    if y.dtype == object:
        y = _objects(y)
        if not all(isinstance(label, numbers.Real) for label in y[~missing(y)]):
            return X, y
        y = y.astype(np.float64)  # None becomes NaN
    assert_all_finite(y, allow_nan=True, input_name="y")
    return X, y


def _is_object(y: Any) -> bool:
    return isinstance(y, np.ndarray) and y.dtype == object


def weights_of(taker: str, sample_weight: Any, n: int) -> np.ndarray | None:
    """Checked weights of n rows, if there are any; a number is the weight of each."""
    weight = _weights(taker, sample_weight, n)
    if weight is not None and weight.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}: one a row of X.")
    return weight


def _weights(taker: str, sample_weight: Any, n: int) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weight = as_numbers(unmasked(sample_weight, "sample_weight"), "sample_weight", taker)
    if weight.ndim == 0:
        weight = np.full(n, weight)
    if weight.ndim > 1:
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}: one number each.")
    check_weights(weight)
    if not weight.any():
        raise ValueError("sample_weight is zero for every row: nothing is left to fit.")
    return np.ascontiguousarray(weight)


def _sequences_of_arrays(
    estimator: Any, check: Check, X: Any, y: Any, groups: Any, sample_weight: Any, reset: bool
) -> Sequences:
    if are_sequences(X):
        if groups is not None:
            raise ValueError("A list of sequences needs no groups: pass one or the other.")
        X, offset = _stacked(check, X)
        y = None if y is None else _labels_of(y, np.diff(offset))
    elif _is_list(X) and not len(X):
        raise ValueError(f"There are no sequences: found an empty {type(X).__name__}, with 0 sample(s).")
    elif _is_list(X) and len({len(row) for row in X if isinstance(row, list | tuple)}) > 1:
        raise ValueError(f"The rows of X differ in length. {OF_SEQUENCES}")
    elif getattr(X, "ndim", 2) == 3:
        raise ValueError(
            f"Found array with dim 3, of shape {np.shape(X)}, while dim <= 2 is required: pass list(X) if "
            "these are sequences of one length."
        )
    else:
        offset = None
    y = flat_labels(y)
    block = _from_arrays(estimator, check, X, y, None, reset)
    if offset is None:
        offset = _offset_of_groups(check, groups, len(block))
    if y is not None and check.target is None:  # labels that an estimator may use, but does not require
        y = column_or_1d(unmasked(y, "y"))
        check_consistent_length(block.X, y)
        block = block.replace(y=y)
    weight = of_sequences(_weights(check.name, sample_weight, len(offset) - 1), offset)
    return Sequences(block.X, offset, block.y, weight)


def _offset_of_groups(check: Check, groups: Any, n: int) -> np.ndarray:
    if groups is None:
        _warn_of_lost_groups(check)
        return offsets([n])
    ids = column_or_1d(unmasked(groups, "groups"))
    if len(ids) != n:
        raise ValueError(f"groups has {len(ids)} ids, but X has {n} rows: one a row.")
    starts, firsts = runs(ids, "groups")
    Seen().add(firsts)
    return np.append(starts, n)


def _stacked(check: Check, X: Any) -> tuple[Any, np.ndarray]:
    """The rows of a list of sequences one after the other, and where each begins."""
    for part in X:
        must_be_sound(part)
    parts = [part if sp.issparse(part) else np.asarray(unmasked(part, "X", check.nan)) for part in X]
    shapes = sorted({part.shape[1:] for part in parts})
    if len(shapes) > 1 or parts[0].ndim != 2:
        raise ValueError(
            f"The sequences do not have the same features: their steps have shapes {shapes}. {OF_SEQUENCES}"
        )
    stacked = sp.vstack(parts, format="csr") if any(map(sp.issparse, parts)) else np.concatenate(parts)
    return stacked, offsets([part.shape[0] for part in parts])


def _labels_of(y: Any, lengths: np.ndarray) -> Any:
    """The labels of a list of sequences, a list of as many and as long."""
    if not hasattr(y, "__len__"):
        raise ValueError(
            f"y is {y!r:.60}, and X has {len(lengths)} sequences: pass one array of labels each."
        )
    if len(y) != len(lengths):
        raise ValueError(
            f"X has {len(lengths)} sequences, but y has {len(y)}: one array of labels a sequence."
        )
    if [len(part) if np.ndim(part) else None for part in y] != lengths.tolist():
        raise ValueError("y must have one label a step: some of its sequences have other lengths than X.")
    return list(y)


def _sequences_of_table(
    estimator: Any, check: Check, table: Table, reset: bool
) -> tuple[Sequences, np.ndarray]:
    """The sequences of a table in memory, and the positions that their rows had in it."""
    source, arrow = table.source, _is_arrow(table.source)
    columns = table.columns(_names_of(source))
    part = source.column if arrow else source.__getitem__
    order = None if table.order is None else np.asarray(part(table.order))
    arranged, offset = arrangement(np.asarray(part(table.sequence)), order, table)
    take = source.take if arrow else getattr(source, "iloc", source).__getitem__
    table = replace(table, source=take(arranged), features=columns.features, order=None)
    block = _from_table(estimator, check, table, reset)
    if arrow:
        return block, arranged
    if block.y is None and table.target is not None:  # labels that an estimator may use
        block = block.replace(y=_objects(table.source[table.target]))
    weight = None if block.unweighted else of_sequences(block.weight, offset)
    return Sequences(block.X, offset, block.y, weight), arranged


def _must_name_sequences(X: Any) -> None:
    if not isinstance(X, Table) or X.sequence is None:
        raise ValueError(
            "A table of sequences has a column that says to which sequence each row belongs: "
            'call fit(suffice.sequences(table, sequence="...")).'
        )


def _warn_of_lost_groups(check: Check) -> None:
    """Cross-validation that cuts one sequence into folds has most likely dropped the ids of many."""
    frame: Any = sys._getframe()
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("sklearn.model_selection"):
        frame = frame.f_back
    if frame is not None:
        warnings.warn(
            f"Cross-validation gave {check.name} one long sequence, without ids. If the rows are of several "
            "sequences, call sklearn.set_config(enable_metadata_routing=True) and pass groups to the search, "
            "e.g. search.fit(X, y, groups=ids); or pass a list of sequences.",
            UserWarning,
            stacklevel=2,
        )


def _from_table(estimator: Any, check: Check, table: Table, reset: bool) -> Any:
    source = table.source
    columns = table.columns(_names_of(source))
    if _is_arrow(source):
        _set_features(estimator, columns.features, reset)
        return columns.block(check, 0, source)
    if isinstance(columns.features, Sparse):
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
    return _from_arrays(estimator, check, source[list(columns.features)], y, weight, reset)


def _set_features(estimator: Any, features: tuple[str, ...] | int, reset: bool) -> None:
    """The names of the features; or, where they have none, how many there are."""
    features = features.size if isinstance(features, Sparse) else features
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


def in_columns(estimator: Any, table: Table) -> Table:
    """A described table as columns of Arrow or of an engine, of which rows are made when they are read."""
    if isinstance(table.features, Sparse):
        return table
    engine = engine_of(table.source)
    fitted = getattr(estimator, "feature_names_in_", ())
    table = replace(table, features=table.features or tuple(fitted) or None)
    columns = table.columns(engine.column_names(table.source) if engine else _names_of(table.source))
    _set_features(estimator, columns.features, reset=False)
    source = table.source if engine else as_arrow(table.source, list(dict.fromkeys(columns.names())))
    return replace(table, source=source, features=Numbers(columns.features, len(columns.features)))


def source_of(X: Any) -> Any:
    """The data, without what was said of its columns."""
    return X.source if isinstance(X, Table) else X


def engine_of(source: Any) -> Any:
    """The module of the engine that has the data; None if it is in memory."""
    source = source[0] if are_delayed(source) else source
    for (module, name), engine in ENGINES.items():
        if isinstance(source, getattr(sys.modules.get(module), name, ())):
            return import_module(engine)
    return None


def _objects(table: Any) -> np.ndarray:
    """The cells of a pandas or polars table: numbers if all are, else objects with None for holes."""
    X = np.asarray(table)
    if X.dtype.kind in "biuf":
        return X
    X = np.array(table, dtype=object)
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        X[pandas.isna(X)] = None
    return X


def _names_of(source: Any) -> list[str]:
    return list(source.schema.names if _is_arrow(source) else source.columns)


def _is_arrow(source: Any) -> bool:
    arrow = sys.modules.get("pyarrow")
    return isinstance(source, (arrow.Table, arrow.RecordBatch)) if arrow else False


def _is_table(source: Any) -> bool:
    return _is_arrow(source) or engine_of(source) is not None


__all__ = ["Check", "Columns", "open_edges", "open_rows", "open_sequences", "read_rows", "read_sequences"]
