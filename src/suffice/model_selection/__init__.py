"""Splits, cross-validation and grid search that share passes over the data; generalization bounds."""

from ..core.names import names_of_sklearn
from .bias_variance import BiasVariance, bias_variance_decomposition, replicate_predictions
from .bounds import (
    finite_class_bound,
    finite_class_sample_size,
    hoeffding_bound,
    is_shattered,
    margin_bound,
    vc_bound,
    vc_confidence,
)
from .cross_validation import cross_val_score, cross_validate
from .grid_search import GridSearch
from .split import train_test_split

__all__ = [
    "BiasVariance",
    "GridSearch",
    "bias_variance_decomposition",
    "cross_val_score",
    "cross_validate",
    "finite_class_bound",
    "finite_class_sample_size",
    "hoeffding_bound",
    "is_shattered",
    "margin_bound",
    "replicate_predictions",
    "train_test_split",
    "vc_bound",
    "vc_confidence",
]

__getattr__ = names_of_sklearn(__name__)
