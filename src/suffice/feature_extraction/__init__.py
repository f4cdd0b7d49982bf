"""Feature extraction from text."""

from .text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
