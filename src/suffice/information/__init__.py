"""Entropies, divergences and density ratios."""

from .density_ratio import RelativeDensityRatio
from .divergences import relative_density_ratio, relative_pearson
from .entropies import entropy, f_divergence, kl_divergence

__all__ = [
    "RelativeDensityRatio",
    "entropy",
    "f_divergence",
    "kl_divergence",
    "relative_density_ratio",
    "relative_pearson",
]
