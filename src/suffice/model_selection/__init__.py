"""Searches that share passes over the data."""

from .grid_search import GridSearch

__all__ = ["GridSearch"]
