"""Minimization of functions whose value and derivatives are folds: state, line search, Newton's method.

Nocedal and Wright, "Numerical Optimization", 2nd ed., algorithm 3.2; Li appendix B.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..core.loop import Progress, Watch
from .linear_algebra import solve_positive

ROUNDING = 64 * float(np.finfo(np.float64).eps)
# Relative rounding error of the value of a function that is the sum of many terms.
LOST = 1e3 * ROUNDING


@dataclass(frozen=True, eq=False)
class Descent(Progress):
    """State of a descent: a point (`model`), the value and gradient at that point, and the curvature."""

    model: Annotated[np.ndarray, "(D,)"]
    value: float = np.inf
    gradient: Annotated[Any, "(D,) or None"] = None
    hessian: Annotated[Any, "(D, D) or (D,) or None"] = None  # or its approximation
    inverse: Annotated[Any, "(D, D) or (D,) or None"] = None  # approximate inverse, or its diagonal
    steps: Annotated[tuple[np.ndarray, ...], "M of (D,)"] = ()
    changes: Annotated[tuple[np.ndarray, ...], "M of (D,)"] = ()  # changes of the gradient over the steps

    def moved(self, new: np.ndarray, value: float, gradient: np.ndarray, reason: str, **more: Any) -> Descent:
        """Return the state after a step to a new point. `reason` is why to stop there; "" to continue."""
        trace = (*self.trace, value)
        return Descent(new, trace, stopped_because=reason, value=value, gradient=gradient, **more)

    def with_last_step(self, new: np.ndarray, value: float, gradient: np.ndarray, reason: str) -> Descent:
        """Return the same with the step and the change of the gradient, from which the next step follows."""
        pair = {"steps": (new - self.model,), "changes": (gradient - self.gradient,)}
        return self.moved(new, value, gradient, reason, **pair)


def descend(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray | Descent,
    step: Callable[[Descent], Descent],
    max_iter: int,
    watch: Watch | None,
) -> Descent:
    """Repeat a step that needs the value and the gradient where it begins."""

    def iteration(state: Descent) -> Descent:
        if state.gradient is None:
            value, gradient = fun(state.model)
            state = state.replace(value=value, gradient=gradient)
        return step(state)

    first = start if isinstance(start, Descent) else Descent(np.array(start, dtype=np.float64))
    return (watch or Watch()).limited(max_iter).loop(iteration, first)


def newton(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]],
    start: np.ndarray | Descent,
    *,
    solve: Callable[[np.ndarray, np.ndarray], np.ndarray] = solve_positive,
    update: Callable[[np.ndarray, Descent], tuple[float, np.ndarray, np.ndarray]] | None = None,
    l1: float | np.ndarray = 0.0,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimize a convex function by Newton's method, with backtracking line search.

    With an l1 penalty, ``fun(x) + l1 * sum(abs(x))``, each step minimizes the quadratic model plus the
    penalty (proximal Newton).

    Parameters
    ----------
    fun : callable
        ``fun(x)`` returns the value, the gradient and the Hessian: a fold. The penalty is added on the
        driver.
    start : ndarray
        Initial point.
    solve : callable
        ``solve(hessian, gradient)`` returns the step that minimizes the quadratic model, exactly or
        approximately.
    update : callable, optional
        ``update(x, state)`` returns the same as ``fun(x)``, where the change of the Hessian since
        ``state.model`` takes less time than the Hessian.
    l1 : float or ndarray
        Strength of the l1 penalty, of all parameters or of each.
    tol : float
        Tolerance of the stopping criterion: the largest component of the gradient. The fit also stops when no
        step can gain more than rounding error.
    max_iter : int
        Maximum number of iterations.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import newton
    >>> fun = lambda x: ((x - 3.0) @ (x - 3.0), 2 * (x - 3.0), 2 * np.eye(2))
    >>> newton(fun, np.zeros(2)).model
    array([3., 3.])
    >>> newton(fun, np.zeros(2), l1=2.0).model
    array([2., 2.])
    """
    has_l1 = bool(np.any(l1))

    def step(state: Descent) -> Descent:
        x = state.model
        if state.gradient is None:
            value, gradient, hessian = fun(x)
            value += absolute(l1, x)
            state = state.replace(value=value, gradient=gradient, hessian=hessian)
        value, gradient, hessian = state.value, state.gradient, state.hessian
        if not np.isfinite(value):
            return state.replace(trace=(*state.trace, value), stopped_because="objective not finite")
        if has_l1:
            direction = proximal(hessian, hessian.dot(x) - gradient, x, np.broadcast_to(l1, x.shape)) - x
        else:
            direction = -solve(hessian, gradient)
        length = 1.0
        slope = float(gradient @ direction) + absolute(l1, x + direction) - absolute(l1, x)
        while True:
            new = x + length * direction
            new_value, new_gradient, new_hessian = update(new, state) if update else fun(new)
            new_value += absolute(l1, new)
            # Sufficient decrease, with the usual constant: Nocedal and Wright, section 3.1.
            if new_value <= value + 1e-4 * length * slope + ROUNDING * abs(value):
                break
            length /= 2.0
            if length < 1e-10:
                return state.replace(trace=(*state.trace, value), stopped_because="line search")
        slopes, before = steepest(new, new_gradient, l1), steepest(x, gradient, l1)
        small = lost_in_rounding(new_value, slopes, -slope)
        still = value - new_value <= ROUNDING * max(abs(value), abs(new_value), 1.0)
        still = still and (small or largest(slopes) >= largest(before))
        reason = why_stopped(slopes, tol, still=still, small=small)
        return state.moved(new, new_value, new_gradient, reason, hessian=new_hessian)

    return (
        (watch or Watch())
        .limited(max_iter)
        .loop(step, start if isinstance(start, Descent) else Descent(start))
    )


