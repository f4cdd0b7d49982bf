"""Ensembles of trees and of other models."""

from ..core.names import names_of_sklearn
from .adaboost import AdaBoostClassifier
from .bagging import BaggingClassifier, BaggingRegressor
from .effects import boosting_effects
from .forest import RandomForestClassifier, RandomForestRegressor
from .gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from .hist_gradient_boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from .stagewise import ForwardStagewiseClassifier, ForwardStagewiseRegressor

__all__ = [
    "AdaBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "ForwardStagewiseClassifier",
    "ForwardStagewiseRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "boosting_effects",
]

__getattr__ = names_of_sklearn(__name__)
