"""The loops of native/stumps.hpp in NumPy: splits of runs are those of all bins."""

import numpy as np

from suffice.loops.stumps import RUN
from suffice.loops.trees import GINI, MISSING_LEFT

from .trees import fraction, split_of_feature


def count_classes(codes, group, entry, count):
    np.add.at(count, (codes.astype(np.int64), group), entry[:, 0])


def best_stump(count, categorical, cst, total, criterion, least):
    K, bounds = count.shape[1], (-np.inf, np.inf)
    found = split_of_feature(
        count, categorical, cst, np.zeros(len(count)), False, total, criterion, least, 0, *bounds
    )
    gain, below, above, side, categories = found or (-1.0, 0, 0, 2, [])
    if gain < 0.0:
        return -1.0, np.zeros(2, np.int64), side, np.zeros(0, np.int64), np.zeros(K, np.int64)
    left = count[categories if categorical else slice(below + 1)].sum(axis=0)
    left = left + (count[-1] if side == MISSING_LEFT else 0)
    return gain, np.array([below, above]), side, categories, left


def count_runs(codes, group, entry, count):
    count_classes(codes >> RUN, group, entry, count)


def bounds_of_runs(count, total_0, total_1, least, bound):
    """The largest gain of the four corners, but for rounding: see test_stumps.py."""
    total, after = np.array([total_0, total_1]), np.cumsum(count, axis=0)
    before = after - count

    def gain(left_0, left_1):
        left = np.array([left_0, left_1])
        if min(left.sum(), (total - left).sum()) <= 0:
            return 0.0
        x, y = fraction(left, total - left, GINI)
        return x / y

    for j, (a, b) in enumerate(zip(before, after, strict=True)):
        bound[j] = max(gain(x, y) for x in (a[0], b[0]) for y in (a[1], b[1]))
    enough = np.minimum(after.sum(axis=1), (total - after).sum(axis=1)) >= least
    return max((gain(*left) for left in after[enough]), default=0.0)


def best_in_runs(codes, group, entry, count, bound, lowest, total_0, total_1, least):
    fine = np.zeros((len(count) << RUN, 2), np.int64)
    count_classes(codes, group, entry, fine)
    left, total = np.cumsum(fine, axis=0), np.array([total_0, total_1])
    best, product, bin_ = 0.0, 1.0, -1
    for b in np.flatnonzero(fine.any(axis=1)):
        if bound[b >> RUN] < lowest:
            continue
        right = total - left[b]
        if min(left[b].sum(), right.sum()) < least or not right.any():
            continue
        x, y = fraction(left[b], right, GINI)
        if x * product > best * y or bin_ < 0:
            best, product, bin_ = x, y, int(b)
    on_left = left[bin_] if bin_ >= 0 else np.zeros(2, np.int64)
    with np.errstate(all="ignore"):
        return 2.0 * best / product / np.float64(total.sum()), bin_, *on_left


def next_bin(codes, entry, bin, n_bins):
    return min((int(c) for c in codes[entry[:, 0] > 0] if c > bin), default=n_bins)


def reweigh(answer, group, change, factor, weight, unit, new_factor, entry):
    new_factor[:] = factor * change[answer, group]
    x, whole = np.rint(new_factor * unit), np.floor(weight)
    entry[:, 0] = whole.astype(np.int64) * x.astype(np.int64) + np.rint((weight - whole) * x).astype(np.int64)
