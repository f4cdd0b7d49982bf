"""Tables: what the columns of a table are; and blocks from Arrow batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blocks import Block, Edges, Rows, Sequences, offsets, one_a_place
from .conversions import as_numbers, check_names
from .partitions import in_block

MIXED_IDS = (
    "The ids of nodes are of several types, {} and {}, and 1 is not '1': write them all as strings, e.g. "
    "source.astype(str)."
)
NOT_IDS = (
    "{} holds {}; expected ids of nodes, which are whole numbers below 2**63 or strings: pass "
    "source.astype(np.int64) or source.astype(str)."
)
MISSING_LABEL = "The target {!r} has missing labels: leave those rows out."


@dataclass(frozen=True)
class Table:
    """A table whose columns have been given their parts. Made by `suffice.rows` or `suffice.sequences`."""

    source: Any
    features: tuple[str, ...] | None
    target: str | tuple[str, ...] | None
    weight: str | None
    sequence: str | None = None
    order: str | None = None

    def columns(self, names: Sequence[str]) -> Columns:
        """The parts by name, given the names of all columns of the source."""
        apart = {*_names(self.target), *_names(self.weight), *_names(self.sequence), *_names(self.order)}
        features = self.features or tuple(name for name in names if name not in apart)
        check_names(names, (*features, *apart))
        return Columns(features, self.target, self.weight, self.sequence, self.order)

    def through(self, size: int, make: Callable[[Any], Any]) -> Table:
        """The same table with other rows: those that `make` makes of what is read."""
        assert isinstance(self.features, Sparse)
        return replace(self, features=Made(self.features, size, make))


class Sparse(tuple[str, ...]):
    """The columns that hold the entries of sparse rows, and how many features there are. Made by
    `suffice.sparse`."""

    size: int

    def __new__(cls, names: Iterable[str], size: int) -> Sparse:
        made = super().__new__(cls, names)
        made.size = size
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Sparse, (tuple(self), self.size)

    def rows(self, batch: Any) -> sp.csr_array:
        """The rows of an Arrow batch; entries of one place add up."""
        import pyarrow.compute as pc

        for name in self:
            if batch.column(name).null_count:
                raise ValueError(
                    f"The column {name!r} has missing lists: that of a row without entries is empty."
                )
        lengths = [pc.list_value_length(batch.column(name)).to_numpy(zero_copy_only=False) for name in self]
        if (lengths[0] != lengths[-1]).any():
            n = int(np.flatnonzero(lengths[0] != lengths[-1])[0])
            raise ValueError(
                f"Row {n} has {lengths[0][n]} indices in {self[0]!r}, but {lengths[-1][n]} values in "
                f"{self[-1]!r}."
            )
        flat = [pc.list_flatten(batch.column(name)).to_numpy(zero_copy_only=False) for name in self]
        indices = flat[0]
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.size):  # a missing one is NaN
            raise ValueError(
                f"The column {self[0]!r} must hold whole numbers from 0 to {self.size - 1}, and holds "
                f"{indices.min()} to {indices.max()}."
            )
        data = flat[1] if len(flat) > 1 else np.ones(len(indices))
        kind = np.int32 if max(self.size, len(indices)) < 1 << 31 else np.int64
        parts = data, indices.astype(kind), offsets(lengths[0])
        return one_a_place(sp.csr_array(parts, (batch.num_rows, self.size)))


class Text(Sparse):
    """The column that holds a text for each row. Made by `suffice.documents`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Text, (tuple(self), self.size)

    def rows(self, batch: Any) -> Any:
        """The texts of an Arrow batch, (N, 1)."""
        import pyarrow.types as types

        (name,) = self
        column = batch.column(name)
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
            raise ValueError(f"The column {name!r} holds {kind}, and documents are strings: cast it first.")
        if column.null_count:
            raise ValueError(
                f"The column {name!r} has {column.null_count} missing texts: leave those rows out, or fill "
                'them with "", a document without words.'
            )
        X = np.empty((batch.num_rows, 1), object)
        X[:, 0] = column.to_pylist()
        return X


