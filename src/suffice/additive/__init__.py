"""Additive models: smoothing splines, sums of smooth functions, projection pursuit."""

from .additive_model import AdditiveModel, GeneralizedAdditiveModel
from .projection_pursuit import ProjectionPursuitClassifier, ProjectionPursuitRegressor
from .smoothing_spline import SmoothingSpline

__all__ = [
    "AdditiveModel",
    "GeneralizedAdditiveModel",
    "ProjectionPursuitClassifier",
    "ProjectionPursuitRegressor",
    "SmoothingSpline",
]
