"""Trees of one split, from codes of features and integer weights of rows, which boosting changes."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from .compiled import MOST_VISITS, compiled
from .trees import (
    ENTROPY,
    GINI,
    INDICATORS,
    MISCLASSIFICATION,
    MISSING_LEFT,
    MISSING_RIGHT,
    NONE_MISSING,
    POISSON,
    SQUARED_ERROR,
)

jit = compiled()

# --- what is that of trees, as in native/trees.hpp ------------------------------------------------------


@jit
def worth(s, criterion):
    """Minus the weighted impurity of a node with these sums, up to a term that a split does not change."""
    if criterion == SQUARED_ERROR:
        return 0.0  # see `gain`
    total, most, squares, logs = 0.0, 0.0, 0.0, 0.0
    if criterion == POISSON:
        for k in range(1, len(s)):
            logs += s[k] * np.log(s[k] / float(s[0])) if s[k] > 0 else -np.inf
        return logs
    if criterion == INDICATORS:
        for k in range(1, len(s)):
            v = float(s[k])
            total += v
            if v > 0.0:
                logs += v * np.log2(v)
        return logs - total * np.log2(float(s[0]))
    for k in range(len(s)):
        v = float(s[k])
        total += v
        most = max(most, v)
        squares += v * v
        if criterion == ENTROPY and v > 0.0:
            logs += v * np.log2(v)
    if criterion == GINI:
        return squares / total
    if criterion == ENTROPY:
        return logs - total * np.log2(total)
    return most


@worth.small
def _(s, criterion):  # of a node (O,), or of several (N, O)
    if criterion == SQUARED_ERROR:
        return 0.0
    v = np.moveaxis(s.astype(float), -1, 0)
    if criterion == POISSON:
        return sum(np.where(v[1:] > 0.0, v[1:] * np.log(v[1:] / v[0]), -np.inf))
    if criterion == MISCLASSIFICATION:
        return v.max(axis=0)
    of_targets = v[1:] if criterion == INDICATORS else v
    total = sum(of_targets)
    if criterion == GINI:
        return sum(v * v) / total
    logs = sum(np.where(of_targets > 0.0, of_targets * np.log2(of_targets), 0.0))
    return logs - total * np.log2(v[0] if criterion == INDICATORS else total)


@jit
def gain(left, right, criterion, parent):
    """The decrease of the weighted impurity by a split, in units of the integer weight."""
    if criterion == SQUARED_ERROR:  # by the difference of the means, which does not cancel
        a, b, squares = float(left[0]), float(right[0]), 0.0
        for k in range(1, len(left)):
            d = left[k] / a - right[k] / b
            squares += d * d
        return a * b / (a + b) * squares
    return worth(left, criterion) + worth(right, criterion) - parent


@gain.small
def _(left, right, criterion, parent):
    if criterion == SQUARED_ERROR:
        a, b = left[..., 0].astype(float), right[..., 0].astype(float)
        d = np.moveaxis(left, -1, 0)[1:] / a - np.moveaxis(right, -1, 0)[1:] / b
        return a * b / (a + b) * sum(d * d)
    return worth.numpy(left, criterion) + worth.numpy(right, criterion) - parent


@jit
def weight_of(s, criterion):
    if criterion >= SQUARED_ERROR:
        return s[0]
    total = np.int64(0)
    for k in range(len(s)):
        total += s[k]
    return total


@weight_of.small
def _(s, criterion):
    return s[..., 0] if criterion >= SQUARED_ERROR else s.sum(axis=-1)


@jit
def value_of(s, criterion):
    """What a monotonicity constraint orders: the mean target, or the share of the second class."""
    return s[1] / float(weight_of(s, criterion))


@value_of.small
def _(s, criterion):
    return s[..., 1] / weight_of.numpy(s, criterion)


@jit
def is_allowed(left, right, criterion, sign, low, high):
    a, b = value_of(left, criterion), value_of(right, criterion)
    return (b - a) * sign >= 0.0 and a >= low and a <= high and b >= low and b <= high


@is_allowed.small
def _(left, right, criterion, sign, low, high):
    a, b = value_of.numpy(left, criterion), value_of.numpy(right, criterion)
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    return ((b - a) * sign >= 0.0) & (lower >= low) & (upper <= high)


@jit
def has_two_sums(criterion, n_outputs):
    """Whether the gain is that of `gain_of_two`."""
    return n_outputs == 2 and criterion in (SQUARED_ERROR, GINI)


@jit
def gain_of_two(left_0, left_1, total_0, total_1):
    """The gain of `best_of_two` times the total weight, as numerator and denominator."""
    a, b, c, d = float(left_0), float(left_1), float(total_0 - left_0), float(total_1 - left_1)
    cross = b * c - d * a
    return cross * cross, a * c


@jit
def best_of_two(hist, place, n, left_0, left_1, total_0, total_1, criterion, least):
    """The best split after one of the first n bins, of sums with two outputs: `best_of_feature` without
    constraints, where most of the time is spent.

    With weights a, c and sums b, d on the two sides, the gain is (b c - d a)^2 / (a c (a + c)) for the
    squared error. The Gini index of two classes is twice the variance of the indicator of the second.
    """
    best, product, first, gini = 0.0, 1.0, 0, criterion == GINI
    total_weight = total_0 + total_1 if gini else total_0
    for j in range(n):
        left_0 += hist[place[j], 0]
        left_1 += hist[place[j], 1]
        left = left_0 + left_1 if gini else left_0
        if left < least or total_weight - left < least:
            continue
        x, y = gain_of_two(left, left_1, total_weight, total_1)
        if x * product > best * y or first == 0:
            best, product, first = x, y, j + 1
    if first == 0:
        return -1.0, 0
    return (2.0 if gini else 1.0) * best / product / float(total_weight), first


def _first_best(left, allowed, total, parent, criterion, least, fast=True):
    """The largest gain and the first split that has it, of several features (F,): from the sums on the left
    (F, N, O) of the splits that are allowed."""
    if left.shape[1] == 0:
        return np.full(len(left), -1.0), np.zeros(len(left), np.int64)
    right = total - left
    allowed = allowed & (weight_of.numpy(left, criterion) >= least)
    allowed &= weight_of.numpy(right, criterion) >= least
    f = np.arange(len(left))
    if not fast or not has_two_sums.python(criterion, len(total)):
        gains = gain.numpy(left, right, criterion, parent)
        gains = np.where(allowed & (gains > -1.0), gains, -1.0)
        best = gains.argmax(axis=1)
        return gains[f, best], best
    a, b = weight_of.numpy(left, criterion).astype(float), left[..., 1].astype(float)
    c, d = weight_of.numpy(right, criterion).astype(float), right[..., 1].astype(float)
    cross = b * c - d * a
    x, y = np.where(allowed, cross * cross, 0.0), np.where(allowed, a * c, 1.0)
    ratio = np.where(allowed, x / y, -1.0)
    near = allowed & (ratio >= ratio.max(axis=1, keepdims=True) * (1.0 - 1e-12))  # others are far below
    best = near.argmax(axis=1)
    for i in np.flatnonzero(near.sum(axis=1) > 1):
        for j in np.flatnonzero(near[i]):
            if x[i, j] * y[i, best[i]] > x[i, best[i]] * y[i, j]:
                best[i] = j
    factor = 2.0 if criterion == GINI else 1.0
    gains = factor * x[f, best] / y[f, best] / float(weight_of.numpy(total, criterion))
    return np.where(allowed[f, best], gains, -1.0), best


@jit
def best_of_feature(hist, place, m, missing, total, parent, criterion, least, ordered, sign, low, high):
    """The best split of one feature between m bins, in the order of their places in the histogram.

    Returns the gain, the number of bins on the left, and where missing values go. The first of equal splits
    wins. `ordered` is whether sets of bins from the first on are candidates; else each bin alone is.
    """
    n_outputs = len(total)
    best, first, side = -1.0, 0, MISSING_RIGHT
    of_missing = hist[missing]
    n_missing = weight_of(of_missing, criterion)
    n_directions = 2 if n_missing > 0 else 1
    # All bins on the left and missing values on the right is a split too.
    if ordered and sign == 0 and has_two_sums(criterion, n_outputs):
        for direction in range(n_directions):
            last = m if n_missing > 0 and direction == MISSING_RIGHT else m - 1
            a, b = (of_missing[0], of_missing[1]) if direction == MISSING_LEFT else (np.int64(0), np.int64(0))
            g, j = best_of_two(hist, place, last, a, b, total[0], total[1], criterion, least)
            if g > best:
                best, first, side = g, j, direction
        return best, first, side
    left, right = np.empty(n_outputs, np.int64), np.empty(n_outputs, np.int64)
    for direction in range(n_directions):
        for k in range(n_outputs):
            left[k] = of_missing[k] if direction == MISSING_LEFT else 0
        last = m if not ordered or (n_missing > 0 and direction == MISSING_RIGHT) else m - 1
        for j in range(last):
            b = place[j]
            for k in range(n_outputs):
                if not ordered:
                    left[k] = of_missing[k] if direction == MISSING_LEFT else 0
                left[k] += hist[b, k]
                right[k] = total[k] - left[k]
            if weight_of(left, criterion) < least or weight_of(right, criterion) < least:
                continue
            g = gain(left, right, criterion, parent)
            if g > best and (sign == 0 or is_allowed(left, right, criterion, sign, low, high)):
                best, first, side = g, j + 1, direction
    return best, first, side


@best_of_feature.small
def _(hist, place, m, missing, total, parent, criterion, least, ordered, sign, low, high):
    best, first, side = -1.0, 0, MISSING_RIGHT
    of_missing, bins = hist[missing], hist[place[:m]]
    some_missing = weight_of.numpy(of_missing, criterion) > 0
    for direction in range(2 if some_missing else 1):
        before = of_missing if direction == MISSING_LEFT else np.zeros_like(of_missing)
        n = m if not ordered or (some_missing and direction == MISSING_RIGHT) else m - 1
        left = before + (np.cumsum(bins[:n], axis=0) if ordered else bins[:n])
        allowed = sign == 0 or is_allowed.numpy(left, total - left, criterion, sign, low, high)
        fast = ordered and sign == 0
        gains, j = _first_best(left[None], allowed, total, parent, criterion, least, fast)
        if gains[0] > best:
            best, first, side = gains[0], j[0] + 1, direction
    return best, first, side


@jit
def sort_categories(hist, place, m, criterion, share):
    """Sort the categories by their mean target, or their share of the second class; ties by their code."""
    for j in range(m):
        share[j] = value_of(hist[j], criterion)
    # A merge sort, since Numba takes seconds to compile `np.argsort`.
    source, target, width = np.arange(m), np.empty(m, np.int64), 1
    while width < m:
        for start in range(0, m, 2 * width):
            middle, stop = min(start + width, m), min(start + 2 * width, m)
            a, b = start, middle
            for j in range(start, stop):
                if a < middle and (b == stop or share[source[a]] <= share[source[b]]):
                    target[j] = source[a]
                    a += 1
                else:
                    target[j] = source[b]
                    b += 1
        source, target, width = target, source, 2 * width
    for j in range(m):
        place[j] = source[j]


@sort_categories.small
def _(hist, place, m, criterion, share):
    place[:m] = np.argsort(value_of.numpy(hist[:m], criterion), kind="mergesort")


@jit
def occupied(folded, classes, hist, bins):
    """The bins of a histogram that occur, as `fill` lists them."""
    m, last = 0, hist.shape[1] if classes else 1
    for b in range(len(folded)):
        weight = np.int64(0)
        for k in range(last):
            weight += folded[b, k]
        if weight > 0:
            bins[m] = b
            for k in range(hist.shape[1]):
                hist[m, k] = folded[b, k]
            m += 1
    return m


@occupied.small
def _(folded, classes, hist, bins):
    present = np.flatnonzero(folded.sum(axis=1) if classes else folded[:, 0])
    bins[: len(present)], hist[: len(present)] = present, folded[present, : hist.shape[1]]
    return len(present)


# --- histograms of one feature ---------------------------------------------------------------------------


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