class Numbers(Sparse):
    """The columns that hold a number each for every row, of which other rows are made."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Numbers, (tuple(self), self.size)

    def rows(self, batch: Any) -> Any:
        """The numbers of an Arrow batch, (N, D)."""
        return Columns(tuple(self))._dense(batch)


class Made(Sparse):
    """Rows that are made of other rows when these are read, as an estimator transforms them."""

    of: Sparse
    make: Callable[[Any], Any]

    def __new__(cls, of: Sparse, size: int, make: Callable[[Any], Any]) -> Made:
        made: Any = super().__new__(cls, of, size)
        made.of, made.make = of, make
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Made, (self.of, self.size, self.make)

    def rows(self, batch: Any) -> Any:
        return self.make(self.of.rows(batch))


def sparse(indices: str, values: str | None = None, *, size: int) -> Sparse:
    """Describe sparse rows in a table, as the `features` of `suffice.rows` or `suffice.sequences`.

    Parameters
    ----------
    indices : str
        Column of lists of whole numbers: the features that a row has, of which the first is 0.
    values : str, optional
        Column of lists of numbers, as long: the values of these features. All are one if not given.
    size : int
        The number of features.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.linear_model import LogisticRegression
    >>> table = pa.table({"words": [[0, 3], [1], [0, 2], [1, 3]], "label": ["a", "b", "a", "b"]})
    >>> described = suffice.rows(table, features=suffice.sparse("words", size=1000), target="label")
    >>> LogisticRegression().fit(described).score(described)
    1.0
    """
    if size < 1:
        raise ValueError(f"size={size}: there must be a feature at least.")
    return Sparse((indices,) if values is None else (indices, values), size)


def rows(
    table: Any,
    *,
    features: Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
) -> Table:
    """Describe a table of independent rows, to be passed to `fit`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        Where the rows are.
    features : sequence of str, or what `suffice.sparse` describes, optional
        Columns of X; all that are neither target nor weight if not given.
    target : str or sequence of str, optional
        Column or columns of y.
    weight : str, optional
        Column of sample weights.

    Examples
    --------
    >>> import pandas as pd
    >>> import suffice
    >>> from suffice.linear_model import LinearRegression
    >>> table = pd.DataFrame({"a": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]})
    >>> model = LinearRegression().fit(suffice.rows(table, target="y"))
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([2.]), 1.0)
    """
    if not (hasattr(table, "columns") or hasattr(table, "schema") or are_delayed(table)):
        raise TypeError(
            f"suffice.rows describes tables by the names of their columns, and {type(table).__name__} has "
            "none: pass arrays to fit(X, y, sample_weight=...)."
        )
    return Table(
        table,
        features if features is None or isinstance(features, Sparse) else _names(_tuple(features)),
        target if target is None or isinstance(target, str) else tuple(target),
        weight,
    )


def documents(
    table: Any, *, text: str, target: str | Sequence[str] | None = None, weight: str | None = None
) -> Table:
    """Describe a table with a text in each row, to be passed to `CountVectorizer`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        Where the documents are.
    text : str
        Column of strings. A document without words is "" and not missing.
    target : str or sequence of str, optional
        Column or columns of y.
    weight : str, optional
        Column of sample weights.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.feature_extraction.text import CountVectorizer
    >>> table = pa.table({"title": ["red red wine", "white wine"]})
    >>> vectorizer = CountVectorizer().fit(suffice.documents(table, text="title"))
    >>> vectorizer.get_feature_names_out()
    array(['red', 'white', 'wine'], dtype=object)
    """
    described = rows(table, features=Text((text,), 1), target=target, weight=weight)
    if any(isinstance(table, kind) for kind in _frames()):
        used = list(dict.fromkeys(described.columns(list(table.columns)).names()))
        return replace(described, source=as_arrow(table, used))
    return described


def as_arrow(table: Any, names: list[str]) -> Any:
    """Columns of a table in memory, as a table of Arrow."""
    import pyarrow as pa

    of_pandas, of_polars = _frames()
    if isinstance(table, of_pandas):
        return pa.Table.from_pandas(table[names], preserve_index=False)
    return table.select(names).to_arrow() if isinstance(table, of_polars) else table.select(names)


def _frames() -> list[Any]:
    """The tables of pandas and of polars, if these are imported."""
    return [getattr(sys.modules.get(module), "DataFrame", ()) for module in ("pandas", "polars")]


def are_delayed(parts: Any) -> bool:
    """Whether these are a list of dask's Delayed, each of which gives a block."""
    kind = getattr(sys.modules.get("dask.delayed"), "Delayed", ())
    return isinstance(parts, list) and len(parts) > 0 and all(isinstance(part, kind) for part in parts)


