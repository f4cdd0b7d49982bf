"""Sequence models: hidden Markov models, conditional random fields, max-margin Markov networks, structured
perceptron."""

from .chain import Chains
from .chunking import Chunk, ChunkScore, ChunkScores, chunk_scores, chunks
from .classifier import SequenceClasses, SequenceClassifier
from .conditional_random_field import ConditionalRandomField, Explanation, LinearChain
from .hidden_markov import HiddenMarkov, HiddenMarkovModel, StateFilter
from .linear_gaussian import LinearGaussianStateSpace
from .max_margin import MarginChain, MaxMarginMarkovNetwork
from .perceptron import StructuredPerceptron

__all__ = [
    "Chains",
    "Chunk",
    "ChunkScore",
    "ChunkScores",
    "ConditionalRandomField",
    "Explanation",
    "HiddenMarkov",
    "HiddenMarkovModel",
    "LinearChain",
    "LinearGaussianStateSpace",
    "MarginChain",
    "MaxMarginMarkovNetwork",
    "SequenceClasses",
    "SequenceClassifier",
    "StateFilter",
    "StructuredPerceptron",
    "chunk_scores",
    "chunks",
]
