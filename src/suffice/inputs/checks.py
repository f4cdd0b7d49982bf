"""Checks of the rows of an estimator."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_X_y, get_tags
from sklearn.utils.validation import validate_data

from ..core.arguments import MaybeArray
from ..core.blocks import PIECE_BYTES, Rows, Sequences, missing, one_a_place
from ..core.threads import in_order
from ..losses import Domain
from .conversions import (
    CONVERSION,
    as_numbers,
    check_names,
    check_not_negative,
    check_numbers,
    check_weighted,
    check_weights,
    explained,
    explained_objects,
    has_times,
)
from .symbols import are_strings, must_be_symbols, symbol_column
from .validation import must_be_sound, unmasked

# Several threads check more numbers than this faster than one thread.
MANY = 1 << 22


@dataclass(frozen=True)
class TargetDomain:
    """The numbers that a target may have. An estimator declares it as `target_domain`."""

    domain: Domain
    requirement: str  # as the error begins

    def check(self, y: np.ndarray) -> None:
        """Raise for numbers outside."""
        wrong = self.domain.outside(y)
        if wrong.any():
            raise ValueError(f"{self.requirement} Got {y[wrong].min():g}.")


@dataclass(frozen=True)
class Check:
    """Checks of the rows of one estimator. It is sent to the blocks."""

    name: str
    sparse: bool
    nan: bool
    positive: bool
    strings: bool
    target: str | None  # "label", "number" or None
    unlabelled: bool = False  # whether labels may be missing: None or NaN
    counts_rows: bool = False  # whether the place of a row among all rows matters, those of weight zero too
    symbols: bool = False  # whether a row is a string, or a sequence of symbols
    for_strings: str = ""  # what to do about strings where rows of numbers are expected
    pairwise: bool = False  # whether X is a matrix of distances or kernels
    domain: TargetDomain | None = None  # of the numbers in y
    for_nan: str = ""  # what to do about NaN, if more than the usual is to be said

    @classmethod
    def of(cls, estimator: BaseEstimator) -> Check:
        tags = get_tags(estimator)
        target = {"classifier": "label", "regressor": "number"}.get(tags.estimator_type or "")
        input_tags = tags.input_tags
        return cls(
            type(estimator).__name__,
            input_tags.sparse,
            input_tags.allow_nan,
            input_tags.positive_only,
            input_tags.string,
            target,
            getattr(estimator, "takes_unlabelled", False),
            getattr(estimator, "counts_rows", False),
            getattr(estimator, "takes_symbols", False),
            getattr(estimator, "for_strings", ""),
            input_tags.pairwise,
            getattr(estimator, "target_domain", None),
            getattr(estimator, "for_nan", ""),
        )

    def array(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Any = "no_validation",
        reset: bool = True,
        late: bool = False,
    ) -> Any:
        """Checked arrays. With `late`, the caller checks the values of many rows in pieces, by
        `must_pass`."""
        must_be_sound(X)
        if self.symbols:
            X = symbol_column(X, self.name)
        elif self.for_strings and are_strings(X):
            raise ValueError(f"{self.name} takes rows of numbers, and X has strings: {self.for_strings}.")
        must_not_be_column(X)
        alone = isinstance(y, str) and y == "no_validation"
        if alone and not reset and self._is_as_fitted(estimator, X):
            self.must_pass(X)
            return one_a_place(sp.csr_array(X)) if sp.issparse(X) else X
        if sp.issparse(X) and self.pairwise and not self.sparse:
            raise TypeError(
                f"Sparse precomputed kernels are not supported by {self.name}. Use '.toarray()' to convert "
                "to a dense numpy array."
            )
        if sp.issparse(X) and self.pairwise and X.format not in ("csr", "csc", "coo", "lil"):
            raise TypeError(
                f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit "
                "zeros, which are distances: pass a CSR matrix."
            )
        must_be_dense(y, self.name)
        X, y = unmasked(X, "X", self.nan), unmasked(y, "y")
        if self.strings and is_object(X):  # the checks below do not support NA
            X = objects_of(X)
        how: dict[str, Any] = {
            "accept_sparse": "csr" if self.sparse else False,
            "dtype": None if self.strings else [np.float64, np.float32],
            "ensure_all_finite": ("allow-nan" if self.nan else True) if self.strings else False,
        }
        of_target: dict[str, Any] = {}
        if not alone:
            tags = get_tags(estimator)
            kind = tags.classifier_tags
            labels = self.target == "label" and kind is not None and kind.multi_label
            several = labels or (self.target == "number" and tags.target_tags.multi_output)
            of_target = {"y_numeric": self.target == "number", "multi_output": several}
        if hasattr(X, "columns"):
            check_names(list(X.columns), list(X.columns))
        try:
            if self._is_plain(estimator, X, None if alone else y, alone, reset):
                vars(estimator).pop("feature_names_in_", None)
                estimator.n_features_in_ = X.shape[1]
                checked = X if alone else (X, y)
            elif not self.strings and has_times(X):
                raise ValueError("Cannot convert times to numbers.")
            elif self.strings and hasattr(X, "columns"):  # of mixed kinds, with holes of many names
                validate_data(estimator, X, skip_check_array=True, reset=reset)
                checked = objects_of(X)
                checked = check_array(checked, **how) if alone else check_X_y(checked, y, **how, **of_target)
            else:
                checked = validate_data(estimator, X, y, reset=reset, **how, **of_target)
        except (TypeError, ValueError, OverflowError) as error:
            if str(error).startswith("Input contains NaN"):
                # NaN in X raises this error only if X has strings.
                of_y = not alone and (not self.strings or missing(np.ravel(np.asarray(y))).any())
                name = "y" if of_y else "X"
                raise ValueError(f"Input {name} contains NaN, None or NA: leave those rows out.") from None
            if not CONVERSION.search(str(error)):
                if self.pairwise and "features, but" in str(error):
                    self.must_pass(check_array(X, **how))  # of NaN as well, NaN is told: as scikit-learn does
                raise
            explain = explained_objects if self.strings else explained
            clear = explain(error, X, "X", self.name)
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
                list(in_order(self.must_pass, parts))
            except ValueError:
                self.must_pass(X)  # which says in which row of all
                raise
        if sp.issparse(X):
            X = one_a_place(sp.csr_array(X))
        return X if alone else (X, checked[1])

    def must_be_many(self, X: Any) -> None:
        """Raise for a single string: it is not taken as the path of a file."""
        if self.symbols and isinstance(X, str | bytes):
            raise ValueError(f"{self.name} takes a list of strings; got one string: pass [{X!r:.60}].")

    def _is_as_fitted(self, estimator: BaseEstimator, X: Any) -> bool:
        """Whether rows have the type and the columns of those of `fit`, so that only values are checked.

        The other checks take longer than the prediction for one row.
        """
        if type(X) is np.ndarray:
            known = X.flags.c_contiguous and 0 < X.size < MANY
        else:
            known = self.sparse and type(X) in (sp.csr_array, sp.csr_matrix) and X.shape[0] > 0
        return (
            known
            and X.ndim == 2
            and X.dtype == np.float64
            and X.shape[1] == getattr(estimator, "n_features_in_", None)
            and not hasattr(estimator, "feature_names_in_")
        )

    def _is_plain(self, estimator: BaseEstimator, X: Any, y: Any, alone: bool, reset: bool) -> bool:
        """Whether scikit-learn's checks would return X and y unchanged. They take longer than a fit to a
        few hundred rows, and are skipped then."""
        kinds = (np.ndarray, sp.csr_array, sp.csr_matrix) if self.sparse else (np.ndarray,)
        if self.strings or type(X) not in kinds or X.dtype not in (np.float64, np.float32):
            return False
        if X.ndim != 2 or not min(X.shape):
            return False
        if not reset and (
            hasattr(estimator, "feature_names_in_")
            or X.shape[1] != getattr(estimator, "n_features_in_", None)
        ):
            return False
        if alone:
            return True
        if type(y) is not np.ndarray or y.ndim != 1 or len(y) != X.shape[0]:
            return False
        return y.dtype.kind in "iub" or (y.dtype == np.float64 and bool(np.isfinite(y).all()))

    def must_pass(self, X: Any, names: Sequence[Any] | None = None) -> None:
        """Raise for numbers that are not finite or too large, or negative if that is not allowed; `names` are
        those of the columns."""
        if X.dtype.kind not in "OU" and not get_config()["assume_finite"]:
            check_numbers(X, "X", self.name, nan=self.nan, names=names, for_nan=self.for_nan)
        if X.dtype == object and not self.nan and missing(X.ravel()).any():
            raise ValueError("Input X contains NaN, None or NA: leave those rows out.")
        if self.symbols:
            must_be_symbols(X, self.name)
        if self.positive and self.pairwise:
            check_not_negative(X, "precomputed distance matrix", names, "distances")
        elif self.positive:
            check_not_negative(X, self.name, names)

    def __call__(self, block: Rows | Sequences, names: Sequence[str] | None = None) -> Any:
        """Check a block from a table with these feature columns."""
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
            if self.domain is not None:
                self.domain.check(y)
            return
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous. A classifier expects classes, not numbers.")

    def kept(self, block: Any) -> Any:
        """Check the weights, which must be non-negative. A weight of 0 drops the row."""
        weight = block.weight
        if block.unweighted:
            return block
        check_weights(weight)
        for part, name in ((getattr(block, "X", None), "X"), (getattr(block, "y", None), "y")):
            if part is not None:
                check_weighted(part, weight, name, self.name)
        present = weight > 0
        return block if self.counts_rows or present.all() else block[present]


def _are_many(X: Any) -> bool:
    if type(X) is not np.ndarray or X.ndim != 2 or X.size < MANY or get_config()["assume_finite"]:
        return False
    return X.flags.c_contiguous and X.dtype in (np.float64, np.float32)


def must_be_dense(y: Any, taker: str) -> None:
    """Raise for sparse targets."""
    if sp.issparse(y):
        raise TypeError(
            f"Sparse data was passed for y, but dense data is required: {taker} takes an array. Use "
            "'.toarray()' to convert to a dense numpy array."
        )


def must_not_be_column(X: Any) -> None:
    """Raise for a Series of pandas or Polars and an array of Arrow: a column, and not a table."""
    if isinstance(X, np.ndarray):
        return
    kinds = {"Series": ("pandas", "polars"), "Array": ("pyarrow",), "ChunkedArray": ("pyarrow",)}
    of_modules = ((sys.modules.get(module), name) for name, modules in kinds.items() for module in modules)
    if any(isinstance(X, getattr(module, name, ())) for module, name in of_modules):
        raise ValueError(
            f"Expected a 2-dimensional container but got {type(X)} instead. Pass a DataFrame containing a "
            "single row (i.e. single sample) or a single column (i.e. single feature) instead, e.g. "
            "table[['name']]; or an array, np.asarray(X).reshape(-1, 1) for a single feature and "
            "np.asarray(X).reshape(1, -1) for a single sample."
        )


def is_object(y: Any) -> bool:
    return isinstance(y, np.ndarray) and y.dtype == object


def objects_of(table: Any) -> np.ndarray:
    """Return the cells of a pandas or polars table: numbers if all are, otherwise objects.

    Missing values become None.
    """
    X = np.asarray(table)
    if X.dtype.kind in "biuf":
        return X
    # Numbers of pandas that know NA, whose array has objects.
    types = [getattr(kind, "numpy_dtype", kind) for kind in table.dtypes] if hasattr(table, "columns") else []
    if types and all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in types):
        if table.isna().to_numpy().any():
            return table.to_numpy(np.float64, na_value=np.nan)
        return table.to_numpy(np.result_type(*types))
    X = np.array(table, dtype=object)
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        X[pandas.isna(X)] = None
    return X


def weights_of(taker: str, sample_weight: MaybeArray, n: int) -> np.ndarray | None:
    """Checked weights of n rows, or None. A number is the weight of each row."""
    return checked_weights(taker, sample_weight, n, of_rows=True)


def checked_weights(
    taker: str, sample_weight: MaybeArray, n: int, of_rows: bool = False
) -> np.ndarray | None:
    """Weights as an array of numbers, checked to be non-negative and not all zero; a single number is
    repeated n times. With `of_rows`, there must be n weights."""
    if sample_weight is None:
        return None
    weight = as_numbers(unmasked(sample_weight, "sample_weight"), "sample_weight", taker)
    if weight.ndim == 0 and isinstance(sample_weight, np.ndarray):
        raise TypeError(
            "Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar "
            f"`{weight!r}` instead. Pass sample_weight as a number, or one for each row."
        )
    if weight.ndim == 0:
        weight = np.full(n, weight)
    if weight.ndim > 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar; got sample_weight.shape == {weight.shape}, expected "
            f"{(n,)}: one per sample."
        )
    if of_rows and weight.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}: one per row of X.")
    if len(weight) and (weight <= 0).all():
        cause = (
            "Negative values in data passed to `sample_weight`"
            if weight.any()
            else ("sample_weight is zero for every row, expected a positive weight for some")
        )
        raise ValueError(f"Invalid input - all samples have zero or negative weights. {cause}.")
    check_weights(weight)
    return np.ascontiguousarray(weight)


def places_of(features: Any, names: Sequence[str], count: int) -> list[int]:
    """The indices of features that are given as indices or names."""
    places = []
    for feature in features:
        if np.ndim(feature) or feature not in (names if isinstance(feature, str) else range(count)):
            known = f", or one of the names {list(names)}" if len(names) else "; there are no names"
            raise ValueError(f"No feature is {feature!r}: expected an index from 0 to {count - 1}{known}.")
        places.append(list(names).index(feature) if isinstance(feature, str) else int(feature))
    return places