def sequences(
    table: Any,
    *,
    sequence: str,
    order: str | None = None,
    features: Sequence[str] | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> Table:
    """Describe a table whose rows are steps of sequences, to be passed to `fit`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        Where the rows are.
    sequence : str
        Column that names the sequence of each row. In files and distributed data sets the rows of a
        sequence stand together; in memory they are brought together.
    order : str, optional
        Column by which the rows of a sequence are sorted; they stay as they are if not given.
    features : sequence of str, or what `suffice.sparse` describes, optional
        Columns of X; all that have no other part if not given.
    target : str, optional
        Column of y, a label a row.
    weight : str, optional
        Column of weights, the same for all rows of a sequence.

    Examples
    --------
    >>> import pandas as pd
    >>> import suffice
    >>> table = pd.DataFrame({"day": ["a", "a", "b"], "hour": [2, 1, 1], "x": [0.2, 0.1, 0.3]})
    >>> suffice.sequences(table, sequence="day", order="hour").columns(table.columns).features
    ('x',)
    """
    described = rows(table, features=features, target=target, weight=weight)
    return replace(described, sequence=sequence, order=order)


def edges(table: Any, *, source: str, target: str, weight: str | None = None) -> Table:
    """Describe a table whose rows are links of a graph, to be passed to `fit`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        Where the rows are.
    source : str
        Column of the nodes from which the links go: whole numbers or strings.
    target : str
        Column of the nodes to which they go.
    weight : str, optional
        Column of the weights of the links: two is the link twice, zero is its absence.

    Examples
    --------
    >>> import pandas as pd
    >>> import suffice
    >>> from suffice.ranking import PageRank
    >>> table = pd.DataFrame({"from": ["a", "b", "c"], "to": ["b", "a", "a"]})
    >>> PageRank().fit(suffice.edges(table, source="from", target="to")).rank()
    array(['a', 'b', 'c'], dtype=object)
    """
    described = rows(table, features=(source, target), weight=weight)
    return replace(described, features=Ends((source, target)))


class Ends(tuple[str, ...]):
    """The columns of the two ends of links. Made by `suffice.edges`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Ends, (tuple(self),)

    def edges(self, batch: Any, weight: np.ndarray | None, index: int) -> Edges:
        """The links of an Arrow table or record batch."""
        import pyarrow as pa

        columns = [_plain_column(batch.column(name)) for name in self]
        texts = [pa.types.is_large_string(column.type) for column in columns]
        for name, column, text in zip(self, columns, texts, strict=True):
            if text and column.null_count:
                raise ValueError(f"The column {name!r} has missing values: it must name a node in every row.")
        if all(texts):  # coded together, by Arrow
            both = [chunk for column in columns for chunk in _chunks(column)]
            coded = pa.chunked_array(both, pa.large_string()).combine_chunks().dictionary_encode()
            place = coded.indices.to_numpy(zero_copy_only=False)
            names = coded.dictionary.to_numpy(zero_copy_only=False)
            n = batch.num_rows
            return Edges(place[:n], place[n:], weight, names, (index,))
        source, target = (
            ids_of(column.to_pylist() if text else _column(batch, name), f"The column {name!r}")
            for name, column, text in zip(self, columns, texts, strict=True)
        )
        if any(texts):
            return named_edges(source, target, weight, index)
        return Edges(source, target, weight, None, (index,))


def _plain_column(column: Any) -> Any:
    """A column of Arrow, of which strings are of one kind and not coded."""
    import pyarrow as pa
    import pyarrow.types as types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return column.cast(kind).cast(pa.large_string()) if text else column


def _chunks(column: Any) -> list[Any]:
    return column.chunks if hasattr(column, "chunks") else [column]


def named_edges(source: np.ndarray, target: np.ndarray, weight: Any = None, index: int = 0) -> Edges:
    """Links between names, as places in a list of them."""
    if len(source) and (source.dtype.kind in "iu") != (target.dtype.kind in "iu"):
        raise TypeError(MIXED_IDS.format("whole numbers", "strings"))
    names, place = _listed(np.concatenate([source, target]))
    return Edges(place[: len(source)], place[len(source) :], weight, names, (index,))


def _listed(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ones, and the place of each among them."""
    if names.dtype.kind in "iu":
        return np.unique(names, return_inverse=True)
    given = names.tolist()
    place = dict.fromkeys(given)  # to compare strings, and to sort them, takes many times as long
    place.update(zip(place, range(len(place)), strict=True))
    listed = np.empty(len(place), object)
    listed[:] = list(place)
    return listed, np.fromiter(map(place.__getitem__, given), np.int64, len(given))


def ids_of(values: Any, what: str) -> np.ndarray:
    """Ids of nodes, checked: whole numbers as int64, or strings."""
    ids = np.array(values, dtype=object if isinstance(values, list | tuple) else None, copy=None)
    if ids.ndim != 1:
        raise ValueError(f"{what} has shape {ids.shape}; expected one id for each link.")
    if ids.dtype == object:
        kinds = {type(value) for value in ids}
        if all(issubclass(kind, str) for kind in kinds):
            return ids
        if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
            if missing(ids).any():
                raise ValueError(f"{what} has missing values: it must name a node in every row.")
            names = sorted(kind.__name__ for kind in kinds)
            raise TypeError(MIXED_IDS.format(*names[:2]) if len(names) > 1 else NOT_IDS.format(what, *names))
        ids = ids.astype(np.int64)
    if ids.dtype.kind in "UT":
        return ids
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise ValueError(f"{what} has missing values: it must name a node in every row.")
    if ids.dtype.kind not in "iu" or (ids.dtype == np.uint64 and len(ids) and ids.max() >= 1 << 63):
        raise TypeError(NOT_IDS.format(what, ids.dtype))
    return ids.astype(np.int64, copy=False) if ids.dtype.kind == "u" else ids


@dataclass(frozen=True)
class Columns:
    """The parts of a table by the names of their columns, and how an Arrow batch becomes a block."""

    features: tuple[str, ...]
    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    sequence: str | None = None
    order: str | None = None

    def names(self) -> list[str]:
        apart = (self.target, self.weight, self.sequence, self.order)
        return [*self.features, *(name for part in apart for name in _names(part))]

    def with_all(self, names: Iterable[str]) -> Columns:
        """All columns of the table, those that have no part as features."""
        apart = {*_names(self.sequence), *_names(self.order)}
        features = tuple(name for name in names if name not in apart)
        return Columns(features, sequence=self.sequence, order=self.order)

    def _dense(self, batch: Any) -> np.ndarray:
        parts = [_column(batch, name) for name in self.features]
        X = np.empty((batch.num_rows, len(parts)), np.result_type(*parts))
        for j, part in enumerate(parts):
            X[:, j] = part
        return X

    def block(self, check: Any, index: int, batch: Any) -> Block:
        """One checked block from an Arrow table or record batch, which holds its sequences whole."""
        if isinstance(self.features, Ends):
            weight = None if self.weight is None else _weights(batch, self.weight)
            return check.kept(self.features.edges(batch, weight, index))
        offset = None
        if self.sequence is not None:
            starts, _ = runs(batch.column(self.sequence), f"The column {self.sequence!r}")
            offset = np.append(starts, batch.num_rows)
            if self.order is not None:
                order = batch.column(self.order).to_numpy(zero_copy_only=False)
                _must_be_whole(missing(order), f"The column {self.order!r}", "order every row")
                number = np.repeat(np.arange(len(starts)), np.diff(offset))
                if not ((order[1:] >= order[:-1]) | (number[1:] > number[:-1])).all():
                    batch = batch.take(np.lexsort((order, number)))
        X = self.features.rows(batch) if isinstance(self.features, Sparse) else self._dense(batch)
        y = None
        if isinstance(self.target, str):
            y = _column(batch, self.target)
            holes = y.dtype == object and batch.column(self.target).null_count
            if check.target is not None and not check.unlabelled and holes:
                raise ValueError(MISSING_LABEL.format(self.target))
        elif self.target is not None:
            y = np.column_stack([_column(batch, name) for name in self.target])
        weight = None if self.weight is None else _weights(batch, self.weight)
        if y is not None and y.ndim == 2 and y.shape[1] == 1 and check.target == "label":
            y = y[:, 0]
        if offset is None:
            return check(Rows(X, y, weight, (index,)), self.features)
        return check(Sequences(X, offset, y, of_sequences(weight, offset), (index,)), self.features)


def runs(ids: Any, what: str) -> tuple[np.ndarray, list[Any]]:
    """Where rows with another id than the one before begin, and their ids; every row must have one."""
    purpose = "name the sequence of every row"
    if not isinstance(ids, np.ndarray):
        import pyarrow.compute as pc
        import pyarrow.types as types

        if types.is_dictionary(ids.type):
            ids = ids.cast(ids.type.value_type)
        if types.is_string(ids.type) or types.is_large_string(ids.type):  # which are slow as objects
            _must_be_whole(ids.is_null().to_numpy(zero_copy_only=False), what, purpose)
            differ = pc.not_equal(ids.slice(1), ids.slice(0, max(0, len(ids) - 1)))
            starts = np.flatnonzero(np.append([len(ids) > 0], differ.to_numpy(zero_copy_only=False)))
            return starts, ids.take(starts).to_pylist()
        ids = ids.to_numpy(zero_copy_only=False)
    _must_be_whole(missing(ids), what, purpose)
    starts = np.flatnonzero(np.append([len(ids) > 0], ids[1:] != ids[:-1]))
    return starts, ids[starts].tolist()


def sequences_in(column: str, start: int, tables: Iterable[Any]) -> list[tuple[list[Any], int]]:
    """By Arrow table, the ids of its sequences as they stand, and how many rows the first has."""
    found: list[tuple[list[Any], int]] = []
    for number, table in enumerate(tables, start):
        with in_block(number, "reading it"):
            if table.num_rows == 0:  # and perhaps no columns
                found.append(([], 0))
                continue
            starts, ids = runs(table.column(column), f"The column {column!r}")
            found.append((ids, int(np.append(starts, table.num_rows)[1])))
    return found


def shares(found: Iterable[tuple[list[Any], int]]) -> list[tuple[int, list[tuple[int, int | None]]]]:
    """How many rows of each block belong to an earlier one; and the heads of later blocks that belong to it.

    Of what `sequences_in` says of the blocks in order. A sequence that crosses blocks is of the block in
    which it begins. A head is the number of its block and how many rows of it, None for all.
    """
    shares: list[tuple[int, list[tuple[int, int | None]]]] = []
    heads: list[tuple[int, int | None]] = []  # of the block in which the last sequence begins
    seen, last = Seen(), None
    for number, (ids, first) in enumerate(found):
        goes_on = ids[:1] == [last]
        seen.add(ids[goes_on:])
        if goes_on:
            heads.append((number, first if ids[1:] else None))
        shares.append((first if goes_on else 0, []))
        if ids[goes_on:]:
            heads, last = shares[-1][1], ids[-1]
    return shares


def whole(columns: Columns, table: Any, past: int, heads: Iterable[Any]) -> Any:
    """An Arrow table without its first rows, which are of an earlier one, and with heads of later ones."""
    import pyarrow as pa

    parts = [part.select(columns.names()) for part in (table.slice(past), *heads)]
    return pa.concat_tables(parts, promote_options="permissive")


class Seen:
    """The ids of the sequences so far, of which none may come again.

    Eight bytes an id: sorted arrays of hashes, of which equal ones are merged as in binary counting.
    """

    def __init__(self) -> None:
        self.parts: list[np.ndarray] = []

    def add(self, ids: list[Any]) -> None:
        # Of how they are written, since Python hashes -1 as -2 and 1 as 2**61.
        hashes = np.fromiter(map(hash, map(repr, ids)), np.int64, len(ids))
        new, first, count = np.unique(hashes, return_index=True, return_counts=True)
        again = count > 1
        for part in self.parts:
            again |= part[np.minimum(np.searchsorted(part, new), len(part) - 1)] == new
        if again.any():
            raise ValueError(
                f"The rows of sequence {ids[first[again].min()]!r} do not stand together: sort the rows by "
                "sequence, then by order."
            )
        while self.parts and len(self.parts[-1]) <= len(new):
            new = np.sort(np.append(self.parts.pop(), new), kind="stable")
        if len(new):
            self.parts.append(new)


def of_sequences(weight: np.ndarray | None, offset: np.ndarray) -> np.ndarray | None:
    """Weights of sequences, from one weight a row or one a sequence."""
    if weight is None or len(weight) == len(offset) - 1 != offset[-1]:
        return weight
    if len(weight) != offset[-1]:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected ({len(offset) - 1},), one a sequence, or "
            f"({offset[-1]},), one a row."
        )
    full = np.flatnonzero(np.diff(offset))
    of_each = np.ones(len(offset) - 1)
    of_each[full] = weight[offset[full]]
    if (np.repeat(of_each, np.diff(offset)) != weight).any():
        raise ValueError(
            "sample_weight differs within a sequence: weights belong to whole sequences. Pass groups= if "
            "the rows are of several."
        )
    return of_each


