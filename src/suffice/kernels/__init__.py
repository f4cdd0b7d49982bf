"""Kernel functions as values: they add, multiply and nest, are stored, and go into any ``kernel=``."""

from .base import Centered, Exponential, Kernel, Normalized, Product, Scaled, Sum
from .checks import Definiteness, is_positive_definite
from .expansion import KernelColumns, KernelExpansion
from .strings import Subsequences, string_kernel
from .vectors import (
    Function,
    Gaussian,
    Laplacian,
    Linear,
    Named,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
    is_of_strings,
    is_precomputed,
)

__all__ = [
    "Centered",
    "Definiteness",
    "Exponential",
    "Function",
    "Gaussian",
    "Kernel",
    "KernelColumns",
    "KernelExpansion",
    "Laplacian",
    "Linear",
    "Named",
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Subsequences",
    "Sum",
    "as_kernel",
    "is_of_strings",
    "is_positive_definite",
    "is_precomputed",
    "string_kernel",
]
