"""Trees of one split, from codes of features and integer weights of rows, which boosting changes."""

from __future__ import annotations

import numpy as np

from .compiled import MOST_VISITS, compiled
from .trees import MISSING_LEFT, NO_SPLIT, find_split

jit = compiled()


@jit
def count_classes(codes, group, entry, count):
    """Add the weights (N, 1) of rows to the histogram (B, K) of one feature."""
    for i in range(len(codes)):
        count[np.int64(codes[i]), group[i]] += entry[i, 0]


@count_classes.small_exact
def _(codes, group, entry, count):
    np.add.at(count, (codes.astype(np.int64), group), entry[:, 0])


@jit
def best_split(count, categorical, cst, total, criterion, least):
    """The best split of one feature, from its histogram (B, K), whose last bin is that of missing values.

    Returns the gain, which is negative if there is no split; the bins at both sides of the threshold; where
    missing values go; the categories on the left; and the weights of the classes there.
    """
    B, K = count.shape
    one, none = np.zeros(1, np.int64), np.empty((1, 0), np.int32)
    g, d, edge, side, left_bins = find_split(
        none, none, one[:0], np.empty((0, 1), np.int64), count, np.array([0, B]), np.empty(0),
        np.array([B - 1]), np.array([categorical]), np.array([cst]), total, criterion, least, 1, np.uint64(0),
        -np.inf, np.inf, np.empty((B + 1, K), np.int64), np.empty(B + 1, np.int64),
        np.empty(B + 1, np.int64), one,
    )  # fmt: skip
    left = np.zeros(K, np.int64)
    if d == NO_SPLIT:
        return -1.0, edge, side, left_bins, left
    if categorical:
        for b in left_bins:
            left += count[b]
    else:
        for b in range(edge[0] + 1):
            for k in range(K):
                left[k] += count[b, k]
    if side == MISSING_LEFT:
        left += count[B - 1]
    return g, edge, side, left_bins, left


@best_split.small
def _(count, *more):
    return best_split.python(count, *more) if count.size <= MOST_VISITS else NotImplemented


@jit
def reweigh(answer, group, change, factor, weight, unit, new_factor, entry):
    """Multiply the factor of each row by the change (A, K) of its answer and its class, and round its weight,
    times the factor, to integers of this unit. Whole weights are multiplied exactly."""
    for i in range(len(answer)):
        v = factor[i] * change[answer[i], group[i]]
        new_factor[i] = v
        x, whole = np.rint(v * unit), np.floor(weight[i])
        entry[i, 0] = np.int64(whole) * np.int64(x) + np.int64(np.rint((weight[i] - whole) * x))


@reweigh.small_exact
def _(answer, group, change, factor, weight, unit, new_factor, entry):
    new_factor[:] = factor * change[answer, group]
    x, whole = np.rint(new_factor * unit), np.floor(weight)
    entry[:, 0] = whole.astype(np.int64) * x.astype(np.int64) + np.rint((weight - whole) * x).astype(np.int64)
