"""Metrics of predictions: of arrays, as in scikit-learn, and of tables, scans and clusters, by folds."""

from ..core.names import names_of_sklearn
from .classification import accuracy_score, confusion_matrix, log_loss
from .predictions import predicted
from .ranking import average_precision_score, roc_auc_score
from .regression import mean_squared_error, r2_score

__all__ = [
    "accuracy_score",
    "average_precision_score",
    "confusion_matrix",
    "log_loss",
    "mean_squared_error",
    "predicted",
    "r2_score",
    "roc_auc_score",
]

__getattr__ = names_of_sklearn(__name__)
