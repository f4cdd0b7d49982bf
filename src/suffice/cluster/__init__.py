"""Clustering."""

from ..core.names import names_of_sklearn
from .agglomerative import AgglomerativeClustering
from .bisecting_k_means import BisectingKMeans
from .choose_k import choose_k
from .divisive import DivisiveClustering
from .fusion import FusionClustering
from .k_centroids import KCentroids
from .k_means import KMeans
from .k_medoids import KMedoids
from .kernel_k_means import KernelKMeans
from .measures import (
    describe_clusters,
    dissimilarity,
    graph_cut,
    is_cluster,
    normalized_cut_weights,
    sums_of_squares,
)
from .mini_batch_k_means import MiniBatchKMeans
from .spectral import SpectralClustering
from .x_means import XMeans

__all__ = [
    "AgglomerativeClustering",
    "BisectingKMeans",
    "DivisiveClustering",
    "FusionClustering",
    "KCentroids",
    "KMeans",
    "KMedoids",
    "KernelKMeans",
    "MiniBatchKMeans",
    "SpectralClustering",
    "XMeans",
    "choose_k",
    "describe_clusters",
    "dissimilarity",
    "graph_cut",
    "is_cluster",
    "normalized_cut_weights",
    "sums_of_squares",
]

__getattr__ = names_of_sklearn(__name__)
