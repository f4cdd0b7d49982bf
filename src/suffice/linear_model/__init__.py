"""Linear models."""

from ..core.names import names_of_sklearn
from .bayesian import BayesianLinearRegression
from .bayesian_ridge import BayesianRidge
from .coordinate_descent import ElasticNet, ElasticNetCV, Lasso, LassoCV, enet_path, lasso_path
from .entropy_distribution import maximum_entropy_distribution, minimum_norm_distribution
from .feature_selection import select_features
from .glm import GammaRegressor, PoissonRegressor, TweedieRegressor
from .huber import HuberRegressor
from .kernel_logistic import KernelLogisticRegression
from .least_squares import LinearRegression, Ridge
from .logistic import LogisticRegression
from .logistic_cv import LogisticRegressionCV
from .maximum_entropy import MaximumEntropy
from .model_averaging import BayesianModelAveraging, model_probabilities
from .perceptron import Perceptron
from .perceptron_variants import KernelPerceptron, MarginPerceptron, PocketPerceptron, VotedPerceptron
from .proportional_odds import ProportionalOdds
from .quantile import QuantileRegressor
from .ridge_classifier import RidgeClassifier
from .ridge_cv import RidgeCV
from .sgd import SGDClassifier, SGDRegressor

__all__ = [
    "BayesianLinearRegression",
    "BayesianModelAveraging",
    "BayesianRidge",
    "ElasticNet",
    "ElasticNetCV",
    "GammaRegressor",
    "HuberRegressor",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MarginPerceptron",
    "MaximumEntropy",
    "Perceptron",
    "PocketPerceptron",
    "PoissonRegressor",
    "ProportionalOdds",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "SGDClassifier",
    "SGDRegressor",
    "TweedieRegressor",
    "VotedPerceptron",
    "enet_path",
    "lasso_path",
    "maximum_entropy_distribution",
    "minimum_norm_distribution",
    "model_probabilities",
    "select_features",
]

__getattr__ = names_of_sklearn(__name__)
