"""Optimizers and EM over folds of the data."""

from .conjugate import conjugate_gradient, conjugate_solve
from .descent import newton
from .em import MultiStart, em
from .gradient import (
    Decreasing,
    EpochIterates,
    coordinate_descent,
    gradient_descent,
    stochastic_descent,
    svrg,
)
from .latent import (
    BoundStatistics,
    MeanField,
    evidence_lower_bound,
    monte_carlo_em,
    q_function,
    variational_em,
    variational_inference,
)
from .linear_score import LinearScore
from .non_negative import nonnegative_quadratic
from .online import OnlineResult, online
from .planes import cutting_planes
from .problem import ColumnRidgePenalty, LossModel, Problem, RidgePenalty, ScaledProblem
from .quasi_newton import quasi_newton
from .scaling import iterative_scaling, scaling_step
from .solvers import SOLVERS, Solver, find_solver

__all__ = [
    "SOLVERS",
    "BoundStatistics",
    "ColumnRidgePenalty",
    "Decreasing",
    "EpochIterates",
    "LinearScore",
    "LossModel",
    "MeanField",
    "MultiStart",
    "OnlineResult",
    "Problem",
    "RidgePenalty",
    "ScaledProblem",
    "Solver",
    "conjugate_gradient",
    "conjugate_solve",
    "coordinate_descent",
    "cutting_planes",
    "em",
    "evidence_lower_bound",
    "find_solver",
    "gradient_descent",
    "iterative_scaling",
    "monte_carlo_em",
    "newton",
    "nonnegative_quadratic",
    "online",
    "q_function",
    "quasi_newton",
    "scaling_step",
    "stochastic_descent",
    "svrg",
    "variational_em",
    "variational_inference",
]
