"""Features whose inner products approximate a kernel, so that linear models of them are kernel machines."""

from ..core.names import names_of_sklearn
from .nystroem import Nystroem
from .rbf_sampler import RBFSampler

__all__ = ["Nystroem", "RBFSampler"]

__getattr__ = names_of_sklearn(__name__)
