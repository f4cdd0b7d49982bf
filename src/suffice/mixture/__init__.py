"""Mixtures: groups that are hidden."""

from .gaussian import GaussianMixture

__all__ = ["GaussianMixture"]
