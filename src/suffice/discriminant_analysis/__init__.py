"""Discriminant analysis: normal classes."""

from .linear import LinearDiscriminantAnalysis
from .quadratic import QuadraticDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
