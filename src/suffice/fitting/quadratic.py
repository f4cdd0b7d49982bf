"""The dual of kernel machines by an interior-point method. `dual` needs less memory.

Each step solves the linearized conditions of an optimum, with the products of distances from the bounds and
their multipliers as small as a predictor step allows (Mehrotra, "On the implementation of a primal-dual
interior point method", SIAM Journal on Optimization 2, 1992). At the end, coefficients whose multiplier is
larger than their distance are set to their bound, and the others solve the remaining linear system.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .dual import Dual, DualSolution, _levels

STEPS = 200  # maximum number of steps
CLOSE = 1e-14  # tolerance of the mean product of a distance and its multiplier, relative to the slopes


def minimize_quadratic(dual: Dual, K: np.ndarray, beta: np.ndarray) -> DualSolution:
    """Minimize from `beta`, whose sums by group stay fixed.

    Each coefficient has its own row, and K must be positive definite.
    """
    from ..loops.dual import worst_pair

    E = (dual.group == np.arange(dual.n_groups)[:, None]).astype(np.float64)
    sums, width = E @ beta, dual.upper - dual.lower
    x, level = dual.lower + 0.5 * width, np.zeros(len(E))
    scale = max(1.0, float(np.abs(dual.q).max()), float(np.abs(K).max() * np.abs(x).max()))
    multipliers = np.full((2, len(x)), scale)  # of lower and upper bounds
    n_iter = 0
    while n_iter < STEPS:
        n_iter += 1
        distance = np.stack([x - dual.lower, dual.upper - x])
        products = multipliers * distance
        mean = products.mean()
        slope = K @ x + dual.q
        dual_rest = slope - level @ E - multipliers[0] + multipliers[1]
        rest = sums - E @ x
        if mean <= CLOSE * scale * width.max() and np.abs(dual_rest).max() <= 1e-11 * scale:
            break
        M = K.copy()
        M[np.diag_indices_from(M)] += (multipliers / distance).sum(axis=0)
        try:
            factor = cho_factor(M, overwrite_a=True)
        except LinAlgError:
            raise ValueError(
                "The kernel matrix is not positive definite, which solver='qp' needs: use solver='smo'."
            ) from None
        system = factor, E, multipliers, distance, dual_rest, rest
        dx, _, d_multipliers = _direction(*system, np.zeros_like(products))
        moves = np.stack([dx, -dx])
        far, wide = _longest(distance, moves), _longest(multipliers, d_multipliers)
        predicted = ((distance + far * moves) * (multipliers + wide * d_multipliers)).mean()
        # Mehrotra's choice: the mean product shrinks by the cube of what the predictor step reached.
        target = (predicted / mean) ** 3 * mean - moves * d_multipliers
        dx, d_level, d_multipliers = _direction(*system, target)
        # Just short of the boundary, so that distances and multipliers stay positive.
        step = 0.995 * min(_longest(distance, np.stack([dx, -dx])), _longest(multipliers, d_multipliers))
        x, level, multipliers = x + step * dx, level + step * d_level, multipliers + step * d_multipliers
        if step < 1e-10:
            break
    x = _on_bounds(dual, K, E, sums, x, multipliers)
    slope = K @ x + dual.q
    *_, violation = worst_pair(slope, x, dual.lower, dual.upper, dual.group, dual.n_groups)
    objective = 0.5 * float(x @ (slope + dual.q))
    return DualSolution(x, slope, _levels(dual, slope, x), violation, objective, n_iter)


def _direction(
    factor: Any,
    E: np.ndarray,
    multipliers: np.ndarray,
    distance: np.ndarray,
    dual_rest: np.ndarray,
    rest: np.ndarray,
    target: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the step to a feasible point at which the products of distances and multipliers are `target`."""
    gain = target / distance - multipliers
    inner = cho_solve(factor, E.T)
    free = cho_solve(factor, gain[0] - gain[1] - dual_rest)
    d_level = np.linalg.solve(E @ inner, rest - E @ free)
    dx = free + inner @ d_level
    return dx, d_level, gain - (multipliers / distance) * np.stack([dx, -dx])


def _longest(a: np.ndarray, step: np.ndarray) -> float:
    """Return the largest fraction of a step that leaves `a` non-negative."""
    falls = step < 0
    return min(1.0, float((-a[falls] / step[falls]).min(initial=1.0)))


def _on_bounds(
    dual: Dual, K: np.ndarray, E: np.ndarray, sums: np.ndarray, x: np.ndarray, multipliers: np.ndarray
) -> np.ndarray:
    """Set coefficients near their bounds to these, and solve for the others.

    If the remaining system has no solution within the bounds, the others stay as they are.
    """
    size = np.abs(dual.q).max() + np.abs(K).max() * np.abs(x).max()  # magnitude of the terms of slopes
    scale = size / (dual.upper - dual.lower)
    x = np.where((x - dual.lower) * scale < multipliers[0], dual.lower, x)
    x = np.where((dual.upper - x) * scale < multipliers[1], dual.upper, x)
    free = (x > dual.lower) & (x < dual.upper)
    n, G = int(free.sum()), len(E)
    if not n:
        return x
    system = np.zeros((n + G, n + G))
    system[:n, :n], system[:n, n:], system[n:, :n] = K[np.ix_(free, free)], -E[:, free].T, E[:, free]
    fixed = np.where(free, 0.0, x)
    goal = np.concatenate([-(dual.q + K @ fixed)[free], sums - E @ fixed])
    y = x.copy()
    y[free] = np.linalg.lstsq(system, goal, rcond=None)[0][:n]
    inside = (y >= dual.lower) & (y <= dual.upper)
    return y if inside.all() and np.allclose(E @ y, sums, rtol=1e-9, atol=1e-9 * np.abs(x).max()) else x
