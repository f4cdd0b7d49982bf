"""Matrix decompositions."""

from .bilinear_nmf import BilinearNMF
from .nmf import NMF
from .pca import PCA
from .truncated_svd import TruncatedSVD

__all__ = ["NMF", "PCA", "BilinearNMF", "TruncatedSVD"]
