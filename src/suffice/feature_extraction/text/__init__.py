"""Feature extraction from text."""

from .count_vectorizer import CountVectorizer
from .hashing_vectorizer import HashingVectorizer
from .tfidf import TfidfTransformer, TfidfVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]
