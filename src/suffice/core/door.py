"""The one door: whatever is passed to `fit` is checked here and becomes partitions on its engine."""

from __future__ import annotations

import numbers
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_X_y, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .blocks import Rows, cut
from .partitions import Partitions
from .tables import MISSING_LABEL, Columns, Table, rows

# The type of the data picks the engine. Nothing is imported to ask: data of a type that was never
# imported cannot have come.
ENGINES = {
    ("suffice.engines.parquet", "ParquetScan"): "suffice.engines.parquet",
    ("ray.data", "Dataset"): "suffice.engines.ray",
}


def open_rows(
    estimator: Any, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool = True
) -> Partitions:
    """Partitions of checked rows, from arrays or from a table wherever it is.

    What is allowed (sparse, NaN, negative, strings) is what the tags of the estimator say.
    """
    check_bounds(estimator)
    check = Check.of(estimator)
    table = X if isinstance(X, Table) else rows(X) if _is_table(X) else None
    if table is None:
        block = _from_arrays(estimator, check, X, y, sample_weight, reset)
    else:
        if y is not None or sample_weight is not None:
            raise ValueError(
                "The target and the weight of a table are columns of it: "
                'call fit(suffice.rows(table, target="...", weight="...")).'
            )
        if check.target and table.target is None:
            raise ValueError(
                f"{check.name} requires y to be passed, but the target y is None: "
                'call fit(suffice.rows(table, target="...")).'
            )
        if engine := _engine(table.source):
            names = engine.column_names(table.source)
            columns = table.columns(names)
            _set_features(estimator, columns.features, reset)
            return engine.open_partitions(table.source, columns, check)
        block = _from_table(estimator, check, table, reset)
    return import_module("suffice.engines.local").LocalPartitions(cut(check.kept(block)))


def read_rows(estimator: Any, X: Any) -> Any:
    """Checked rows to predict from, in memory: contiguous float64 or CSR."""
    check_is_fitted(estimator)
    check = Check.of(estimator)
    source = X.source if isinstance(X, Table) else X
    must_be_in_memory(estimator, X)
    if _is_arrow(source):
        names = tuple(getattr(estimator, "feature_names_in_", source.schema.names))
        columns = rows(source, features=names).columns(source.schema.names)
        if len(names) != estimator.n_features_in_:
            raise ValueError(
                f"X has {len(names)} features, but {check.name} is expecting {estimator.n_features_in_}."
            )
        block = columns.block(check, 0, source)
    else:
        if isinstance(X, Table):
            source = source[list(estimator.feature_names_in_)]
        block = Rows(check.array(estimator, source, reset=False))
    return block.piece(0, len(block), 0).X


def check_bounds(estimator: Any) -> None:
    """Parameters that are numbers are not below what the estimator says of them."""
    for name, least in estimator.bounds.items():
        value = getattr(estimator, name, None)
        if isinstance(value, numbers.Number) and not value >= least:
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be at least {least}. "
                f"Got {value!r} instead."
            )


def in_memory(X: Any) -> bool:
    """Whether the rows are here, so that an answer for each of them can be kept."""
    return _engine(X.source if isinstance(X, Table) else X) is None


def must_be_in_memory(estimator: Any, X: Any) -> None:
    if not in_memory(X):
        raise TypeError(
            f"{type(estimator).__name__} predicts from rows in memory, and these are elsewhere: predict by "
            "batches, e.g. with ray_dataset.map_batches or pyarrow's iter_batches."
        )


def has_flat_target(X: Any, y: Any) -> bool:
    """Whether there is one target, without a second axis: answers return in the shape that came."""
    return isinstance(X.target, str) if isinstance(X, Table) else np.asarray(y).ndim < 2


