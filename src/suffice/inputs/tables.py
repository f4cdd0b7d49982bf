"""Descriptions of the columns of tables, and blocks from Arrow batches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.blocks import Block, Edges, Rows, Sequences, missing
from ..core.extras import required
from .conversions import as_numbers, check_names
from .links import edges_of
from .readers import DenseColumns, Reader, SparseLists, Texts, column_of, dense
from .selection import Selection
from .sequences import must_be_complete, of_sequences, runs
from .unread import Unread

MISSING_LABEL = "The target {!r} has missing labels: leave those rows out."


@dataclass(frozen=True, repr=False)
class Table(Unread):
    """A table and the description of its columns. Returned by `suffice.rows`, `suffice.sequences` and similar
    functions."""

    source: Any  # where the rows are
    features: tuple[str, ...] | Reader | None = None
    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    sequence: str | None = None
    order: str | None = None
    selection: Selection | None = None  # None: all rows

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in ("features", "target", "weight", "sequence", "order")}
        arguments = [
            f"{name}={brief(part) if isinstance(part, tuple) else repr(part)}"
            for name, part in parts.items()
            if part is not None
        ]
        is_scan = type(self.source).__module__.startswith("suffice.")
        source = self.source if is_scan else type(self.source).__name__
        return f"{type(self).__name__}({', '.join([str(source), *arguments])})"

    def columns(self, names: Sequence[str], sizes: Mapping[str, int] = MappingProxyType({})) -> Columns:
        """The roles of the columns, given the names of all columns of the source, and the sizes of those
        that hold lists of a fixed size."""
        apart = {
            name for part in (self.target, self.weight, self.sequence, self.order) for name in _names(part)
        }
        if isinstance(self.features, Reader):
            reader = self.features
        else:
            reader = dense(self.features or tuple(name for name in names if name not in apart), sizes)
        columns = Columns(reader, self.target, self.weight, self.sequence, self.order, self.selection)
        check_names(names, columns.names())
        return columns


@dataclass(frozen=True, repr=False)
class EdgeTable(Table):
    """A table of links, whose two features are the columns of their ends. Returned by `suffice.edges`."""

    def columns(  # type: ignore[override]
        self, names: Sequence[str], sizes: Mapping[str, int] = MappingProxyType({})
    ) -> EdgeColumns:
        assert isinstance(self.features, tuple)
        check_names(names, (*self.features, *_names(self.weight)))
        return EdgeColumns(self.features, self.weight)


@dataclass(frozen=True)
class Columns:
    """The roles of the columns of a table, and the conversion of Arrow batches to blocks."""

    reader: Reader
    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    sequence: str | None = None
    order: str | None = None
    selection: Selection | None = None

    def names(self) -> list[str]:
        """The columns that are read."""
        hashed = None if self.selection is None else self.selection.columns
        apart = (self.target, self.weight, self.sequence, self.order, hashed)
        return list(dict.fromkeys([*self.reader.columns, *(name for part in apart for name in _names(part))]))

    def with_all(self, names: Iterable[str]) -> Columns:
        """All columns of the table. Columns without another role are features."""
        apart = {*_names(self.sequence), *_names(self.order)}
        features = tuple(name for name in names if name not in apart)
        return Columns(DenseColumns(features), None, None, self.sequence, self.order, self.selection)

    def block(self, check: Any, index: int, batch: Any) -> Block:
        """One checked block from an Arrow table or record batch of complete sequences."""
        if self.selection is not None:
            batch = self.selection.rows(batch)
        offset = None
        if self.sequence is not None:
            starts, _ = runs(batch.column(self.sequence), f"The column {self.sequence!r}")
            offset = np.append(starts, batch.num_rows)
            if self.order is not None:
                order = batch.column(self.order).to_numpy(zero_copy_only=False)
                must_be_complete(missing(order), f"The column {self.order!r}", "order every row")
                number = np.repeat(np.arange(len(starts)), np.diff(offset))
                if not ((order[1:] >= order[:-1]) | (number[1:] > number[:-1])).all():
                    batch = batch.take(np.lexsort((order, number)))
        X = self.reader.rows(batch)
        y = None
        if isinstance(self.target, str):
            y = column_of(batch, self.target)
            holes = y.dtype == object and batch.column(self.target).null_count
            if check.target is not None and not check.unlabelled and holes:
                raise ValueError(MISSING_LABEL.format(self.target))
        elif self.target is not None:
            y = np.column_stack([column_of(batch, name) for name in self.target])
        weight = _weights(batch, self.weight)
        if y is not None and y.ndim == 2 and y.shape[1] == 1 and check.target == "label":
            y = y[:, 0]
        names = None if isinstance(self.reader.features, int) else self.reader.features
        if offset is None:
            return check(Rows(X, y, weight, (index,)), names)
        return check(Sequences(X, offset, y, of_sequences(weight, offset), (index,)), names)


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of links: their ends, and their weight."""

    ends: tuple[str, ...]
    weight: str | None = None
    sequence = None

    def names(self) -> list[str]:
        return [*self.ends, *_names(self.weight)]

    @property
    def reader(self) -> Reader:
        return DenseColumns(self.ends)

    def block(self, check: Any, index: int, batch: Any) -> Edges:
        """One checked block from an Arrow table or record batch."""
        return check.kept(edges_of(batch, self.ends, _weights(batch, self.weight), index))


