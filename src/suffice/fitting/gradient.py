"""First-order methods: gradient descent, coordinate descent, stochastic gradient descent and SVRG.

Li appendix A. Barzilai and Borwein, "Two-point step size gradient methods", 1988. Robbins and Monro, "A
stochastic approximation method", 1951. Johnson and Zhang, "Accelerating stochastic gradient descent using
predictive variance reduction", 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..core.loop import Watch
from ..core.randomness import Purpose, generator
from ..core.statistics import Statistics
from ..core.values import Value
from .descent import ROUNDING, Descent, at_rest, descend, minimum_along, no_step

EXACT = 1e-10  # slope at which an exact line search ends, relative to the slope at its start


def gradient_descent(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    step: str | float = "barzilai-borwein",
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Descent:
    """Minimize by gradient descent.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` returns the value and the gradient: a fold, with the penalty added on the driver.
    start : ndarray
        Initial point.
    step : {'barzilai-borwein', 'line-search'} or float
        Step size. 'barzilai-borwein': from the last change of the gradient, halved while a step does not
        descend. 'line-search': to the minimum along the gradient (steepest descent), which is slow for
        ill-conditioned functions. A number is a fixed step size, without line search: too large a number
        diverges.
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
    >>> from suffice.fitting import gradient_descent
    >>> fun = lambda x: ((x - 3.0) @ (x - 3.0), 2 * (x - 3.0))
    >>> gradient_descent(fun, np.zeros(2)).model
    array([3., 3.])
    >>> gradient_descent(fun, np.zeros(2), step=0.25, max_iter=3).model
    array([2.625, 2.625])
    """
    if isinstance(step, str) and step not in ("barzilai-borwein", "line-search"):
        raise ValueError(f"step={step!r} is unknown: use 'barzilai-borwein', 'line-search' or a number.")

    def found_from(state: Descent) -> tuple[np.ndarray, float, np.ndarray] | None:
        if not isinstance(step, str):
            new = state.model - step * state.gradient
            return new, *fun(new)
        length = _two_point_length(state)
        if step == "line-search":
            return minimum_along(fun, state, -state.gradient, length=length, accuracy=EXACT)
        return _halved(fun, state, length)

    def iteration(state: Descent) -> Descent:
        result = found_from(state)
        if result is None:
            return no_step(state, state.gradient, _reach(state), tol)
        new, value, gradient = result
        if step == "line-search":
            reason = at_rest(state, value, gradient, _reach(state), tol)
        else:
            reason = "tolerance" if np.abs(gradient).max(initial=0.0) <= tol else ""
        return state.with_last_step(new, value, gradient, reason)

    return descend(fun, start, iteration, max_iter, watch)


def _two_point_length(state: Descent) -> float:
    """Return the Barzilai-Borwein step size."""
    if not state.steps:
        return 1.0 / max(1.0, float(np.linalg.norm(state.gradient)))
    s, y = state.steps[-1], state.changes[-1]
    return float(s.dot(s) / max(s.dot(y), 1e-300))


def _reach(state: Descent) -> float:
    """Return the estimated decrease of the function in the next step."""
    return _two_point_length(state) * float(state.gradient.dot(state.gradient))


def _halved(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]], state: Descent, length: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Backtracking line search: try length, length / 2, length / 4, ... until the decrease is sufficient.

    Where the decrease is lost in rounding, the slope must decrease instead.
    """
    steepness = float(state.gradient.dot(state.gradient))
    for _ in range(60):
        new = state.model - length * state.gradient
        value, gradient = fun(new)
        enough = state.value - 1e-4 * length * steepness  # sufficient decrease
        blurred = (
            value <= enough + ROUNDING * abs(state.value) and abs(gradient.dot(state.gradient)) < steepness
        )
        if value <= enough < state.value or blurred:
            return new, value, gradient
        length /= 2.0
    return None


def coordinate_descent(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Descent:
    """Minimize by coordinate descent. An iteration is one sweep over all coordinates.

    Each line search along a coordinate calls `fun` a few times. For coordinate ascent, minimize minus the
    function.

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
    >>> import numpy as np
    >>> from suffice.fitting import coordinate_descent
    >>> A = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> fun = lambda x: (0.5 * x @ A @ x - x.sum(), A @ x - 1.0)
    >>> coordinate_descent(fun, np.zeros(2), max_iter=1).model.round(6)
    array([0.5 , 0.75])
    """
    axes = np.eye(len(start))

    def iteration(state: Descent) -> Descent:
        before = state
        for j, axis in enumerate(axes):
            if state.gradient[j] == 0.0:
                continue
            result = minimum_along(fun, state, -np.sign(state.gradient[j]) * axis, accuracy=EXACT)
            if result is not None:
                new, value, gradient = result
                state = state.replace(model=new, value=value, gradient=gradient)
        reason = at_rest(before, state.value, state.gradient, 0.0, tol)
        return state.replace(trace=(*state.trace, state.value), stopped_because=reason)

    return descend(fun, start, iteration, max_iter, watch)


@dataclass(frozen=True)
class Decreasing(Value):
    """Decreasing step sizes: ``first / (t + 1) ** power`` for t = 0, 1, 2, ...

    Examples
    --------
    >>> from suffice.fitting import Decreasing
    >>> Decreasing(first=2.0)(3)
    0.5
    >>> Decreasing(power=0.5).satisfies_robbins_monro
    False
    """

    first: float = 1.0
    power: float = 1.0

    def __call__(self, t: int) -> float:
        return self.first / (t + 1.0) ** self.power

    @property
    def satisfies_robbins_monro(self) -> bool:
        """Whether the step sizes satisfy the Robbins-Monro conditions: their sum is infinite, and that of
        their squares is finite."""
        return 0.5 < self.power <= 1.0


def stochastic_descent(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    of_example: Callable[[np.ndarray, int], np.ndarray],
    start: np.ndarray,
    *,
    n: int,
    length: float | Decreasing,
    seed: Any = 0,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimize a mean over examples by stochastic gradient descent, or SVRG.

    The result depends on the random order of the examples. A constant step size uses SVRG: each pass starts
    with the gradient over all examples, and each step adds the change of the gradient of one example since,
    so the variance vanishes at the minimum. Decreasing step sizes use plain stochastic gradients.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` returns the value and the gradient over all examples: a fold, called once per pass.
    of_example : callable
        ``of_example(x, i)`` returns the gradient of example i. The mean over the examples is that of `fun`.
    start : ndarray
        Initial point.
    n : int
        Number of examples.
    length : float or Decreasing
        Step size.
    seed : int
        Seed for the order.
    tol : float
        Tolerance of the stopping criterion: the largest component of the gradient.
    max_iter : int
        Maximum number of passes. In each, every example is visited twice.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import Decreasing, stochastic_descent
    >>> target = np.array([2.0, 4.0])
    >>> fun = lambda x: (0.5 * ((x - target) ** 2).mean(), x - target.mean())
    >>> of_one = lambda x, i: x - target[i]
    >>> stochastic_descent(fun, of_one, np.zeros(1), n=2, length=0.5).model.round(3)
    array([3.])
    >>> stochastic_descent(fun, of_one, np.zeros(1), n=2, length=Decreasing(), tol=0.01).model.round(1)
    array([3.])
    """

    def iteration(state: Descent) -> Descent:
        pivot = state.model
        gradient = fun(pivot)[1] if state.gradient is None else state.gradient
        x, rng = pivot.copy(), generator(Purpose.ORDER, seed, state.n_iter)
        order = np.concatenate([rng.permutation(n), rng.permutation(n)])
        for t, i in enumerate(order.tolist(), start=state.n_iter * len(order)):
            if isinstance(length, Decreasing):
                x -= length(t) * of_example(x, i)
            else:
                x -= length * (of_example(x, i) - of_example(pivot, i) + gradient)
        value, gradient = fun(x)
        small = np.abs(gradient).max(initial=0.0) <= tol
        reason = "tolerance" if small else ""
        return state.moved(x, value, gradient, reason)

    return (watch or Watch()).limited(max_iter).loop(iteration, Descent(np.array(start, dtype=np.float64)))


@dataclass(frozen=True, eq=False)
class EpochIterates(Statistics):
    """Weighted sum of the last iterates of the epochs over the blocks."""

    weight: float
    point: Annotated[np.ndarray, "(...)"]


def svrg(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    epoch: Callable[[np.ndarray, np.ndarray, int], EpochIterates],
    start: np.ndarray,
    *,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimize a mean over examples by SVRG (stochastic variance-reduced gradient) within each block.

    An iteration is an epoch over the examples of each block, all from the same point, and a line search from
    that point towards the mean of the end points. The result depends on the blocks and on the order of the
    examples in them, to within `tol`.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` returns the value and the gradient over all examples: a fold.
    epoch : callable
        ``epoch(x, gradient, n)`` returns the end points of the epochs of iteration n from x: a fold. A step
        uses the gradient at x of all examples, plus the change of the gradient of one example since x: its
        variance vanishes at the minimum.
    start : ndarray
        Initial point.
    tol : float
        Tolerance of the stopping criterion: the largest component of the gradient. The fit also stops when no
        step can gain more than rounding error.
    max_iter : int
        Maximum number of iterations.
    watch : Watch, optional
        Callbacks and checkpoint.
    """

    def iteration(state: Descent) -> Descent:
        ends = epoch(state.model, state.gradient, state.n_iter)
        direction = ends.point / ends.weight - state.model
        if not state.gradient.dot(direction) < 0:
            direction = -state.gradient
        result = minimum_along(fun, state, direction, accuracy=0.5)
        if result is None:
            return no_step(state, state.gradient, _reach(state), tol)
        new, value, gradient = result
        reason = at_rest(state, value, gradient, _reach(state), tol)
        return state.moved(new, value, gradient, reason)

    return descend(fun, start, iteration, max_iter, watch)
