"""Limited-memory BFGS, and OWL-QN for l1 penalties, for a function whose value and gradient are a fold.

Nocedal and Wright, "Numerical Optimization", 2nd ed., algorithms 7.4 and 7.5. Steps are halved until they
descend. For a convex function the curvature along any step is non-negative, so no further condition is
needed; for others, pairs without positive curvature are not used. OWL-QN stays within orthants: Andrew and
Gao, "Scalable training of L1-regularized log-linear models", 2007. Only a few vectors are kept, so that there
can be millions of parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.loop import Watch
from .descent import (
    LOST,
    ROUNDING,
    Descent,
    absolute,
    largest,
    lost_in_rounding,
    no_step,
    steepest,
    why_stopped,
)

# From this number of parameters on, 3 pairs of steps and changes of the gradient are kept, in single
# precision; from a 32nd of it on, 10 pairs in single precision; below, 10 in double precision.
MANY = 1 << 21


def limited_memory(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray | Descent,
    *,
    l1: float | np.ndarray = 0.0,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimize ``fun(x) + l1 * sum(abs(x))`` by limited-memory BFGS: `quasi_newton` documents it."""
    from ..loops.vectors import dot

    has_l1 = bool(np.any(l1))

    def step(state: Descent) -> Descent:
        x = state.model
        if state.gradient is None:
            value, gradient = fun(x)
            state = state.replace(value=value + absolute(l1, x), gradient=gradient)
        slope_at = steepest(x, state.gradient, l1)
        fixed = (x == 0) & (slope_at == 0) if has_l1 else None
        direction = _towards(slope_at, state.steps, state.changes, fixed, state.inverse)
        if has_l1 and not dot(slope_at, direction) < 0:
            direction = np.negative(slope_at)
        promised = -dot(slope_at, direction)
        result = _line_search(fun, state, slope_at, direction, l1)
        if result is None:
            return no_step(state, slope_at, promised, tol)
        new, value, gradient = result
        steps, changes = _remembered(state, new, gradient)
        slopes = steepest(new, gradient, l1)
        still = state.value - value <= ROUNDING * max(abs(value), 1.0)
        still = still and largest(slopes) >= largest(slope_at)
        still = still and lost_in_rounding(value, slopes, promised)  # otherwise a later step may be better
        reason = why_stopped(slopes, tol, still=still, small=still)
        more = {"inverse": state.inverse, "steps": steps, "changes": changes}
        return state.moved(new, value, gradient, reason, **more)

    first = start if isinstance(start, Descent) else Descent(np.array(start, dtype=np.float64))
    return (watch or Watch()).limited(max_iter).loop(step, first)


def _line_search(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    state: Descent,
    slope_at: np.ndarray,
    direction: np.ndarray,
    l1: float | np.ndarray,
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Backtracking line search: try lengths 1, 1/2, 1/4, ... until the decrease is sufficient.

    With an l1 penalty, points are projected to the orthant of the current one. Where the decrease is lost in
    rounding, the slope must decrease instead: Hager and Zhang, "A new conjugate gradient method with
    guaranteed descent and an efficient line search", 2005.
    """
    from ..loops.vectors import dot

    x, length = state.model, 1.0
    orthant = np.where(x == 0, -np.sign(slope_at), np.sign(x)) if np.any(l1) else None
    slope = dot(slope_at, direction)
    new = direction if orthant is None else direction.copy()
    new += x
    while length > 1e-12:
        if orthant is not None:
            new[(new * orthant <= 0) & (l1 > 0)] = 0.0
            slope = dot(slope_at, new - x) / length
        value, gradient = fun(new)
        value += absolute(l1, new)
        if value <= state.value + 1e-4 * length * slope:  # sufficient decrease
            return new, value, gradient
        blurred = value <= state.value + LOST * abs(state.value) and orthant is None
        if blurred and abs(dot(gradient, new - x)) < 0.9 * length * abs(slope):
            return new, value, gradient
        length /= 2.0
        if orthant is None:  # halve the step in place, without a copy of the direction
            new -= x
            new /= 2.0
            new += x
        else:
            new = x + length * direction
    return None


def _towards(
    gradient: np.ndarray,
    steps: tuple[np.ndarray, ...],
    changes: tuple[np.ndarray, ...],
    fixed: np.ndarray | None = None,
    inverse: np.ndarray | None = None,
) -> np.ndarray:
    """Return minus the inverse Hessian times the gradient, by the two-loop recursion (algorithm 7.4).

    The recursion leaves out parameters that are `fixed`, which do not move.
    """
    from ..loops.vectors import add_scaled, dot

    q = np.negative(gradient)
    pairs = [(s, y, dot(s, y)) for s, y in zip(steps, changes, strict=True)]
    pairs = [pair for pair in pairs if pair[2] > 0]
    if not pairs and inverse is not None:
        return _times(inverse, q)
    if not pairs:
        q /= max(np.sqrt(dot(q, q)), 1e-300)  # a step of length 1, since the curvature is not known
        return q
    shares = []
    for s, y, sy in reversed(pairs):
        shares.append(dot(s, q) / sy)
        add_scaled(q, -shares[-1], y)
        if fixed is not None:
            q[fixed] = 0.0
    _, y, sy = pairs[-1]
    if inverse is None:
        q *= sy / dot(y, y)
    else:
        q = _times(inverse, q)
        q *= sy / dot(y, _times(inverse, y))
    for (s, y, sy), share in zip(pairs, reversed(shares), strict=True):
        add_scaled(q, share - dot(y, q) / sy, s)
        if fixed is not None:
            q[fixed] = 0.0
    return q


def _times(inverse: np.ndarray, x: np.ndarray) -> np.ndarray:
    return inverse * x if inverse.ndim == 1 else inverse.dot(x)


def _remembered(state: Descent, new: np.ndarray, gradient: np.ndarray) -> tuple[Any, Any]:
    """Append the last step and change of the gradient to the history.

    For many parameters, few pairs are kept and in single precision: they affect the direction of a step, but
    not the solution.
    """
    few = (10, np.float32) if len(new) < MANY else (3, np.float32)
    memory, kind = (10, np.float64) if len(new) < MANY // 32 else few
    out = []
    for history, a, b in ((state.steps, new, state.model), (state.changes, gradient, state.gradient)):
        full = len(history) == memory
        # The memory of the oldest pair is used for the new one, as `state` is no longer needed.
        last = history[0] if full and history[0].flags.writeable else np.empty(len(a), kind)
        np.subtract(a, b, out=last, casting="same_kind")
        out.append((*history[full:], last))
    return out[0], out[1]
