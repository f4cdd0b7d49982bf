"""Columns of a table by their names and types."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn import compose

from ..core.extras import required
from ..estimator.storing import Storable
from ..inputs import source_of
from ..inputs.sources import TableSource


class make_column_selector(Storable, compose.make_column_selector):
    """Create a callable that selects columns by name or type, for `ColumnTransformer`.

    It selects columns of DataFrames as scikit-learn's does. Of a table, scan or distributed data set it asks
    for the schema, and reads no rows.

    Parameters
    ----------
    pattern : str, default=None
        Regular expression: a column whose name matches it is selected. If None, names are not compared.
    dtype_include : dtype or list of dtypes, default=None
        Types to select: a NumPy type, 'number', `object` (or `str`) for strings, 'category' for dictionaries,
        'bool', or 'datetime' for dates and timestamps.
    dtype_exclude : dtype or list of dtypes, default=None
        Types not to select.

    Returns
    -------
    selector : callable
        Function of a table that returns a list of names.

    See Also
    --------
    ColumnTransformer : Applies transformers to columns of a table.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, suffice
    >>> from suffice.compose import make_column_selector
    >>> table = pa.table({"age": [31, 44], "income": [2.5, 3.1], "country": ["DE", "FR"]})
    >>> make_column_selector(dtype_include=np.number)(suffice.rows(table))
    ['age', 'income']
    >>> make_column_selector(dtype_include=object)(suffice.rows(table))
    ['country']
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return ["pattern", "dtype_include", "dtype_exclude"]

    def _stored_params(self) -> dict[str, Any]:
        """The parameters to store, with names of types."""
        include, exclude = (_names(_listed(kinds)) for kinds in (self.dtype_include, self.dtype_exclude))
        return {"pattern": self.pattern, "dtype_include": include, "dtype_exclude": exclude}

    def _fitted_state(self) -> dict[str, Any]:
        return {}

    def __call__(self, df: Any) -> list[str]:
        """The names of the selected columns of a table."""
        source = source_of(df)
        if not isinstance(source, TableSource):
            return super().__call__(df)
        types = source.types()
        names = source.table.columns(source.names()).reader.columns if source.table else tuple(types)
        include, exclude = (_listed(kinds) for kinds in (self.dtype_include, self.dtype_exclude))
        return [
            name
            for name in names
            if (include is None or any(_is(types[name], kind) for kind in include))
            and not any(_is(types[name], kind) for kind in exclude or ())
            and (self.pattern is None or re.search(self.pattern, name))
        ]


def _listed(kinds: Any) -> list[Any] | None:
    return None if kinds is None else list(kinds) if isinstance(kinds, list | tuple | set) else [kinds]


def _names(kinds: list[Any] | None) -> list[str] | None:
    return None if kinds is None else [kind if isinstance(kind, str) else kind.__name__ for kind in kinds]


def _is(arrow: Any, kind: Any) -> bool:
    """Whether an Arrow type is of a kind, as pandas would say of the column."""
    types = required("pyarrow.types", "parquet")
    if types.is_dictionary(arrow):
        return str(kind) == "category" or _is(arrow.value_type, kind)
    if types.is_timestamp(arrow) or types.is_date(arrow):
        return "datetime" in str(kind)
    if types.is_integer(arrow) or types.is_floating(arrow) or types.is_boolean(arrow):
        if kind in ("number", "integer", "floating"):
            return np.issubdtype(arrow.to_pandas_dtype(), getattr(np, kind))
        try:
            return np.issubdtype(arrow.to_pandas_dtype(), np.dtype(kind) if isinstance(kind, str) else kind)
        except TypeError:  # of kinds that only pandas has
            return False
    return kind in (object, str, np.object_, "object", "O", "str", "string", "category")
