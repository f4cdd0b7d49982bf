"""Naive Bayes: features independent given the class."""

from .gaussian import GaussianNB
from .mixed import MixedNB

__all__ = ["GaussianNB", "MixedNB"]
