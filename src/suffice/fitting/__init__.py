"""Loops over folds."""

from .descent import newton, quasi_newton
from .em import Together, em
from .gradient import gradient_descent, stochastic_descent
from .orthant import orthant_wise
from .planes import cutting_planes
from .scaling import iterative_scaling, scaling_step

__all__ = [
    "Together",
    "cutting_planes",
    "em",
    "gradient_descent",
    "iterative_scaling",
    "newton",
    "orthant_wise",
    "quasi_newton",
    "scaling_step",
    "stochastic_descent",
]
