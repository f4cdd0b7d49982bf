"""Splits, cross-validation and grid search that share passes over the data."""

from ..core.names import names_of_sklearn
from .bias_variance import BiasVariance, bias_variance_decomposition, replicate_predictions
from .cross_validation import cross_val_score, cross_validate
from .grid_search import GridSearch
from .split import train_test_split

__all__ = [
    "BiasVariance",
    "GridSearch",
    "bias_variance_decomposition",
    "cross_val_score",
    "cross_validate",
    "replicate_predictions",
    "train_test_split",
]

__getattr__ = names_of_sklearn(__name__)
