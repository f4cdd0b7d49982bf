"""Matrix decompositions."""

from .bilinear_nmf import BilinearNMF
from .incremental_pca import IncrementalPCA
from .kernel_pca import KernelPCA
from .latent_dirichlet_allocation import LatentDirichletAllocation
from .nmf import NMF
from .pca import PCA
from .truncated_svd import TruncatedSVD

__all__ = [
    "NMF",
    "PCA",
    "BilinearNMF",
    "IncrementalPCA",
    "KernelPCA",
    "LatentDirichletAllocation",
    "TruncatedSVD",
]
