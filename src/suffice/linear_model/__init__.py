"""Linear models."""

from .additive import AdditiveModel, GeneralizedAdditiveModel
from .basis_functions import BasisFunctions
from .bayesian import BayesianLinearRegression
from .coordinate_descent import ElasticNet, ElasticNetCV, Lasso, LassoCV, enet_path
from .entropy_distribution import maximum_entropy_distribution, minimum_norm_distribution
from .feature_selection import select_features
from .huber import HuberRegressor
from .least_squares import LinearRegression, Ridge
from .logistic import LogisticRegression
from .margins import hyperplane_distance, hyperplane_projection, is_linearly_separable, margin, novikoff_bound
from .maximum_entropy import MaximumEntropy
from .model_averaging import BayesianModelAveraging, model_probabilities
from .perceptron import Perceptron
from .projection_pursuit import ProjectionPursuitClassifier, ProjectionPursuitRegressor
from .proportional_odds import ProportionalOdds
from .quantile import QuantileRegressor
from .ridge_classifier import RidgeClassifier
from .smoothing_spline import SmoothingSpline

__all__ = [
    "AdditiveModel",
    "BasisFunctions",
    "BayesianLinearRegression",
    "BayesianModelAveraging",
    "ElasticNet",
    "ElasticNetCV",
    "GeneralizedAdditiveModel",
    "HuberRegressor",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LogisticRegression",
    "MaximumEntropy",
    "Perceptron",
    "ProjectionPursuitClassifier",
    "ProjectionPursuitRegressor",
    "ProportionalOdds",
    "QuantileRegressor",
    "Ridge",
    "RidgeClassifier",
    "SmoothingSpline",
    "enet_path",
    "hyperplane_distance",
    "hyperplane_projection",
    "is_linearly_separable",
    "margin",
    "maximum_entropy_distribution",
    "minimum_norm_distribution",
    "model_probabilities",
    "novikoff_bound",
    "select_features",
]
