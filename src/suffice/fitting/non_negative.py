"""Non-negative quadratic problems, for coefficients and for the rows of a factor.

Cichocki and Phan, "Fast local algorithms for large scale nonnegative matrix and tensor factorizations", 2009;
Lee and Seung, "Algorithms for non-negative matrix factorization", 2001; Li ch. 17.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.optimize import nnls

from ..core.loop import Progress
from ..core.values import Value
from .linear_algebra import roots


def solve_non_negative(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Minimize x'A x / 2 - b'x over x >= 0 for each column b of B, with A positive semidefinite.

    This is non-negative least squares: Lawson and Hanson, "Solving least squares problems", 1974, ch. 23.
    Columns are scaled first, so that small ones are not lost in rounding. Variables without effect are zero.
    """
    size, x = np.sqrt(np.maximum(np.diag(A), 0.0)), np.zeros(B.shape)
    felt = np.flatnonzero(size > 0)
    if not len(felt):  # SciPy's nnls returns uninitialized memory for a system without equations
        return x
    size = size[felt]
    root, inverse = roots(A[np.ix_(felt, felt)] / np.outer(size, size))
    for t, b in enumerate(B[felt].T):
        x[felt, t] = nnls(root, inverse.T @ (b / size))[0] / size
    return x


def nonnegative_quadratic(
    A: Any, b: Any, start: Any = None, *, tol: float = 1e-12, max_iter: int = 10_000
) -> Progress:
    """Minimize y'A y / 2 + b'y over y >= 0 by multiplicative updates.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric positive semidefinite matrix.
    b : array of shape (n,)
        Linear term.
    start : array of shape (n,), default=None
        Initial values. Those that are 0 stay 0. None starts from ones.
    tol : float, default=1e-12
        Tolerance of the stopping criterion: the largest change, relative to the largest value.
    max_iter : int, default=10000
        Maximum number of iterations.

    Returns
    -------
    Progress
        With the minimizer `model`, the objective by iteration in `trace`, `n_iter` and `converged`.

    Notes
    -----
    With the positive and negative parts of A, :math:`A = A^+ - A^-`, an iteration is

    .. math::

        y_i ← y_i \\frac{-b_i + \\sqrt{b_i^2 + 4 (A^+ y)_i (A^- y)_i}}{2 (A^+ y)_i}.

    The objective never increases. Values on the boundary are reached slowly: the solvers of `scipy.optimize`,
    such as `nnls`, are faster.

    References
    ----------
    * Sha, Lin, Saul and Lee (2007), "Multiplicative updates for nonnegative quadratic programming", Neural
      Computation 19.

    Examples
    --------
    >>> from suffice.fitting import nonnegative_quadratic
    >>> found = nonnegative_quadratic([[2.0, -1.0], [-1.0, 2.0]], [-1.0, -0.5])
    >>> found.model.round(4)
    array([0.8333, 0.6667])
    """
    A, b = np.asarray(A, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if b.ndim != 1 or A.shape != (len(b), len(b)) or not np.allclose(A, A.T):
        raise ValueError(f"A must be symmetric, and b as long; got shapes {A.shape} and {b.shape}.")
    y = np.ones(len(b)) if start is None else np.array(start, dtype=np.float64)
    if y.shape != b.shape or not (y >= 0).all():
        raise ValueError(f"start must have shape {b.shape} and no negative entry; got {start}.")
    above, below, trace = np.maximum(A, 0.0), np.maximum(-A, 0.0), list[float]()
    stopped = "max_iter"
    for _ in range(max_iter):
        before, y = y, y * positive_root(-b, above @ y, below @ y)
        trace.append(float(0.5 * y @ A @ y + b @ y))
        if not np.isfinite(trace[-1]):
            stopped = "objective not finite"
            break
        if np.abs(y - before).max(initial=0.0) <= tol * y.max(initial=0.0):
            stopped = "tolerance"
            break
    return Progress(y, tuple(trace), stopped_because=stopped)


def positive_root(pull: np.ndarray, up: np.ndarray, down: Any) -> np.ndarray:
    """Return the positive root of up r^2 - pull r - down = 0, without cancellation; 0 if there is none."""
    root = np.sqrt(pull**2 + 4.0 * up * down)
    high = np.divide(pull + root, 2.0 * up, out=np.zeros_like(up), where=up > 0)
    low = np.divide(2.0 * down, root - pull, out=np.zeros_like(up), where=root > pull)
    return np.where(pull >= 0, high, low)


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
    order: Annotated[np.ndarray, "int (K,)"]  # order in which coordinates are updated
    weight: Annotated[np.ndarray, "(N,)"]


class Rule(Value, ABC):
    """An update rule for the rows of a factor."""

    @abstractmethod
    def improved(self, F: np.ndarray, of: RowProblem) -> tuple[np.ndarray, float]:
        """Return the updated rows, and the weighted sum of the projected gradient."""


@dataclass(frozen=True, eq=False)
class CoordinateDescent(Rule):
    """Coordinate descent."""

    def improved(self, F: np.ndarray, of: RowProblem) -> tuple[np.ndarray, float]:
        from ..loops.factors import coordinate_sweeps

        F, gram, cross = F.copy(), of.gram, np.ascontiguousarray(of.cross)
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


@dataclass(frozen=True, eq=False)
class ConjugateGradient(Rule):
    """Conjugate gradients on the face of the positive entries, with as many steps as components.

    A step ends at the first entry that reaches zero, and the row restarts on the smaller face.
    """

    def improved(self, F: np.ndarray, of: RowProblem) -> tuple[np.ndarray, float]:
        F, gram = F.copy(), of.gram + of.penalty.l2 * np.eye(len(of.gram))
        slope = F.dot(gram) + of.penalty.l1 - of.cross
        open_slope = np.where(F > 0, slope, np.minimum(slope, 0.0))
        steep = float(of.weight.dot(np.abs(open_slope).sum(axis=1)))
        free = (F > 0) | (slope < 0)
        residual = -slope * free
        direction, square = residual, (residual**2).sum(axis=1)
        for _ in range(len(gram)):
            along = direction.dot(gram)
            curve = (direction * along).sum(axis=1)
            rises = (residual * direction).sum(axis=1)
            best = np.divide(rises, curve, out=np.zeros_like(curve), where=curve > 0)
            room = np.divide(-F, direction, out=np.full_like(F, np.inf), where=direction < 0)
            step = np.minimum(best, room.min(axis=1))[:, None]
            ends = free & (direction < 0) & (room <= step)
            F = np.where(ends, 0.0, np.maximum(F + step * direction, 0.0))
            slope = slope + step * along
            free &= ~ends
            residual = -slope * free
            last, square = square, (residual**2).sum(axis=1)
            turn = np.divide(square, last, out=np.zeros_like(last), where=last > 0)
            direction = residual + np.where(ends.any(axis=1), 0.0, turn)[:, None] * direction
        return F, steep


RULES: dict[str, Callable[[], Rule]] = {
    "cd": CoordinateDescent,
    "mu": Multiplicative,
    "gradient": ProjectedGradient,
    "conjugate-gradient": ConjugateGradient,
}
