"""Histograms of gradients and curvatures, and the splits of Newton trees, from row-major codes of one byte.

All sums are integers. In a histogram (D, 256, C) the columns are the curvature, the gradient and the weight
of the rows of each bin; where the curvature of a row is its weight, the last is left out. Rows of weight one
have both numbers in the two lanes of one integer, whose sums are taken apart after each run of rows.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled
from .prefetch import prefetch
from .trees import MISSING_LEFT, NO_SPLIT, NONE_MISSING

jit = compiled()

RUN = 1 << 12  # rows of which lanes can hold the sum
CURVATURE_LANE = 32  # bits of the lower lane, the curvature; the gradient has the others
COUNT_LANE = 13  # if the curvature is the weight, and so a count
WEIGHT_IS_CURVATURE, WEIGHT_IS_COLUMN, WEIGHT_IS_COUNTED = range(3)  # where the weight of a bin is found
BINS = 256
AHEAD = 16  # rows whose codes are on their way from memory


@jit
def add_lanes(codes, n_features, rows, entry, lane, lanes, hist):
    """Add rows, of which `entry` (N, 1) is packed, to a histogram (D, 256, 2); `lanes` (D * 256,) is space.

    The codes are those of all rows, one row after the other.
    """
    D, lowest, last = np.uint64(n_features), (np.int64(1) << lane) - 1, len(rows) - 1
    for a in range(0, len(rows), RUN):
        lanes[:] = 0
        for i in range(a, min(a + RUN, len(rows))):
            later = np.uint64(rows[min(i + AHEAD, last)]) * D
            prefetch(codes, later)
            prefetch(codes, later + D - np.uint64(1))
            p, first = entry[i, 0], np.uint64(rows[i]) * D
            for d in range(D):
                place = (np.uint64(d) << np.uint64(8)) + np.uint64(codes[first + np.uint64(d)])
                lanes[place] += p
        for d in range(n_features):
            for b in range(BINS):
                v = lanes[d * BINS + b]
                hist[d, b, 0] += v & lowest
                hist[d, b, 1] += v >> lane


@add_lanes.small_exact
def _(codes, n_features, rows, entry, lane, lanes, hist):
    apart = np.concatenate([entry & ((1 << lane) - 1), entry >> lane], axis=1)
    add_entries.numpy(codes, n_features, rows, apart, hist)


@jit
def add_entries(codes, n_features, rows, entry, hist):
    """Add rows with the integers (N, C) to a histogram (D, 256, C)."""
    C = entry.shape[1]
    for i in range(len(rows)):
        first = np.uint64(rows[i]) * np.uint64(n_features)
        for d in range(n_features):
            b = codes[first + np.uint64(d)]
            for k in range(C):
                hist[d, b, k] += entry[i, k]


@add_entries.small_exact
def _(codes, n_features, rows, entry, hist):
    part = codes.reshape(-1, n_features)[rows].astype(np.int64)
    np.add.at(hist, (np.arange(n_features), part), entry[:, None])


@jit
def divide(column, goes_left, rows, entry, spare_rows, spare_entry):
    """Put the rows that go left first, in their order, and the others into the spare arrays, in theirs; and
    return how many go left. `column` has the codes of one feature for all rows.

    Both places are written for each row, so that there is no branch for the processor to guess.
    """
    n_left, n_right, C = np.uint64(0), np.uint64(0), entry.shape[1]
    for i in range(len(rows)):
        r = rows[i]
        left = np.uint64(goes_left[column[np.uint64(r)]])
        rows[n_left], spare_rows[n_right] = r, r
        for k in range(C):
            e = entry[i, k]
            entry[n_left, k], spare_entry[n_right, k] = e, e
        n_left += left
        n_right += np.uint64(1) - left
    return n_left


@divide.small_exact
def _(column, goes_left, rows, entry, spare_rows, spare_entry):
    left = goes_left[column[rows]]
    n = int(left.sum())
    for x, spare in ((rows, spare_rows), (entry, spare_entry)):
        spare[: len(x) - n], x[:n] = x[~left], x[left]
    return n


@jit
def pack(g, h, gradient_unit, curvature_unit, lane, out):
    """The gradients and curvatures of rows of weight one as integers in one: out (N, 1). Without a curvature,
    which is an empty array, it is one unit."""
    for i in range(len(g)):
        curvature = np.rint(h[i] * curvature_unit) if len(h) else curvature_unit
        out[i, 0] = (np.int64(np.rint(g[i] * gradient_unit)) << lane) + np.int64(curvature)


@pack.small_exact
def _(g, h, gradient_unit, curvature_unit, lane, out):
    curvature = np.rint(h * curvature_unit).astype(np.int64) if len(h) else int(curvature_unit)
    out[:, 0] = (np.rint(g * gradient_unit).astype(np.int64) << lane) + curvature


@jit
def add_to_rows(rows, start, stop, value, k, score):
    """Add the value of each leaf to raw score k of its rows, those from start to stop: score (N, K)."""
    for t in range(len(start)):
        for i in range(start[t], stop[t]):
            score[np.uint64(rows[i]), k] += value[t]


@add_to_rows.small_exact
def _(rows, start, stop, value, k, score):
    for a, b, v in zip(start, stop, value, strict=True):
        score[rows[a:b], k] += v


@jit
def value_of(g, h, penalty, low, high):
    """The value of a leaf with these sums, within bounds."""
    return min(max(-g / (h + penalty), low), high)


@jit
def gain(h, g, total_h, total_g, parent, penalty, plain, sign, low, high):
    """The decrease of the loss by a split with the sums (h, g) on the left, times two.

    `plain` is without a penalty and without bounds; `parent` is else the decrease by the node itself. The
    gain is negative if the values of the sides are not in the order of the constraint `sign`.
    """
    other_h, other_g = total_h - h, total_g - g
    if plain:  # by the difference of the values, which does not cancel
        cross = g * other_h - other_g * h
        return cross * cross / (h * other_h * total_h)
    a, b = value_of(g, h, penalty, low, high), value_of(other_g, other_h, penalty, low, high)
    if (b - a) * sign < 0.0:
        return -1.0
    return -(a * g) - b * other_g - parent


@jit
def best_of_bins(
    hist, place, n, missing, counts, mode, total, least_h, least_w, sure_h, parent, penalty, plain, sign, low,
    high,
):  # fmt: skip
    """The best split after one of n bins, in the order of `place`.

    Returns the gain, which is positive; the number of bins on the left, zero if there is no split; where
    missing values go; and whether the weights of both sides are known to be large enough. If weights are to
    be counted, they are known where the curvature is at least `sure_h`, or from `counts`.
    """
    best, first, side, is_sure = 0.0, 0, 0, True
    total_h, total_g = float(total[0]), float(total[1])
    has_missing = hist[missing, 0] != 0 or hist[missing, 1] != 0
    for direction in range(2 if has_missing else 1):
        h, g, w = np.int64(0), np.int64(0), np.int64(0)
        if direction == MISSING_LEFT:
            h, g = hist[missing, 0], hist[missing, 1]
            w = hist[missing, 2] if mode == WEIGHT_IS_COLUMN else counts[missing] if len(counts) else w
        # All bins on the left and missing values on the right is a split too.
        for j in range(n if has_missing and direction == 0 else n - 1):
            b = place[j]
            h += hist[b, 0]
            g += hist[b, 1]
            if h < least_h or total[0] - h < least_h:
                if mode == WEIGHT_IS_COLUMN:
                    w += hist[b, 2]
                elif len(counts):
                    w += counts[b]
                continue
            known = True
            if mode == WEIGHT_IS_CURVATURE:
                w = h
            elif mode == WEIGHT_IS_COLUMN:
                w += hist[b, 2]
            elif len(counts):
                w += counts[b]
            else:
                known = h >= sure_h and total[0] - h >= sure_h
            if (mode != WEIGHT_IS_COUNTED or len(counts)) and (w < least_w or total[2] - w < least_w):
                continue
            x = gain(float(h), float(g), total_h, total_g, parent, penalty, plain, sign, low, high)
            if x > best:
                best, first, side, is_sure = x, j + 1, direction, known
    return best, first, side, is_sure


@jit
def find_newton_split(
    hist, n_bins, categorical, cst, features, total, mode, least_h, least_w, most_h, smoothing, penalty, low,
    high, codes, n_features, rows,
):  # fmt: skip
    """The best split of a node with the sums `total` (curvature, gradient, weight), from its histogram.

    Returns the gain, the feature, the last bin on the left, where missing values go, and the categories on
    the left. The first feature and the lowest bin win after equal gains.

    Parameters
    ----------
    features : bool (D,), those that may be split.
    mode : where the weights of bins are found; if they are counted, a row has at most the curvature `most_h`.
    smoothing : added to the curvature of a category before categories are sorted by their values.
    codes, n_features, rows : of the node, to count weights.
    """
    best, feature, edge, side, left = 0.0, NO_SPLIT, np.int64(0), NONE_MISSING, np.empty(0, np.int64)
    plain = penalty == 0.0 and low == -np.inf and high == np.inf
    none, counts = np.empty(0, np.int64), np.empty(BINS, np.int64)
    parent = -value_of(float(total[1]), float(total[0]), penalty, low, high) * float(total[1])
    for d in range(len(n_bins)):
        n = n_bins[d]
        if not features[d] or n == 0:
            continue
        place = np.arange(n)
        if categorical[d]:
            share = np.empty(n)
            for b in range(n):
                share[b] = hist[d, b, 1] / (hist[d, b, 0] + smoothing)
            place = np.argsort(share, kind="mergesort")
        ordered = plain and cst[d] == 0
        x, first, s, is_sure = best_of_bins(
            hist[d], place, n, n, none, mode, total, least_h, least_w, least_w * most_h, parent, penalty,
            ordered, cst[d], low, high,
        )  # fmt: skip
        if x > best and not is_sure:
            counts[:] = 0
            for i in range(len(rows)):
                counts[codes[np.uint64(rows[i]) * np.uint64(n_features) + np.uint64(d)]] += 1
            x, first, s, is_sure = best_of_bins(
                hist[d], place, n, n, counts, mode, total, least_h, least_w, least_w * most_h, parent,
                penalty, ordered, cst[d], low, high,
            )  # fmt: skip
        if x > best:
            best, feature, side = x, d, s if hist[d, n, 0] != 0 or hist[d, n, 1] != 0 else NONE_MISSING
            left = place[:first].copy() if categorical[d] else none
            edge = np.int64(first - 1)
    return best, feature, edge, side, left


@find_newton_split.small_exact
def _(
    hist, n_bins, categorical, cst, features, total, mode, least_h, least_w, most_h, smoothing, penalty, low,
    high, codes, n_features, rows,
):  # fmt: skip
    if mode == WEIGHT_IS_COUNTED:
        return NotImplemented
    D, most = len(n_bins), int(n_bins.max(initial=0))
    part, places, d = hist[:, :most], {}, np.arange(D)
    for f in np.flatnonzero(categorical):
        n = n_bins[f]
        share = hist[f, :n, 1] / (hist[f, :n, 0] + smoothing)
        places[f] = np.argsort(share, kind="stable")
        part = part.copy() if len(places) == 1 else part
        part[f, :n] = hist[f, places[f]]
    missing = hist[d, n_bins]
    has_missing = missing[:, :2].any(axis=1)
    sides, last = np.cumsum(part, axis=1)[:, None], np.where(has_missing, n_bins, n_bins - 1)[:, None]
    if has_missing.any():  # (D, 2, B, C): missing on the right, the left
        sides = np.concatenate([sides, sides + missing[:, None, None]], axis=1)
        last = np.concatenate([last, np.where(has_missing, n_bins - 1, 0)[:, None]], axis=1)
    h, w = sides[..., 0], sides[..., 0 if mode == WEIGHT_IS_CURVATURE else 2]
    valid = (np.arange(most) < last[..., None]) & features[:, None, None]
    valid &= (h >= least_h) & (total[0] - h >= least_h) & (w >= least_w) & (total[2] - w >= least_w)
    feature, side, j = np.nonzero(valid)
    if not len(feature):
        return 0.0, NO_SPLIT, 0, NONE_MISSING, np.empty(0, np.int64)
    h, g = sides[feature, side, j, :2].T.astype(np.float64)
    total_h, total_g = float(total[0]), float(total[1])
    other_h, other_g = total_h - h, total_g - g
    cross = g * other_h - other_g * h
    x = cross * cross / (h * other_h * total_h)
    if penalty != 0.0 or low != -np.inf or high != np.inf or cst.any():
        parent = -value_of.python(total_g, total_h, penalty, low, high) * total_g
        a, b = (
            np.minimum(np.maximum(-s / (t + penalty), low), high) for s, t in ((g, h), (other_g, other_h))
        )
        bounded = np.where((b - a) * cst[feature] < 0.0, -1.0, -(a * g) - b * other_g - parent)
        plain = penalty == 0.0 and low == -np.inf and high == np.inf
        x = np.where(plain & (cst[feature] == 0), x, bounded)
    best = x.argmax()
    if not x[best] > 0.0:
        return 0.0, NO_SPLIT, 0, NONE_MISSING, np.empty(0, np.int64)
    f, first = feature[best], j[best]
    left = places[f][: first + 1].copy() if categorical[f] else np.empty(0, np.int64)
    return x[best], f, first, side[best] if has_missing[f] else NONE_MISSING, left
