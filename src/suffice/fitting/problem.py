"""The problem that a solver minimizes: the loss of a model over the data, and a penalty.

    objective(theta) = (sum of the loss over the examples) / (sum of their weights) + penalty(theta)

The sum of the loss with its derivatives is a fold; the penalty is added on the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..core.model import Model
from ..core.partitions import Partitions
from ..statistics.objective import Objective
from .standardize import Standardization


class LossModel(Model):
    """Base class of models with parameters `theta`, whose `summarize` returns a loss and its derivatives."""

    theta: Any

    def at(self, theta: np.ndarray) -> Self:
        """Return the model with the parameters of a flat vector."""
        return self.replace(theta=theta.reshape(self.theta.shape))


@dataclass(frozen=True)
class RidgePenalty:
    """Adds ``sum(strength * theta**2) / 2`` to the sum of the loss, and divides both by the weight."""

    strength: float | np.ndarray

    def __call__(self, theta: np.ndarray, s: Objective) -> tuple[Any, ...]:
        strength = np.broadcast_to(self.strength, theta.shape)
        value = (s.loss + 0.5 * float(strength.dot(theta**2))) / s.weight
        gradient = (s.gradient + strength * theta) / s.weight
        if np.ndim(s.hessian) == 0:
            return value, gradient
        return value, gradient, (s.hessian + np.diag(strength)) / s.weight


@dataclass(frozen=True)
class ColumnRidgePenalty:
    """Adds half the sum of ``strength * theta**2`` to the mean loss."""

    strength: np.ndarray  # (D + 1,), that of the intercept last
    shape: tuple[int, ...]  # shape of the parameters

    def __call__(self, theta: np.ndarray, s: Objective) -> tuple[Any, ...]:
        theta, gradient = theta.reshape(self.shape), s.gradient / s.weight
        value = s.loss / s.weight + 0.5 * float(np.einsum("kd,kd->", self.strength * theta, theta))
        gradient.reshape(self.shape)[...] += self.strength * theta
        if np.ndim(s.hessian) == 0:
            return value, gradient
        return value, gradient, s.hessian / s.weight + np.diag(np.tile(self.strength, self.shape[0]))


class Problem:
    """Objective over the data. Called with a point, it returns its value and derivatives.

    The derivatives are the gradient and, if the model sums it, the Hessian. The sums at the last point are
    cached, so a second call at that point needs no pass over the data.

    Parameters
    ----------
    data : Partitions
        The examples.
    model : LossModel
        The loss. Its parameters are the initial point.
    penalty : callable
        ``penalty(theta, s)`` adds the smooth part of the penalty to the mean loss: it returns the value, the
        gradient and, if `s` has one, the Hessian at `theta`, where `s` are the sums.
    standard : Standardization, optional
        Preconditioning: parameters and derivatives are those of standardized columns.
    l1 : float or ndarray
        Strength of the l1 penalty, of all parameters or of each. It is passed to the solver and is not part
        of the value.
    remember : bool
        Whether to cache the sums at the last point. This takes two vectors of the size of the parameters. If
        False, `penalty` may change the gradient of `s` in place.
    feasible : callable, optional
        ``feasible(model)`` returns whether its parameters are in the domain of the loss. Outside, the value
        is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.core.blocks import Rows
    >>> from suffice.fitting import Problem, RidgePenalty, newton
    >>> from suffice.inputs import in_blocks
    >>> from suffice.linear_model.logistic import LogLinear
    >>> data = in_blocks(Rows(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])))
    >>> model = LogLinear(np.zeros((1, 2)), np.arange(2), np.ones(2), curvature=True)
    >>> problem = Problem(data, model, RidgePenalty(0.5))
    >>> newton(problem, problem.start).model.round(3)
    array([ 0.41 , -0.402])
    """

    def __init__(
        self,
        data: Partitions,
        model: Any,
        penalty: Callable[[np.ndarray, Any], tuple[Any, ...]],
        *,
        standard: Standardization | None = None,
        l1: float | np.ndarray = 0.0,
        remember: bool = True,
        feasible: Callable[[Any], bool] | None = None,
    ) -> None:
        self.data, self.model, self.penalty, self.l1 = data, model, penalty, l1
        self.standard, self.remember, self.feasible = standard, remember, feasible
        self._last: tuple[np.ndarray, Any] | None = None  # the last point, and the sums at it

    @property
    def start(self) -> np.ndarray:
        """The parameters of the model, as a flat vector."""
        theta = self.model.theta
        return (theta if self.standard is None else self.standard.to_standard(theta)).ravel()

    def sums(self, theta: np.ndarray) -> Any:
        """Return the statistics at a point."""
        if self._last is not None and np.array_equal(self._last[0], theta):
            return self._last[1]
        self._last, at = None, self.model.at(theta)  # the old sums are not held during the pass
        if self.standard is None:
            s = self.data.fold(type(at).summarize, at)
        else:
            s = self.standard.fold(self.data, at)
        if self.remember:
            self._last = theta.copy(), s  # solvers may change the point in place
        return s

    def __call__(self, theta: np.ndarray) -> tuple[Any, ...]:
        if self.feasible is not None and not self.feasible(self.model.at(theta)):
            return np.inf, np.zeros_like(theta), *([np.eye(len(theta))] if self.model.curvature else [])
        return self.penalty(theta, self.sums(theta))

    def value(self, theta: np.ndarray) -> float:
        return self(theta)[0]

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        return self(theta)[1]

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        return self(theta)[2]

    def solution(self, theta: np.ndarray) -> Any:
        """Return the model at a point, with the parameters of the original columns."""
        at = self.model.at(theta.copy())
        return at if self.standard is None else at.replace(theta=self.standard.from_standard(at.theta))

    def statistics(self, theta: np.ndarray) -> Any:
        """Return the statistics at a point, with respect to the parameters of the original columns."""
        if self.standard is None or self.standard.ordinary:
            return self.sums(theta)
        at = self.solution(theta)
        return self.data.fold(type(at).summarize, at)


class ScaledProblem:
    """A problem over ``theta * scale``, a positive number for each parameter: diagonal preconditioning."""

    def __init__(self, problem: Problem, scale: np.ndarray) -> None:
        self.problem, self.scale = problem, scale
        self.start = problem.start * scale
        self.l1 = problem.l1 / scale if np.any(problem.l1) else 0.0

    def __call__(self, scaled: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self.problem(scaled / self.scale)
        gradient /= self.scale
        return value, gradient
