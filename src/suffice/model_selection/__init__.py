"""Grid search that shares passes over the data; generalization bounds; bias and variance."""

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
from .grid_search import GridSearch

__all__ = [
    "BiasVariance",
    "GridSearch",
    "bias_variance_decomposition",
    "finite_class_bound",
    "finite_class_sample_size",
    "hoeffding_bound",
    "is_shattered",
    "margin_bound",
    "replicate_predictions",
    "vc_bound",
    "vc_confidence",
]
