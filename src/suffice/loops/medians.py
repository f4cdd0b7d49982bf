"""Sums of absolute deviations from the median, of growing sets of rows."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled()

MOST_PAIRS = 1 << 18  # of rows and distinct targets that NumPy compares in less time than the compiler takes


@jit
def median_errors(rank, weight, value):
    """The weighted sum of absolute deviations of the first n rows from their weighted median, for each n.

    A Fenwick tree over the ranks has the weights and the weighted targets of the rows so far, so that each
    row takes a logarithmic number of steps. All numbers are int64.

    Parameters
    ----------
    rank : int64 (N,), the place of the target of each row among the distinct targets.
    weight : int64 (N,)
    value : int64 (R,), the distinct targets, in order.
    """
    R = len(value)
    weights, sums = np.zeros(R + 1, np.int64), np.zeros(R + 1, np.int64)
    out = np.empty(len(rank), np.int64)
    highest = 1
    while 2 * highest <= R:
        highest *= 2
    W, S = np.int64(0), np.int64(0)
    for i in range(len(rank)):
        w, s = weight[i], weight[i] * value[rank[i]]
        W, S = W + w, S + s
        j = rank[i] + 1
        while j <= R:
            weights[j] += w
            sums[j] += s
            j += j & -j
        place, below, sum_below, step = 0, np.int64(0), np.int64(0), highest
        while step > 0:  # the ranks below the median have less than half of the weight
            if place + step <= R and 2 * (below + weights[place + step]) < W:
                place += step
                below += weights[place]
                sum_below += sums[place]
            step //= 2
        median = value[min(place, R - 1)]
        out[i] = S - 2 * sum_below - median * (W - 2 * below)
    return out


@median_errors.small_exact
def _(rank, weight, value):
    N, R = len(rank), len(value)
    if N * R > MOST_PAIRS:
        return NotImplemented
    weights = np.zeros((N, R), np.int64)
    weights[np.arange(N), rank] = weight
    sums = np.cumsum(np.cumsum(weights * value, axis=0), axis=1)
    weights = np.cumsum(np.cumsum(weights, axis=0), axis=1)
    W = weights[:, -1]
    place = np.minimum((2 * weights < W[:, None]).sum(axis=1), R - 1)
    rows, before = np.arange(N), np.maximum(place - 1, 0)
    below = np.where(place > 0, weights[rows, before], 0)
    sum_below = np.where(place > 0, sums[rows, before], 0)
    return sums[:, -1] - 2 * sum_below - value[place] * (W - 2 * below)
