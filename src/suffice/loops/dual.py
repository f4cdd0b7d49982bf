"""Sequential minimal optimization of a few coefficients of a dual: see `fitting.dual`."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled()

LEAST_CURVATURE = 1e-12  # of a pair, as if a kernel that is not positive definite was flat


@jit
def worst_pair(slope, beta, lower, upper, group, n_groups):
    """The pair of one group that violates the conditions of an optimum most: the coefficient to raise, with
    the least slope, the one to lower, with the largest, and the difference of the slopes."""
    worst, raised, lowered = -np.inf, -1, -1
    for g in range(n_groups):
        up, down = -1, -1
        for k in range(len(beta)):
            if group[k] != g:
                continue
            if beta[k] < upper[k] and (up < 0 or slope[k] < slope[up]):
                up = k
            if beta[k] > lower[k] and (down < 0 or slope[k] > slope[down]):
                down = k
        if up >= 0 and down >= 0 and slope[down] - slope[up] > worst:
            worst, raised, lowered = slope[down] - slope[up], up, down
    return raised, lowered, worst


@worst_pair.small
def _(slope, beta, lower, upper, group, n_groups):
    worst = -1, -1, -np.inf
    for g in range(n_groups):
        rises, falls = (group == g) & (beta < upper), (group == g) & (beta > lower)
        if rises.any() and falls.any():
            up = int(np.where(rises, slope, np.inf).argmin())
            down = int(np.where(falls, slope, -np.inf).argmax())
            worst = max(worst, (up, down, slope[down] - slope[up]), key=lambda pair: pair[2])
    return worst


@jit
def best_partner(K, slope, beta, lower, group, i):
    """The coefficient to lower while i is raised that gains most, by the curvature of the pair
    (Fan, Chen and Lin, "Working set selection using second order information", 2005)."""
    best, partner, curvature = -1.0, -1, 1.0
    for k in range(len(beta)):
        difference = slope[k] - slope[i]
        if difference > 0.0 and beta[k] > lower[k] and group[k] == group[i]:
            c = max(K[i, i] + K[k, k] - 2.0 * K[i, k], LEAST_CURVATURE)
            gain = difference * difference / c
            if gain > best:
                best, partner, curvature = gain, k, c
    return partner, curvature


@best_partner.small
def _(K, slope, beta, lower, group, i):
    curvature = np.maximum(K[i, i] + K.diagonal() - 2.0 * K[i], LEAST_CURVATURE)
    difference = slope - slope[i]
    allowed = (difference > 0.0) & (beta > lower) & (group == group[i])
    j = int(np.where(allowed, difference * difference / curvature, -1.0).argmax())
    return j, curvature[j]


@jit
def optimize_pair(K, slope, beta, lower, upper, i, j, curvature):
    """Raise coefficient i and lower j by the same, to the optimum of the pair within its box."""
    up, down = upper[i] - beta[i], beta[j] - lower[j]
    step = min((slope[j] - slope[i]) / curvature, up, down)
    beta[i] = upper[i] if step == up else beta[i] + step
    beta[j] = lower[j] if step == down else beta[j] - step
    slope += step * (K[i] - K[j])


optimize_pair.small(optimize_pair.python)


@jit
def minimize_pairs(K, slope, beta, lower, upper, group, n_groups, tol, most):
    """Minimize β'Kβ / 2 + q'β over a box, with the sum of each group as it is, pair by pair, until no pair
    violates the conditions by more than `tol`. `slope` is Kβ + q. Returns the number of pairs."""
    for n in range(most):
        i, _, violation = worst_pair(slope, beta, lower, upper, group, n_groups)
        if violation <= tol:
            return n
        j, curvature = best_partner(K, slope, beta, lower, group, i)
        optimize_pair(K, slope, beta, lower, upper, i, j, curvature)
    return most


minimize_pairs.small(minimize_pairs.python)


@jit
def square(columns, slots, rows):
    """The kernel matrix of some rows, whose columns are the rows `slots` of `columns`."""
    out = np.empty((len(slots), len(slots)))
    for a in range(len(slots)):
        column = columns[slots[a]]
        for b in range(len(rows)):
            out[a, b] = column[rows[b]]
    return out


@square.small
def _(columns, slots, rows):
    return columns[np.ix_(slots, rows)].astype(np.float64)


@jit
def add_columns(columns, slots, step, out):
    """Add step[k] times column slots[k], a row of `columns`, to `out`: four of them at a time, and so many
    numbers that they stay in the cache."""
    tile, K = 2048, len(slots)
    for a in range(0, len(out), tile):
        part = out[a : a + tile]
        for k in range(0, K - 3, 4):
            p, q = columns[slots[k], a : a + tile], columns[slots[k + 1], a : a + tile]
            r, s = columns[slots[k + 2], a : a + tile], columns[slots[k + 3], a : a + tile]
            for n in range(len(part)):
                part[n] += (step[k] * p[n] + step[k + 1] * q[n]) + (step[k + 2] * r[n] + step[k + 3] * s[n])
        for k in range(K - K % 4, K):
            p = columns[slots[k], a : a + tile]
            for n in range(len(part)):
                part[n] += step[k] * p[n]


@add_columns.small
def _(columns, slots, step, out):
    out += step @ columns[slots].astype(np.float64)
