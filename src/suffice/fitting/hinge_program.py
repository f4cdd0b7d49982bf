"""A quadratic program of hinges, in memory, by a primal-dual interior point method.

Mehrotra, "On the implementation of a primal-dual interior point method", 1992; Ferris and Munson, "Interior
point methods for massive support vector machines", 2003.
"""

from __future__ import annotations

import numpy as np

from .linear_algebra import solve_positive

ENOUGH = 1e-12  # of the objective, the duality gap
MOST = 100  # steps


@np.errstate(all="ignore")  # near the end, variables are zero to rounding
def hinge_program(
    A: np.ndarray, level: np.ndarray, most: np.ndarray, ridge: np.ndarray, slope: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The minimum of w' diag(ridge) w / 2 - slope'w + sum_k most_k max(0, level_k - A_k w), and its dual
    variables, from 0 to `most`.

    `most` is positive. Each step solves one system of the size of w.
    """
    scale = np.abs(level).max(initial=0.0) or 1.0
    w, alpha = np.zeros(A.shape[1]), 0.5 * most
    over = np.maximum(level, 0.0) + scale  # xi, and the slack of its constraint: A w + xi - level = slack
    slack = over - level
    best = np.inf, w, alpha
    for _ in range(MOST):
        rest = most - alpha
        fall = slope - ridge * w + alpha @ A  # minus the gradient
        miss = A @ w + over - level - slack
        gap = float(alpha @ slack + rest @ over)
        size = (
            0.5 * float(ridge @ w**2) + abs(float(slope @ w)) + float(most @ np.maximum(level - A @ w, 0.0))
        )
        merit = gap + float(np.abs(fall) @ np.abs(w)) + float(most @ np.abs(miss))
        if not np.isfinite(merit):
            break
        if merit < best[0]:
            best = merit, w, alpha
        if merit <= ENOUGH * size:
            break
        theta = 1.0 / (slack / alpha + over / rest)
        H = np.diag(ridge) + (A * theta[:, None]).T @ A
        target, of_slack, of_over = 0.0, 0.0, 0.0  # second: towards the central path, with second-order terms
        for second in (False, True):
            to_slack = (target - of_slack) / alpha - slack
            to_over = (target - of_over) / rest - over
            g = to_slack - to_over - miss
            right = fall + (theta * g) @ A
            if not (np.isfinite(H).all() and np.isfinite(right).all()):
                return best[1], best[2]
            dw = solve_positive(H, right)
            da = theta * (g - A @ dw)
            ds, do = to_slack - slack / alpha * da, to_over + over / rest * da
            steps = [(alpha, da), (rest, -da), (slack, ds), (over, do)]
            length = min(1.0, *(_reach(value, step) for value, step in steps))
            if not second:
                after = sum(float((a + length * b) @ (c + length * d)) for a, b, c, d in (
                    (alpha, da, slack, ds), (rest, -da, over, do)
                ))  # fmt: skip
                target = (after / gap) ** 3 * gap / (2.0 * len(most))
                of_slack, of_over = da * ds, -da * do
        length = min(1.0, 0.995 * length)
        w, alpha = w + length * dw, alpha + length * da
        slack, over = slack + length * ds, over + length * do
    return best[1], best[2]


def _reach(value: np.ndarray, step: np.ndarray) -> float:
    """How far along a step a positive value stays non-negative."""
    falls = step < 0
    return float((value[falls] / -step[falls]).min(initial=np.inf))
