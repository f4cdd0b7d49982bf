"""Nonlinear conjugate gradient.

Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952; Nocedal and Wright,
"Numerical Optimization", 2nd ed., section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.loop import Watch
from .descent import Descent, at_rest, minimum_along, no_step


def conjugate_gradient(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Descent:
    """Minimize by nonlinear conjugate gradient.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` returns the value and the gradient: a fold, with the penalty added on the driver.
    start : ndarray
        Initial point.
    tol : float
        Tolerance of the stopping criterion: the largest component of the gradient. The fit also stops when no
        step can gain more than rounding error.
    max_iter : int
        Maximum number of iterations.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    A quadratic of two parameters takes two directions.

    >>> import numpy as np
    >>> from suffice.fitting import conjugate_gradient
    >>> A = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> found = conjugate_gradient(lambda x: (0.5 * x @ A @ x - x.sum(), A @ x - 1.0), np.array([3.0, 0.0]))
    >>> found.model.round(6), found.n_iter
    (array([1., 1.]), 2)
    """

    def step(state: Descent) -> Descent:
        if state.gradient is None:
            value, gradient = fun(state.model)
            state = state.replace(value=value, gradient=gradient)
        direction, length = _direction(state)
        result = minimum_along(fun, state, direction, length=length, accuracy=0.05)
        promised = -length * float(state.gradient.dot(direction))
        if result is None:
            return no_step(state, state.gradient, promised, tol)
        new, value, gradient = result
        return Descent(
            new,
            (*state.trace, value),
            stopped_because=at_rest(state, value, gradient, promised, tol),
            value=value,
            gradient=gradient,
            steps=(new - state.model,),
            changes=(gradient - state.gradient,),
        )

    return (watch or Watch()).limited(max_iter).loop(step, Descent(np.array(start, dtype=np.float64)))


def _direction(state: Descent) -> tuple[np.ndarray, float]:
    """The next conjugate direction, and the initial step length."""
    g = state.gradient
    if not state.steps:
        return -g, 1.0 / max(1.0, float(np.linalg.norm(g)))
    s, y = state.steps[-1], state.changes[-1]
    curvature = float(s.dot(y))
    if curvature <= 0:
        return -g, 1.0 / max(1.0, float(np.linalg.norm(g)))
    # Not below zero: it forgets the last step where that does not help.
    direction = max(float(g.dot(y)) / curvature, 0.0) * s - g
    return (direction if direction.dot(g) < 0 else -g), float(s.dot(s)) / curvature