@dataclass(frozen=True)
class Check:
    """What rows must satisfy for one estimator; it travels to where the blocks are."""

    name: str
    sparse: bool
    nan: bool
    positive: bool
    strings: bool
    target: str | None  # "label", "number" or None

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
        )

    def array(self, estimator: Any, X: Any, y: Any = "no_validation", reset: bool = True) -> Any:
        how: dict[str, Any] = {
            "accept_sparse": "csr" if self.sparse else False,
            "dtype": None if self.strings else [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if self.nan else True,
        }
        number = self.target == "number"
        alone = isinstance(y, str) and y == "no_validation"
        if self.strings and hasattr(X, "columns"):  # kinds of columns are mixed, and holes have many names
            validate_data(estimator, X, skip_check_array=True, reset=reset)
            X = _objects(X)
            checked = (
                check_array(X, **how)
                if alone
                else check_X_y(X, y, y_numeric=number, multi_output=number, **how)
            )
        elif alone:
            checked = validate_data(estimator, X, reset=reset, **how)
        else:
            checked = validate_data(
                estimator, X, y, reset=reset, y_numeric=number, multi_output=number, **how
            )
        self.values(checked if alone else checked[0])
        return checked

    def values(self, X: Any) -> None:
        if self.positive and ((X.data if sp.issparse(X) else X) < 0).any():
            raise ValueError(f"Negative values in data passed to {self.name}: it counts.")

    def __call__(self, block: Rows) -> Rows:
        """Check a block that came from a table."""
        X, y = block.X, block.y
        if X.dtype == object and not self.strings:
            raise ValueError(
                f"{self.name} expects numbers, but some columns hold strings: encode them first."
            )
        if X.dtype != object:
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(X.sum()) or np.isfinite(X).all()
            if not finite and (not self.nan or np.isinf(X).any()):
                raise ValueError(
                    f"Input X contains {'infinity' if self.nan else 'NaN or infinity'}, "
                    f"which {self.name} does not accept."
                )
            self.values(X)
        if y is not None and self.target is not None:
            self.targets(y)
        return self.kept(block)

    def targets(self, y: np.ndarray) -> None:
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        if self.target == "label" and y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. A classifier expects classes, not numbers.")
        if self.target == "number" and y.dtype.kind not in "fiub":
            raise ValueError(f"{self.name} expects a target of numbers, but it holds other things.")

    def kept(self, block: Rows) -> Rows:
        """Weights are not negative, and a weight of zero is the absence of the row."""
        weight = block.weight
        if block.unweighted:
            return block
        if not np.isfinite(weight).all():
            raise ValueError("Input sample_weight contains NaN or infinity.")
        if (weight < 0).any():
            raise ValueError("Negative values in data passed to `sample_weight`.")
        present = weight > 0
        return block if present.all() else block[present]


def _from_arrays(estimator: Any, check: Check, X: Any, y: Any, sample_weight: Any, reset: bool) -> Rows:
    if check.target is None:
        X, y = check.array(estimator, X, reset=reset), None
    else:
        X, y = check.array(estimator, X, y, reset=reset)
        if check.target == "label":
            check_classification_targets(y)
    weight = None
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight)
        if sample_weight.ndim == 0:
            sample_weight = np.full(X.shape[0], sample_weight)
        weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
        if weight.shape != (X.shape[0],):
            raise ValueError(
                f"sample_weight.shape == {weight.shape}, expected {(X.shape[0],)}: one a row of X."
            )
        weight = np.ascontiguousarray(weight)
        if not weight.any():
            raise ValueError("sample_weight is zero for every row: nothing is left to fit.")
    return Rows(sp.csr_array(X) if sp.issparse(X) else X, y, weight)


def _from_table(estimator: Any, check: Check, table: Table, reset: bool) -> Rows:
    source = table.source
    if _is_arrow(source):
        columns = table.columns(source.schema.names)
        _set_features(estimator, columns.features, reset)
        return columns.block(check, 0, source)
    columns = table.columns(list(source.columns))
    target = columns.target if isinstance(columns.target, str) else list(columns.target or ())
    if check.target == "label" and isinstance(target, str):
        part = source[target]
        if (part.is_null() if hasattr(part, "is_null") else part.isnull()).any():
            raise ValueError(MISSING_LABEL.format(target))
    y = None if columns.target is None else np.asarray(source[target])
    weight = None if columns.weight is None else np.asarray(source[columns.weight])
    return _from_arrays(estimator, check, source[list(columns.features)], y, weight, reset)


def _set_features(estimator: Any, features: tuple[str, ...], reset: bool) -> None:
    if reset:
        estimator.n_features_in_ = len(features)
        estimator.feature_names_in_ = np.asarray(features, dtype=object)
    elif tuple(getattr(estimator, "feature_names_in_", features)) != features:
        raise ValueError(
            f"The columns are {list(features)}, but {type(estimator).__name__} was fitted with "
            f"{list(estimator.feature_names_in_)}."
        )


def _engine(source: Any) -> Any:
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


def _is_arrow(source: Any) -> bool:
    arrow = sys.modules.get("pyarrow")
    return isinstance(source, (arrow.Table, arrow.RecordBatch)) if arrow else False


def _is_table(source: Any) -> bool:
    return _is_arrow(source) or _engine(source) is not None


__all__ = ["Check", "Columns", "open_rows", "read_rows"]
