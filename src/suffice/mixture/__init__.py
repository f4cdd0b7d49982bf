"""Mixture models."""

from ..core.names import names_of_sklearn
from .bayesian import BayesianGaussianMixture
from .gaussian import GaussianMixture
from .latent_class import LatentClass
from .mixed import MixedMixture
from .poisson import PoissonMixture

__all__ = ["BayesianGaussianMixture", "GaussianMixture", "LatentClass", "MixedMixture", "PoissonMixture"]

__getattr__ = names_of_sklearn(__name__)
