"""Matrix decompositions."""

from ..core.names import names_of_sklearn
from .bilinear_nmf import BilinearNMF
from .binary_pca import BinaryPCA
from .factor_analysis import FactorAnalysis, ProbabilisticPCA
from .factor_number import factor_number_test, parallel_analysis
from .fast_ica import FastICA
from .incremental_pca import IncrementalPCA
from .kernel_pca import KernelPCA
from .latent_dirichlet_allocation import LatentDirichletAllocation
from .nmf import NMF
from .pca import PCA
from .robust_pca import RobustPCA
from .rotation import RotatedLoadings, identify_loadings, rotate_loadings
from .sparse_pca import SparsePCA
from .truncated_svd import TruncatedSVD
from .whitening import Whitening

__all__ = [
    "NMF",
    "PCA",
    "BilinearNMF",
    "BinaryPCA",
    "FactorAnalysis",
    "FastICA",
    "IncrementalPCA",
    "KernelPCA",
    "LatentDirichletAllocation",
    "ProbabilisticPCA",
    "RobustPCA",
    "RotatedLoadings",
    "SparsePCA",
    "TruncatedSVD",
    "Whitening",
    "factor_number_test",
    "identify_loadings",
    "parallel_analysis",
    "rotate_loadings",
]

__getattr__ = names_of_sklearn(__name__)
