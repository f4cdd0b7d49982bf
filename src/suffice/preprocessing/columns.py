"""Models of the columns that transformers fit by one fold: moments, ranges and quantiles; and their base
class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from ..core.arguments import MaybeArray
from ..core.blocks import Rows
from ..core.loop import Progress
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.statistics import Statistics
from ..estimator.base import OnePass
from ..statistics import Extremes, Moments, QuantileSketch, extremes, moments, quantile_sketch


@dataclass(frozen=True, eq=False)
class Observations(Statistics):
    """The weight of the rows, and the moments of the observed values of each column."""

    weight: float
    columns: Moments  # diagonal, (D,)


@dataclass(frozen=True, eq=False)
class ColumnMoments(Model):
    """Mean and variance of the observed values of each column; NaN where there are none."""

    mean: Annotated[np.ndarray, "(D,)"]
    variance: Annotated[np.ndarray, "(D,)"]

    def summarize(self, block: Rows) -> Observations:
        return Observations(float(block.weight.sum()), moments(block.X, block.weight, "diagonal"))

    def estimate(self, s: Observations) -> Self:
        none = np.where(s.columns.weight > 0, 0.0, np.nan)
        return self.replace(mean=s.columns.mean + none, variance=s.columns.variance + none)


@dataclass(frozen=True, eq=False)
class Ranges(Statistics):
    """The weight of the rows, and the minimum and maximum of each column."""

    weight: float
    columns: Extremes


@dataclass(frozen=True, eq=False)
class ColumnRanges(Model):
    """Minimum and maximum of the observed values of each column; NaN where there are none."""

    low: Annotated[np.ndarray, "(D,)"]
    high: Annotated[np.ndarray, "(D,)"]

    def summarize(self, block: Rows) -> Ranges:
        return Ranges(float(block.weight.sum()), extremes(block.X))

    def estimate(self, s: Ranges) -> Self:
        return self.replace(low=s.columns.low, high=s.columns.high)


@dataclass(frozen=True, eq=False)
class ColumnQuantiles(Model):
    """Quantiles of the observed values of each column; NaN where there are none."""

    probabilities: Annotated[np.ndarray, "(Q,)"]
    values: Annotated[np.ndarray, "(Q, D) or (0, D)"]
    zeros: bool = True  # whether the entries count that sparse rows do not store

    def summarize(self, block: Rows) -> QuantileSketch:
        return quantile_sketch(block.X, block.weight, self.zeros)

    def estimate(self, s: QuantileSketch) -> Self:
        return self.replace(values=s.quantiles(self.probabilities))


class ColumnTransform(OnePass):
    """Base class of the transformers of scikit-learn that are fitted by one fold.

    `transform` and `inverse_transform` are those of scikit-learn, which follows in the bases.
    """

    # Whether `transform` takes arrays. Arrow tables are read by the names of their columns first: NumPy
    # ignores names, and reads nulls of dictionaries as categories.
    transforms_arrays: ClassVar[bool] = True
    # Attributes that are made from the others, and are not stored in files.
    _derived: ClassVar[tuple[str, ...]] = ()

    def _derive(self) -> None:
        """Set these fitted attributes."""

    def _check_input(self, X: Any) -> None:
        """Raise for data that the options do not allow, as scikit-learn does."""

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        self._check_input(X)
        return super()._opened(X, None, sample_weight, reset)

    def _finish(self, progress: Progress, data: Partitions) -> None:
        if progress.model is not None:  # scikit-learn has derived its own
            self._derive()

    def _fitted_state(self) -> dict[str, Any]:
        return {name: v for name, v in super()._fitted_state().items() if name not in self._derived}

    def _restore(self, state: dict[str, Any]) -> Self:
        super()._restore(state)
        if "model_" in state:  # it is fitted
            self._derive()
        return self

    def _row_transformer(self) -> tuple[Any, int]:
        bare, width = super()._row_transformer()
        bare.__dict__.pop("_sklearn_output_config", None)  # rows of blocks are arrays
        if isinstance(vars(bare).get("statistics_"), Statistics):  # which may be large
            del bare.statistics_
        return bare, width

    def transform_rows(self, X: Any) -> Any:
        out = super().transform_rows(X)
        return sp.csr_array(out) if sp.issparse(out) else out


class RangeTransform(ColumnTransform):
    """Base class of transformers that learn the range of each column."""

    model_: Annotated[ColumnRanges, "D"]

    def _start(self, data: Partitions, classes: MaybeArray = None) -> ColumnRanges:
        return ColumnRanges(np.full(self.n_features_in_, np.nan), np.full(self.n_features_in_, np.nan))


class QuantileTransform(ColumnTransform):
    """Base class of transformers that learn quantiles of each column."""

    model_: Annotated[ColumnQuantiles, "D"]

    def _probabilities(self) -> Any:
        """The quantiles to compute."""
        raise NotImplementedError

    def _start(self, data: Partitions, classes: MaybeArray = None) -> ColumnQuantiles:
        probabilities = np.asarray(self._probabilities(), dtype=np.float64)
        zeros = not getattr(self, "ignore_implicit_zeros", False)
        return ColumnQuantiles(probabilities, np.empty((0, self.n_features_in_)), zeros)


def canonical(X: Any) -> Any:
    """Sparse rows with duplicate entries summed, as functions of duplicates do not add up; dense rows
    unchanged."""
    if sp.issparse(X) and X.format in ("csr", "csc") and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def nonzero_scale(scale: np.ndarray, constant: Any = None) -> np.ndarray:
    """Return the scale, with ones where it is zero up to rounding: constant columns are not scaled."""
    if constant is None:
        constant = scale < 10 * np.finfo(np.float64).eps
    return np.where(constant, 1.0, scale)


def counts(weight: Any) -> Any:
    """The weight of rows, as integers if all are whole; without weights, it is the number of rows."""
    weight = np.asarray(weight)
    return weight.astype(np.int64) if (weight == np.floor(weight)).all() else weight
