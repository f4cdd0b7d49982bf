"""Non-negative quadratic problems: coefficients, and the rows of a factor.

Cichocki and Phan, "Fast local algorithms for large scale nonnegative matrix and tensor factorizations", 2009;
Lee and Seung, "Algorithms for non-negative matrix factorization", 2001; Li ch. 17.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.optimize import nnls

from ..core.values import Value
from .linear_algebra import roots


def solve_non_negative(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Non-negative least squares: min x'A x / 2 - b'x over x >= 0 for each column b of B, with A positive
    semidefinite.

    Lawson and Hanson, "Solving least squares problems", 1974, ch. 23, with scaled columns, so that none is
    lost beside larger ones. Variables without effect are zero.
    """
    size, x = np.sqrt(np.maximum(np.diag(A), 0.0)), np.zeros(B.shape)
    felt = np.flatnonzero(size > 0)
    if not len(felt):  # SciPy's nnls returns what was in memory for a system without equations
        return x
    size = size[felt]
    root, inverse = roots(A[np.ix_(felt, felt)] / np.outer(size, size))
    for t, b in enumerate(B[felt].T):
        x[felt, t] = nnls(root, inverse.T @ (b / size))[0] / size
    return x


@dataclass(frozen=True, eq=False)
class Penalty(Value):
    """l1 |F| + l2 F^2 / 2, summed over a factor F."""

    l1: float = 0.0
    l2: float = 0.0

    def of(self, size: float, square: float) -> float:
        return self.l1 * size + 0.5 * self.l2 * square


@dataclass(frozen=True, eq=False)
class RowProblem(Value):
    """The loss of each row f of a factor, f gram f' / 2 - cross f' and its penalty."""

    gram: Annotated[np.ndarray, "(K, K)"]
    cross: Annotated[np.ndarray, "(N, K)"]
    penalty: Penalty
    order: Annotated[np.ndarray, "int (K,)"]  # in which coordinates take their turns
    weight: Annotated[np.ndarray, "(N,)"]


class Rule(Value, ABC):
    """An update rule for the rows of a factor."""

    @abstractmethod
    def improved(self, F: np.ndarray, of: RowProblem) -> tuple[np.ndarray, float]:
        """Updated rows, and the weighted sum of the projected gradient."""


@dataclass(frozen=True, eq=False)
class CoordinateDescent(Rule):
    """Coordinate descent."""

    def improved(self, F: np.ndarray, of: RowProblem) -> tuple[np.ndarray, float]:
        from ..loops.factors import coordinate_sweeps

        F, gram, cross = F.copy(), of.gram, of.cross
        if of.penalty.l2:
            gram = gram + of.penalty.l2 * np.eye(len(gram))
        if of.penalty.l1:
            cross = cross - of.penalty.l1
        return F, coordinate_sweeps(F, gram, cross, of.order, of.weight, 0.0, 1)


@dataclass(frozen=True, eq=False)
class Multiplicative(Rule):
    """Multiplicative updates: each entry times the ratio of the negative and positive parts of the gradient.
    Zeros stay zero."""

    def improved(self, F: np.ndarray, of: RowProblem) -> tuple[np.ndarray, float]:
        below = F.dot(of.gram)
        below += of.penalty.l1 + of.penalty.l2 * F
        return F * np.divide(of.cross, below, out=np.zeros_like(F), where=below > 0), 0.0


@dataclass(frozen=True, eq=False)
class ProjectedGradient(Rule):
    """Projected gradient descent, with one over the Lipschitz constant as step size."""

    def improved(self, F: np.ndarray, of: RowProblem) -> tuple[np.ndarray, float]:
        slope = F.dot(of.gram)
        slope += of.penalty.l1 + of.penalty.l2 * F - of.cross
        curve = float(np.linalg.norm(of.gram, 2)) + of.penalty.l2
        open_slope = np.where(F > 0, slope, np.minimum(slope, 0.0))
        steep = float(of.weight.dot(np.abs(open_slope).sum(axis=1)))
        return np.maximum(F - slope / (curve or 1.0), 0.0), steep


RULES: dict[str, Callable[[], Rule]] = {
    "cd": CoordinateDescent,
    "mu": Multiplicative,
    "gradient": ProjectedGradient,
}
