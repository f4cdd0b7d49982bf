"""The scikit-learn face: base classes, row-wise methods, scores, parameters and their constraints."""

from .answers import row_wise
from .base import Estimator, Iterative, OnePass, load
from .scores import Classifier, Regressor

__all__ = ["Classifier", "Estimator", "Iterative", "OnePass", "Regressor", "load", "row_wise"]
