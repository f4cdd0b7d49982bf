"""Preconditioning by standardized columns.

This is a linear change of parameters after which curvatures are about one, so that `tol` does not depend on
the units of the features. With x' = (x - center) / scale, the score x coef + constant is x' coef' + constant'
for coef' = coef * scale and constant' = constant + center coef. The minimum is the same, since penalties are
still those of `coef`. Columns of ordinary scale are not changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Block, Rows
from ..core.partitions import Partitions
from ..core.statistics import Parts, Statistics
from ..core.values import Value
from ..statistics import Moments, distinct_targets
from ..statistics.objective import Objective
from ..statistics.sums import at_least_two
from .linear_algebra import transposed_times

# Standard deviations from 1 / ORDINARY to ORDINARY, and means up to ORDINARY standard deviations, are
# ordinary.
ORDINARY = 16.0
# Means beyond this number of standard deviations are subtracted from dense rows before these are multiplied.
# Smaller means, and those of CSR rows, whose zeros must stay, are subtracted from the sums, which lose digits
# by cancellation.
FAR = 1024.0


@dataclass(frozen=True, eq=False)
class ColumnSizes(Statistics):
    """The weight of rows, the moments of their columns, and the weight of the rows that store each column."""

    weight: float
    columns: Moments  # diagonal, (D,)
    stored: Annotated[np.ndarray, "(D,)"]

    @classmethod
    def of(cls, weight: float, mean: np.ndarray, scatter: np.ndarray, stored: Any) -> Self:
        full = np.full(len(mean), weight)
        return cls(weight, Moments(full, mean, scatter), full if stored is None else stored)


def column_sizes(block: Rows) -> ColumnSizes:
    """Return the sizes of the columns of a block of rows."""
    X, weight = block.X, block.weight
    total, D = float(weight.sum()), X.shape[1]
    if not total:
        return ColumnSizes.of(0.0, np.zeros(D), np.zeros(D), None)
    if sp.issparse(X):
        return _stored_sizes(X, weight, total)
    mean, scatter = _moments_about_zero(X, weight, total)
    if (scatter < 1e-4 * total * mean**2).any():  # digits cancel: again, relative to the first row
        mean, scatter = _moments_about_zero(X - X[0], weight, total)
        mean += X[0]
    return ColumnSizes.of(total, mean, scatter, None)


def _moments_about_zero(X: np.ndarray, weight: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray]:
    mean = weight.dot(X) / total
    return mean, np.maximum(weight.dot(X**2) - total * mean**2, 0.0)


def _stored_sizes(X: sp.csr_array, weight: np.ndarray, total: float) -> ColumnSizes:
    """Return the sizes of CSR columns: moments about the mean of the stored entries, then with the zeros."""

    def sums(data: np.ndarray) -> np.ndarray:
        return transposed_times(sp.csr_array((data, X.indices, X.indptr), X.shape), weight[:, None])[:, 0]

    stored = sums(np.ones(X.nnz))
    middle = sums(X.data) / np.where(stored > 0, stored, 1.0)
    within = sums((X.data - middle[X.indices]) ** 2)
    mean, zeros = middle * (stored / total), np.maximum(total - stored, 0.0)
    scatter = within + stored * (middle - mean) ** 2 + zeros * mean**2
    return ColumnSizes.of(total, mean, scatter, stored)


def classes_and_sizes(data: Partitions, classes: np.ndarray | None = None) -> tuple[np.ndarray, ColumnSizes]:
    """Return the classes of labelled rows and the sizes of their columns, in one pass.

    If `classes` are passed, they are returned, and the rows may lack some of them.
    """
    of_rows, sizes = data.fold(_classes_and_sizes).parts
    return at_least_two(of_rows.values[0]) if classes is None else classes, sizes


def _classes_and_sizes(block: Rows) -> Parts:
    return Parts((distinct_targets(block), column_sizes(block)))


@dataclass(frozen=True, eq=False)
class Standardization(Value):
    """Maps between the parameters of the original columns and those of standardized columns.

    Parameters are D coefficients and `n_constants` constants for each of R scores, as a flat array or of
    shape (R, D + n_constants). If the constants are thresholds with which x coef is compared, a shift of x
    has the opposite effect on them: `sign` is then -1.
    """

    center: Annotated[np.ndarray, "(D,)"]
    scale: Annotated[np.ndarray, "(D,)"]
    n_constants: int
    sign: float = 1.0
    far: bool = False  # whether dense rows are centered before they are multiplied

    @classmethod
    def of(
        cls, s: ColumnSizes, strength: float, *, n_constants: int, shift: bool = True, sign: float = 1.0
    ) -> Self:
        """Return the standardization of columns of these sizes, for an l2 penalty added to the mean loss.

        `strength` is that of the penalty. Without `shift`, e.g. if the constants are fixed, columns are only
        divided by their standard deviation.
        """
        variance, mean = s.columns.variance, np.abs(s.columns.mean)
        spread = np.sqrt(variance)
        same = spread <= 8 * np.finfo(np.float64).eps * mean  # a constant column is not shifted
        shifted = (mean > ORDINARY * spread) & ~same
        squares = s.weight * (variance + mean**2) / np.where(s.stored > 0, s.stored, 1.0)
        # For the logistic loss, the curvature by a coefficient is at most a quarter of the mean square of its
        # column, plus the strength of the penalty.
        scale = np.sqrt(np.where(shifted, variance, squares) + 4.0 * strength)
        ordinary = (scale >= 1.0 / ORDINARY) & (scale <= ORDINARY) | (squares == 0)
        center = np.where(shifted & shift, s.columns.mean, 0.0)
        far = bool((np.abs(center) > FAR * spread).any())
        return cls(center, np.where(ordinary, 1.0, scale), n_constants, sign, far)

    @cached_property
    def ordinary(self) -> bool:
        """Whether the standardization leaves all columns unchanged."""
        return not self.center.any() and bool((self.scale == 1.0).all())

    def to_standard(self, theta: np.ndarray) -> np.ndarray:
        """Convert the parameters of the original columns to those of standardized columns."""
        coef, constant = self._apart(theta)
        constant = constant + self.sign * coef.dot(self.center)[..., None]
        return self._together(coef * self.scale, constant, theta.shape)

    def from_standard(self, theta: np.ndarray) -> np.ndarray:
        """Convert the parameters of standardized columns to those of the original columns."""
        coef, constant = self._apart(theta)
        coef = coef / self.scale
        return self._together(coef, constant - self.sign * coef.dot(self.center)[..., None], theta.shape)

    def gradient(self, g: np.ndarray) -> np.ndarray:
        """Convert derivatives by the parameters of the original columns, along the last axis, to derivatives
        by those of standardized columns."""
        coef, constant = self._apart(g)
        shift = self.sign * constant.sum(axis=-1, keepdims=True) * self.center
        return self._together((coef - shift) / self.scale, constant, g.shape)

    def gradient_from_standard(self, g: np.ndarray) -> np.ndarray:
        """Convert derivatives by the parameters of standardized columns to those of the original columns."""
        coef, constant = self._apart(g)
        shift = self.sign * constant.sum(axis=-1, keepdims=True) * self.center
        return self._together(coef * self.scale + shift, constant, g.shape)

    def hessian(self, H: Any) -> Any:
        return self.gradient(self.gradient(H).T) if np.ndim(H) else H

    def by_parameter(self, each: np.ndarray, size: int) -> np.ndarray:
        """Expand numbers by column, (D,), to numbers by parameter, with zeros for the constants."""
        return np.tile(np.append(each, np.zeros(self.n_constants)), size // self._width)

    def fold(self, data: Partitions, model: Any) -> Any:
        """Return the fold of `model.summarize`. Parameters and derivatives are of standardized columns."""
        if self.far:
            return data.fold(_summarize, self, model)
        if self.ordinary:
            return data.fold(type(model).summarize, model)
        at = model.replace(theta=self.from_standard(model.theta))
        return self.derivatives(data.fold(type(model).summarize, at))

    def derivatives(self, s: Objective) -> Any:
        """Convert the derivatives in `s` by the original parameters to those of standardized columns."""
        return s.replace(gradient=self.gradient(s.gradient), hessian=self.hessian(s.hessian))

    def rows(self, block: Block) -> Any:
        """Return a block of dense rows with standardized columns."""
        return block.replace(X=(block.X - self.center) / self.scale)

    @property
    def _width(self) -> int:
        return len(self.scale) + self.n_constants

    def _apart(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, D = a.reshape(*a.shape[:-1], -1, self._width), len(self.scale)
        return a[..., :D], a[..., D:]

    def _together(self, coef: np.ndarray, constant: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return np.concatenate([coef, constant], axis=-1).reshape(shape)


def _summarize(standard: Standardization, model: Any, block: Block) -> Any:
    if not sp.issparse(block.X):
        return model.summarize(standard.rows(block))
    at = model.replace(theta=standard.from_standard(model.theta))
    return standard.derivatives(at.summarize(block))
