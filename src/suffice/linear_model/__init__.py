"""Linear models."""

from .basis_functions import BasisFunctions
from .bayesian import BayesianLinearRegression
from .coordinate_descent import ElasticNet, ElasticNetCV, Lasso, LassoCV, enet_path
from .least_squares import LinearRegression, Ridge
from .logistic import LogisticRegression

__all__ = [
    "BasisFunctions",
    "BayesianLinearRegression",
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LogisticRegression",
    "Ridge",
    "enet_path",
]
