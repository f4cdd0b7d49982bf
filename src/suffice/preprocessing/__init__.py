"""Features made of features."""

from .basis_functions import BasisFunctions

__all__ = ["BasisFunctions"]
