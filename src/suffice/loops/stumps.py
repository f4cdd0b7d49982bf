"""Trees of one split, from codes of features and integer weights of rows, which boosting changes."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from .compiled import MOST_VISITS, compiled
from .trees import (
    ENTROPY,
    GINI,
    MISSING_LEFT,
    NONE_MISSING,
    best_of_feature,
    gain_of_two,
    occupied,
    sort_categories,
    worth,
)

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
    hist, bins, place = np.empty((B + 1, K), np.int64), np.empty(B + 1, np.int64), np.arange(B + 1)
    edge, left, left_bins = np.zeros(2, np.int64), np.zeros(K, np.int64), bins[:0]
    m = occupied(count, True, hist, bins)
    has_missing = m > 0 and bins[m - 1] == B - 1
    if m < 2:
        return -1.0, edge, NONE_MISSING, left_bins, left
    if has_missing:
        m -= 1
    else:
        hist[m] = 0
    ordered = not categorical or K == 2
    if categorical and ordered:
        sort_categories(hist, place, m, criterion, np.empty(m))
    parent = worth(total, criterion)
    g, n, side = best_of_feature(
        hist, place, m, m, total, parent, criterion, least, ordered, cst, -np.inf, np.inf
    )
    if g < 0.0:
        return -1.0, edge, NONE_MISSING, left_bins, left
    for j in range(0 if ordered else n - 1, n):
        left += hist[place[j]]
    if has_missing and side == MISSING_LEFT:
        left += hist[m]
    if categorical:
        left_bins = bins[place[(0 if ordered else n - 1) : n]]
    else:
        edge[0] = bins[n - 1]
        edge[1] = bins[n] if n < m else B - 1
    return g, edge, side if has_missing else NONE_MISSING, left_bins, left


@best_split.small
def _(count, categorical, cst, total, criterion, least):
    if categorical or cst:
        more = (categorical, cst, total, criterion, least)
        return best_split.python(count, *more) if count.size <= MOST_VISITS else NotImplemented
    # Bins between which no split is nearly the best are joined: few are left for Python.
    seen = np.flatnonzero(count[:-1].any(axis=1))
    joined = _nearly_best(count[seen], count[-1], total, criterion, least)
    parts = np.add.reduceat(count[seen], np.append(0, joined + 1), axis=0) if len(seen) else count[:0]
    parts = np.concatenate([parts, count[-1:]])
    g, edge, side, none, left = best_split.python(parts, categorical, cst, total, criterion, least)
    if g >= 0.0:
        last = joined[edge[0]] if edge[0] < len(joined) else len(seen) - 1
        edge = np.array([seen[last], seen[last + 1] if last + 1 < len(seen) else len(count) - 1])
    return g, edge, side, none, left


def _nearly_best(count, missing, total, criterion, least):
    """The bins after which a split is the best, but for rounding; not the last one."""
    out = np.zeros(len(count), bool)
    best, gains = -np.inf, []
    for first in (np.zeros_like(missing), missing):
        left = np.cumsum(count[:-1], axis=0) + first
        right = total - left
        short = np.minimum(left.sum(axis=1), right.sum(axis=1)) < max(least, 1)
        gains.append(np.where(short, -np.inf, _worths(left, criterion) + _worths(right, criterion)))
        best = max(best, gains[-1].max(initial=-np.inf))
    for gain in gains:
        out[: len(gain)] |= (gain >= best - 1e-9 * total.sum()) & (gain > -np.inf)
    return np.flatnonzero(out)


def _worths(s, criterion):
    """`trees.worth` of many nodes, to rounding."""
    s = s.astype(np.float64)
    size = np.maximum(s.sum(axis=1), 1.0)
    if criterion == GINI:
        return (s * s).sum(axis=1) / size
    if criterion == ENTROPY:
        return xlogy(s, s / size[:, None]).sum(axis=1) / np.log(2.0)
    return s.max(axis=1)


# --- two classes, many bins ----------------------------------------------------------------------------

RUN = 6  # bits of a code that are left out in a first, coarse histogram, which fits in the fastest cache
EPS = 2.0**-50


@jit
def count_runs(codes, group, entry, count):
    """Add the weights of rows (D, N) to histograms (D, J, 2) of runs of 2^RUN bins."""
    for d in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            count[d, np.int64(codes[d, i]) >> RUN, group[i]] += entry[i, 0]


@count_runs.small_exact
def _(codes, group, entry, count):
    for of_feature, c in zip(count, codes, strict=True):
        np.add.at(of_feature, (c.astype(np.int64) >> RUN, group), entry[:, 0])


@jit
def largest_gain(left_0, left_1, total_0, total_1):
    """At least the gain of a split: see `trees.gain_of_two`, with the largest rounding error."""
    a, b, c, d = float(left_0), float(left_1), float(total_0 - left_0), float(total_1 - left_1)
    cross = abs(b * c - d * a) + EPS * (b * c + d * a)
    return cross * cross / (a * c) if a > 0.0 and c > 0.0 else 0.0


@jit
def bounds_of_runs(count, total_0, total_1, least, bound):
    """For each run of bins (J, 2), an upper bound of the gains of splits within it or after it; returns the
    largest gain of a split after a run.

    The gain is a convex function of the weights of the classes on the left, so within a run it is largest at
    a corner of the rectangle that they are in.
    """
    best, left_0, left_1 = 0.0, np.int64(0), np.int64(0)
    total = total_0 + total_1
    for j in range(len(count)):
        bound[j] = 0.0
        next_0, next_1 = left_0 + count[j, 0], left_1 + count[j, 1]
        for corner in range(4):
            x_1 = next_1 if corner & 1 else left_1
            x = x_1 + (next_0 if corner & 2 else left_0)
            bound[j] = max(bound[j], largest_gain(x, x_1, total, total_1))
            if corner == 3 and x >= least and total - x >= least:
                cross, product = gain_of_two(x, x_1, total, total_1)
                best = max(best, cross / product)
        left_0, left_1 = next_0, next_1
    return best


@jit
def best_in_runs(codes, group, entry, count, bound, lowest, total_0, total_1, least):
    """The best split of a feature, in the runs of bins whose bound is not below `lowest`.

    Returns the gain, as `trees.best_of_two` does; the last bin on the left, or -1 if there is no split; and
    the weights of the classes on the left.
    """
    fine, J = np.empty((len(count) << RUN, 2), np.int64), len(count)
    for j in range(J):
        if bound[j] >= lowest:
            fine[j << RUN : (j + 1) << RUN] = 0
    for i in range(len(codes)):
        c = np.int64(codes[i])
        if bound[c >> RUN] >= lowest:
            fine[c, group[i]] += entry[i, 0]
    best, product, bin_, best_0, best_1 = 0.0, 1.0, np.int64(-1), np.int64(0), np.int64(0)
    left_0, left_1, total = np.int64(0), np.int64(0), total_0 + total_1
    for j in range(J):
        if bound[j] < lowest:
            left_0, left_1 = left_0 + count[j, 0], left_1 + count[j, 1]
            continue
        for b in range(j << RUN, (j + 1) << RUN):
            if fine[b, 0] + fine[b, 1] == 0:
                continue
            left_0, left_1 = left_0 + fine[b, 0], left_1 + fine[b, 1]
            x = left_0 + left_1
            if x < least or total - x < least or x == total:
                continue
            g, p = gain_of_two(x, left_1, total, total_1)
            if g * product > best * p or bin_ < 0:
                best, product, bin_, best_0, best_1 = g, p, np.int64(b), left_0, left_1
    return 2.0 * best / product / float(total), bin_, best_0, best_1


@jit
def next_bin(codes, entry, bin_, n_bins):
    """The first bin after this one that has a weight."""
    out = n_bins
    for i in range(len(codes)):
        if codes[i] > bin_ and codes[i] < out and entry[i, 0] > 0:
            out = np.int64(codes[i])
    return out


# --- weights -------------------------------------------------------------------------------------------


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
