"""Arguments for the loops of native/trees.hpp."""

import numpy as np

from suffice.loops.trees import Features
from suffice.tree.growth import Limits, Root


def cases(N, D, K):
    """Growth with each criterion and option; and trees of random nodes, in which rows find their leaves."""
    rng = np.random.default_rng((N, D, K))
    n_bins = rng.choice([1, 3, 40, 300, 700], D)  # the last two are searched by parts
    categorical = (n_bins < 100) & (rng.random(D) < 0.5)
    offset = np.concatenate([[0], np.cumsum(n_bins + 1)])
    values = np.concatenate([np.sort(rng.normal(size=n + 1)) for n in n_bins])
    holes = rng.random((D, 1)) < 0.5
    whole = (n_bins[:, None] * rng.beta(2.0, 2.0, (D, N))).astype(np.int64)
    codes = np.where(holes & (rng.random((D, N)) < 0.2), n_bins[:, None], whole)
    w = rng.integers(1, 1000, N)
    x = codes[0] / n_bins[0] + 0.3 * rng.normal(size=N)
    for of_rows, criterion, n_outputs, limits, root in grown(rng, N, D, K, w, x) if N else ():
        for of_bins in (values, np.empty(0)):
            # With values, the reference takes its time; (9, 5, 9) has no array that is empty.
            if N < 200 if len(of_bins) else (N, D, K) != (9, 5, 9):
                features = Features(n_bins, categorical, offset, of_bins)
                yield (
                    "grow",
                    (codes.astype(np.uint16), *of_rows, features, criterion, n_outputs, limits, root),
                )

    T = 2 * K + 1  # nodes: each inner one has two that come later
    inner = np.arange(T) < K
    feature = np.where(inner, rng.integers(D, size=T), -1)
    children = np.where(inner[:, None], 1 + 2 * np.arange(T)[:, None] + [0, 1], -1)
    sets = np.where(inner & categorical[feature], offset[feature], -1)
    goes, missing_left = rng.random(offset[-1]) < 0.5, rng.random(T) < 0.5
    edge = rng.integers(n_bins[feature])
    yield "preorder", (children,)
    nodes = feature, children, edge, missing_left, sets, goes
    for dtype in (np.uint16, np.uint32):
        yield "leaves_of_codes", (codes.astype(dtype), n_bins, *nodes, np.empty(N, np.int64))
    node, side = np.arange(T)[:, None], rng.integers(2, size=(T, 256))
    following = np.where(inner[:, None], children[node, side], node)
    table = feature.clip(0), following.astype(np.int32).ravel(), int(np.log2(T + 1)) + 1
    yield "leaves_by_table", (np.ascontiguousarray(codes.T).astype(np.uint8), *table, np.empty(N, np.int64))
    X = np.where(codes == n_bins[:, None], np.nan, codes).T.copy()
    root, output = np.array([0, T // 2]), np.array([0, 1])
    forest = root, feature, children, edge + 0.5, missing_left, sets, goes
    yield "leaves_of_rows", (X, *forest, np.empty((N, 2), np.int64))
    yield "add_leaf_values", (X, *forest, rng.normal(size=(T, 1)), output, np.zeros((N, 2)))
    yield "add_leaf_values", (X, *forest, rng.normal(size=(T, K)), 0 * output, np.ones((N, K)))

    node, group = rng.integers(-1, 3, N), rng.integers(K, size=N)
    low, high = np.full(3, 1 << 60), np.full(3, -(1 << 60))
    for classes, entry in ((True, w[:, None]), (False, rng.integers(1, 9, (N, K + 2)))):
        outputs = K if classes else K + 1
        count, sums = (
            np.zeros((3, offset[-1], outputs), np.int64),
            np.zeros((3, outputs + (not classes)), np.int64),
        )
        of_nodes = codes.astype(np.uint16), node, group, entry, classes, offset
        yield "add_histograms", (*of_nodes, count, sums, low, high, np.zeros(3, np.int64))
    by_bin = (offset[:-1, None] + codes).ravel()
    of_classes, of_numbers = np.zeros((2, offset[-1], K + 2), np.int64)
    np.add.at(of_classes, (by_bin, np.tile(group, D)), np.tile(w, D))
    np.add.at(of_numbers, by_bin, np.tile(entry, (D, 1)))
    for criterion in range(6):
        folded = np.ascontiguousarray(
            (of_classes if criterion < 3 else of_numbers)[:, : 2 if criterion == 3 else None]
        )
        signs = rng.integers(-1, 2, D).astype(np.int8) * (folded.shape[1] == 2)
        total = folded[: offset[1]].sum(axis=0)
        for most, of_bins in ((D, values), (1, values if (N, D, K) == (9, 5, 9) else np.empty(0))):
            features = Features(n_bins, categorical, offset, of_bins)
            limits = Limits(0, 0, 1, 0.0, most, 0, len(of_bins) > 0, 0, signs)
            yield "find_split", (folded, total, features, criterion, limits, Root(N))


def grown(rng, N, D, K, w, x):
    """Targets and limits of `grow` with each criterion."""
    signs, none = rng.integers(-1, 2, D).astype(np.int8), np.zeros(D, np.int8)
    y = np.rint(100 * np.exp(x)).astype(np.int64)
    numbers = np.stack([w, w * y, w * y * y], axis=1)
    two = np.stack([w, w * y, w * rng.integers(9, size=N), w * y * y], axis=1)
    label, k = (x > np.median(x)).astype(np.int64), np.clip(K * x, 0, K - 1).astype(np.int64)
    both = np.stack([w, w * label, w * (1 - label), w * (k > 0), w * (k == 0)], axis=1)
    plain = (1 << 40, 2, 1, 0.0, D, 0), Root(1 << 63)
    limited = (4, 20, 5, 0.5, max(1, D // 2), 5), Root(5, 1, 0.0, 300.0)
    for numbers_of, root in (plain, limited)[N >= 128 :]:
        free, signed = (Limits(*numbers_of, False, 0, cst) for cst in (none, signs))
        for criterion in (0, 1, 2):
            yield (k, w[:, None]), criterion, K + 1, free, root
            yield (label, w[:, None]), criterion, 2, signed, root
        yield (label, w[:, None]), 0, 2, free, root
        yield (label, np.ones((N, 1), np.int64)), 0, 2, free, root  # ties
        for criterion in (3, 4):
            yield (y, numbers), criterion, 2, free, root
            yield (y, numbers), criterion, 2, signed, root
        yield (y, two), 3, 3, free, root
        yield (label + 2 * (k > 0), both), 5, 5, free, root
