"""Embeddings of rows that lie near a curved surface."""

from .locally_linear import LocallyLinearEmbedding, Reconstruction, reconstruction_weights

__all__ = ["LocallyLinearEmbedding", "Reconstruction", "reconstruction_weights"]
