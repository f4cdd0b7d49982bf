"""Features from what is not a table of numbers."""

from .text import CountVectorizer

__all__ = ["CountVectorizer"]
