"""Ensembles: boosting."""

from .adaboost import AdaBoost, AdaBoostClassifier
from .stagewise import ForwardStagewiseClassifier, ForwardStagewiseRegressor, Stagewise

__all__ = [
    "AdaBoost",
    "AdaBoostClassifier",
    "ForwardStagewiseClassifier",
    "ForwardStagewiseRegressor",
    "Stagewise",
]
