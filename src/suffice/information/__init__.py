"""Density ratios and divergences."""

from .density_ratio import RelativeDensityRatio
from .divergences import relative_density_ratio, relative_pearson

__all__ = ["RelativeDensityRatio", "relative_density_ratio", "relative_pearson"]
