"""Embeddings of rows that lie near a curved surface."""

from ..core.names import names_of_sklearn
from .locally_linear import LocallyLinearEmbedding, reconstruction_weights

__all__ = ["LocallyLinearEmbedding", "reconstruction_weights"]

__getattr__ = names_of_sklearn(__name__)
