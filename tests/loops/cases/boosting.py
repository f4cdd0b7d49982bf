"""Arguments for the loops of native/boosting.hpp."""

import numpy as np

from suffice.ensemble.newton import Rules
from suffice.tree.growth import Limits, Root


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    n_bins = np.minimum(rng.integers(0, 12 + K, D), 255)
    n_bins[0] = 255
    missing = rng.random((N, D)) < 0.2 * (np.arange(D) % 2)
    code = np.where(missing, n_bins, rng.integers(0, np.maximum(n_bins, 1), (N, D)))
    codes, rows = np.where(n_bins > 0, code, 0).astype(np.uint8), rng.permutation(N)[: N - N // 3]
    rows = rows.astype(np.uint32)
    n = len(rows)
    h, g, w = rng.integers(1, 1 << 20, n), rng.integers(-(1 << 18), 1 << 18, n), rng.integers(1, 4, n)
    packed, apart = ((g << 32) + h)[:, None], np.stack([h, g, w], axis=1)
    for entry in (apart, apart[:, :2].copy()):
        yield "add_entries", (codes, rows, entry, np.ones((D, 256, entry.shape[1]), np.int64))
    x, curvature = rng.normal(size=N), rng.random(N)
    yield "pack", (x, curvature, 1e4, 1e5, 32, np.zeros((N, 1), np.int64))
    yield "pack", (x, curvature[:0], 1e4, 1.0, 13, np.zeros((N, 1), np.int64))
    start, stop, value = (
        np.array([0, n // 3, n // 3]),
        np.array([n // 3, n // 3, n]),
        np.array([0.5, 9.0, -0.25]),
    )
    yield "add_to_rows", (rows, start, stop, value, K - 1, np.zeros((N, K)))
    hist = np.zeros((D, 256, 3), np.int64)
    np.add.at(hist, (np.arange(D), codes[rows].astype(np.int64)), apart[:, None])
    counts = np.zeros_like(hist[..., :1])
    np.add.at(counts, (np.arange(D), codes[rows].astype(np.int64)), 1)
    plain, total = np.zeros(D, np.int8), apart.sum(axis=0)
    sign = rng.integers(-1, 2, D).astype(np.int8)
    bound = np.inf
    for categorical in (np.zeros(D, bool), np.arange(D) % 2 == 1):
        for cst, penalty, low, high in (
            (plain, 0.0, -bound, bound),
            (plain, 3e5, -0.1, 0.05),
            (sign, 0.0, -1.0, bound),
        ):
            limits = Limits(0, 0, 2, 0.0, D, 0, False, 0, cst)
            allowed, root, two = rng.random(D) < 0.8, Root(0, 0, low, high), hist[..., :2].copy()
            for mode, of_bins, of_node in (
                (1, hist, total), (0, two, total[[0, 1, 0]]), (2, two, np.array([*total[:2], n])),
            ):  # fmt: skip
                rules = Rules(mode, 5, 1 << 20, 1e6, penalty)
                arguments = (n_bins, categorical), allowed, rules, limits, root, codes, rows
                yield "find_newton_split", (of_bins, of_node, *arguments)
    columns, none = np.ascontiguousarray(codes.T), np.empty((0, D), bool)
    groups = np.arange(D) % 2 == np.arange(2)[:, None]
    two, some = apart[:, :2].copy(), np.arange(D) % 2 == 1
    counts = ((g << 13) + 1)[:, None]
    ways = ((packed, 32, 2), (counts, 13, 0), (apart, 0, 1), (two, 0, 0))
    free = Limits(1 << 40, 0, 2, 0.0, D, 6, False, 7, plain)
    limited = Limits(3, 5, 2, 0.0, 1 + D // 2, 0, False, 9, sign)
    for entry, lane, mode in ways if n else ():
        for categorical, together, penalty, limits, threads in (
            (plain < 0, none, 0.0, free, (1, 0)), (some, groups, 3e5, limited, (2, 10)),
        ):  # fmt: skip
            rules = Rules(mode, 1, 1 << 20, 1e6, penalty)
            of_rows = codes, columns, rows, entry, lane
            yield "grow_newton", (*of_rows, (n_bins, categorical), together, rules, limits, *threads)
