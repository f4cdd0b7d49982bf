"""Penalized least squares from moments, with penalties chosen by REML or GCV from the same moments.

min |y - Z coef|^2 + sum_d alpha_d |bent coefficients of feature d|^2. Craven and Wahba, "Smoothing noisy data
with spline functions", 1979 (generalized cross-validation); Wood, "Fast stable restricted maximum likelihood
and marginal likelihood estimation of semiparametric generalized linear models", 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigh
from scipy.optimize import brentq

from .linear_algebra import roots

Derivatives = tuple[float, np.ndarray, np.ndarray]
CRITERIA = ("reml", "gcv")
# Range of the log of a penalty: the first has almost no effect, the last makes a smooth a straight line.
WEAKEST, STRONGEST = -30.0, 12.0
SMALL = 1e-5  # largest step in the log of a penalty at which the iterations end


@dataclass(frozen=True, eq=False)
class Fit:
    """Solution of the penalized least squares problem for fixed penalties."""

    coef: np.ndarray  # (p,)
    inverse: np.ndarray  # (p, p), inverse of Z'Z + penalty
    log_determinant: float  # log determinant of Z'Z + penalty
    freedom: np.ndarray  # (p,), effective degrees of freedom of each coefficient
    freedom_of_tests: np.ndarray  # (p,), a larger count that tests of smooths use
    squares: float  # residual sum of squares


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Penalized least squares in terms of centred moments."""

    A: np.ndarray  # (p, p), Z'Z
    b: np.ndarray  # (p,), Z'y
    square: float  # y'y
    weight: float  # number of rows
    feature: np.ndarray  # (p,), the feature of each column, from 0 on
    penalized: np.ndarray  # (p,), whether a column has a penalty
    known_scale: bool = False  # whether the variance of y is known to be one

    @cached_property
    def bent(self) -> np.ndarray:
        """The indices of the features that have a penalty, (S,)."""
        return np.unique(self.feature[self.penalized])

    @cached_property
    def balance(self) -> np.ndarray:
        """Logs of penalties that are about as large as the squares to which they are added, (S,)."""
        size = np.bincount(self.feature[self.penalized], np.diag(self.A)[self.penalized])[self.bent]
        return np.log(np.where(size > 0, size, 1.0))

    @cached_property
    def held(self) -> np.ndarray:
        """A small ridge penalty, (p,), which is not zero if columns are collinear."""
        M = self.A + np.diag(self._by_column(np.exp(self.balance)))
        size = np.sqrt(np.diag(M))
        flat = size <= 1e-150
        size = np.where(flat, 1.0, size)
        try:
            root = cholesky(M / np.outer(size, size) + np.diag(flat.astype(float)), lower=True)
            lost = bool(np.diag(root).min(initial=1.0) < 1e-5)  # as in `solve_positive`
        except LinAlgError:
            lost = True
        out = np.where(flat, 1.0, 0.0)
        return np.where(flat | self.penalized | (not lost), out, 1e-6 * size**2)

    @cached_property
    def lines(self) -> tuple[int, float]:
        """Rank of the unpenalized columns, and their residual sum of squares."""
        lines = ~self.penalized
        A, size = self.A[np.ix_(lines, lines)], np.sqrt(np.diag(self.A)[lines])
        size = np.where(size > 1e-150, size, np.inf)
        values, axes = eigh(A / np.outer(size, size))
        seen = values > 1e-10
        explained = (axes[:, seen].T.dot(self.b[lines] / size) ** 2 / values[seen]).sum()
        return int(seen.sum()), self.square - float(explained)

    def _by_column(self, alpha: np.ndarray) -> np.ndarray:
        """Return the penalty of each column, (p,), from the penalties of the penalized features."""
        every = np.zeros(self.feature.max(initial=0) + 1)
        every[self.bent] = alpha
        return np.where(self.penalized, every[self.feature], 0.0)

    def penalty(self, alpha: np.ndarray) -> np.ndarray:
        """Return the penalty of each column, (p,), from those of all features, which may be infinite."""
        most = 1e15 * max(np.diag(self.A).max(initial=0.0), 1e-100)
        return np.where(self.penalized, np.minimum(alpha, most)[self.feature], 0.0)

    def solve(self, alpha: np.ndarray) -> Fit:
        """Return the solution with these penalties of all features."""
        M = self.A + np.diag(self.penalty(alpha) + self.held)
        inverse, log_determinant, coef = inverse_of(M, self.b)
        share = inverse.dot(self.A)
        twice = 2.0 * np.diag(share) - np.einsum("ij,ji->i", share, share)
        squares = self.square - 2.0 * self.b.dot(coef) + coef.dot(self.A.dot(coef))
        return Fit(coef, inverse, log_determinant, np.diag(share).copy(), twice, max(float(squares), 0.0))

    def scale(self, fit: Fit) -> float:
        """Return the residual variance."""
        rest = self.weight - 1.0 - fit.freedom.sum()
        return 1.0 if self.known_scale else fit.squares / rest if rest > 0 else 0.0

    def choose(self, criterion: str, start: np.ndarray | None = None) -> np.ndarray:
        """Return the penalties of all features that minimize the criterion. Linear features have zero."""
        out = np.zeros(self.feature.max(initial=0) + 1)
        low, high = self.balance + WEAKEST, self.balance + STRONGEST
        if not len(self.bent):
            return out
        rank, left = self.lines
        exact = not self.known_scale and left <= 1e-10 * self.square  # straight lines leave no residuals
        if not self.square > 0 or self.weight <= 1 + rank or exact:
            out[self.bent] = np.exp(high)
            return out
        unit = 1.0 if self.known_scale else self.square
        units = Smoothing(
            self.A, self.b / np.sqrt(unit), self.square / unit, self.weight, *self._columns, self.known_scale
        )
        fun = units._restricted if criterion == "reml" else units._cross_validated
        if start is None:  # there may be several minima, so the start is the best of equally scaled penalties
            tried = [self.balance + shift for shift in np.linspace(WEAKEST, STRONGEST, 15)]
            at = min(tried, key=lambda x: fun(x)[0])
        else:
            at = np.clip(np.log(start[self.bent]), low, high)
        out[self.bent] = np.exp(_minimum(fun, at, low, high))
        return out

    @property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        return self.feature, self.penalized

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over the penalized columns of each feature, along all axes of `values`."""
        starts = np.flatnonzero(np.diff(self.feature[self.penalized], prepend=-1))
        for axis in range(values.ndim):
            values = np.add.reduceat(values, starts, axis=axis)
        return values

    def _parts(self, log_alpha: np.ndarray) -> tuple[Any, ...]:
        alpha = np.exp(log_alpha)
        return alpha, *inverse_of(self.A + np.diag(self._by_column(alpha) + self.held), self.b)

    def _restricted(self, log_alpha: np.ndarray) -> Derivatives:
        """Return the REML criterion, with derivatives by the logs of the penalties.

        It is twice the restricted negative log-likelihood.
        """
        alpha, inverse, log_determinant, coef = self._parts(log_alpha)
        bent = self.penalized
        strength = alpha[np.searchsorted(self.bent, self.feature[bent])]
        pull = strength * coef[bent]  # the gradient of the penalty
        V = inverse[np.ix_(bent, bent)]
        squares = self._sums(coef[bent] * pull)
        trace = self._sums(strength * np.diag(V))
        between = self._sums(np.outer(strength, strength) * V**2)
        fall = self._sums(np.outer(pull, pull) * V)
        loss = max(self.square - self.b.dot(coef), 1e-14 * self.square)
        count = self._sums(np.ones(len(strength)))
        value = log_determinant - count.dot(log_alpha)
        gradient = trace - count
        hessian = np.diag(trace) - between
        loss_hessian = np.diag(squares) - 2.0 * fall
        if self.known_scale:
            return value + loss, gradient + squares, hessian + loss_hessian
        rest = self.weight - 1.0 - self.lines[0]
        return (
            value + rest * np.log(loss),
            gradient + rest * squares / loss,
            hessian + rest * (loss_hessian / loss - np.outer(squares, squares) / loss**2),
        )

    def _cross_validated(self, log_alpha: np.ndarray) -> Derivatives:
        """Return the log of the GCV score, or Mallows' C_p for a known scale, with the same derivatives."""
        alpha, inverse, _, coef = self._parts(log_alpha)
        bent = self.penalized
        strength = alpha[np.searchsorted(self.bent, self.feature[bent])]
        V = inverse[np.ix_(bent, bent)]
        pull = strength * coef[bent]
        S = len(alpha)
        of = np.searchsorted(self.bent, self.feature[bent])[:, None] == np.arange(S)
        pulls = np.where(of, pull[:, None], 0.0)  # (bent, S), for each feature alone
        moves = V.dot(pulls)  # minus the derivatives of the coefficients
        u = V.dot(pull)
        W = (V * strength).dot(V)
        between = self._sums(np.outer(strength, strength) * V**2)
        third = self._sums(np.outer(strength, strength) * V * W)
        trace = self._sums(strength * np.diag(V))
        loss = self.square - 2.0 * self.b.dot(coef) + coef.dot(self.A.dot(coef))
        loss = max(float(loss), 1e-14 * self.square)
        crossed = self._sums_rows((strength * u)[:, None] * moves)  # (S, S)
        loss_gradient = 2.0 * u.dot(pulls)
        loss_hessian = 2.0 * (
            pulls.T.dot(moves)
            - moves.T.dot(strength[:, None] * moves)
            - crossed
            - crossed.T
            + np.diag(u.dot(pulls))
        )
        freedom = 1.0 + self.lines[0] + bent.sum() - trace.sum()
        freedom_gradient = between.sum(axis=0) - trace
        freedom_hessian = -np.diag(trace) + 2.0 * between + np.diag(between.sum(axis=0)) - 2.0 * third
        if self.known_scale:
            return (
                loss + 2.0 * freedom,
                loss_gradient + 2.0 * freedom_gradient,
                loss_hessian + 2.0 * freedom_hessian,
            )
        rest = max(self.weight - freedom, 1e-8 * self.weight)
        return (
            np.log(loss) - 2.0 * np.log(rest),
            loss_gradient / loss + 2.0 * freedom_gradient / rest,
            loss_hessian / loss
            - np.outer(loss_gradient, loss_gradient) / loss**2
            + 2.0 * freedom_hessian / rest
            + 2.0 * np.outer(freedom_gradient, freedom_gradient) / rest**2,
        )

    def _sums_rows(self, values: np.ndarray) -> np.ndarray:
        starts = np.flatnonzero(np.diff(self.feature[self.penalized], prepend=-1))
        return np.add.reduceat(values, starts, axis=0)

    def with_freedom(self, freedom: float) -> np.ndarray:
        """Return the common penalty for this number of effective degrees of freedom (with the constant)."""
        if not len(self.bent):
            return np.zeros(self.feature.max(initial=0) + 1)
        low, high = float(self.balance.min()) + WEAKEST, float(self.balance.max()) + 2.0 * STRONGEST
        result = with_freedom(self._freedom, freedom, low, high)
        return np.full(self.feature.max() + 1, result)

    def _freedom(self, log_alpha: float) -> float:
        return 1.0 + float(self.solve(np.full(self.feature.max() + 1, np.exp(log_alpha))).freedom.sum())


