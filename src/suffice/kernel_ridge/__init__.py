"""Ridge regression in the space of a kernel."""

from .kernel_ridge import KernelRidge

__all__ = ["KernelRidge"]
