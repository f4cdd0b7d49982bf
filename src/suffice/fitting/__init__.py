"""Loops over folds."""

from .descent import newton
from .em import Together, em
from .gradient import gradient_descent, stochastic_descent
from .lbfgs import quasi_newton
from .planes import cutting_planes
from .scaling import iterative_scaling, scaling_step

__all__ = [
    "Together",
    "cutting_planes",
    "em",
    "gradient_descent",
    "iterative_scaling",
    "newton",
    "quasi_newton",
    "scaling_step",
    "stochastic_descent",
]
