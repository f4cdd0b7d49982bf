"""Features from what is not a table of numbers."""

from . import text
from .text import CountVectorizer

__all__ = ["CountVectorizer", "text"]
