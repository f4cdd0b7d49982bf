"""Nearest neighbours: exact, in memory or where the rows are."""

from ..core.names import names_of_sklearn
from .classification import KNeighborsClassifier
from .kd_tree import KDTree
from .regression import KNeighborsRegressor
from .unsupervised import NearestNeighbors

__all__ = [
    "KDTree",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
]

__getattr__ = names_of_sklearn(__name__)
