"""Feature extraction from text."""

from .text import CountVectorizer

__all__ = ["CountVectorizer"]
