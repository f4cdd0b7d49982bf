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
from .planes import cutting_planes
from .problem import LossModel, Problem, Ridge, Scaled
from .quasi_newton import quasi_newton
from .scaling import iterative_scaling, scaling_step
from .solvers import SOLVERS, Solver, find_solver

__all__ = [
    "SOLVERS",
    "BoundStatistics",
    "Decreasing",
    "EpochIterates",
    "LossModel",
    "MeanField",
    "MultiStart",
    "Problem",
    "Ridge",
    "Scaled",
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
    "q_function",
    "quasi_newton",
    "scaling_step",
    "stochastic_descent",
    "svrg",
    "variational_em",
    "variational_inference",
]
