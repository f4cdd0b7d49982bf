"""scikit-learn API: base classes, row-wise methods, scores, and constraints of parameters."""

from .answers import row_wise
from .base import Estimator, Iterative, OnePass
from .scores import Classifier, Regressor
from .storing import load

__all__ = ["Classifier", "Estimator", "Iterative", "OnePass", "Regressor", "load", "row_wise"]
