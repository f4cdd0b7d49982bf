"""Models of sequences: hidden Markov, conditional random fields, max-margin."""

from .chain import Chains
from .hidden_markov import HiddenMarkov, HiddenMarkovModel, StateFilter

__all__ = [
    "Chains",
    "HiddenMarkov",
    "HiddenMarkovModel",
    "StateFilter",
]
