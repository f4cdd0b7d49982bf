"""Growth of decision trees from codes of features and integer sums, and their evaluation.

All sums are of int64, so they do not depend on the order of the rows. A histogram has a row for each bin of a
feature, the last one for missing values, and a column for each output: the weights of the classes, or the
weight and the weighted targets, of which there may be several. Only the bins that occur in a node are listed.

The rows of a node are next to each other, in their order. A node with many rows is added up bin by bin. The
rows of a small one are sorted by the feature, so that it takes time in proportion to its rows and not to the
bins.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled()

# From SQUARED_ERROR on, sums are a weight and weighted targets. Those of INDICATORS are classes of several
# targets as zeros and ones: the sum of the entropies. That of Gini indices is SQUARED_ERROR.
GINI, ENTROPY, MISCLASSIFICATION, SQUARED_ERROR, POISSON, INDICATORS = range(6)
NO_SPLIT = -1
MISSING_RIGHT, MISSING_LEFT, NONE_MISSING = range(3)


@jit
def mixed(key):
    """The next number of a sequence of random 64-bit numbers: splitmix64 (Steele, Lea and Flood, 2014)."""
    z = key + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


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
def random_of_feature(
    hist, bins, place, m, missing, values, total, parent, criterion, least, ordered, sign, low, high, key
):
    """As `best_of_feature`, but for one threshold, drawn uniformly between the smallest and the largest
    value; or one category; and one side for missing values."""
    n_outputs = len(total)
    left, right = np.zeros(n_outputs, np.int64), np.empty(n_outputs, np.int64)
    u = (key >> np.uint64(11)) * 2.0**-53
    first = min(1 + np.int64(u * m), m)
    if len(values) > 0:
        threshold = values[bins[0]] + u * (values[bins[m - 1]] - values[bins[0]])
        first = 1
        while first < m and values[bins[first]] <= threshold:
            first += 1
    has_missing = weight_of(hist[missing], criterion) > 0
    side = np.int64(mixed(key) & np.uint64(1)) if has_missing else MISSING_RIGHT
    if first == m and ordered and not (has_missing and side == MISSING_RIGHT):
        if m > 1:
            first -= 1
        else:
            side = MISSING_RIGHT
    for j in range(0 if ordered else first - 1, first):
        for k in range(n_outputs):
            left[k] += hist[place[j], k]
    for k in range(n_outputs):
        if side == MISSING_LEFT:
            left[k] += hist[missing, k]
        right[k] = total[k] - left[k]
    if weight_of(left, criterion) < least or weight_of(right, criterion) < least:
        return -1.0, 0, side
    if sign != 0 and not is_allowed(left, right, criterion, sign, low, high):
        return -1.0, 0, side
    return gain(left, right, criterion, parent), first, side


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
def sort_keys(keys, spare, count):
    """Sort keys of four bytes by the upper two, stable: `count` (2, 257) is space for their bytes."""
    n = len(keys)
    if n <= 32:
        for i in range(1, n):
            key, j = keys[i], i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    count[:] = 0
    for i in range(n):
        count[0, ((keys[i] >> 16) & 255) + 1] += 1
        count[1, (keys[i] >> 24) + 1] += 1
    for v in range(256):
        count[0, v + 1] += count[0, v]
        count[1, v + 1] += count[1, v]
    for i in range(n):
        v = (keys[i] >> 16) & 255
        spare[count[0, v]] = keys[i]
        count[0, v] += 1
    for i in range(n):
        v = spare[i] >> 24
        keys[count[1, v]] = spare[i]
        count[1, v] += 1


@jit
def fill(codes, rows, group, entry, classes, n_bins, dense, keys, spare, count, hist, bins):
    """Histogram of one feature with codes (N,) in the rows of a node: a row for each bin that occurs, in
    order. Returns their number. `group` and `entry` are those of the rows of the node."""
    n, n_outputs = len(rows), hist.shape[1]
    if (n_bins + 1) * n_outputs <= 8 * n or n > len(keys) or n_bins >= 1 << 16:
        for i in range(n):
            b = np.int64(codes[rows[i]])
            if classes:
                dense[b, group[i]] += entry[i, 0]
            else:
                dense[b, 0] += entry[i, 0]
                dense[b, 1] += entry[i, 1]
                for k in range(2, n_outputs):
                    dense[b, k] += entry[i, k]
        m = occupied(dense[: n_bins + 1], classes, hist, bins)
        dense[: n_bins + 1] = 0
        return m
    for i in range(n):
        keys[i] = (np.uint32(codes[rows[i]]) << np.uint32(16)) | np.uint32(i)
    sort_keys(keys[:n], spare[:n], count)
    m, previous = -1, np.int64(-1)
    for j in range(n):
        b, r = np.int64(keys[j] >> 16), np.int64(keys[j] & 65535)
        if b != previous:
            m += 1
            bins[m] = b
            previous = b
            for k in range(n_outputs):
                hist[m, k] = 0
        if classes:
            hist[m, group[r]] += entry[r, 0]
        else:
            hist[m, 0] += entry[r, 0]
            hist[m, 1] += entry[r, 1]
            for k in range(2, n_outputs):
                hist[m, k] += entry[r, k]
    return m + 1


@fill.small
def _(codes, rows, group, entry, classes, n_bins, dense, keys, spare, count, hist, bins):
    present, place = np.unique(codes[rows], return_inverse=True)
    m, n_outputs = len(present), hist.shape[1]
    bins[:m], hist[:m] = present, 0
    sums = hist[:m].reshape(-1)
    if classes:
        np.add.at(sums, place * n_outputs + group, entry[:, 0])
    else:
        for k in range(n_outputs):
            np.add.at(sums, place * n_outputs + k, entry[:, k])
    return m


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


@jit
def is_above(x, y, total_0, total_1, goal):
    """Whether a split with the sums (x, y) on the left has a gain of `goal` or more, but for rounding."""
    cross = total_0 * y - total_1 * x
    return 0.0 < x < total_0 and SLACK * cross * cross >= goal * (x * (total_0 - x))


@jit
def may_exceed(a, b, a_end, b_end, low, high, total_0, total_1, goal):
    """Whether a split within a run of rows can have a gain of `goal` or more, in units of `gain_of_two`.

    The sums on the left are (a, b) before the run and (a_end, b_end) after it, and b / a of each row is from
    `low` to `high`.

    The gain is convex in the sums on the left. They are in the parallelogram whose corners have the rows of
    `high` first, or last, so that the gain is largest in a corner.
    """
    of_high = ((b_end - b) - low * (a_end - a)) / (high - low) if high > low else 0.0  # their weight, at most
    of_high = min(max(of_high, 0.0), a_end - a)
    return (
        is_above(a, b, total_0, total_1, goal)
        or is_above(a_end, b_end, total_0, total_1, goal)
        or is_above(a + of_high, b + high * of_high, total_0, total_1, goal)
        or is_above(a_end - of_high, b_end - high * of_high, total_0, total_1, goal)
    )


PARTS = 256  # of a feature with more bins
LEAST_PARTED = 128  # rows
SLACK = 1.0 + 1e-6  # of bounds that are rounded
ROUNDING = 2e-6  # relative to the mean, of differences that bounds may not tell apart


@jit
def add_parts(by_row, rows, group, entry, n_bins, total, gini, least, best, parted, shift, parts):
    """Add up parts of the bins of several features, of sums with two outputs: those before each part. Returns
    the largest gain of a split between parts, or `best` if that is larger, in units of `gain_of_two`.

    The codes of a row are next to each other, so that all are read at once.
    """
    n, F = len(rows), len(parted)
    for f in range(F):
        shift[f] = 0
        while (n_bins[parted[f]] >> shift[f]) >= min(PARTS, n // 8):
            shift[f] += 1
        parts[f, : (n_bins[parted[f]] >> shift[f]) + 2] = 0
    for i in range(n):
        r, weight = rows[i], entry[i, 0]
        weighted = weight * group[i] if gini else entry[i, 1]
        for f in range(F):
            part = (np.int64(by_row[r, parted[f]]) >> shift[f]) + 1
            parts[f, part, 0] += weight
            parts[f, part, 1] += weighted
    total_weight = total[0] + total[1] if gini else total[0]
    goal = best * (float(total_weight) / 2.0 if gini else float(total_weight))
    for f in range(F):
        for q in range((n_bins[parted[f]] >> shift[f]) + 1):
            parts[f, q + 1, 0] += parts[f, q, 0]
            parts[f, q + 1, 1] += parts[f, q, 1]
            left = parts[f, q + 1, 0]
            if left >= least and total_weight - left >= least:
                x, y = gain_of_two(left, parts[f, q + 1, 1], total_weight, total[1])
                goal = max(goal, x / y)
    return goal


@jit
def best_by_parts(
    codes, rows, group, entry, n_bins, total, criterion, least, goal, low, high, shift, parts, chosen, keys,
    spare, count,
):  # fmt: skip
    """The best split of a numeric feature with many bins, if its gain is not below `goal`: of sums with two
    outputs, without constraints and missing values.

    Only those parts of the bins are searched whose bound is not below the best split so far: see
    `may_exceed`. The answer is that of `best_of_two`.

    Returns the gain, the bins at both sides of the threshold, and 1 if the feature varies, 0 if it does not,
    or -1 if the search is not done: too many parts are left, or bounds would be rounded too much.
    """
    n, gini = len(rows), criterion == GINI
    n_parts = (n_bins >> shift) + 1
    total_weight = total[0] + total[1] if gini else total[0]
    total_0, total_1 = float(total_weight), float(total[1])
    factor, occupied_parts = 2.0 if gini else 1.0, 0
    if goal > 0.0 and np.sqrt(goal) < ROUNDING * abs(total_1) * np.sqrt(n):
        return -1.0, np.int64(0), np.int64(0), -1
    for q in range(n_parts):
        if parts[q + 1, 0] > parts[q, 0]:
            occupied_parts += 1
    n_kept = 0
    for q in range(n_parts):
        a, a_end = float(parts[q, 0]), float(parts[q + 1, 0])
        kept = a_end > a and may_exceed(
            a, float(parts[q, 1]), a_end, float(parts[q + 1, 1]), low, high, total_0, total_1, goal
        )
        count[1, q] = 1 if kept or occupied_parts == 1 else 0
        n_kept += count[1, q]
    if n_kept == 0:
        return -1.0, np.int64(0), np.int64(0), 1
    m = 0
    for i in range(n):
        c = np.int64(codes[rows[i]])
        if count[1, c >> shift]:
            if m == len(keys):
                return -1.0, np.int64(0), np.int64(0), -1
            chosen[m] = i
            keys[m] = (np.uint32(c) << np.uint32(16)) | np.uint32(m)
            m += 1
    sort_keys(keys[:m], spare[:m], count)
    most, product, first = 0.0, 1.0, False
    left_0, left_1, previous, varies = np.int64(0), np.int64(0), np.int64(-1), occupied_parts > 1
    below, above = np.int64(0), np.int64(0)
    for j in range(m):
        b, r = np.int64(keys[j] >> 16), chosen[keys[j] & 65535]
        if b != previous:
            part = b >> shift
            ends = part != previous >> shift
            if previous >= 0:
                varies = True
                if (
                    (not ends or left_0 == parts[part, 0])
                    and left_0 >= least
                    and total_weight - left_0 >= least
                ):
                    x, y = gain_of_two(left_0, left_1, total_weight, total[1])
                    if x * product > most * y or not first:
                        most, product, first, below, above = x, y, True, previous, b
            if ends:
                left_0, left_1 = parts[part, 0], parts[part, 1]
            previous = b
        left_0 += entry[r, 0]
        left_1 += entry[r, 0] * group[r] if gini else entry[r, 1]
    if not first:
        return -1.0, below, above, 1 if varies else 0
    return factor * most / product / total_0, below, above, 1


@jit
def split_of_feature(
    codes, rows, group, entry, folded, random, values, n_bins, categorical, sign, total, parent, criterion,
    least, low, high, key, dense, keys, spare, count, hist, bins, place, share,
):  # fmt: skip
    """The best split of one feature, or a random one: what `find_split` returns of it, and 1 if the feature
    varies in the node."""
    n_outputs, classes = len(total), criterion < SQUARED_ERROR
    many = n_outputs > 2
    if len(rows) > 0:
        m = fill(codes, rows, group, entry, classes, n_bins, dense, keys, spare, count, hist, bins)
    else:
        m = occupied(folded, classes, hist, bins)
    nothing = np.int64(0)
    if m < 2:
        return -1.0, nothing, nothing, NONE_MISSING, bins[:0], 0
    has_missing = bins[m - 1] == n_bins
    if has_missing:
        m -= 1
    else:
        hist[m] = 0
    for j in range(m):
        place[j] = j
    if categorical and not many:
        sort_categories(hist, place, m, criterion, share)
    ordered = not (categorical and many)
    if random:
        g, f, s = random_of_feature(
            hist, bins, place, m, m, values, total, parent, criterion, least, ordered, sign, low, high, key
        )
    else:
        g, f, s = best_of_feature(
            hist, place, m, m, total, parent, criterion, least, ordered, sign, low, high
        )
    side = s if has_missing else NONE_MISSING
    if g < 0.0:
        return g, nothing, nothing, side, bins[:0], 1
    if categorical:
        return g, nothing, nothing, side, bins[place[f - 1 : f]] if many else bins[place[:f]], 1
    return g, bins[f - 1], bins[f] if f < m else n_bins, side, bins[:0], 1


@jit
def find_split(
    codes, by_row, rows, group, entry, folded, offset, values, n_bins, categorical, cst, total, criterion,
    least, max_features, key, low, high, with_missing, ratios, parts, shift, chosen, dense, keys, spare,
    count, hist, bins, place, share, features, parted,
):  # fmt: skip
    """The best split of a node, from its rows; or if there are none here, from its `folded` histograms, in
    which the bins of feature d are those from offset[d] on. If there are `values` of the bins, thresholds are
    drawn at random.

    Returns the gain, the feature, the bins at both sides of the threshold, where missing values go, and the
    categories on the left. After equal gains, the first feature wins.
    """
    D, n_outputs = len(n_bins), len(total)
    two = len(rows) >= LEAST_PARTED and len(values) == 0 and has_two_sums(criterion, n_outputs)
    parent = worth(total, criterion)
    best, feature, side = -1.0, NO_SPLIT, NONE_MISSING
    left_bins, below, above = place[:0], np.int64(0), np.int64(0)
    for d in range(D):
        features[d] = d
    tried, draw, n_drawn, n_parted, next_parted, goal = 0, key, 0, 0, 0, 0.0
    gini = criterion == GINI
    for i in range(D):
        if tried >= max_features:
            break
        if i == n_drawn:  # as many features as are needed, if none is constant
            n_drawn = D if max_features == D else min(D, i + max_features - tried)
            n_parted = 0
            for j in range(i, n_drawn):
                if max_features < D:
                    key = mixed(key)
                    other = j + np.int64(key % np.uint64(D - j))
                    features[j], features[other] = features[other], features[j]
                d = features[j]
                if two and cst[d] == 0 and not categorical[d] and not with_missing[d] and n_bins[d] > PARTS:
                    parted[n_parted] = d
                    n_parted += 1
            next_parted = 0
            if n_parted > 0:
                goal = add_parts(
                    by_row, rows, group, entry, n_bins, total, gini, least, best, parted[:n_parted], shift,
                    parts,
                )  # fmt: skip
        d = features[i]
        if next_parted < n_parted and parted[next_parted] == d:
            f = next_parted
            next_parted += 1
            if best > 0.0:
                weight = float(total[0] + total[1]) / 2.0 if gini else float(total[0])
                goal = max(goal, best * weight)
            g, a, b, varies = best_by_parts(
                codes[d], rows, group, entry, n_bins[d], total, criterion, least, goal, ratios[0], ratios[1],
                shift[f], parts[f], chosen, keys, spare, count,
            )  # fmt: skip
            if varies >= 0:
                tried += varies
                if g > best or (g == best and g >= 0.0 and d < feature):
                    best, feature, side, below, above = g, d, NONE_MISSING, a, b
                continue
        of_d = values[:0] if categorical[d] else values[offset[d] : offset[d + 1]]
        if len(values) > 0:
            draw = mixed(draw ^ np.uint64(d + 3))
        g, a, b, s, chosen_bins, varies = split_of_feature(
            codes[d], rows, group, entry, folded[offset[d] : offset[d + 1]], len(values) > 0, of_d, n_bins[d],
            categorical[d], cst[d], total, parent, criterion, least, low, high, draw, dense, keys, spare,
            count, hist, bins, place, share,
        )  # fmt: skip
        tried += varies
        if g > best or (g == best and g >= 0.0 and d < feature):
            best, feature, side, below, above, left_bins = g, d, s, a, b, chosen_bins
    return best, feature, below, above, side, left_bins


@find_split.small
def _(
    codes, by_row, rows, group, entry, folded, offset, values, n_bins, categorical, cst, total, criterion,
    least, max_features, key, low, high, with_missing, ratios, parts, shift, chosen, dense, keys, spare,
    count, hist, bins, place, share, features, parted,
):  # fmt: skip
    """Numeric features without missing values and constraints are searched together."""
    D, parent, nothing = len(n_bins), worth.numpy(total, criterion), np.int64(0)
    best, split, tried, draw, start = -1.0, (D, nothing, nothing, NONE_MISSING, bins[:0]), 0, key, 0
    together = ~categorical & ~with_missing & (cst == 0)
    together &= len(rows) > 0 and not len(values)
    features[:] = np.arange(D)
    while start < D and tried < max_features:
        stop = D if max_features == D else min(D, start + max_features - tried)
        for j in range(start, stop if max_features < D else start):
            key = mixed.python(key)
            other = j + int(key % np.uint64(D - j))
            features[j], features[other] = features[other], features[j]
        drawn, start = features[start:stop], stop
        found = _splits_of_features(
            by_row, rows, group, entry, np.sort(drawn[together[drawn]]), total, parent, criterion, least
        )
        for d in drawn[~together[drawn]]:
            if len(values):
                draw = mixed.python(draw ^ np.uint64(d + 3))
            here = slice(offset[d], offset[d + 1])
            *one, varies = split_of_feature.python(
                codes[d], rows, group, entry, folded[here], len(values) > 0,
                values[:0] if categorical[d] else values[here], n_bins[d], categorical[d], cst[d], total,
                parent, criterion, least, low, high, draw, dense, keys, spare, count, hist, bins, place,
                share,
            )  # fmt: skip
            found.append((one[0], (d, *one[1:]), varies))
        for g, other_split, varies in found:
            tried += varies
            if g > best or (g == best and g >= 0.0 and other_split[0] < split[0]):
                best, split = g, other_split
    return best, *(split if best >= 0.0 else (NO_SPLIT, *split[1:]))


def _splits_of_features(by_row, rows, group, entry, features, total, parent, criterion, least):
    """As `split_of_feature`, of several numeric features without missing values and constraints."""
    if not len(features):
        return []
    codes, n = by_row[rows[:, None], features].T, len(rows)
    order = np.argsort(codes, axis=1, kind="stable")
    codes = np.take_along_axis(codes, order, axis=1).astype(np.int64)
    of_rows = entry[:, : len(total)]
    if criterion < SQUARED_ERROR:
        of_rows = np.zeros((n, len(total)), np.int64)
        of_rows[np.arange(n), group] = entry[:, 0]
    left, between = np.cumsum(of_rows[order[:, :-1]], axis=1), codes[:, 1:] > codes[:, :-1]
    gains, best = _first_best(left, between, total, parent, criterion, least)
    f = np.arange(len(features))
    below, above, none = codes[f, best], codes[f, np.minimum(best + 1, n - 1)], np.empty(0, np.int64)
    splits = [(d, a, b, NONE_MISSING, none) for d, a, b in zip(features, below, above, strict=True)]
    varies = (codes[:, 0] < codes[:, -1]).tolist()
    return list(zip(gains, splits, varies, strict=True))


@jit
def node_sums(group, entry, classes, total):
    """Sum up the numbers of the rows of a node, and return whether its targets are all equal."""
    for k in range(len(total)):
        total[k] = 0
    low, high = group[0], group[0]
    for i in range(len(group)):
        low, high = min(low, group[i]), max(high, group[i])
        if classes:
            total[group[i]] += entry[i, 0]
        else:
            for k in range(entry.shape[1]):
                total[k] += entry[i, k]
    return low == high


@node_sums.small
def _(group, entry, classes, total):
    if classes:
        total[:] = 0
        np.add.at(total, group, entry[:, 0])
    else:
        total[:] = entry.sum(axis=0)
    return group.min() == group.max()


@jit
def partition(codes, n_bins, edge, in_set, goes, missing_left, rows, group, entry, spare):
    """Move the rows of a node that go left before those that go right, and keep their order. Returns how many
    go left. If the feature has categories, `in_set`, the codes that go left are those of `goes`."""
    spare_rows, spare_group, spare_entry = spare
    n, n_entries = len(rows), entry.shape[1]
    to_left, to_right = 0, 0
    for i in range(n):
        r = rows[i]
        c = np.int64(codes[r])
        if missing_left if c == n_bins else (goes[c] if in_set else c <= edge):
            rows[to_left], group[to_left] = r, group[i]
            for k in range(n_entries):
                entry[to_left, k] = entry[i, k]
            to_left += 1
        else:
            spare_rows[to_right], spare_group[to_right] = r, group[i]
            for k in range(n_entries):
                spare_entry[to_right, k] = entry[i, k]
            to_right += 1
    for i in range(to_right):
        rows[to_left + i], group[to_left + i] = spare_rows[i], spare_group[i]
        for k in range(n_entries):
            entry[to_left + i, k] = spare_entry[i, k]
    return to_left


@partition.small
def _(codes, n_bins, edge, in_set, goes, missing_left, rows, group, entry, spare):
    c = codes[rows].astype(np.int64)
    missing = c == n_bins
    left = np.where(missing, missing_left, goes[np.where(missing, 0, c)] if in_set else c <= edge)
    order = np.argsort(~left, kind="stable")
    rows[:], group[:], entry[:] = rows[order], group[order], entry[order]
    return int(left.sum())


@jit
def grow(
    codes, by_row, n_bins, categorical, cst, group, entry, n_outputs, criterion, max_depth, least_split,
    least, least_gain, max_features, max_leaves, key, depth, low, high, offset, values,
):  # fmt: skip
    """Grow a tree to rows in memory. Nodes are numbered in the order in which they are made.

    Parameters
    ----------
    codes : (D, N) unsigned; code n_bins[d] means missing.
    by_row : (N, D), the same.
    group : int64 (N,), the class, or an integer that is equal for equal targets.
    entry : int64 (N, M), the weight; and for numbers and several targets the weighted targets, and terms that
        are summed in nodes, but not for splits.
    least_split, least : integer weights of a node that may be split, and of a leaf.
    least_gain : in units of the integer weight.
    max_leaves : zero without a limit; else leaves are split in the order of their gains.
    key, depth, low, high : of the root: its random key, its depth, and the bounds of its value.
    offset, values : the first bin of each feature, and the values of all bins, for random thresholds; without
        values, the best are found.
    """
    D, N = codes.shape
    classes = criterion < SQUARED_ERROR
    S = n_outputs if classes else entry.shape[1]
    size = 2 * N
    if max_leaves > 0:
        size = min(size, 2 * max_leaves)
    if max_depth - depth < 40:
        size = min(size, 2 << (max_depth - depth))
    size += 1
    feature, children = np.full(size, NO_SPLIT, np.int64), np.full((size, 2), -1, np.int64)
    edges, side = np.zeros((size, 2), np.int64), np.zeros(size, np.int8)
    sums, gains = np.zeros((size, S), np.int64), np.zeros(size)
    start, stop = np.zeros(size, np.int64), np.zeros(size, np.int64)
    depths, keys, bounds = np.zeros(size, np.int64), np.zeros(size, np.uint64), np.zeros((size, 2))
    set_start, set_stop = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    pure = np.zeros(size, np.bool_)
    sets = np.empty(16, np.int64)
    n_sets = 0

    most_bins = 0
    for d in range(D):
        most_bins = max(most_bins, n_bins[d] + 1)
    hist, goes = np.empty((most_bins + 1, n_outputs), np.int64), np.zeros(most_bins, np.bool_)
    bins, place = np.empty(most_bins + 1, np.int64), np.empty(most_bins + 1, np.int64)
    folded, features = np.empty((0, n_outputs), np.int64), np.empty(D, np.int64)
    dense = np.zeros((most_bins, n_outputs), np.int64)
    n_keys = min(N, 1 << 16)  # of nodes whose rows are sorted
    keys_of_rows, spare_keys = np.empty(n_keys, np.uint32), np.empty(n_keys, np.uint32)
    count, share = np.empty((2, 257), np.int32), np.empty(most_bins)
    parts, shift = np.empty((D, PARTS + 1, 2), np.int64), np.empty(D, np.int64)
    chosen, parted = np.empty(n_keys, np.int32), np.empty(D, np.int64)
    with_missing, ratios = np.zeros(D, np.bool_), np.array([0.0, 1.0])
    for d in range(D):
        with_missing[d] = (codes[d] == n_bins[d]).any()
    if not classes:
        of_rows = entry[:, 1] / entry[:, 0]
        ratios[0], ratios[1] = of_rows.min(), of_rows.max()
    # The rows of a node are those from start to stop.
    rows, group, entry = np.arange(N).astype(np.int32), group.copy(), entry.copy()
    spare = np.empty_like(rows), np.empty_like(group), np.empty_like(entry)
    open_nodes = np.empty(size, np.int64)

    n_nodes, n_open, n_leaves = 1, 0, 1
    stop[0], depths[0], keys[0], bounds[0, 0], bounds[0, 1] = N, depth, key, low, high
    fresh, n_fresh = np.zeros(2, np.int64), 1
    while True:
        for i in range(n_fresh):  # the best splits of new nodes
            t = fresh[i]
            a, b = start[t], stop[t]
            pure[t] = node_sums(group[a:b], entry[a:b], classes, sums[t])
            total = sums[t, :n_outputs]
            weight = weight_of(total, criterion)
            if pure[t] or depths[t] >= max_depth or weight < max(least_split, 2 * least):
                continue
            g, d, below, above, s, left_bins = find_split(
                codes, by_row, rows[a:b], group[a:b], entry[a:b], folded, offset, values, n_bins, categorical,
                cst, total, criterion, least, max_features, keys[t], bounds[t, 0], bounds[t, 1], with_missing,
                ratios, parts, shift, chosen, dense, keys_of_rows, spare_keys, count, hist, bins, place,
                share, features, parted,
            )  # fmt: skip
            if d == NO_SPLIT or g < least_gain:
                continue
            feature[t], gains[t], side[t] = d, g, s
            edges[t, 0], edges[t, 1] = below, above
            if categorical[d]:
                while n_sets + len(left_bins) > len(sets):
                    sets = np.concatenate((sets, np.empty_like(sets)))
                set_start[t] = n_sets
                for c in left_bins:
                    sets[n_sets] = c
                    n_sets += 1
                set_stop[t] = n_sets
            open_nodes[n_open] = t
            n_open += 1
        if n_open == 0 or (max_leaves > 0 and n_leaves >= max_leaves):
            break
        j = n_open - 1
        if max_leaves > 0:  # the largest gain; of equal ones, the smallest key, which is of the path alone
            for i in range(n_open):
                t, u = open_nodes[i], open_nodes[j]
                if gains[t] > gains[u] or (gains[t] == gains[u] and keys[t] < keys[u]):
                    j = i
        t = open_nodes[j]
        n_open -= 1
        open_nodes[j] = open_nodes[n_open]

        a, b, d = start[t], stop[t], feature[t]
        for c in range(set_start[t], set_stop[t]):
            goes[sets[c]] = True
        n_left = partition(
            codes[d], n_bins[d], edges[t, 0], categorical[d], goes, side[t] == MISSING_LEFT, rows[a:b],
            group[a:b], entry[a:b], spare,
        )  # fmt: skip
        for c in range(set_start[t], set_stop[t]):
            goes[sets[c]] = False

        for s in range(2):
            u = n_nodes
            n_nodes += 1
            children[t, s] = u
            start[u], stop[u] = (a, a + n_left) if s == 0 else (a + n_left, b)
            depths[u] = depths[t] + 1
            keys[u] = mixed(keys[t] ^ np.uint64(s + 1))
            bounds[u, 0], bounds[u, 1] = bounds[t, 0], bounds[t, 1]
            fresh[s] = u
        n_fresh = 2
        n_leaves += 1
        if cst[d] != 0:
            for s in range(2):
                u = children[t, s]
                node_sums(group[start[u] : stop[u]], entry[start[u] : stop[u]], classes, sums[u])
            middle = 0.5 * (
                value_of(sums[children[t, 0], :n_outputs], criterion)
                + value_of(sums[children[t, 1], :n_outputs], criterion)
            )
            lower = children[t, 0] if cst[d] > 0 else children[t, 1]
            upper = children[t, 1] if cst[d] > 0 else children[t, 0]
            bounds[lower, 1] = middle
            bounds[upper, 0] = middle
    for i in range(n_open):  # leaves that would have been split
        feature[open_nodes[i]] = NO_SPLIT
    return (
        feature[:n_nodes], children[:n_nodes], edges[:n_nodes], side[:n_nodes], sums[:n_nodes],
        pure[:n_nodes], gains[:n_nodes], keys[:n_nodes], bounds[:n_nodes], set_start[:n_nodes],
        set_stop[:n_nodes], sets[:n_sets],
    )  # fmt: skip


MOST_SMALL = 1 << 17  # codes to which NumPy grows a tree in less time than the compiler takes


def _grown(codes, *more):
    return grow.python(codes, *more) if codes.size <= MOST_SMALL else NotImplemented


grow.small(_grown, limit=1 << 24)


@jit
def preorder(children):
    """The nodes of a binary tree: each before its left subtree, then its right one."""
    out, stack = np.empty(len(children), np.int64), np.empty(len(children) + 1, np.int64)
    stack[0], n_stack = 0, 1
    for i in range(len(children)):
        n_stack -= 1
        t = stack[n_stack]
        out[i] = t
        if children[t, 0] >= 0:
            stack[n_stack], stack[n_stack + 1] = children[t, 1], children[t, 0]
            n_stack += 2
    return out


preorder.small(preorder.python)


@jit
def leaves_of_codes(codes, n_bins, feature, children, edge, missing_left, set_start, goes_left, out):
    """The leaf of each row, from its codes (D, N)."""
    for i in range(codes.shape[1]):
        t = np.int64(0)
        while feature[t] >= 0:
            d = feature[t]
            c = np.int64(codes[d, i])
            if c == n_bins[d]:
                left = missing_left[t]
            elif set_start[t] >= 0:
                left = goes_left[set_start[t] + c]
            else:
                left = c <= edge[t]
            t = children[t, 0] if left else children[t, 1]
        out[i] = t


@leaves_of_codes.small
def _(codes, n_bins, feature, children, edge, missing_left, set_start, goes_left, out):
    def left(t, d, rows):
        c = codes[d, rows].astype(np.int64)
        return _is_left(c == n_bins[d], c, c <= edge[t], t, missing_left, set_start, goes_left)

    out[:] = _descended(np.zeros(codes.shape[1], np.int64), feature, children, left)


@jit
def leaves_by_table(codes, n_features, feature, following, depth, out):
    """The leaf of each row, from its codes of one byte, one row after the other. `following` has for each
    node and code the next node, which for a leaf is itself: no branch for the processor to guess."""
    D = np.uint64(n_features)
    for i in range(len(out)):
        first, t = np.uint64(i) * D, np.uint64(0)
        for _ in range(depth):
            t = np.uint64(following[(t << np.uint64(8)) + np.uint64(codes[first + np.uint64(feature[t])])])
        out[i] = t


@leaves_by_table.small_exact
def _(codes, n_features, feature, following, depth, out):
    rows, t = codes.reshape(-1, n_features), np.zeros(len(out), np.int64)
    for _ in range(depth):
        t = following[256 * t + rows[np.arange(len(out)), feature[t]]]
    out[:] = t


@jit
def leaf_of_row(X, i, t, feature, children, threshold, missing_left, set_start, goes_left):
    """The leaf of row i of X (N, D) below node t."""
    while feature[t] >= 0:
        x = X[i, feature[t]]
        if x != x:
            left = missing_left[t]
        elif set_start[t] >= 0:
            left = goes_left[set_start[t] + np.int64(x)]
        else:
            left = x <= threshold[t]
        t = children[t, 0] if left else children[t, 1]
    return t


@jit
def leaves_of_rows(X, root, feature, children, threshold, missing_left, set_start, goes_left, out):
    """The leaf of each row of X (N, D) in each of the trees with these roots, out (N, M). Categories are
    codes, and NaN is missing."""
    for m in range(len(root)):
        for i in range(X.shape[0]):
            out[i, m] = leaf_of_row(
                X, i, root[m], feature, children, threshold, missing_left, set_start, goes_left
            )


@leaves_of_rows.small
def _(X, root, feature, children, threshold, missing_left, set_start, goes_left, out):
    def left(t, d, rows):
        x = X[rows, d]
        return _is_left(np.isnan(x), x, x <= threshold[t], t, missing_left, set_start, goes_left)

    for m in range(len(root)):
        out[:, m] = _descended(np.full(len(X), root[m]), feature, children, left)


TILE = 512  # rows, which stay in the cache while they go through all trees


@jit
def add_leaf_values(
    X, root, feature, children, threshold, missing_left, set_start, goes_left, value, output, out
):
    """Add the value of the leaf of each row in each tree to one output, or to all if there are as many
    values: out (N, K)."""
    K = value.shape[1]
    for a in range(0, X.shape[0], TILE):
        for m in range(len(root)):
            for i in range(a, min(a + TILE, X.shape[0])):
                t = leaf_of_row(
                    X, i, root[m], feature, children, threshold, missing_left, set_start, goes_left
                )
                for k in range(K):
                    out[i, output[m] + k] += value[t, k]


@add_leaf_values.small
def _(X, root, feature, children, threshold, missing_left, set_start, goes_left, value, output, out):
    leaves = np.empty((len(X), len(root)), np.int64)
    leaves_of_rows(X, root, feature, children, threshold, missing_left, set_start, goes_left, leaves)
    for m in range(len(root)):
        out[:, output[m] : output[m] + value.shape[1]] += value[leaves[:, m]]


def _is_left(missing, code, below, t, missing_left, set_start, goes_left):
    """Whether rows at the nodes t go left."""
    out = np.where(missing, missing_left[t], below)
    in_set = np.flatnonzero((set_start[t] >= 0) & ~missing)
    out[in_set] = goes_left[set_start[t[in_set]] + code[in_set].astype(np.int64)]
    return out


def _descended(t, feature, children, left):
    """The leaf of each row below the node t, all rows a level at a time; `left(nodes, features, rows)` says
    where they go."""
    rows = np.arange(len(t))
    while len(rows := rows[feature[t[rows]] >= 0]):
        at = t[rows]
        t[rows] = children[at, np.where(left(at, feature[at], rows), 0, 1)]
    return t


@jit
def add_histograms(codes, node, group, entry, classes, offset, count, sums, low, high, rows):
    """Add rows (D, N) to the histograms (T, B, O) and the sums of their nodes; a node of -1 is none. The bins
    of feature d are those from offset[d] on."""
    for i in range(codes.shape[1]):
        t = node[i]
        if t < 0:
            continue
        rows[t] += 1
        y = group[i]
        low[t], high[t] = min(low[t], y), max(high[t], y)
        if classes:
            sums[t, y] += entry[i, 0]
        else:
            for k in range(entry.shape[1]):
                sums[t, k] += entry[i, k]
    for d in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            t = node[i]
            if t < 0:
                continue
            b = offset[d] + np.int64(codes[d, i])
            if classes:
                count[t, b, group[i]] += entry[i, 0]
            else:
                count[t, b, 0] += entry[i, 0]
                count[t, b, 1] += entry[i, 1]
                for k in range(2, count.shape[2]):
                    count[t, b, k] += entry[i, k]
