"""Answers where the rows are: `predict` and its like on a scan or a cluster.

An estimator answers for rows in memory. Elsewhere the same method is called on each block, as an Arrow table,
and its answer becomes columns beside those of the block.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .door import engine_of, in_columns, in_memory, source_of
from .tables import Columns, Sparse, Table, runs

# The methods that answer for each row, and what their columns are called.
ANSWERS = {
    "predict": "prediction",
    "predict_proba": "probability",
    "predict_log_proba": "log_probability",
    "decision_function": "decision",
    "conditional_risk": "risk",
    "score_samples": "log_density",
    "transform": "",  # as `get_feature_names_out` says
}
NOTE = """

        Of rows that are elsewhere (a scan, a cluster) it returns them with the answer in columns beside, in
        the kind of container that came; ``to="folder"`` writes those of a scan there, as Parquet.
        """


def anywhere(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that answers for rows in memory, made to answer for rows wherever they are."""

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, to: Any = None, **more: Any) -> Any:
        if isinstance(X, Table) and _makes(self, X):
            check_is_fitted(self)
            if to is not None:
                raise TypeError(f"to={to!r}: these rows are made when they are read, and are not written.")
            return in_columns(self, X).through(*self._makes_rows())
        if not in_memory(X):
            check_is_fitted(self)
            if any(part is not None for part in (*args, *more.values())):
                raise ValueError("Rows that are elsewhere have their ids in a column: leave groups out.")
            return _elsewhere(self, method.__name__, X, to)
        if to is not None:
            raise TypeError(f"to={to!r} writes the answers for a scan, and these rows are in memory.")
        return method(self, X, *args, **more)

    answer.__doc__ = (method.__doc__ or "") + NOTE
    return answer


def _makes(estimator: Any, table: Table) -> bool:
    """Whether the estimator makes rows of those of a table when they are read: sparse ones, or numbers."""
    kinds = getattr(estimator, "makes_of", ("sparse",) if hasattr(estimator, "_makes_rows") else ())
    return ("sparse" if isinstance(table.features, Sparse) else "numbers") in kinds


def _elsewhere(estimator: Any, method: str, X: Any, to: Any) -> Any:
    source = source_of(X)
    engine = engine_of(source)
    if to is not None and not hasattr(engine, "write_answers"):
        raise TypeError(
            f"to={to!r} writes the answers for a scan; of a {type(source).__name__}, write what comes back."
        )
    names = engine.column_names(source)
    if isinstance(names, int):  # arrays
        return engine.answer_arrays(source, Asked(estimator, method, None))
    table = X if isinstance(X, Table) else Table(source, None, None, None)
    given = getattr(estimator, "feature_names_in_", None)
    features = table.features or (tuple(names) if given is None else tuple(given))
    described = replace(table, features=features, target=None, weight=None)
    asked = Asked(estimator, method, described.columns(names))
    return engine.answer(source, asked) if to is None else engine.write_answers(source, asked, to)


@dataclass(frozen=True)
class Asked:
    """What is asked of an estimator; it travels to where the rows are."""

    estimator: Any
    method: str
    columns: Columns | None  # of a table

    def __call__(self, table: Any) -> np.ndarray:
        """The answer for a block: an Arrow table whose sequences are whole, or an array."""
        answer = getattr(self.estimator, self.method)
        if self.columns is None:
            return np.asarray(answer(table))
        part = table.select(self.columns.names())
        if self.columns.sequence is not None or isinstance(self.columns.features, Sparse):
            part = Table(part, self.columns.features, None, None, self.columns.sequence, self.columns.order)
        return np.asarray(answer(part))

    def named(self, table: Any) -> dict[str, np.ndarray]:
        """The answer for an Arrow table, by the names of its columns."""
        answer = self(table)
        columns = [answer] if answer.ndim == 1 else list(answer.T)
        return dict(zip(self._names(answer), columns, strict=True))

    def beside(self, table: Any) -> Any:
        """The Arrow table, with the answer in columns; of an answer for each sequence, their ids and that."""
        import pyarrow as pa

        answer = self.named(table)
        if self.of_sequences:
            assert self.columns is not None and self.columns.sequence is not None
            ids = table.column(self.columns.sequence)
            table = pa.table({self.columns.sequence: ids.take(runs(ids, self.columns.sequence)[0])})
        for name, values in answer.items():
            if name in table.column_names:
                raise ValueError(
                    f"The table has a column {name!r} already, as the answer of {self.method} is called: "
                    "rename or drop it first."
                )
            # Of labels that are objects a table without rows would not tell the kind.
            kind = pa.array(self.estimator.classes_.tolist()).type if values.dtype == object else None
            table = table.append_column(name, pa.array(values, kind))
        return table

    @property
    def of_sequences(self) -> bool:
        """Whether there is one answer a sequence, and not one a row."""
        return getattr(self.estimator, "labels", "rows") == "sequences"

    def _names(self, answer: np.ndarray) -> list[str]:
        if self.method == "transform":
            return list(self.estimator.get_feature_names_out())
        name = ANSWERS[self.method]
        if answer.ndim == 1:
            return [name]
        classes = getattr(self.estimator, "actions_" if self.method == "conditional_risk" else "classes_", ())
        K = answer.shape[1]
        return [f"{name}_{c}" for c in (classes if len(classes) == K else range(K))]


def nameless(estimator: Any) -> Any:
    """The fitted estimator, to be asked about blocks whose columns are in their places already."""
    bare = copy(estimator)
    bare.__dict__.pop("feature_names_in_", None)
    return bare
