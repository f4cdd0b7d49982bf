"""Loops over folds."""

from .conjugate import conjugate_gradient
from .descent import newton
from .em import Together, em
from .gradient import (
    Decreasing,
    Walk,
    coordinate_descent,
    descent_by_walks,
    gradient_descent,
    stochastic_descent,
)
from .planes import cutting_planes
from .quasi_newton import quasi_newton
from .scaling import iterative_scaling, scaling_step

__all__ = [
    "Decreasing",
    "Together",
    "Walk",
    "conjugate_gradient",
    "coordinate_descent",
    "cutting_planes",
    "descent_by_walks",
    "em",
    "gradient_descent",
    "iterative_scaling",
    "newton",
    "quasi_newton",
    "scaling_step",
    "stochastic_descent",
]
