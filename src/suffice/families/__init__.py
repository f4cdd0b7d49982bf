"""Families of densities, and models over them: mixtures, labelled classes, conjugate priors."""

from ..core.model import Family
from .bayesian import GibbsMixture, VariationalMixture
from .discrete import Bernoulli, Categorical, Multinomial, Poisson
from .factor import FactorGaussian
from .gaussian import (
    GAUSSIANS,
    DiagonalGaussian,
    FullGaussian,
    Gaussian,
    GaussianPrior,
    SphericalGaussian,
    TiedGaussian,
)
from .mixture import GroupStatistics, Labelled, Mixture, Mixtures, PartlyLabelled
from .posteriors import Posterior, Sticks
from .priors import Beta, Dirichlet, InverseWishart, NormalPrior
from .product import ProductFamily

__all__ = [
    "GAUSSIANS",
    "Bernoulli",
    "Beta",
    "Categorical",
    "DiagonalGaussian",
    "Dirichlet",
    "FactorGaussian",
    "Family",
    "FullGaussian",
    "Gaussian",
    "GaussianPrior",
    "GibbsMixture",
    "GroupStatistics",
    "InverseWishart",
    "Labelled",
    "Mixture",
    "Mixtures",
    "Multinomial",
    "NormalPrior",
    "PartlyLabelled",
    "Poisson",
    "Posterior",
    "ProductFamily",
    "SphericalGaussian",
    "Sticks",
    "TiedGaussian",
    "VariationalMixture",
]
