"""The loops of native/trees.hpp in NumPy: the splits of a node are those of its histograms."""

import numpy as np

from suffice.loops.trees import (
    ENTROPY,
    GINI,
    INDICATORS,
    MISCLASSIFICATION,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    POISSON,
    SQUARED_ERROR,
    mixed,
    value_of,
    weight_of,
)


def worth(s, criterion):
    """Minus the weighted impurity of a node with these sums, up to a term that a split does not change."""
    v = s.astype(float)
    if criterion == GINI:
        return sum(v * v) / v.sum()
    if criterion == MISCLASSIFICATION:
        return v.max()
    if criterion == POISSON:
        return sum(np.where(v[1:] > 0.0, v[1:] * np.log(v[1:] / v[0]), -np.inf))
    if criterion in (ENTROPY, INDICATORS):
        classes = v[1:] if criterion == INDICATORS else v
        logs = sum(np.where(classes > 0.0, classes * np.log2(classes), 0.0))
        return logs - classes.sum() * np.log2(v[0] if criterion == INDICATORS else v.sum())
    return 0.0


def gain(left, right, criterion, parent):
    """The decrease of the weighted impurity by a split."""
    if criterion == SQUARED_ERROR:
        a, b = float(left[0]), float(right[0])
        return a * b / (a + b) * sum((left[1:] / a - right[1:] / b) ** 2)
    return worth(left, criterion) + worth(right, criterion) - parent


def fraction(left, right, criterion):
    """The gain of two sums, in other units, as numerator and denominator: one is larger than another if their
    products are."""
    a, c = float(weight_of(left, criterion)), float(weight_of(right, criterion))
    cross = float(left[1]) * c - float(right[1]) * a
    return cross * cross, a * c


def is_allowed(left, right, criterion, sign, low, high):
    a, b = value_of(left, criterion), value_of(right, criterion)
    return sign == 0 or ((b - a) * sign >= 0.0 and low <= min(a, b) and max(a, b) <= high)


def cuts(hist, ordered):
    """For each split: the sums on the left, the number of bins there, and where missing values go."""
    *bins, missing = hist
    for side in (MISSING_RIGHT, MISSING_LEFT) if missing.any() else (MISSING_RIGHT,):
        first = missing if side == MISSING_LEFT else 0 * missing
        sums = first + (np.cumsum(bins, axis=0) if ordered else np.array(bins)) if bins else []
        for j in range(len(bins)):
            # All bins on the left and missing values on the right is a split too.
            if j < len(bins) - 1 or not ordered or (missing.any() and side == MISSING_RIGHT):
                yield sums[j], j + 1, side


def random_cut(hist, ordered, values, key):
    """As `cuts`, the one that is drawn."""
    *bins, missing = hist
    m, some_missing = len(bins), missing.any()
    u = int(key >> np.uint64(11)) * 2.0**-53
    first = min(1 + int(u * m), m)
    if len(values):
        first = max(1, int(np.searchsorted(values, values[0] + u * (values[-1] - values[0]), "right")))
    side = int(mixed(key) & np.uint64(1)) if some_missing else MISSING_RIGHT
    if first == m and ordered and not (some_missing and side == MISSING_RIGHT):
        first, side = (first - 1, side) if m > 1 else (first, MISSING_RIGHT)
    left = sum(bins[:first]) if ordered else bins[first - 1]
    return left + (missing if side == MISSING_LEFT else 0), first, side


