"""Losses of linear scores f(x) = coef x + intercept, summed with their derivatives.

If g and h are the first and second derivatives of the loss of a row by its score, the gradient is the sum of
g (x, 1), and the Hessian is the sum of h (x, 1) (x, 1)'.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..core.blocks import Matrix, Rows
from ..losses import Loss
from ..statistics import Objective
from .linear_algebra import gram_with_ones, times, transposed_times
from .problem import LossModel

ALIKE = 100.0  # ratio of the largest to the smallest curvature below which no preconditioning is needed


class LinearScore(LossModel):
    """Base class of models that sum a loss of P linear scores of a row.

    A subclass declares the fields, and its `targets` returns the targets and weights of a block.
    """

    theta: np.ndarray  # (P, D + 1), the intercept last; if it is not fitted, its derivatives are zero
    loss: Loss
    fit_intercept: bool
    curvature: bool  # whether to sum the Hessian

    @property
    def coef(self) -> np.ndarray:
        """Coefficients, (P, D)."""
        return self.theta[:, :-1]

    @property
    def intercept(self) -> np.ndarray:
        """Intercepts, (P,)."""
        return self.theta[:, -1]

    @cached_property
    def columns(self) -> np.ndarray:
        """Coefficients by feature, (D, P)."""
        return np.ascontiguousarray(self.coef.T)

    def scores(self, X: Matrix) -> np.ndarray:
        """Return the scores of rows, (N, P)."""
        return times(X, self.columns) + self.intercept

    def targets(self, block: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the targets of the rows of a block, and their weights."""
        raise NotImplementedError

    def summarize(self, block: Rows) -> Objective:
        if not block.weight.all():
            block = block[np.flatnonzero(block.weight)]
        X, loss, (y, weight) = block.X, self.loss, self.targets(block)
        f = self.scores(X)
        with np.errstate(over="ignore", invalid="ignore"):  # by a step far too long
            value, slope, curve = loss.evaluated(y, f)
            total = float(weight.dot(value))
            gradient = self.gradient(X, weight[:, None] * slope)
        hessian: Any = 0.0
        if self.curvature:
            hessian = self.hessian(X, weight, self.curves(y, f, np.ones(f.shape) if loss.constant else curve))
        return Objective(float(weight.sum()), total, gradient, hessian)

    def curves(self, y: np.ndarray, f: np.ndarray, h: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        """Iterate over pairs of scores (p, q), each once, with the second derivative of the loss by both.

        Pairs whose derivative is zero are left out.
        """
        return ((p, p, h[:, p]) for p in range(len(self.theta)))

    def gradient(self, X: Matrix, slope: np.ndarray) -> np.ndarray:
        """Return the gradient as a flat array: the sum over rows of slopes (N, P) times (x, 1)."""
        gradient = np.zeros_like(self.theta)
        gradient[:, : X.shape[1]] = transposed_times(X, slope).T
        if self.fit_intercept:
            gradient[:, -1] = slope.sum(axis=0)
        return gradient.ravel()

    def hessian(
        self, X: Matrix, weight: np.ndarray, curves: Iterator[tuple[int, int, np.ndarray]]
    ) -> np.ndarray:
        P, M = self.theta.shape
        out = np.zeros((P, M, P, M))
        for j, k, curve in curves:
            out[j, :, k] = self.squares(X, weight * curve)
            out[k, :, j] = out[j, :, k].T
        return out.reshape(P * M, P * M)

    def units(self, squares: np.ndarray, strength: np.ndarray, curvature: float) -> np.ndarray | None:
        """Return a diagonal preconditioner: the inverse curvature by each coefficient, with the penalty.

        It is computed from the curvature of the loss by the score and the mean squares of the columns. None
        if the curvatures are similar: steps then stay in the span of the rows, which helps if features are
        correlated.
        """
        by = np.append(curvature * squares + strength, curvature)
        by[by == 0] = curvature
        felt = by if self.fit_intercept else by[:-1]
        return None if felt.max() <= ALIKE * felt.min() else np.tile(1.0 / by, len(self.theta))

    def squares(self, X: Matrix, weight: np.ndarray) -> np.ndarray:
        """Return the sum over rows of weight times (x, 1)^2, (D + 1,). Weights may have any sign."""
        lowers = weight < 0
        if lowers.any():
            raised = self.squares(X, np.where(lowers, 0.0, weight)) if not lowers.all() else 0.0
            return raised - self.squares(X, np.where(lowers, -weight, 0.0))
        out, M = gram_with_ones(X, weight), self.theta.shape[1]
        if not self.fit_intercept:
            out[-1] = out[:, -1] = 0.0
        return out[:M, :M]
