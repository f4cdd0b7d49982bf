"""Conjugate gradients, for functions and for linear systems.

Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952; Nocedal and Wright,
"Numerical Optimization", 2nd ed., section 5.2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.loop import Watch
from .descent import Descent, at_rest, descend, minimum_along, no_step


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
        direction, length = _direction(state)
        result = minimum_along(fun, state, direction, length=length, accuracy=0.05)
        promised = -length * float(state.gradient.dot(direction))
        if result is None:
            return no_step(state, state.gradient, promised, tol)
        _, value, gradient = result
        return state.with_last_step(*result, at_rest(state, value, gradient, promised, tol))

    return descend(fun, start, step, max_iter, watch)


def _direction(state: Descent) -> tuple[np.ndarray, float]:
    """Return the next conjugate direction, and the initial step length."""
    g = state.gradient
    if not state.steps:
        return -g, 1.0 / max(1.0, float(np.linalg.norm(g)))
    s, y = state.steps[-1], state.changes[-1]
    curvature = float(s.dot(y))
    if curvature <= 0:
        return -g, 1.0 / max(1.0, float(np.linalg.norm(g)))
    # The factor of Hestenes and Stiefel. Where it is negative, zero restarts from steepest descent.
    direction = max(float(g.dot(y)) / curvature, 0.0) * s - g
    return (direction if direction.dot(g) < 0 else -g), float(s.dot(s)) / curvature


def conjugate_solve(
    product: Callable[[np.ndarray], np.ndarray],
    B: np.ndarray,
    inverse: np.ndarray,
    *,
    tol: float = 1e-11,
    max_iter: int = 500,
) -> tuple[np.ndarray, int, bool]:
    """Solve A X = B for A symmetric positive definite, by preconditioned conjugate gradients.

    Parameters
    ----------
    product : callable
        ``product(V)`` returns A V: a fold. Each column may have an A of its own.
    B : ndarray of shape (D, T)
        Right-hand sides.
    inverse : ndarray of shape (D, T)
        Diagonal preconditioner of each column: about the inverse of A.
    tol : float
        Tolerance of the stopping criterion: the norm of the residual relative to that of B, both under the
        preconditioner.
    max_iter : int
        Maximum number of products.

    Returns
    -------
    X : ndarray of shape (D, T)
    n_iter : int
        Number of products.
    converged : bool
        Whether all columns reached the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import conjugate_solve
    >>> A = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> x, n_iter, converged = conjugate_solve(lambda V: A @ V, np.array([[1.0], [2.0]]), np.ones((2, 1)))
    >>> x.ravel().round(4), n_iter, converged
    (array([0.0909, 0.6364]), 2, True)
    """
    X, R = np.zeros_like(B), B.copy()
    Z = inverse * R
    V, size = Z.copy(), np.einsum("dt,dt->t", R, Z)
    least, room = tol**2 * size, np.empty_like(R)
    for n_iter in range(max_iter):
        if (size <= least).all():
            return X, n_iter, True
        AV = product(V)
        step = size / np.maximum(np.einsum("dt,dt->t", V, AV), np.finfo(np.float64).tiny)
        step[size <= least] = 0.0
        X += np.multiply(step, V, out=room)
        R -= np.multiply(step, AV, out=room)
        np.multiply(inverse, R, out=Z)
        before, size = size, np.einsum("dt,dt->t", R, Z)
        V *= size / np.where(before > 0, before, 1.0)
        V += Z
    return X, max_iter, bool((size <= least).all())
