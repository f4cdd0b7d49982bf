"""Mixture models."""

from .bayesian import BayesianGaussianMixture
from .gaussian import GaussianMixture
from .latent_class import LatentClass
from .mixed import MixedMixture
from .poisson import PoissonMixture

__all__ = ["BayesianGaussianMixture", "GaussianMixture", "LatentClass", "MixedMixture", "PoissonMixture"]
