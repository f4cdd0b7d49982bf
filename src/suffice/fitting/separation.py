"""Detection of linearly separable classes, for which log-linear models without penalty have no optimum.

The likelihood then increases without bound with the norm of the coefficients.

Albert and Anderson, "On the existence of maximum likelihood estimates in logistic regression models", 1984.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.blocks import Block
from ..core.loop import Progress
from ..core.partitions import Partitions
from ..statistics import Extremes

# If the mean loss is larger, the classes overlap, or the fit ended too early to tell.
SMALL_LOSS = 0.1


def without_maximum(progress: Progress, data: Partitions, strength: float) -> Progress:
    """Return the progress with the reason "separable classes" if its model separates the classes.

    `progress.model` has `margins`, `progress.statistics` has the sum of the loss, and `strength` is the
    strength of the penalty.
    """
    s = progress.statistics
    if strength > 0 or not s.loss <= SMALL_LOSS * s.weight:
        return progress
    least = data.fold(_least_margin, progress.model).low[0]
    return progress.replace(stopped_because="separable classes") if least > 0 else progress


def margins(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the margin of each row, (N,): the score (N, K) of its class minus the largest other score."""
    row = np.arange(len(codes))
    own, others = scores[row, codes], scores.copy()
    others[row, codes] = -np.inf
    return own - others.max(axis=1, initial=-np.inf)


def _least_margin(model: Any, block: Block) -> Extremes:
    """Return the smallest margin of the rows with positive weight."""
    return Extremes(model.margins(block)[block.weight > 0].min(initial=np.inf)[None], np.zeros(0))
