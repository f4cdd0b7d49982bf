"""Optimizers and EM over folds of the data."""

from ..losses import Loss
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
from .resident import Resident
from .sampler import Chain, Chains, Draw, Sampler, effective_sample_size, metropolis_step, split_r_hat
from .scaling import iterative_scaling, scaling_step
from .solvers import SOLVERS, Solver, find_solver

__all__ = [
    "SOLVERS",
    "BoundStatistics",
    "Chain",
    "Chains",
    "ColumnRidgePenalty",
    "Decreasing",
    "Draw",
    "EpochIterates",
    "LinearScore",
    "Loss",
    "LossModel",
    "MeanField",
    "MultiStart",
    "OnlineResult",
    "Problem",
    "Resident",
    "RidgePenalty",
    "Sampler",
    "ScaledProblem",
    "Solver",
    "conjugate_gradient",
    "conjugate_solve",
    "coordinate_descent",
    "cutting_planes",
    "effective_sample_size",
    "em",
    "evidence_lower_bound",
    "find_solver",
    "gradient_descent",
    "iterative_scaling",
    "metropolis_step",
    "monte_carlo_em",
    "newton",
    "nonnegative_quadratic",
    "online",
    "q_function",
    "quasi_newton",
    "scaling_step",
    "split_r_hat",
    "stochastic_descent",
    "svrg",
    "variational_em",
    "variational_inference",
]
