"""Ensembles of trees and of other models."""

from ..core.names import names_of_sklearn
from .adaboost import AdaBoost, AdaBoostClassifier
from .bagging import Bagging, BaggingClassifier, BaggingRegressor
from .boosting import BoostedTrees
from .effects import boosting_effects
from .forest import RandomForestClassifier, RandomForestRegressor
from .gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from .hist_gradient_boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from .stagewise import ForwardStagewiseClassifier, ForwardStagewiseRegressor, Stagewise

__all__ = [
    "AdaBoost",
    "AdaBoostClassifier",
    "Bagging",
    "BaggingClassifier",
    "BaggingRegressor",
    "BoostedTrees",
    "ForwardStagewiseClassifier",
    "ForwardStagewiseRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "Stagewise",
    "boosting_effects",
]

__getattr__ = names_of_sklearn(__name__)
