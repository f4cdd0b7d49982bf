"""The residual of the normal equations, X' W (y - X coef' - intercept), in double-double precision.

At the least squares solution it is zero: its value gives the error of a solution, which iterative refinement
corrects. Björck, "Iterative refinement of linear least squares solutions", 1967; Demmel, Hida, Riedy and Li,
"Extra-precise iterative refinement for overdetermined least squares problems", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
import scipy.sparse as sp

from ..core.blocks import Matrix, entries_of
from ..core.statistics import Statistics
from ..loops import double_double as twofold


@dataclass(frozen=True, eq=False)
class NormalResidual(Statistics):
    """Sums of the weighted residuals times each feature and, last, of the weighted residuals themselves."""

    value: Annotated[np.ndarray, "(2, T, D + 1)"]  # high and low parts
    size: Annotated[np.ndarray, "(T, D + 1)"]  # sums of the absolute values: what rounding is relative to

    def __add__(self, other: Self) -> Self:
        return self.replace(value=twofold.plus(self.value, other.value), size=self.size + other.size)


def normal_residual(X: Matrix, y: np.ndarray, weight: np.ndarray, theta: np.ndarray) -> NormalResidual:
    """The residual for rows that are dense or CSR, targets (N, T), and coefficients with the intercept, (2,
    T, D + 1)."""
    from ..loops.twofold import add_normal_residual, add_sparse_normal_residual

    out, size = np.zeros(theta.shape), np.zeros(theta.shape[1:])
    y, weight, theta = (np.ascontiguousarray(a, np.float64) for a in (y, weight, theta))
    if sp.issparse(X):
        add_sparse_normal_residual(*entries_of(X), y, weight, theta, out, size)
    else:
        add_normal_residual(np.ascontiguousarray(X, np.float64), y, weight, theta, out, size)
    return NormalResidual(
        np.array(twofold.two_sum(*out)), size
    )  # the low parts of sums that cancel are not low
