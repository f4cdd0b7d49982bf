"""The solvers of a `Problem` and their capabilities. A name is the same algorithm in every estimator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .conjugate import conjugate_gradient
from .descent import Descent, newton
from .gradient import gradient_descent, stochastic_descent, svrg
from .linear_algebra import gauss_seidel_sweep
from .planes import cutting_planes
from .problem import Problem, ScaledProblem
from .quasi_newton import quasi_newton
from .scaling import iterative_scaling

FEW = 256  # number of parameters up to which Newton's method is the default: see `newton_or_lbfgs`


def _in_its_estimator(*args: Any, **options: Any) -> Any:
    raise TypeError("This solver is available only through the estimators that offer it: call their fit.")


@dataclass(frozen=True)
class Solver:
    """An optimization algorithm, its requirements and capabilities.

    Examples
    --------
    >>> from suffice.fitting import SOLVERS
    >>> [name for name, solver in SOLVERS.items() if solver.l1]
    ['lbfgs', 'newton', 'newton-cholesky', 'newton-cg']
    """

    minimize: Callable[..., Any]  # called with an objective and a starting point
    l1: bool = False  # supports an l1 penalty
    hessian: bool = False  # needs the Hessian
    ordered: bool = False  # takes the examples one after the other: the result depends on their order
    approximate: bool = False  # takes steps within blocks: the result depends on the blocks, within tol
    gathers: bool = False  # needs the examples in the memory of this process
    scaling: bool = False  # needs the expected counts of non-negative features

    def __call__(
        self, problem: Problem | ScaledProblem, start: np.ndarray | Descent | None = None, **options: Any
    ) -> Any:
        """Minimize a problem, by default from its own initial point."""
        if np.any(problem.l1):
            if not self.l1:
                raise ValueError(f"This solver does not support l1: use {_with_l1(SOLVERS)}.")
            options["l1"] = problem.l1
        return self.minimize(problem, start=problem.start if start is None else start, **options)


_NEWTON = Solver(newton, l1=True, hessian=True)
_SVRG = Solver(svrg, ordered=True, approximate=True)

SOLVERS: dict[str, Solver] = {
    "lbfgs": Solver(quasi_newton, l1=True),  # with an l1 penalty it is OWL-QN
    "bfgs": Solver(partial(quasi_newton, update="bfgs-inverse")),
    "dfp": Solver(partial(quasi_newton, update="dfp")),
    "newton": _NEWTON,
    "newton-cholesky": _NEWTON,  # a name of scikit-learn: the Hessian is summed and factored
    "newton-cg": _NEWTON,
    "coordinate": Solver(partial(newton, solve=gauss_seidel_sweep), hessian=True),
    "gradient": Solver(gradient_descent),
    "conjugate-gradient": Solver(conjugate_gradient),
    "svrg": _SVRG,
    "sag": _SVRG,  # names of scikit-learn: this variance-reduced method keeps no table of gradients
    "saga": _SVRG,
    "sgd": Solver(stochastic_descent, ordered=True, gathers=True),
    "gis": Solver(iterative_scaling, scaling=True),
    "iis": Solver(iterative_scaling, scaling=True),
    "iis-s": Solver(iterative_scaling, scaling=True),
    "iis-t": Solver(iterative_scaling, scaling=True),
    "ipf": Solver(_in_its_estimator),
    "cutting-plane": Solver(cutting_planes),
    "bcfw": Solver(_in_its_estimator, ordered=True, gathers=True),
    "smo": Solver(_in_its_estimator, ordered=True, gathers=True),
}


def _with_l1(names: Iterable[str]) -> str:
    return " or ".join(repr(name) for name in names if SOLVERS[name].l1)


def newton_or_lbfgs(n_parameters: int) -> str:
    """Return the name of the faster solver, for users who have not chosen one.

    Newton's method needs 3 to 5 passes, each with the Hessian; L-BFGS needs 10 to 30 without. For squared
    hinges and for kernels, both take the same time at 256 to 512 parameters.
    """
    return "newton" if n_parameters <= FEW else "lbfgs"


def find_solver(name: str, options: Collection[str], *, l1_ratio: float = 0.0) -> Solver:
    """Return the solver with a name among the options of an estimator. Raises for unsupported combinations.

    Examples
    --------
    >>> from suffice.fitting import find_solver
    >>> find_solver("bfgs", ["lbfgs", "bfgs", "newton"], l1_ratio=0.5)
    Traceback (most recent call last):
    ...
    ValueError: solver='bfgs' does not support l1_ratio=0.5: use solver='lbfgs' or 'newton', or l1_ratio=0.
    """
    if name not in options:
        raise ValueError(f"solver={name!r} is unknown: use one of {sorted(options)}.")
    solver = SOLVERS[name]
    if l1_ratio and not solver.l1:
        raise ValueError(
            f"solver={name!r} does not support l1_ratio={l1_ratio}: use solver={_with_l1(options)}, "
            "or l1_ratio=0."
        )
    return solver
