"""Linear and quadratic discriminant analysis."""

from ..core.names import names_of_sklearn
from .linear import LinearDiscriminantAnalysis
from .quadratic import QuadraticDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]

__getattr__ = names_of_sklearn(__name__)
