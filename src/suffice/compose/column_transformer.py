"""Transformers for columns of a table, fitted in passes that they share.

Each transformer is fitted as it would be alone, to its columns of the batches (see `fitting.shared`): one
pass over the data fits all that need one, and the k-th pass fits the k-th step of those that are pipelines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import compose
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..core.arguments import MaybeArray
from ..core.progress import shown
from ..estimator.answers import row_wise
from ..estimator.base import Estimator
from ..estimator.storing import Storable
from ..inputs import source_of
from ..inputs.readers import DenseColumns, Joined, Picked, Reader
from ..inputs.shared import SharedTable
from ..inputs.sources import TableSource, set_features
from ..inputs.tables import Table
from ..inputs.unread import namesake_of


class ColumnTransformer(Storable, compose.ColumnTransformer):
    """Apply transformers to columns of an array or a table, and concatenate the results.

    All transformers are fitted in the same passes over the data, and applied when rows are read. For arrays
    and DataFrames in memory, and in all parameters, it is scikit-learn's, and takes any transformer. For
    tables described by `suffice.rows`, scans and distributed data sets it takes transformers of suffice, and
    pipelines of them.

    Parameters
    ----------
    transformers : list of tuples
        Tuples (name, transformer, columns): 'drop', 'passthrough' or a transformer, and the names, indices,
        slice or mask of its columns, or a function of the table that returns them, e.g. of
        `make_column_selector`.
    remainder : {'drop', 'passthrough'} or estimator, default='drop'
        What to do with the columns that no transformer names: drop them, keep them, or transform them.
    sparse_threshold : float, default=0.3
        If some results are sparse, and the share of non-zero entries is below this threshold, the output is
        CSR; else it is dense.
    n_jobs : int, default=None
        Number of jobs that fit transformers in parallel, for data in memory.
    transformer_weights : dict, default=None
        By name of the transformer, a factor of its output.
    verbose : bool, default=False
        Whether to print the time of each fit.
    verbose_feature_names_out : bool, str or callable, default=True
        Whether names of output features start with that of their transformer; a format with
        ``{transformer_name}`` and ``{feature_name}``; or a function of both.

    Attributes
    ----------
    transformers_ : list
        The fitted transformers: tuples (name, fitted transformer, columns).
    named_transformers_ : Bunch
        The fitted transformers by name.
    sparse_output_ : bool
        Whether the output is CSR.
    output_indices_ : dict
        By name of the transformer, the slice of its output features.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns. Only if X has names.
    n_passes_ : int
        Number of passes over the data. Only if the transformers were fitted to a table.

    See Also
    --------
    make_column_transformer : A shorthand, which names the transformers.
    make_column_selector : Selects columns by name or type.
    suffice.preprocessing.OneHotEncoder : For categories.
    suffice.preprocessing.DatetimeEncoder : For dates.

    Notes
    -----
    With transformers φ_k of the columns x_{S_k}, and their weights w_k, the output is

    .. math::

        φ(x) = (w_1 φ_1(x_{S_1}), \\dots, w_K φ_K(x_{S_K})).

    Whether the output of a table is sparse is decided by the largest number of non-zero entries that a row
    can have, and not by those of the training data.

    References
    ----------
    * Buitinck et al. (2013), "API design for machine learning software: experiences from the scikit-learn
      project", ECML PKDD workshop on languages for data mining and machine learning.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from sklearn.pipeline import make_pipeline
    >>> from suffice.compose import ColumnTransformer
    >>> from suffice.linear_model import LogisticRegression
    >>> from suffice.preprocessing import OneHotEncoder
    >>> table = pa.table({
    ...     "age": [31.0, 44.0, 52.0, 23.0], "country": ["DE", "FR", "FR", "DE"], "clicked": [0, 1, 1, 0]
    ... })
    >>> encode = ColumnTransformer([("country", OneHotEncoder(), ["country"])], remainder="passthrough")
    >>> model = make_pipeline(encode, LogisticRegression()).fit(suffice.rows(table, target="clicked"))
    >>> model.predict(table.select(["age", "country"]))
    array([0, 1, 1, 0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = compose.ColumnTransformer._parameter_constraints
    takes: ClassVar[str] = "rows"

    @shown
    def fit(self, X: Any, y: MaybeArray = None, **params: Any) -> Self:
        """Fit all transformers, in passes that they share.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows.
        y : array, optional
            Targets. Leave out if a column of the table holds them.
        **params : dict
            Parameters of the transformers, if metadata routing is enabled; for data in memory.

        Returns
        -------
        self
        """
        if isinstance(source_of(X), TableSource):
            self.fit_transform(X, y, **params)
            return self
        return super().fit(X, y, **params)

    @shown
    def fit_transform(self, X: Any, y: MaybeArray = None, **params: Any) -> Any:
        """Fit all transformers, and transform the rows. A table is transformed when it is read.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows.
        y : array, optional
            Targets. Leave out if a column of the table holds them.
        **params : dict
            Parameters of the transformers, if metadata routing is enabled; for data in memory.

        Returns
        -------
        array, CSR matrix or table
        """
        source = source_of(X)
        if not isinstance(source, TableSource):
            return super().fit_transform(X, y, **params)
        if y is not None or params:
            raise ValueError(
                "The target of a table is its column: call fit(suffice.rows(table, target=...)) without y."
            )
        self._validate_params()
        reader = self._fit_table(X, source)
        return reader.rows(X) if source.is_plain else source.read_by(reader)

    def _fit_table(self, X: Any, source: TableSource) -> Reader:
        """Fit to a table, and return the reader of its transformed rows."""
        table = source.table or Table(source.container)
        columns = table.columns(source.names())
        reader = columns.reader
        self._validate_transformers()
        set_features(self, reader.features, reset=True)
        self._learn_columns(X)
        chosen = list(
            self._iter(fitted=False, column_as_labels=False, skip_drop=True, skip_empty_columns=True)
        )
        for name, transformer, _, _ in chosen:
            must_take_tables(name, transformer)
        supervised = any(takes_target(transformer) for _, transformer, _, _ in chosen)
        readers = {name: picked(reader, self._transformer_to_input_indices[name]) for name, *_ in chosen}
        used = [column for part in readers.values() for column in part.columns]
        apart = [table.weight] if table.weight else []
        if supervised:  # folds are drawn by all columns
            apart += [
                *reader.columns,
                *([table.target] if isinstance(table.target, str) else table.target or ()),
            ]
        deep = any(len(steps_of(transformer)) > 1 for _, transformer, _, _ in chosen)
        columns_read = tuple(dict.fromkeys([*used, *apart]))
        shared = SharedTable(source, columns_read, repeated=deep or supervised)
        fits = []
        for name, transformer, _, _ in chosen:
            target = table.target if takes_target(transformer) else None
            part = Table(source.container, features=readers[name], target=target, weight=table.weight)
            fits.append(partial(_fitted, transformer, shared.part(part)))
        names = [name for name, *_ in chosen]
        results = shared.sharing.together(fits, forgive=False, names=names)
        self.n_passes_ = shared.sharing.n_passes
        return self._set_fitted(chosen, results)

    def _learn_columns(self, X: Any) -> None:
        """The columns of each transformer, and those that remain, as scikit-learn keeps them."""
        names = list(getattr(self, "feature_names_in_", ()))
        self._columns = [columns(X) if callable(columns) else columns for _, _, columns in self.transformers]
        self._transformer_to_input_indices = {
            name: places_of_columns(columns, names, self.n_features_in_)
            for (name, _, _), columns in zip(self.transformers, self._columns, strict=True)
        }
        self._validate_remainder(X)

    def _set_fitted(self, chosen: list[Any], results: list[tuple[Any, Reader]]) -> Reader:
        """Set the fitted attributes."""
        self._update_fitted_transformers([transformer for transformer, _ in results])
        readers = tuple(reader for _, reader in results)
        self.sparse_output_ = self._is_sparse([transformer for transformer, _ in results], readers)
        self._record_output_indices([np.empty((0, reader.width)) for reader in readers])
        return self._joined(readers)

    def _is_sparse(self, transformers: list[Any], readers: Sequence[Reader]) -> bool:
        """Whether the share of non-zero entries is below the threshold, if some results are sparse."""
        entries = [entries_of(transformer) for transformer in transformers]
        total = sum(reader.width for reader in readers)
        dense = zip(entries, readers, strict=True)
        most = sum(reader.width if n is None else n for n, reader in dense)
        return any(n is not None for n in entries) and most < self.sparse_threshold * total

    def _joined(self, readers: tuple[Reader, ...]) -> Joined:
        weights = [
            weight
            for *_, weight in self._iter(
                fitted=True, column_as_labels=False, skip_drop=True, skip_empty_columns=True
            )
        ]
        scales = tuple(1.0 if weight is None else float(weight) for weight in weights)
        return Joined(readers, scales, self.sparse_output_)

    def _transformed_reader(self, reader: Reader) -> Reader:
        parts = self._iter(fitted=True, column_as_labels=False, skip_drop=True, skip_empty_columns=True)
        places = self._transformer_to_input_indices
        return self._joined(
            tuple(reader_after(part, picked(reader, places[name])) for name, part, _, _ in parts)
        )

    @row_wise
    def transform(self, X: Any, **params: Any) -> Any:
        """Transform the columns, and concatenate the results.

        For rows that are not in memory, and for `to`, see :func:`~suffice.estimator.row_wise`.
        """
        source = source_of(X)
        if not isinstance(source, TableSource):
            return super().transform(X, **params)
        check_is_fitted(self)
        return self._transformed_reader(source.reader_for(self)).rows(source.container)

    def _entries(self) -> float | None:
        """Non-zero entries of a row, at most; None if the output is dense."""
        if not self.sparse_output_:
            return None
        parts = self._iter(fitted=True, column_as_labels=False, skip_drop=True, skip_empty_columns=True)
        widths = self.output_indices_
        entries = [(entries_of(part), widths[name]) for name, part, _, _ in parts]
        return sum(s.stop - s.start if n is None else n for n, s in entries)

    def _fitted_state(self) -> dict[str, Any]:
        """The fitted attributes to store: what passes columns through is stored by its name."""
        state = super()._fitted_state()
        if "transformers_" in state:
            state["transformers_"] = [
                (name, "passthrough" if isinstance(part, FunctionTransformer) else part, columns)
                for name, part, columns in state["transformers_"]
            ]
            state["output_indices_"] = {k: (s.start, s.stop) for k, s in self.output_indices_.items()}
        return state

    def _restore(self, state: dict[str, Any]) -> Self:
        if "transformers_" in state:
            names = state.get("feature_names_in_")

            def restored(part: Any, columns: Any) -> Any:
                if not isinstance(part, str) or part != "passthrough":
                    return part
                known = [] if names is None else list(names)
                places = places_of_columns(columns, known, state["n_features_in_"])
                return passthrough(tuple(known[d] for d in places) if known else len(places))

            state["transformers_"] = [
                (name, restored(part, columns), columns) for name, part, columns in state["transformers_"]
            ]
            state["output_indices_"] = {k: slice(*ends) for k, ends in state["output_indices_"].items()}
        return super()._restore(state)

    def _stored_params(self) -> dict[str, Any]:
        """The parameters to store: functions that select columns are replaced by those that they selected."""
        params = self.get_params(deep=False)
        columns = getattr(self, "_columns", [part[2] for part in self.transformers])
        params["transformers"] = [
            (name, part, chosen if callable(declared) else declared)
            for (name, part, declared), chosen in zip(self.transformers, columns, strict=True)
        ]
        return params


def make_column_transformer(
    *transformers: Any,
    remainder: Any = "drop",
    sparse_threshold: float = 0.3,
    n_jobs: int | None = None,
    verbose: bool = False,
    verbose_feature_names_out: Any = True,
) -> ColumnTransformer:
    """Make a ColumnTransformer of tuples (transformer, columns). The transformers are named by their classes.

    Parameters
    ----------
    *transformers : tuples
        Tuples (transformer, columns).
    remainder : {'drop', 'passthrough'} or estimator, default='drop'
        What to do with the other columns.
    sparse_threshold : float, default=0.3
        Share of non-zero entries below which the output is sparse, if some results are.
    n_jobs : int, default=None
        Number of jobs, for data in memory.
    verbose : bool, default=False
        Whether to print the time of each fit.
    verbose_feature_names_out : bool, str or callable, default=True
        Whether names of output features start with that of their transformer.

    Examples
    --------
    >>> from suffice.compose import make_column_transformer
    >>> from suffice.preprocessing import OneHotEncoder
    >>> make_column_transformer((OneHotEncoder(), ["country"]), remainder="passthrough")
    ColumnTransformer(remainder='passthrough',
                      transformers=[('onehotencoder', OneHotEncoder(),
                                     ['country'])])
    """
    named = compose.make_column_transformer(*transformers).transformers
    return ColumnTransformer(
        named,
        remainder=remainder,
        sparse_threshold=sparse_threshold,
        n_jobs=n_jobs,
        verbose=verbose,
        verbose_feature_names_out=verbose_feature_names_out,
    )


def _fitted(transformer: Any, table: Table) -> tuple[Any, Reader]:
    """The fitted transformer, and the reader of the rows that it transformed in `fit_transform`."""
    if isinstance(transformer, str):  # passthrough
        assert isinstance(table.features, Reader)
        return passthrough(table.features.features), table.features
    fitted = clone(transformer)
    if hasattr(fitted, "set_output"):
        fitted.set_output(transform="default")
    return fitted, fitted.fit_transform(table).features


def passthrough(features: tuple[str, ...] | int) -> FunctionTransformer:
    """The transformer that returns its input, as scikit-learn makes it and fits it to these features."""
    same = FunctionTransformer(accept_sparse=True, check_inverse=False, feature_names_out="one-to-one")
    set_features(same, features, reset=True)
    return same


def steps_of(transformer: Any) -> list[Any]:
    """The transformers of a pipeline, one after the other."""
    parts = [step for _, step in transformer.steps] if isinstance(transformer, Pipeline) else [transformer]
    parts = [part for part in parts if part is not None and not isinstance(part, str)]
    return list(
        chain.from_iterable(steps_of(part) if isinstance(part, Pipeline) else [part] for part in parts)
    )


def must_take_tables(name: str, transformer: Any) -> None:
    """Raise for a transformer that takes only rows in memory."""
    for step in steps_of(transformer):
        if not isinstance(step, Estimator | ColumnTransformer):
            kind = type(step)
            ours = namesake_of(kind.__module__, kind.__name__)
            raise TypeError(
                f"ColumnTransformer fits a table with transformers of suffice, and {name!r} has a "
                f"{kind.__module__.split('.')[0]} {kind.__name__}: "
                + (f"use {ours}; or " if ours else "")
                + "pass rows in memory, as an array or a DataFrame."
            )


def takes_target(transformer: Any) -> bool:
    """Whether a transformer is fitted to targets, too."""
    return any(get_tags(step).target_tags.required for step in steps_of(transformer))


def picked(reader: Reader, places: Sequence[int]) -> Reader:
    """The reader of some features of another."""
    if type(reader) is DenseColumns:
        return DenseColumns(tuple(reader.columns[place] for place in places))
    return Picked(reader, tuple(places))


def reader_after(transformer: Any, reader: Reader) -> Reader:
    """The reader of rows that a fitted transformer, or a pipeline, transforms."""
    for step in steps_of(transformer):
        if not isinstance(step, FunctionTransformer):
            reader = step._transformed_reader(reader)
    return reader


def entries_of(transformer: Any) -> float | None:
    """Non-zero entries that a fitted transformer makes of a row, at most; None if its result is dense."""
    steps = steps_of(transformer)
    if not steps or not hasattr(steps[-1], "_entries"):
        return None
    return steps[-1]._entries()


def places_of_columns(columns: Any, names: list[str], count: int) -> list[int]:
    """The indices of columns: from a name, an index, a slice of either, a mask, or a list."""

    def place(column: Any) -> int:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(
                    f"A given column is not a column of the table: {column!r} is none of {names}."
                )
            return names.index(column)
        if not -count <= column < count:
            raise ValueError(f"all features must be in [0, {count - 1}] or [-{count}, 0]; got {column}.")
        return int(column) % count

    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        if isinstance(start, str) or isinstance(stop, str):  # by names, with the last
            first = 0 if start is None else place(start)
            return list(range(first, count if stop is None else place(stop) + 1))
        return list(range(count)[columns])
    if isinstance(columns, str | int | np.integer):
        return [place(columns)]
    listed = list(columns)
    if listed and all(isinstance(column, bool | np.bool_) for column in listed):
        if len(listed) != count:
            raise ValueError(f"The mask of columns has {len(listed)} entries; the table has {count} columns.")
        return np.flatnonzero(listed).tolist()
    return [place(column) for column in listed]
