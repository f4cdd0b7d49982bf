"""Models of sequences: hidden Markov, conditional random fields, max-margin."""

from .chain import Chains
from .conditional_random_field import ConditionalRandomField, Explanation, LinearChain
from .hidden_markov import HiddenMarkov, HiddenMarkovModel, StateFilter

__all__ = [
    "Chains",
    "ConditionalRandomField",
    "Explanation",
    "HiddenMarkov",
    "HiddenMarkovModel",
    "LinearChain",
    "StateFilter",
]
