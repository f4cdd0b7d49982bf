"""Features whose inner products approximate a kernel, so that linear models of them are kernel machines."""

from .nystroem import Nystroem
from .rbf_sampler import RBFSampler

__all__ = ["Nystroem", "RBFSampler"]