def arrangement(ids: np.ndarray, order: np.ndarray | None, table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The positions of rows by sequence, as these first appear, and by order; and where each begins."""
    starts, firsts = runs(ids, f"The column {table.sequence!r}")
    known: dict[Any, int] = {}
    number = np.array([known.setdefault(first, len(known)) for first in firsts], dtype=np.int64)
    number = np.repeat(number, np.diff(np.append(starts, len(ids))))
    if order is not None:
        _must_be_whole(missing(order), f"The column {table.order!r}", "order every row")
    keys = (number,) if order is None else (order, number)
    return np.lexsort(keys), offsets(np.bincount(number))


def _tuple(names: str | Sequence[str]) -> str | tuple[str, ...]:
    return names if isinstance(names, str) else tuple(names)


def _names(part: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if part is None else (part,) if isinstance(part, str) else part


def _must_be_whole(missing: np.ndarray, what: str, purpose: str) -> None:
    if missing.any():
        raise ValueError(f"{what} has missing values: it must {purpose}.")


def missing(values: np.ndarray) -> np.ndarray:
    """Where values are None, NaN or NA."""
    if values.dtype != object:
        return values != values
    unknown = getattr(sys.modules.get("pandas"), "NA", None)  # of which nothing can be asked
    of_cell = (v is None or v is unknown or (not isinstance(v, np.ndarray) and v != v) for v in values)
    return np.fromiter(of_cell, bool, len(values))


def _weights(batch: Any, name: str) -> np.ndarray:
    return as_numbers(_column(batch, name), f"the column {name!r}", "sample_weight")


def _column(batch: Any, name: str) -> np.ndarray:
    import pyarrow.types as types

    column = batch.column(name)
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not any(kind(column.type) for kind in kinds):
        raise ValueError(
            f"The column {name!r} holds {column.type}, and a column holds numbers, flags or strings: "
            "cast it first."
        )
    if column.null_count:
        import pyarrow as pa

        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type):
            column = column.cast(pa.float64())
    return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
