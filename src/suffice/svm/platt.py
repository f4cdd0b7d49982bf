"""Probabilities of classes from the scores of pairs: Platt's sigmoids, and their coupling.

Platt, "Probabilistic outputs for support vector machines", 1999; Wu, Lin and Weng, "Probability estimates for
multi-class classification by pairwise coupling", JMLR 5, 2004.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

FOLDS = 5  # scores are those of fits without the fold of a row, as in LIBSVM
LEAST = 1e-7  # least probability of a class of a pair, as in LIBSVM


def sigmoid_of(score: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Fit a and b of p(y = 1 given the score f) = 1 / (1 + exp(a f + b))."""
    from sklearn.calibration import _sigmoid_calibration  # imported late: it imports much

    return np.array(_sigmoid_calibration(score, y, sample_weight=weight))


def coupled(scores: np.ndarray, sigmoids: np.ndarray, pairs: list[tuple[int, int]], K: int) -> np.ndarray:
    """The probabilities of K classes, (N, K), from the scores of pairs, (N, P).

    With r_ij of class i in the pair i and j, they minimize the sum of (r_ji p_i - r_ij p_j)^2.
    """
    r = np.zeros((len(scores), K, K))
    for f, (a, b), (i, j) in zip(scores.T, sigmoids, pairs, strict=True):
        r[:, i, j] = np.clip(expit(-(a * f + b)), LEAST, 1.0 - LEAST)
        r[:, j, i] = 1.0 - r[:, i, j]
    if K == 2:
        return np.column_stack([r[:, 0, 1], r[:, 1, 0]])
    system = np.ones((len(scores), K + 1, K + 1))
    system[:, :K, :K] = -r * r.transpose(0, 2, 1)
    system[:, range(K), range(K)] = (r**2).sum(axis=1)
    system[:, K, K] = 0.0
    right = np.zeros((len(scores), K + 1, 1))
    right[:, K] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :K, 0], 0.0)
    return p / p.sum(axis=1, keepdims=True)
