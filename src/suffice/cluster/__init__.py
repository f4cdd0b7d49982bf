"""Clustering."""

from .k_means import KMeans
from .mini_batch_k_means import MiniBatchKMeans

__all__ = ["KMeans", "MiniBatchKMeans"]
