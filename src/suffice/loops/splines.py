"""Splines, rows of natural cubic bases and the smoothing spline from knot to knot: native/splines.hpp."""

from __future__ import annotations

import numpy as np

from .native import loops

design = loops.splines.design
triangles = loops.splines.triangles
substitute = loops.splines.substitute


def smooth(
    h: np.ndarray, weight: np.ndarray, y: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minimize sum w (y - f)^2 + strength int f''^2 by the values and slopes of f at the knots.

    Between two knots the least integral of f''^2 is |G (s' - T s)|^2, where s and s' are the values and
    slopes at the two knots. So this is a banded least-squares problem, which is solved by rotations from knot
    to knot. Returns the values, the slopes and the leverages, whose sum is the effective degrees of freedom.
    """
    # Equations at each knot: own state, next state, right-hand side. Rows 0 and 1 are for those that the
    # knots before leave, row 2 is the target, rows 3 and 4 are the penalty up to the next knot.
    A = np.zeros((len(y), 5, 5))
    A[:, 2, 0] = np.sqrt(weight)
    A[:, 2, 4] = A[:, 2, 0] * y
    single = np.sqrt(strength) / np.sqrt(h)
    third = single / h
    three = np.sqrt(3.0) * third
    A[:-1, 3, :3] = np.stack([-three, -three * h, three], axis=1)
    A[:-1, 4, :2] = np.stack([3.0 * third, 3.0 * third * h - 2.0 * single], axis=1)
    A[:-1, 4, 2:4] = np.stack([-3.0 * third, 2.0 * single], axis=1)
    triangles(A)
    value, slope, variance = substitute(A)
    return value, slope, weight * variance
