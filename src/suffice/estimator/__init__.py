"""scikit-learn API: base classes, row-wise methods, scores, and constraints of parameters."""

from .answers import row_wise
from .base import Estimator, Iterative, OnePass, load
from .scores import Classifier, Regressor

__all__ = ["Classifier", "Estimator", "Iterative", "OnePass", "Regressor", "load", "row_wise"]
