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
    """Minimise by nonlinear conjugate gradient.

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

    def step(here: Descent) -> Descent:
        if here.gradient is None:
            value, gradient = fun(here.model)
            here = here.replace(value=value, gradient=gradient)
        direction, length = _direction(here)
        found = minimum_along(fun, here, direction, length=length, accuracy=0.05)
        promised = -length * float(here.gradient.dot(direction))
        if found is None:
            return no_step(here, here.gradient, promised, tol)
        new, value, gradient = found
        return Descent(
            new,
            (*here.trace, value),
            stopped_because=at_rest(here, value, gradient, promised, tol),
            value=value,
            gradient=gradient,
            steps=(new - here.model,),
            changes=(gradient - here.gradient,),
        )

    return (watch or Watch()).limited(max_iter).loop(step, Descent(np.array(start, dtype=np.float64)))


def _direction(here: Descent) -> tuple[np.ndarray, float]:
    """The next conjugate direction, and the initial step length."""
    g = here.gradient
    if not here.steps:
        return -g, 1.0 / max(1.0, float(np.linalg.norm(g)))
    s, y = here.steps[-1], here.changes[-1]
    bend = float(s.dot(y))
    if bend <= 0:
        return -g, 1.0 / max(1.0, float(np.linalg.norm(g)))
    # Not below zero: it forgets the last step where that does not help.
    direction = max(float(g.dot(y)) / bend, 0.0) * s - g
    return (direction if direction.dot(g) < 0 else -g), float(s.dot(s)) / bend
