"""Markov chains."""

from .markov_chain import Absorption, MarkovChain, TransitionCounts

__all__ = ["Absorption", "MarkovChain", "TransitionCounts"]
