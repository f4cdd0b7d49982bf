"""Feature extraction from text."""

from ..core.names import names_of_sklearn
from .text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]

__getattr__ = names_of_sklearn(__name__)
