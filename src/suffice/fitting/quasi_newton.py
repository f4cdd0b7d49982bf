"""Quasi-Newton methods: the Hessian, or its inverse, is approximated from steps and changes of the gradient.

Li appendix B; Nocedal and Wright, "Numerical Optimization", 2nd ed., ch. 6. With d the last step and y the
change of the gradient over it, B d = y holds after each update of B, which approximates the Hessian, and G y
= d after each update of G, which approximates its inverse.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.cost import afford
from ..core.loop import Watch
from .descent import Descent, at_rest, descend, minimum_along, no_step
from .lbfgs import limited_memory
from .linear_algebra import solve_positive


def quasi_newton(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray | Descent,
    *,
    update: str = "lbfgs",
    alpha: float = 0.5,
    accuracy: float = 0.3,
    l1: float | np.ndarray = 0.0,
    tol: float = 1e-4,
    max_iter: int = 100,
    watch: Watch | None = None,
) -> Descent:
    """Minimize ``fun(x) + l1 * sum(abs(x))`` by a quasi-Newton method.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` returns the value and the gradient of the smooth part: a fold, with the smooth part of the
        penalty added on the driver. The gradient must be a new array in each call.
    start : ndarray or Descent
        Initial point. For 'lbfgs', it may have the history of another descent (steps and changes of the
        gradient), or a preconditioner: an approximate inverse of the Hessian or of its diagonal.
    update : {'lbfgs', 'bfgs', 'bfgs-inverse', 'dfp', 'broyden'}
        'lbfgs': limited-memory BFGS, which keeps the last steps. The others update a dense matrix from the
        identity: 'bfgs' the Hessian (`hessian` of the result), 'bfgs-inverse' its inverse (`inverse`), 'dfp'
        the inverse by Davidon-Fletcher-Powell, 'broyden' a combination of the latter two.
    alpha : float
        Weight of DFP in 'broyden': 1 is DFP, 0 is BFGS.
    accuracy : float
        Accuracy of the line search, for dense matrices: the slope at the end of a step, relative to that at
        its start. DFP needs less than 0.5. The exact line search of textbooks is 1e-10.
    l1 : float or ndarray
        Strength of the l1 penalty, of all parameters or of each. Only for 'lbfgs'.
    tol : float
        Tolerance of the stopping criterion: the largest component of the minimum norm subgradient. It also
        stops when no step can gain more than rounding error.
    max_iter : int
        Maximum number of iterations.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import quasi_newton
    >>> target = np.array([3.0, 0.5])
    >>> fun = lambda x: (0.5 * ((x - target) ** 2).sum(), x - target)
    >>> quasi_newton(fun, np.zeros(2), l1=1.0).model
    array([2., 0.])
    >>> quasi_newton(fun, np.zeros(2), update="dfp").model
    array([3. , 0.5])
    """
    if update == "lbfgs":
        return limited_memory(fun, start, l1=l1, tol=tol, max_iter=max_iter, watch=watch)
    if update not in ("bfgs", "bfgs-inverse", "dfp", "broyden"):
        raise ValueError(
            f"update={update!r} is unknown: use 'lbfgs', 'bfgs', 'bfgs-inverse', 'dfp' or 'broyden'."
        )
    if np.any(l1):
        raise ValueError(f"update={update!r} does not support l1={l1}: use update='lbfgs'.")
    start = start.model if isinstance(start, Descent) else np.array(start, dtype=np.float64)
    D = len(start)
    afford(3 * D * D, f"the matrix of {D} parameters by {update}", "use update='lbfgs'.")
    field = "hessian" if update == "bfgs" else "inverse"

    def step(state: Descent) -> Descent:
        if not np.isfinite(state.value):
            return state.replace(trace=(*state.trace, state.value), stopped_because="objective not finite")
        if update == "bfgs":
            direction = -solve_positive(state.hessian, state.gradient)
        else:
            direction = -state.inverse.dot(state.gradient)
        promised = -float(state.gradient.dot(direction))
        result = minimum_along(fun, state, direction, accuracy=accuracy)
        if result is None:
            return no_step(state, state.gradient, promised, tol)
        new, value, gradient = result
        d, y = new - state.model, gradient - state.gradient
        matrix = getattr(state, field)
        if d.dot(y) > 0:  # otherwise the matrix would not stay positive definite
            matrix = _updated(matrix, d, y, update, alpha)
        reason = at_rest(state, value, gradient, promised, tol)
        return state.moved(new, value, gradient, reason, **{field: matrix})

    return descend(fun, Descent(start).replace(**{field: np.eye(D)}), step, max_iter, watch)


def _updated(matrix: np.ndarray, d: np.ndarray, y: np.ndarray, update: str, alpha: float) -> np.ndarray:
    if update == "bfgs":
        return _rank_two(matrix, d, y)
    if update == "dfp":
        return _rank_two(matrix, y, d)
    if update == "bfgs-inverse":
        return _bfgs_inverse(matrix, d, y)
    return alpha * _rank_two(matrix, y, d) + (1.0 - alpha) * _bfgs_inverse(matrix, d, y)


def _rank_two(A: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rank-two update of A so that A a = b: for the Hessian it is BFGS (B.30); for its inverse, with step and
    change swapped, DFP (B.24)."""
    Aa = A.dot(a)
    return A + np.outer(b, b / a.dot(b)) - np.outer(Aa, Aa / a.dot(Aa))


def _bfgs_inverse(G: np.ndarray, d: np.ndarray, y: np.ndarray) -> np.ndarray:
    """BFGS update of the inverse Hessian (B.31)."""
    d_, Gy = d / d.dot(y), G.dot(y)
    cross = np.outer(d_, Gy)
    return G - cross - cross.T + np.outer(d, d_) * (1.0 + y.dot(Gy) / d.dot(y))
