"""Feature extraction from text."""

from ...core.names import names_of_sklearn
from .count_vectorizer import CountVectorizer
from .hashing_vectorizer import HashingVectorizer
from .tfidf import TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]

__getattr__ = names_of_sklearn(__name__)
