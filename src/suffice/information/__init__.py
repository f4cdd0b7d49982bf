"""Entropies, divergences and density ratios."""

from .density_ratio import RelativeDensityRatio
from .divergences import relative_density_ratio, relative_pearson
from .entropies import entropy, f_divergence, kl_divergence
from .independence import mutual_information, negentropy

__all__ = [
    "RelativeDensityRatio",
    "entropy",
    "f_divergence",
    "kl_divergence",
    "mutual_information",
    "negentropy",
    "relative_density_ratio",
    "relative_pearson",
]
