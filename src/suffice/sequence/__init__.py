"""Models of sequences: hidden Markov, conditional random fields, max-margin."""

from .chain import Chains

__all__ = ["Chains"]
