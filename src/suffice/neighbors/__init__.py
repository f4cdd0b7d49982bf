"""Nearest neighbours: exact, in memory or where the rows are."""

from ..core.names import names_of_sklearn
from .classification import KNeighborsClassifier
from .kd_tree import KDTree
from .regression import KNeighborsRegressor
from .search import Contents, RowsElsewhere, StoredRows
from .unsupervised import NearestNeighbors

__all__ = [
    "Contents",
    "KDTree",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "RowsElsewhere",
    "StoredRows",
]

__getattr__ = names_of_sklearn(__name__)
