"""Probabilities of classes from raw scores."""

from __future__ import annotations

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """exp(score) of each row, divided by their sum."""
    share = np.exp(scores - scores.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return share


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The logarithm of `softmax`."""
    scores = scores - scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores
