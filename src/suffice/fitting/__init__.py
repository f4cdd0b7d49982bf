"""Loops over folds."""

from .descent import newton, quasi_newton
from .em import Together, em

__all__ = ["Together", "em", "newton", "quasi_newton"]
