"""Kernel functions as values: they add, multiply and nest, are stored, and go into any ``kernel=``."""

from .base import Centered, Exponential, Kernel, Normalized, Product, Scaled, Sum
from .checks import Definiteness, is_positive_definite
from .expansion import KernelColumns, KernelExpansion
from .strings import Subsequences, string_kernel
from .vectors import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid, as_kernel, is_precomputed

__all__ = [
    "RBF",
    "Centered",
    "Definiteness",
    "Exponential",
    "Kernel",
    "KernelColumns",
    "KernelExpansion",
    "Laplacian",
    "Linear",
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Subsequences",
    "Sum",
    "as_kernel",
    "is_positive_definite",
    "is_precomputed",
    "string_kernel",
]