def split_of_feature(hist, categorical, sign, values, is_random, total, criterion, least, key, low, high):
    """Of the best split of one feature the gain, the bins, where missing values go, and the categories on the
    left; or None if it is constant."""
    present = np.flatnonzero(hist[:-1].any(axis=1))
    some_missing, n_outputs, nothing = hist[-1].any(), len(total), np.empty(0, np.int64)
    if len(present) + some_missing < 2:
        return None
    ordered = not (categorical and n_outputs > 2)
    if categorical and ordered:
        present = present[np.argsort(value_of(hist[present], criterion), kind="stable")]
    hist = np.concatenate([hist[present], hist[-1:]])
    found = cuts(hist, ordered)
    if is_random:
        found = [random_cut(hist, ordered, nothing if categorical else values[present], key)]
    parent, best, best_fraction, cut = worth(total, criterion), -1.0, (0.0, 1.0), None
    by_fraction = (
        ordered and sign == 0 and n_outputs == 2 and criterion in (SQUARED_ERROR, GINI) and not is_random
    )
    for left, first, side in found:
        right = total - left
        if min(weight_of(left, criterion), weight_of(right, criterion)) < least:
            continue
        if not is_allowed(left, right, criterion, sign, low, high):
            continue
        if by_fraction:
            x, y = fraction(left, right, criterion)
            if cut is None or x * best_fraction[1] > best_fraction[0] * y:
                best_fraction, cut = (x, y), (first, side)
                best = (2.0 if criterion == GINI else 1.0) * x / y / float(weight_of(total, criterion))
        elif (g := gain(left, right, criterion, parent)) > best:
            best, cut = g, (first, side)
    if cut is None or best < 0.0:
        return best, 0, 0, NONE_MISSING, nothing
    first, side = cut
    side = side if some_missing else NONE_MISSING
    if categorical:
        return best, 0, 0, side, present[0 if ordered else first - 1 : first]
    return (
        best,
        present[first - 1],
        present[first] if first < len(present) else len(values) - 1,
        side,
        nothing,
    )


def find_split(folded, total, features, criterion, limits, root):
    n_bins, categorical, offset, values = features
    _, _, least, _, max_features, *_, cst = limits
    key, _, low, high = root
    D, best, tried, key, draw = len(n_bins), (-1.0, NO_SPLIT), 0, np.uint64(key), np.uint64(key)
    features, n_drawn, is_random = np.arange(D), 0, len(values) > 0
    of_bins = values if is_random else np.zeros(offset[-1])
    for i in range(D):
        if tried >= max_features:
            break
        if i == n_drawn:  # as many features as are needed, if none is constant
            n_drawn = min(D, i + max_features - tried)
            for j in range(i, n_drawn if max_features < D else i):
                key = mixed(key)
                other = j + int(key % np.uint64(D - j))
                features[[j, other]] = features[[other, j]]
        d = int(features[i])
        if is_random:
            draw = mixed(draw ^ np.uint64(d + 3))
        part = slice(offset[d], offset[d + 1])
        split = split_of_feature(
            folded[part],
            categorical[d],
            cst[d],
            of_bins[part],
            is_random,
            total,
            criterion,
            least,
            draw,
            low,
            high,
        )
        tried += split is not None
        if split and (split[0] > best[0] or (split[0] == best[0] >= 0.0 and d < best[1])):
            best = (split[0], d, *split[1:])
    return best if best[1] >= 0 else (-1.0, NO_SPLIT, 0, 0, NONE_MISSING, np.empty(0, np.int64))


def histograms(codes, group, entry, classes, offset, n_outputs):
    """Of one node, the bins of all features one after the other."""
    out = np.zeros((offset[-1], n_outputs), np.int64)
    for of_feature, first in zip(codes, offset, strict=False):
        b = first + of_feature.astype(np.int64)
        np.add.at(out, (b, group) if classes else b, entry[:, 0] if classes else entry[:, :n_outputs])
    return out


