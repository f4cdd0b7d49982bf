"""The loops of native/dual.hpp in NumPy."""

import numpy as np


def worst_pair(slope, beta, lower, upper, group, n_groups):
    worst = -1, -1, -np.inf
    for g in range(n_groups):
        rises, falls = (group == g) & (beta < upper), (group == g) & (beta > lower)
        if rises.any() and falls.any():
            up = int(np.where(rises, slope, np.inf).argmin())
            down = int(np.where(falls, slope, -np.inf).argmax())
            worst = max(worst, (up, down, slope[down] - slope[up]), key=lambda pair: pair[2])
    return worst


def minimize_pairs(K, slope, beta, lower, upper, group, n_groups, tol, most):
    for n in range(most):
        i, _, violation = worst_pair(slope, beta, lower, upper, group, n_groups)
        if not violation > tol:
            return n
        curvature = np.maximum(K[i, i] + K.diagonal() - 2.0 * K[i], 1e-12)
        difference = slope - slope[i]
        allowed = (difference > 0.0) & (beta > lower) & (group == group[i]) & ~np.isnan(curvature)
        if not allowed.any():
            return n
        j = int(np.where(allowed, difference * difference / curvature, -1.0).argmax())
        step = min(difference[j] / curvature[j], upper[i] - beta[i], beta[j] - lower[j])
        beta[i] = upper[i] if step == upper[i] - beta[i] else beta[i] + step
        beta[j] = lower[j] if step == beta[j] - lower[j] else beta[j] - step
        slope += step * (K[i] - K[j])
    return most


def add_columns(columns, slots, step, out):
    out += step @ columns[slots].astype(np.float64)
