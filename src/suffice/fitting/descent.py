"""Minimising a function whose value and derivatives are folds: where a descent stands, and Newton's method.

Nocedal and Wright, "Numerical Optimization", 2nd ed., algorithm 3.2; Li appendix B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.loop import Progress, Watch
from .linear_algebra import solve_positive

ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Descent(Progress):
    """A point (`model`), what the function is there, and the curvature seen on the way."""

    value: float = np.inf
    gradient: Any = None  # (D,)
    hessian: Any = None  # (D, D)
    steps: tuple[np.ndarray, ...] = ()
    changes: tuple[np.ndarray, ...] = ()  # of the gradient, over each of the steps


def newton(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]],
    start: np.ndarray,
    *,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimise a convex function by Newton's method, halving steps that do not descend.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` gives the value, the gradient and the Hessian: a fold, with the penalty added at home.
    start : ndarray
        Where to start.
    tol : float
        Converged when no component of the gradient is larger, or the value falls no more.
    max_iter : int
        Iterations at most.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import newton
    >>> fun = lambda x: ((x - 3.0) @ (x - 3.0), 2 * (x - 3.0), 2 * np.eye(2))
    >>> newton(fun, np.zeros(2)).model
    array([3., 3.])
    """

    def step(here: Descent) -> Descent:
        if here.gradient is None:
            value, gradient, hessian = fun(here.model)
        else:
            value, gradient, hessian = here.value, here.gradient, here.hessian
        if not np.isfinite(value):
            return here.replace(trace=(*here.trace, value), stopped_because="objective not finite")
        direction = -solve_positive(hessian, gradient)
        slope, length = float(gradient @ direction), 1.0
        while True:
            new = here.model + length * direction
            new_value, new_gradient, new_hessian = fun(new)
            if new_value <= value + 1e-4 * length * slope + ROUNDING * abs(value):
                break
            length /= 2.0
            if length < 1e-10:
                return here.replace(trace=(*here.trace, value), stopped_because="line search")
        return Descent(
            new,
            (*here.trace, new_value),
            stopped_because=_finished(value, new_value, new_gradient, tol),
            value=new_value,
            gradient=new_gradient,
            hessian=new_hessian,
        )

    return (watch or Watch()).limited(max_iter).loop(step, Descent(start))


def _finished(value: float, new_value: float, new_gradient: np.ndarray, tol: float) -> str:
    small = np.abs(new_gradient).max(initial=0.0) <= tol
    still = value - new_value <= ROUNDING * max(abs(value), abs(new_value), 1.0)
    return "tolerance" if small or still else ""