def grow(codes, group, entry, features, criterion, n_outputs, limits, root):
    n_bins, categorical, offset, _ = features
    max_depth, least_split, least, least_gain, _, max_leaves, *_, cst = limits
    classes = criterion < SQUARED_ERROR
    nodes, sets = [], []

    def add(rows, depth, key, low, high):
        own, y = entry[rows], group[rows]
        sums = np.bincount(y, own[:, 0], n_outputs).astype(np.int64) if classes else own.sum(axis=0)
        node = {
            "rows": rows,
            "depth": depth,
            "key": key,
            "low": low,
            "high": high,
            "sums": sums,
            "children": (-1, -1),
        }
        node |= {"pure": (y == y[0]).all(), "split": (0.0, NO_SPLIT, 0, 0, 0, ()), "set": (-1, -1)}
        nodes.append(node)
        return node

    def search(node):
        total = node["sums"][:n_outputs]
        if (
            node["pure"]
            or node["depth"] >= max_depth
            or weight_of(total, criterion) < max(least_split, 2 * least)
        ):
            return
        rows = node["rows"]
        hist = histograms(codes[:, rows], group[rows], entry[rows], classes, offset, n_outputs)
        at = node["key"], node["depth"], node["low"], node["high"]
        split = find_split(hist, total, features, criterion, limits, at)
        if split[1] == NO_SPLIT or split[0] < least_gain:
            return
        node["split"] = split
        if categorical[split[1]]:
            node["set"] = len(sets), len(sets) + len(split[5])
            sets.extend(split[5])
        waiting.append(node)

    waiting = []
    key, depth, low, high = root
    search(add(np.arange(codes.shape[1]), depth, np.uint64(key), low, high))
    while waiting and not (max_leaves and (len(nodes) + 1) // 2 >= max_leaves):
        # With a limit of leaves that with the largest gain, and of equal ones the smallest key.
        node = (
            max(waiting, key=lambda node: (node["split"][0], -int(node["key"])))
            if max_leaves
            else waiting[-1]
        )
        waiting = [other for other in waiting if other is not node]
        _, d, below, _, side, left_bins = node["split"]
        c = codes[d, node["rows"]].astype(np.int64)
        left = np.isin(c, left_bins) if categorical[d] else c <= below
        left = np.where(c == n_bins[d], side == MISSING_LEFT, left)
        node["children"] = len(nodes), len(nodes) + 1
        parts = [
            add(
                node["rows"][of],
                node["depth"] + 1,
                mixed(node["key"] ^ np.uint64(s + 1)),
                node["low"],
                node["high"],
            )
            for s, of in enumerate((left, ~left))
        ]
        if cst[d]:
            middle = 0.5 * sum(value_of(part["sums"][:n_outputs], criterion) for part in parts)
            parts[0 if cst[d] > 0 else 1]["high"] = parts[1 if cst[d] > 0 else 0]["low"] = middle
        for part in parts:
            search(part)
    splits = [node["split"] for node in nodes]
    feature = [-1 if node["children"][0] < 0 else node["split"][1] for node in nodes]
    return (
        feature, [node["children"] for node in nodes], [split[2:4] for split in splits],
        [split[4] for split in splits], [node["sums"] for node in nodes], [node["pure"] for node in nodes],
        [split[0] for split in splits], [node["key"] for node in nodes],
        [(node["low"], node["high"]) for node in nodes], [node["set"][0] for node in nodes],
        [node["set"][1] for node in nodes], sets,
    )  # fmt: skip


def preorder(children):
    def below(t):
        return [t] + ([] if children[t, 0] < 0 else below(children[t, 0]) + below(children[t, 1]))

    return np.array(below(0) if len(children) else [], np.int64)


def leaf(t, is_left, feature, children):
    while feature[t] >= 0:
        t = children[t, 0 if is_left(t, feature[t]) else 1]
    return t


def leaves_of_codes(codes, n_bins, feature, children, edge, missing_left, set_start, goes_left, out):
    for i, row in enumerate(codes.T.astype(np.int64)):

        def is_left(t, d, row=row):
            if row[d] == n_bins[d]:
                return missing_left[t]
            return goes_left[set_start[t] + row[d]] if set_start[t] >= 0 else row[d] <= edge[t]

        out[i] = leaf(0, is_left, feature, children)


def leaves_by_table(codes, feature, following, depth, out):
    t = np.zeros(len(codes), np.int64)
    for _ in range(depth):
        t = following[256 * t + codes[np.arange(len(codes)), feature[t]]]
    out[:] = t


def leaves_of_rows(X, root, feature, children, threshold, missing_left, set_start, goes_left, out):
    for i, x in enumerate(X):

        def is_left(t, d, x=x):
            if np.isnan(x[d]):
                return missing_left[t]
            return goes_left[set_start[t] + int(x[d])] if set_start[t] >= 0 else x[d] <= threshold[t]

        out[i] = [leaf(t, is_left, feature, children) for t in root]


def add_leaf_values(
    X, root, feature, children, threshold, missing_left, set_start, goes_left, value, output, out
):
    leaves = np.empty((len(X), len(root)), np.int64)
    leaves_of_rows(X, root, feature, children, threshold, missing_left, set_start, goes_left, leaves)
    for m in range(len(root)):
        out[:, output[m] : output[m] + value.shape[1]] += value[leaves[:, m]]


def add_histograms(codes, node, group, entry, classes, offset, count, sums, low, high, rows):
    for t in range(len(count)):
        own = np.flatnonzero(node == t)
        y, e = group[own], entry[own]
        count[t, : offset[-1]] += histograms(codes[:, own], y, e, classes, offset, count.shape[2])
        sums[t] += np.bincount(y, e[:, 0], sums.shape[1]).astype(np.int64) if classes else e.sum(axis=0)
        low[t], high[t] = y.min(initial=low[t]), y.max(initial=high[t])
        rows[t] += len(own)
