"""Mixture models."""

from .gaussian import GaussianMixture
from .latent_class import LatentClass
from .poisson import PoissonMixture

__all__ = ["GaussianMixture", "LatentClass", "PoissonMixture"]
