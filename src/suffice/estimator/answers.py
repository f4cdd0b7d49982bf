"""Row-wise methods, such as `predict`, for rows in memory, in a scan or on a cluster."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..core.extras import required
from ..inputs.containers import source_of
from ..inputs.conversions import check_names, explained
from ..inputs.readers import DenseColumns
from ..inputs.sequences import runs
from ..inputs.sources import TableSource
from ..inputs.tables import Columns, Table

# Names of the row-wise methods, and of the columns of their results.
ANSWERS = {
    "predict": "prediction",
    "predict_proba": "probability",
    "predict_log_proba": "log_probability",
    "decision_function": "decision",
    "conditional_risk": "risk",
    "score_samples": "log_density",
    "transform": "",  # the names of `get_feature_names_out`
}


def row_wise(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of methods that return a result for each row, such as `predict` and `transform`.

    The method is written for rows in memory. For a scan, it returns an array. With ``to="folder"``, the rows
    are written to that folder as Parquet with the results in new columns, and a scan of it is returned. For a
    data set of Ray, Spark or Dask, it returns a data set of the same type with the results in new columns.

    `transform` of a scan, or of a table described by `suffice.rows`, returns a table whose rows are
    transformed when they are read, so a pipeline copies no rows. `numpy.asarray` reads them into memory.

    Examples
    --------
    >>> import pyarrow as pa, suffice
    >>> from suffice.decomposition import PCA
    >>> scan = suffice.scan(lambda: [pa.record_batch({"a": [0.0, 1.0, 1.0], "b": [1.0, 3.0, 2.0]})])
    >>> pca = PCA(1).fit(scan)
    >>> pca.score_samples(scan).shape
    (3,)
    >>> import numpy as np
    >>> np.asarray(pca.transform(scan)).shape
    (3, 1)
    """

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, to: Any = None, **more: Any) -> Any:
        if isinstance(X, str) and not get_tags(self).input_tags.two_d_array:
            return method(self, X, *args, **more)  # expects an iterable of texts, and raises for a single one
        try:
            source = source_of(X)
        except (TypeError, ValueError):
            check_is_fitted(self)  # this error comes first
            raise
        if method.__name__ == "transform" and to is None and (table := source.transformed(self)) is not None:
            _must_stay_lazy(self)
            return table
        if source.in_memory:
            if to is not None:
                raise TypeError(f"to={to!r} requires a scan, and these rows are in memory: leave to out.")
            if getattr(self, "transforms_arrays", False) and isinstance(source, TableSource):
                check_is_fitted(self)
                reader = source.columns_for(self).reader
                return self._transformed_reader(reader).rows(source.container)
            by_sklearn = getattr(self, "transforms_arrays", False)
            if by_sklearn and hasattr(X, "columns"):
                check_names(list(X.columns), list(X.columns))
            try:
                values = method(self, X, *args, **more)
            except (TypeError, ValueError) as error:
                if not by_sklearn or get_tags(self).input_tags.string:
                    raise
                raise explained(error, X, "X", type(self).__name__) from None
            single = method.__name__ in getattr(self, "preserves_dtype", ()) and is_float32(X)
            return as_float32(values) if single else values
        check_is_fitted(self)
        if any(part is not None for part in (*args, *more.values())):
            raise ValueError(
                "groups is only for rows in memory: name the column of ids with "
                "suffice.sequences(table, sequence=...)."
            )
        if "proba" in method.__name__ and getattr(self, "n_outputs_", 1) > 1:
            raise TypeError(
                f"{method.__name__} of several targets is a list with an array for each, of rows in memory, "
                "and these are not: call predict, or pass them in parts."
            )
        if getattr(self, "rows_elsewhere", False):
            raise TypeError(
                f"The rows of this {type(self).__name__} are not in memory, and neither are those that "
                f"{method.__name__} was asked for: pass these in memory, in parts if they are many, or fit "
                "to rows in memory."
            )
        columns = source.columns_for(self) if isinstance(source, TableSource) else None
        return source.answer(Request(self, method.__name__, columns), to)

    signature = inspect.signature(method)
    keyword = inspect.Parameter("to", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = sorted([*signature.parameters.values(), keyword], key=lambda parameter: parameter.kind)
    answer.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    answer.is_row_wise = True  # type: ignore[attr-defined]
    return answer


def _must_stay_lazy(estimator: BaseEstimator) -> None:
    """Raise if scikit-learn would convert the transformed rows, which have not been read, to a DataFrame."""
    container = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    container = container or get_config()["transform_output"]
    if container != "default" and "transform" in getattr(estimator, "_sklearn_auto_wrap_output_keys", ()):
        raise ValueError(
            f"The output of {type(estimator).__name__}.transform is set to {container!r}, and X is a table "
            "whose rows are transformed when they are read: call set_output(transform='default') on it, or "
            "on the pipeline. numpy.asarray reads the transformed rows into memory."
        )


def is_float32(X: Any) -> bool:
    """Whether the numbers of an array, a sparse matrix or a DataFrame are all float32."""
    if isinstance(getattr(X, "dtype", None), np.dtype):
        return X.dtype == np.float32
    is_frame = hasattr(X, "__array__") and hasattr(X, "columns")  # Dask's Delayed has attributes of any name
    return is_frame and {str(kind).lower() for kind in getattr(X, "dtypes", ())} == {"float32"}


def as_float32(values: Any) -> Any:
    """Convert an array, a sparse matrix, each item of a list, or a number to float32.

    Values are returned as they are if some are too large for float32.
    """
    if isinstance(values, list):
        return [as_float32(value) for value in values]
    with np.errstate(over="ignore"):
        single = values.astype(np.float32) if hasattr(values, "astype") else np.float32(values)
    numbers, singles = (part.data if sp.issparse(part) else part for part in (values, single))
    return single if (np.isinf(singles) == np.isinf(numbers)).all() else values


@dataclass(frozen=True)
class Request:
    """A row-wise method and its estimator, as they are sent to the workers that hold the rows."""

    estimator: Any
    method: str
    columns: Columns | None  # None: the rows are arrays

    def __call__(self, table: Any) -> np.ndarray:
        """Return the result for a block, which is an Arrow table of complete sequences, or an array."""
        answer = getattr(self.estimator, self.method)
        if self.columns is None:
            return np.asarray(answer(table))
        if self.columns.selection is not None:
            selected = self.columns.selection.rows(table)
            request = replace(self, columns=replace(self.columns, selection=None))
            return request(selected) if selected.num_rows else request(table.slice(0, 1))[:0]
        part = table.select(self.columns.names())
        if self.columns.sequence is not None or not isinstance(self.columns.reader, DenseColumns):
            part = Table(part, self.columns.reader, None, None, self.columns.sequence, self.columns.order)
        return np.asarray(answer(part))

    def named(self, table: Any) -> dict[str, np.ndarray]:
        """Return the columns of the result for an Arrow table, by name."""
        answer = self(table)
        columns = [answer] if answer.ndim == 1 else list(answer.T)
        return dict(zip(self._names(answer), columns, strict=True))

    def beside(self, table: Any) -> Any:
        """Return the Arrow table with the result in new columns.

        If there is one result per sequence, the table has the ids of the sequences and the result.
        """
        pa = required("pyarrow", "parquet")

        answer = self.named(table)
        if self.columns is not None and self.columns.selection is not None:
            table = self.columns.selection.rows(table)
        if self.of_sequences:
            assert self.columns is not None and self.columns.sequence is not None
            ids = table.column(self.columns.sequence)
            table = pa.table({self.columns.sequence: ids.take(runs(ids, self.columns.sequence)[0])})
        for name, values in answer.items():
            if name in table.column_names:
                raise ValueError(
                    f"The table already has a column {name!r}, the name of the result of {self.method}: "
                    f"rename or drop it first."
                )
            # pyarrow infers the type of objects from values, and a table without rows has none.
            kind = None
            if values.dtype == object:
                classes = self.estimator.classes_
                classes = np.concatenate(classes) if isinstance(classes, list) else classes
                kind = pa.array(classes.tolist()).type
            table = table.append_column(name, pa.array(values, kind))
        return table

    @property
    def of_sequences(self) -> bool:
        """Whether there is one result per sequence instead of per row."""
        return getattr(self.estimator, "labels", "rows") == "sequences"

    def _names(self, answer: np.ndarray) -> list[str]:
        """Return the names of the columns of a result."""
        if self.method == "transform":
            return list(self.estimator.get_feature_names_out())
        name = ANSWERS[self.method]
        if answer.ndim == 1:
            return [name]
        classes = getattr(self.estimator, "actions_" if self.method == "conditional_risk" else "classes_", ())
        K = answer.shape[1]
        by_class = len(classes) == K and self.method != "predict"
        return [f"{name}_{c}" for c in (classes if by_class else range(K))]


def nameless(estimator: Any) -> Any:
    """Return a copy of a fitted estimator without feature names, for blocks with columns in order."""
    bare = copy(estimator)
    bare.__dict__.pop("feature_names_in_", None)
    return bare