def rows(
    table: Any,
    *,
    features: Sequence[str] | Reader | None = None,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
) -> Table:
    """Describe a table of independent rows, to be passed to `fit`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        The table.
    features : sequence of str, or what `suffice.sparse` describes, optional
        Columns of X. If None, all columns that are neither target nor weight. A column of Arrow lists of a
        fixed size, such as embeddings, is several features: ``emb_0``, ``emb_1``, ...
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
    if isinstance(table, Table):  # as of a split: described again
        return replace(
            rows(table.source, features=features, target=target, weight=weight), selection=table.selection
        )
    # The type is inspected first, since reading `columns` of a lazy table of polars warns.
    names = ("columns", "schema", "column_names", "projection")
    if not (any(hasattr(type(table), n) or hasattr(table, n) for n in names) or are_delayed(table)):
        raise TypeError(
            f"suffice.rows takes tables with named columns; got {type(table).__name__}: pass arrays to "
            f"fit(X, y, sample_weight=...)."
        )
    return Table(
        table,
        features if features is None or isinstance(features, Reader) else _tuple(features),
        target if target is None or isinstance(target, str) else tuple(target),
        weight,
    )


def sequences(
    table: Any,
    *,
    sequence: str,
    order: str | None = None,
    features: Sequence[str] | Reader | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> Table:
    """Describe a table whose rows are steps of sequences, to be passed to `fit`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        The table.
    sequence : str
        Column with the sequence id of each row. In files and distributed data sets the rows of a sequence
        must be contiguous; in memory they are grouped.
    order : str, optional
        Column by which the rows of a sequence are sorted. If None, the rows keep their order.
    features : sequence of str, or what `suffice.sparse` describes, optional
        Columns of X. If None, all columns without another role.
    target : str, optional
        Column of y: one label per row.
    weight : str, optional
        Column of weights, the same for all rows of a sequence.

    Examples
    --------
    >>> import pandas as pd
    >>> import suffice
    >>> table = pd.DataFrame({"day": ["a", "a", "b"], "hour": [2, 1, 1], "x": [0.2, 0.1, 0.3]})
    >>> suffice.sequences(table, sequence="day", order="hour").columns(table.columns).reader.features
    ('x',)
    """
    described = rows(table, features=features, target=target, weight=weight)
    return replace(described, sequence=sequence, order=order)


def documents(
    table: Any, *, text: str, target: str | Sequence[str] | None = None, weight: str | None = None
) -> Table:
    """Describe a table with a text in each row, to be passed to `CountVectorizer`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        The table.
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
    described = rows(table, features=Texts((text,)), target=target, weight=weight)
    if any(isinstance(table, kind) for kind in _frames()):
        used = list(dict.fromkeys(described.columns(list(table.columns)).names()))
        return replace(described, source=as_arrow(table, used))
    return described


def edges(table: Any, *, source: str, target: str, weight: str | None = None) -> Table:
    """Describe a table whose rows are links of a graph, to be passed to `fit`.

    Parameters
    ----------
    table : pandas, polars or Arrow table, scan, or data set of Ray, Spark or Dask
        The table.
    source : str
        Column of the source nodes: integers or strings.
    target : str
        Column of the target nodes.
    weight : str, optional
        Column of the weights of the links. A weight of 2 is equivalent to repeating the link; 0 drops it.

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
    return EdgeTable(described.source, described.features, weight=weight)


def sparse(indices: str, values: str | None = None, *, size: int) -> SparseLists:
    """Describe sparse rows in a table, as the `features` of `suffice.rows` or `suffice.sequences`.

    Parameters
    ----------
    indices : str
        Column of lists of integers: the indices of the non-zero features of a row, from 0.
    values : str, optional
        Column of lists of numbers of the same lengths: the values of these features. If None, all are 1.
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
        raise ValueError(f"size must be at least 1; got {size}.")
    return SparseLists((indices,) if values is None else (indices, values), size)


def as_arrow(table: Any, names: list[str]) -> Any:
    """Columns of a table in memory, as an Arrow table."""
    pa = required("pyarrow", "parquet")

    of_pandas, of_polars = _frames()
    if isinstance(table, of_pandas):
        return pa.Table.from_pandas(table[names], preserve_index=False)
    return table.select(names).to_arrow() if isinstance(table, of_polars) else table.select(names)


def _frames() -> list[Any]:
    """The tables of pandas and of polars, if these are imported."""
    return [getattr(sys.modules.get(module), "DataFrame", ()) for module in ("pandas", "polars")]


def are_delayed(parts: Any) -> bool:
    """Whether this is a list of Dask Delayed objects, one per block."""
    kind = getattr(sys.modules.get("dask.delayed"), "Delayed", ())
    return isinstance(parts, list) and len(parts) > 0 and all(isinstance(part, kind) for part in parts)


def brief(names: Sequence[str], most: int = 5) -> str:
    """A list of names as text. Of many names, the first are shown."""
    shown = ", ".join(map(repr, names[:most]))
    return f"[{shown}]" if len(names) <= most else f"[{shown}, ... {len(names)} in all]"


def _tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _names(part: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if part is None else _tuple(part)


def _weights(batch: Any, name: str | None) -> np.ndarray | None:
    if name is None:
        return None
    return as_numbers(column_of(batch, name), f"the column {name!r}", "sample_weight")
