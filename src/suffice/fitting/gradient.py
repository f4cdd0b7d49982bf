"""Minimising by gradients alone: descent with the whole gradient, and with that of one example at a time.

Barzilai and Borwein, "Two-point step size gradient methods", 1988; Li appendix A. Johnson and Zhang,
"Accelerating stochastic gradient descent using predictive variance reduction", 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.loop import Watch
from .descent import ROUNDING, Descent


def gradient_descent(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimise by steps along the gradient, each as long as the last two gradients suggest, and halved until
    it descends.

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
    >>> from suffice.fitting import gradient_descent
    >>> gradient_descent(lambda x: ((x - 3.0) @ (x - 3.0), 2 * (x - 3.0)), np.zeros(2)).model
    array([3., 3.])
    """

    def step(here: Descent) -> Descent:
        x = here.model
        value, gradient = (here.value, here.gradient) if here.gradient is not None else fun(x)
        if here.steps:
            s, y = here.steps[-1], here.changes[-1]
            length = float(s.dot(s) / max(s.dot(y), 1e-300))
        else:
            length = 1.0 / max(1.0, float(np.linalg.norm(gradient)))
        steepness = float(gradient.dot(gradient))
        for _ in range(60):
            new = x - length * gradient
            new_value, new_gradient = fun(new)
            if new_value <= value - 1e-4 * length * steepness:
                break
            length /= 2.0
        else:
            still = length * steepness <= ROUNDING * max(1.0, abs(value))
            why = "tolerance" if still else "line search"
            return here.replace(
                value=value, gradient=gradient, trace=(*here.trace, value), stopped_because=why
            )
        small = np.abs(new_gradient).max(initial=0.0) <= tol
        return Descent(
            new,
            (*here.trace, new_value),
            stopped_because="tolerance" if small else "",
            value=new_value,
            gradient=new_gradient,
            steps=(new - x,),
            changes=(new_gradient - gradient,),
        )

    return (watch or Watch()).limited(max_iter).loop(step, Descent(start))


def stochastic_descent(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    of_example: Callable[[np.ndarray, int], np.ndarray],
    start: np.ndarray,
    *,
    n: int,
    length: float,
    seed: Any = 0,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimise a mean over examples by their gradients one after the other, in an order that is drawn.

    The result depends on that order. Each pass starts with the gradient over all examples, and in it each
    step takes only the change of the gradient of one example since: the noise dies out with the changes, so
    steps of one length come to rest at the minimum.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` gives the value and the gradient over all examples: a fold, asked once a pass.
    of_example : callable
        ``of_example(x, i)`` gives a gradient whose mean over the examples is that of `fun`.
    start : ndarray
        Where to start.
    n : int
        Number of examples.
    length : float
        Length of the steps.
    seed : int
        Of the order.
    tol : float
        Converged when no component of the gradient is larger.
    max_iter : int
        Passes at most; in each, every example is taken twice.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import stochastic_descent
    >>> target = np.array([2.0, 4.0])
    >>> fun = lambda x: (0.5 * ((x - target) ** 2).mean(), x - target.mean())
    >>> of_one = lambda x, i: x - target[i]
    >>> stochastic_descent(fun, of_one, np.zeros(1), n=2, length=0.5).model.round(3)
    array([3.])
    """

    def step(here: Descent) -> Descent:
        pivot = here.model
        gradient = fun(pivot)[1] if here.gradient is None else here.gradient
        x, rng = pivot.copy(), np.random.default_rng([seed, here.n_iter])
        for i in np.concatenate([rng.permutation(n), rng.permutation(n)]).tolist():
            x -= length * (of_example(x, i) - of_example(pivot, i) + gradient)
        value, gradient = fun(x)
        small = np.abs(gradient).max(initial=0.0) <= tol
        why = "tolerance" if small else ""
        return Descent(x, (*here.trace, value), stopped_because=why, value=value, gradient=gradient)

    return (watch or Watch()).limited(max_iter).loop(step, Descent(start))
