"""Feature transformers."""

from .basis_functions import BasisFunctions

__all__ = ["BasisFunctions"]
