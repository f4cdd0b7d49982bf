"""Linear models."""

from .least_squares import LinearRegression, Ridge
from .logistic import LogisticRegression

__all__ = ["LinearRegression", "LogisticRegression", "Ridge"]
