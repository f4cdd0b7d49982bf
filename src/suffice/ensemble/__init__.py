"""Ensembles of trees and of other models."""

from .adaboost import AdaBoost, AdaBoostClassifier
from .forest import RandomForestClassifier, RandomForestRegressor
from .stagewise import ForwardStagewiseClassifier, ForwardStagewiseRegressor, Stagewise

__all__ = [
    "AdaBoost",
    "AdaBoostClassifier",
    "ForwardStagewiseClassifier",
    "ForwardStagewiseRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Stagewise",
]