def with_freedom(count: Callable[[float], float], freedom: float, low: float, high: float) -> float:
    """Return the penalty with this number of degrees of freedom, which decreases with its log."""
    least, most = count(high), count(low)
    if not least <= freedom <= most:
        raise ValueError(
            f"df={freedom} is out of reach: expected a number between {least:.6g} and {most:.6g}."
        )
    return float(np.exp(brentq(lambda x: count(x) - freedom, low, high, xtol=1e-12, rtol=1e-14)))


def inverse_of(M: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Return the inverse of a positive definite matrix, its log determinant, and the solution of M x = b.

    The solution uses the Cholesky factor: with the inverse, the rounding error of b'x grows with the
    condition number of M.
    """
    size = np.sqrt(np.diag(M))
    try:
        root = cholesky(M / np.outer(size, size), lower=True)
    except LinAlgError:
        _, inverse = roots(M)
        values = eigh(M, eigvals_only=True)
        log_determinant = float(np.log(np.maximum(values, 1e-300)).sum())
        return inverse @ inverse.T, log_determinant, inverse @ (inverse.T @ b)
    inverse = cho_solve((root, True), np.eye(len(M)))
    log_determinant = 2.0 * float(np.log(np.diag(root)).sum() + np.log(size).sum())
    return inverse / np.outer(size, size), log_determinant, cho_solve((root, True), b / size) / size


def _minimum(
    fun: Callable[[np.ndarray], Derivatives], x: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return a minimum in a box, by Newton's method.

    It is computed to the last digits, so that the penalties do not depend on rounding. The criterion may be
    constant along some directions, along which there is no step: for equal features, only the sum of 1 /
    alpha is determined.
    """
    value, gradient, hessian = fun(x)
    for _ in range(200):
        stuck = ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0))
        free = np.flatnonzero(~stuck)
        if not len(free):
            break
        curve, axes = eigh(hessian[np.ix_(free, free)])
        curve = np.maximum(np.abs(curve), 1e-14 * max(np.abs(curve).max(), 1e-300))
        slope = axes.T.dot(gradient[free])
        # A long step with a gain below the rounding error of the value follows rounding errors of the slope.
        flat = (np.abs(slope) > SMALL * curve) & (slope**2 < np.finfo(np.float64).eps * abs(value) * curve)
        step = np.zeros_like(x)
        step[free] = -axes.dot(np.where(flat, 0.0, slope / curve))
        step /= max(1.0, np.abs(step).max() / 4.0)
        small = np.abs(step).max() < SMALL
        while True:
            new = np.clip(x + step, low, high)
            result = fun(new)
            # The value does not judge small steps, since its rounding errors exceed those of the gradient.
            if small or result[0] <= value + 1e-13 * abs(value):
                break
            step /= 2.0
            if np.abs(step).max() < SMALL:
                return x  # no step decreases the value
        moved = np.abs(new - x).max()
        x, (value, gradient, hessian) = new, result
        if moved < 1e-9:
            break
    return x


def backfitting(
    A: np.ndarray, b: np.ndarray, penalty: np.ndarray, columns: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function of one backfitting cycle, which fits each smooth to the residuals of the others."""
    parts = []  # contiguous copies, since there may be thousands of cycles
    for own in (slice(start, stop) for start, stop in pairwise(columns)):
        inverse = inverse_of(A[own, own] + np.diag(penalty[own]), b[own])[0]
        parts.append((own, b[own], A[own].copy(), A[own, own].copy(), inverse))

    def cycle(coef: np.ndarray) -> np.ndarray:
        coef = coef.copy()
        for own, target, with_all, with_own, inverse in parts:
            partial = target - with_all.dot(coef) + with_own.dot(coef[own])
            coef[own] = inverse.dot(partial)
        return coef

    return cycle
