"""Cutting planes, for half the squared norm plus a convex risk that is a fold. It computes a duality gap.

Joachims, Finley and Yu, "Cutting-plane training of structural SVMs", 2009: one slack for all examples.
Ben-Ameur and Neto, "Acceleration of cutting-plane and column generation algorithms", 2007: the next point.
Wolfe, "Finding the nearest point in a polytope", 1976: the problem on the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from ..core.loop import Progress, Watch
from .descent import ROUNDING

# Fraction of the way from the best point to the minimum of the bound at which the next plane is computed.
# Planes near the best point improve the bound more. Measured on chains, 0.1 to 0.5 need about half the passes
# of 1, and 0.3 is near the least.
CAUTION = 0.3
IDLE = 50  # number of iterations after which an unused plane is dropped


@dataclass(frozen=True, eq=False)
class Planes(Progress):
    """State of the cutting plane method: the best point (`model`), and the planes below the risk.

    The minimum of half the squared norm plus the maximum of the planes is at -slope' share. It is a lower
    bound on the objective; the trace is minus this bound, and decreases.
    """

    model: Annotated[np.ndarray, "(D,)"]
    objective: float = np.inf  # the objective at the best point
    gap: float = np.inf  # between the objective and the bound
    height: float = np.inf  # the last plane at zero
    gradient: Annotated[Any, "(D,) or None"] = None  # the slope of the last plane
    slope: Annotated[tuple[np.ndarray, ...], "M of (D,)"] = ()
    level: Annotated[np.ndarray, "(M,)"] = field(default_factory=lambda: np.zeros(0))  # heights at zero
    product: Annotated[np.ndarray, "(M, M)"] = field(default_factory=lambda: np.zeros((0, 0)))  # of slopes
    share: Annotated[np.ndarray, "(M,)"] = field(default_factory=lambda: np.zeros(0))
    idle: Annotated[np.ndarray, "(M,)"] = field(default_factory=lambda: np.zeros(0))  # steps without share


def cutting_planes(
    fun: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    watch: Watch | None = None,
) -> Planes:
    """Minimize half the squared norm of x plus a convex risk of x, which need not be differentiable.

    Each pass computes the cutting plane of the risk at one point. The planes bound the objective from below.
    The next point lies between the best one and the minimum of the bound.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` returns the cutting plane of the risk at x: its value at zero and its slope, a subgradient
        of the risk. Both are folds. For large x, the value at zero is more accurate than the risk.
    start : ndarray
        Initial point.
    tol : float
        Tolerance of the duality gap, relative to the objective.
    max_iter : int
        Maximum number of iterations.
    watch : Watch, optional
        Callbacks and checkpoint.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.fitting import cutting_planes
    >>> plane = lambda x: (-3.0 * np.sign(x - 3.0).sum(), np.sign(x - 3.0))  # of the sum of |x - 3|
    >>> cutting_planes(plane, np.zeros(2), tol=1e-9).model.round(3)
    array([1., 1.])
    """

    def step(state: Planes) -> Planes:
        if state.gradient is None:
            height, gradient = fun(state.model)
            state = state.replace(height=height, gradient=gradient)
            state = state.replace(objective=_objective(state.model, height, gradient))
        planes = _with_one_more(state)
        lowest = _lowest(planes)
        bound = float(planes.level.dot(planes.share)) - 0.5 * float(lowest.dot(lowest))
        at = state.model + CAUTION * (lowest - state.model)
        height, gradient = fun(at)
        objective = _objective(at, height, gradient)
        if objective < state.objective:
            planes = planes.replace(model=at, objective=objective)
        gap = planes.objective - bound
        return planes.replace(
            trace=(*state.trace, -bound if np.isfinite(objective) else np.nan),
            stopped_because="tolerance" if gap <= tol * planes.objective else "",
            height=height,
            gradient=gradient,
            gap=gap,
        )

    return (watch or Watch()).limited(max_iter).loop(step, Planes(start))


def _objective(x: np.ndarray, height: float, slope: np.ndarray) -> float:
    """Return half the squared norm plus the risk, given by its cutting plane at this point."""
    return 0.5 * float(x.dot(x)) + height + float(slope.dot(x))


def _with_one_more(state: Planes) -> Planes:
    """Add the last plane to the planes, drop the idle ones, and compute the optimal dual weights."""
    (active,) = (state.idle <= IDLE).nonzero()
    slope = (*(state.slope[m] for m in active), state.gradient)
    level = np.append(state.level[active], state.height)
    product = np.empty((len(slope), len(slope)))
    product[:-1, :-1] = state.product[np.ix_(active, active)]
    product[-1] = product[:, -1] = [one.dot(state.gradient) for one in slope]
    share = np.append(state.share[active], 0.0 if len(active) else 1.0)
    share = best_shares(product, level, share)
    idle = np.where(share > 0, 0.0, np.append(state.idle[active], 0.0) + 1.0)
    return state.replace(slope=slope, level=level, product=product, share=share, idle=idle)


def _lowest(planes: Planes) -> np.ndarray:
    """Return the minimum of half the squared norm plus the maximum of the planes."""
    out = np.zeros_like(planes.model)
    for m in planes.share.nonzero()[0]:
        out -= planes.share[m] * planes.slope[m]
    return out


def best_shares(product: np.ndarray, level: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the dual weights that maximize level' share - share' product share / 2.

    They are non-negative, and their sum is 1.

    Active set method: active weights move to their optimum, and the first that would become negative leaves.
    At the optimum, the weight with the steepest ascent enters. Slopes may be linearly dependent, so a small
    proximal term, which does not change the solution, keeps the steps finite.
    """
    share, used, value = share.copy(), share > 0, -np.inf
    price = 1e-10 * max(float(product.diagonal().max()), np.finfo(np.float64).tiny)
    for _ in range(10 * len(share) + 100):
        pull = product.dot(share)
        ascent, small = level - pull, ROUNDING * float((np.abs(level) + np.abs(pull)).max())
        enters, before, value = int(ascent.argmax()), value, float((level - 0.5 * pull).dot(share))
        if ascent[enters] - ascent.dot(share) <= small or value <= before:
            break  # the gain is less than rounding errors
        used[enters] = True
        while True:
            (at,) = used.nonzero()
            state = share[at]
            goal = _on_the_plane(product[np.ix_(at, at)] + price * np.eye(len(at)), level[at] + price * state)
            leaves = goal <= 0
            if not leaves.any():
                share[at] = goal
                break
            length = state[leaves] / np.maximum(state[leaves] - goal[leaves], np.finfo(np.float64).tiny)
            first = int(length.argmin())
            share[at] = np.maximum(state + length[first] * (goal - state), 0.0)
            out = at[leaves][first]
            share[out], used[out] = 0.0, False
    return share / share.sum()


def _on_the_plane(product: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the weights with sum 1 that maximize the same objective without the constraint on signs."""
    sides = np.linalg.solve(product, np.stack([level, np.ones(len(level))], axis=1))
    return sides[:, 0] + (1.0 - sides[:, 0].sum()) / sides[:, 1].sum() * sides[:, 1]
