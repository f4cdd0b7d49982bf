"""Decompositions of rows."""

from .pca import PCA

__all__ = ["PCA"]
