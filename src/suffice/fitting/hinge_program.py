"""Quadratic programs with hinge losses, in memory, by a primal-dual interior point method.

Mehrotra, "On the implementation of a primal-dual interior point method", 1992; Ferris and Munson, "Interior
point methods for massive support vector machines", 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs

from .linear_algebra import gram, solve_positive

ENOUGH = 1e-12  # duality gap, relative to the objective, at which the iterations end
MOST = 100  # maximum number of steps
LEAST_PIVOT = 1e-8  # smallest pivot of a Cholesky factor with unit diagonal: its square is rounding error
SPARSE = 0.1  # fraction of stored entries below which products of CSR rows take less time

# A function from minus the gradient and the right-hand side of each hinge to the steps of the point and of
# the dual variables.
Directions = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


@np.errstate(all="ignore")  # at the end, variables are zero up to rounding
def hinge_program(
    X: np.ndarray, sign: np.ndarray, level: np.ndarray, most: np.ndarray, ridge: np.ndarray, slope: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minimize w' diag(ridge) w / 2 - slope'w + sum_tn most_n max(0, level_tn - sign_tn x_n w).

    Returns w and the dual variables (T, N), which are from 0 to `most`. A row has one hinge, or two of
    opposite signs. `most` is positive. Each step solves one linear system. Its size is that of w, or the
    number of rows if that is smaller and every entry of w has a penalty.
    """
    N, M = X.shape
    rows: Any = sp.csr_array(X) if np.count_nonzero(X) < SPARSE * X.size else X
    kernel = _kernel(rows, ridge) if N < M and (ridge > 0).all() else None
    scale = np.abs(level).max(initial=0.0) or 1.0
    w, alpha = np.zeros(M), np.broadcast_to(0.5 * most, level.shape)
    over = np.maximum(level, 0.0) + scale  # xi, and the slack of its constraint: A w + xi - level = slack
    slack = over - level
    best = np.inf, w, alpha
    for _ in range(MOST):
        rest = most - alpha
        fall = slope - ridge * w + (sign * alpha).sum(axis=0) @ rows  # minus the gradient
        score = sign * (rows @ w)
        miss = score + over - level - slack
        gap = float((alpha * slack + rest * over).sum())
        hinges = float((most * np.maximum(level - score, 0.0)).sum())
        size = 0.5 * float(ridge @ w**2) + abs(float(slope @ w)) + hinges
        merit = gap + float(np.abs(fall) @ np.abs(w)) + float((most * np.abs(miss)).sum())
        if not np.isfinite(merit):
            break
        if merit < best[0]:
            best = merit, w, alpha
        if merit <= ENOUGH * size:
            break
        of_slack, of_over = slack / alpha, over / rest
        theta = 1.0 / (of_slack + of_over)
        directions = (
            _of_parameters(rows, sign, theta, ridge)
            if kernel is None
            else _of_rows(rows, sign, theta, ridge, kernel)
        )
        target: Any = 0.0
        second_slack: Any = 0.0
        second_over: Any = 0.0
        for second in (False, True):  # towards the central path, with second-order terms
            to_slack = (target - second_slack) / alpha - slack
            to_over = (target - second_over) / rest - over
            dw, da = directions(fall, to_slack - to_over - miss)
            if not np.isfinite(dw).all():
                return best[1], best[2]
            ds, do = to_slack - of_slack * da, to_over + of_over * da
            steps = [(alpha, da), (rest, -da), (slack, ds), (over, do)]
            length = min(1.0, *(_reach(value, step) for value, step in steps))
            if not second:
                after = (alpha + length * da) * (slack + length * ds)
                after += (rest - length * da) * (over + length * do)
                # Mehrotra's choice: the mean product shrinks by the cube of what the predictor step reached.
                target = (float(after.sum()) / gap) ** 3 * gap / (2.0 * alpha.size)
                second_slack, second_over = da * ds, -da * do
        length = min(1.0, 0.995 * length)  # just short of the boundary, so that all variables stay positive
        w, alpha = w + length * dw, alpha + length * da
        slack, over = slack + length * ds, over + length * do
    return best[1], best[2]


def _kernel(rows: Any, ridge: np.ndarray) -> np.ndarray:
    """Return X diag(1 / ridge) X'."""
    if sp.issparse(rows):
        return (rows @ sp.diags_array(1.0 / ridge) @ rows.T).toarray()
    Z = rows / np.sqrt(ridge)
    return Z @ Z.T


def _of_parameters(rows: Any, sign: np.ndarray, theta: np.ndarray, ridge: np.ndarray) -> Directions:
    """Newton directions: (ridge + A' theta A) dw = fall + A' theta g, da = theta (g - A dw), A = sign x."""
    H = gram(rows, theta.sum(axis=0))
    H[np.diag_indices_from(H)] += ridge
    solve = _solver(H)

    def directions(fall: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dw = solve(fall + (sign * theta * g).sum(axis=0) @ rows)
        return dw, theta * (g - sign * (rows @ dw))

    return directions


def _of_rows(
    rows: Any, sign: np.ndarray, theta: np.ndarray, ridge: np.ndarray, kernel: np.ndarray
) -> Directions:
    """The same with u, the sum of sign da of each row: (K + 1 / theta) u = sign theta g / theta - X fall /
    ridge, and dw = (fall + X'u) / ridge. If a row has two hinges, u is divided among their da, which also
    exchange an amount."""
    of_row = theta.sum(axis=0)
    H = kernel.copy()
    H[np.diag_indices_from(H)] += 1.0 / of_row
    solve, part = _solver(H), theta / of_row
    exchange = theta.prod(axis=0) / of_row if len(theta) > 1 else 0.0

    def directions(fall: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u = solve((sign * part * g).sum(axis=0) - rows @ (fall / ridge))
        return (fall + u @ rows) / ridge, sign * part * u + exchange * g.sum(axis=0)

    return directions


def _solver(H: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function b -> H^-1 b, for H symmetric positive semidefinite."""
    size = np.sqrt(H.diagonal())
    C = H / size
    C /= size[:, None]
    root, failed = dpotrf(C.T, lower=1, overwrite_a=1)  # transposed, since LAPACK expects column order
    if failed or not root.diagonal().min() > LEAST_PIVOT:
        if not np.isfinite(H).all():
            return lambda b: np.full_like(b, np.nan)
        return lambda b: solve_positive(H, b) if np.isfinite(b).all() else np.full_like(b, np.nan)
    return lambda b: dpotrs(root, b / size, lower=1)[0] / size


def _reach(value: np.ndarray, step: np.ndarray) -> float:
    """Return the largest multiple of a step for which positive values stay non-negative."""
    falls = step < 0
    return float((value[falls] / -step[falls]).min(initial=np.inf))
