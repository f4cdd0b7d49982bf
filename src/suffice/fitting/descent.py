"""Minimising a function whose value and derivatives are folds: limited-memory BFGS and Newton.

Nocedal and Wright, "Numerical Optimization", 2nd ed., algorithms 7.4, 7.5 and 3.2; Li appendix B.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import line_search

from ..core.loop import Progress, Watch
from .linear_algebra import solve_positive

MEMORY = 10
ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Descent(Progress):
    """A point (`model`), what the function is there, and the curvature seen on the way."""

    value: float = np.inf
    gradient: Any = None  # (D,)
    hessian: Any = None  # (D, D)
    steps: tuple[np.ndarray, ...] = ()
    changes: tuple[np.ndarray, ...] = ()  # of the gradient, over each of the steps


def quasi_newton(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimise by limited-memory BFGS.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` gives the value and the gradient: a fold, with the penalty added at home.
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
    >>> from suffice.fitting import quasi_newton
    >>> quasi_newton(lambda x: ((x - 3.0) @ (x - 3.0), 2 * (x - 3.0)), np.zeros(2)).model
    array([3., 3.])
    """
    # The line search asks for value and slope apart; both come from one fold.
    seen: dict[bytes, tuple[float, np.ndarray]] = {}

    def at(x: np.ndarray) -> tuple[float, np.ndarray]:
        key = x.tobytes()
        if key not in seen:
            seen[key] = fun(x)
        return seen[key]

    def step(here: Descent) -> Descent:
        if here.gradient is None:
            value, gradient = at(here.model)
            here = here.replace(value=value, gradient=gradient)
        x, value, gradient = here.model, here.value, here.gradient
        direction = -_inverse_hessian_times(gradient, here.steps, here.changes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its failure is in what it returns
            length, *_ = line_search(
                lambda z: at(z)[0], lambda z: at(z)[1], x, direction, gradient, value, maxiter=30
            )
        if length is None and not _at_rest(here, direction):
            # No step has the slope that was asked for: one that descends will do.
            length = _descending(lambda z: at(z)[0], x, direction, float(gradient @ direction), value)
        if length is None:
            why = "tolerance" if _at_rest(here, direction) else "line search"
            return here.replace(trace=(*here.trace, value), stopped_because=why)
        new = x + length * direction
        new_value, new_gradient = at(new)
        seen.clear()
        return Descent(
            new,
            (*here.trace, new_value),
            stopped_because=_finished(value, new_value, new_gradient, tol),
            value=new_value,
            gradient=new_gradient,
            steps=(*here.steps, new - x)[-MEMORY:],
            changes=(*here.changes, new_gradient - gradient)[-MEMORY:],
        )

    return (watch or Watch()).limited(max_iter).loop(step, Descent(start))


def _descending(
    fun: Callable[[np.ndarray], float], x: np.ndarray, direction: np.ndarray, slope: float, value: float
) -> float | None:
    """The first of 1, 1/2, 1/4, ... that descends enough: Nocedal and Wright, algorithm 3.1."""
    length = 1.0
    while length > 1e-10:
        if fun(x + length * direction) < value + 1e-4 * length * slope:
            return length
        length /= 2.0
    return None


def _at_rest(here: Descent, direction: np.ndarray) -> bool:
    """Whether a step could gain no more than rounding: where none is found, that is the optimum."""
    promised = abs(float(here.gradient @ direction))
    return bool(promised <= 1e3 * ROUNDING * max(1.0, abs(here.value)))


def _inverse_hessian_times(
    gradient: np.ndarray, steps: tuple[np.ndarray, ...], changes: tuple[np.ndarray, ...]
) -> np.ndarray:
    """The two-loop recursion: Nocedal and Wright, algorithm 7.4."""
    q = gradient.copy()
    pairs = [(s, y, 1.0 / (s @ y)) for s, y in zip(steps, changes, strict=True) if s @ y > 0]
    if not pairs:
        return q / max(1.0, float(np.linalg.norm(q)))
    shares = []
    for s, y, rho in reversed(pairs):
        shares.append(rho * (s @ q))
        q -= shares[-1] * y
    s, y, rho = pairs[-1]
    q /= rho * (y @ y)
    for (s, y, rho), share in zip(pairs, reversed(shares), strict=True):
        q += (share - rho * (y @ q)) * s
    return q


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
