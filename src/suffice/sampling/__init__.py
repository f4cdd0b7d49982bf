"""Markov chains."""

from .markov_chain import Absorption, Chain, MarkovChain, TransitionCounts

__all__ = ["Absorption", "Chain", "MarkovChain", "TransitionCounts"]