def absolute(l1: float | np.ndarray, x: np.ndarray) -> float:
    """Return the l1 penalty, with one strength for all parameters or one for each."""
    if isinstance(l1, np.ndarray):
        return float(l1.dot(np.abs(x)))
    return l1 * float(np.abs(x).sum()) if l1 else 0.0


def steepest(x: np.ndarray, gradient: np.ndarray, l1: float | np.ndarray) -> np.ndarray:
    """Return the subgradient of minimum norm."""
    if not np.any(l1):
        return gradient
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(x == 0, at_zero, gradient + l1 * np.sign(x))


def proximal(A: np.ndarray, b: np.ndarray, x: np.ndarray, l1: np.ndarray) -> np.ndarray:
    """Return the minimum of z'A z / 2 - b'z + l1'|z|, by coordinate descent from x.

    Parameters without an l1 penalty are eliminated.
    """
    from ..loops.coordinates import descend

    bent, z = l1 > 0, x.copy()
    unit = l1[bent].max() / l1[bent]  # scaled so that all have one strength
    free = np.column_stack([A[~bent][:, bent], b[~bent]])
    if len(free):
        free = solve_positive(A[~bent][:, ~bent], free)
    cross = A[bent][:, ~bent].dot(free)
    inner, right = (A[bent][:, bent] - cross[:, :-1]) * np.outer(unit, unit), (b[bent] - cross[:, -1]) * unit
    w, top = x[bent] / unit, float(l1[bent].max())
    most = float(right.dot(solve_positive(inner, right)))
    descend(np.ascontiguousarray(inner), right, most, top, 0.0, False, 1e-15, 10_000, w, np.empty_like(w))
    z[bent] = w * unit
    z[~bent] = free[:, -1] - free[:, :-1].dot(z[bent])
    return z


def minimum_along(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    state: Descent,
    direction: np.ndarray,
    *,
    length: float = 1.0,
    accuracy: float,
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Return a point along `direction` with its value and gradient, or None if no step descends.

    Its value is smaller, and its slope at most `accuracy` times that at the start. The search is the secant
    method on the slope, which is exact for a quadratic. Every third trial bisects, so that it cannot stall.
    """
    x, value, start = state.model, state.value, float(state.gradient.dot(direction))
    low, slope_low, high, slope_high = 0.0, start, np.inf, np.nan
    best, flattest = None, 0.5 * abs(start)
    for trial in range(1, 61):
        new = x + length * direction
        new_value, new_gradient = fun(new)
        slope = float(new_gradient.dot(direction))
        enough = value + 1e-4 * length * start
        falls = new_value <= enough + ROUNDING * abs(value)
        if falls and abs(slope) <= accuracy * abs(start):
            return new, new_value, new_gradient
        if new_value <= (enough if best is None else best[1]) or (falls and abs(slope) < flattest):
            best, flattest = (new, new_value, new_gradient), min(flattest, abs(slope))
        if falls and slope < 0:
            further = length - slope * (length - low) / (slope - slope_low) if slope > slope_low else np.inf
            low, slope_low = length, slope
        else:
            high, slope_high = length, slope if slope > 0 else np.nan
        if np.isinf(high):
            length = min(further, 10.0 * length)
            continue
        if high - low <= 1e-15 * high or abs(slope) * (high - low) <= 1e-17 * abs(value):
            break
        share = slope_low / (slope_low - slope_high)
        length = low + (high - low) * (share if share > 0 and trial % 3 else 0.5)
    return best


def why_stopped(slopes: np.ndarray, tol: float, *, still: bool, small: bool) -> str:
    """Return the reason why a descent stops; "" if it continues.

    It stops if the gradient is below `tol`, or if the value no longer decreases (`still`). The latter counts
    as a minimum only if no step can gain more than rounding error (`small`).
    """
    if largest(slopes) <= tol:
        return "tolerance"
    return "" if not still else "tolerance" if small else "line search"


def at_rest(state: Descent, value: float, gradient: np.ndarray, promised: float, tol: float) -> str:
    """Return `why_stopped` after an exact line search.

    The gradient may still decrease where the decrease of the value is lost in rounding.
    """
    still = value >= state.value and largest(gradient) >= largest(state.gradient)
    return why_stopped(gradient, tol, still=still, small=lost_in_rounding(value, gradient, promised))


def no_step(state: Descent, slopes: np.ndarray, promised: float, tol: float) -> Descent:
    """Return the final state of a descent in which no step along a line decreases the value."""
    small = lost_in_rounding(state.value, slopes, promised)
    reason = why_stopped(slopes, tol, still=True, small=small)
    return state.replace(trace=(*state.trace, state.value), stopped_because=reason)


def lost_in_rounding(value: float, slopes: np.ndarray, promised: float) -> bool:
    """Whether a step gains no more than rounding error.

    The criteria are its predicted decrease and the slopes of preconditioned parameters. The predicted
    decrease alone is not enough: with an inaccurate curvature it is also small far from the minimum.
    """
    unit = max(1.0, abs(value))
    return promised <= LOST * unit and largest(slopes) <= LOST**0.5 * unit


def largest(x: np.ndarray) -> float:
    return max(float(x.max(initial=0.0)), -float(x.min(initial=0.0)))
