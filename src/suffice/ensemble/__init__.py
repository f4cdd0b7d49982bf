"""Ensembles: boosting."""

from .adaboost import AdaBoostClassifier

__all__ = [
    "AdaBoostClassifier",
]
