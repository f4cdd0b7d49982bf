"""Ridge regression in the space of a kernel."""

from ..core.names import names_of_sklearn
from .kernel_ridge import KernelRidge

__all__ = ["KernelRidge"]

__getattr__ = names_of_sklearn(__name__)
