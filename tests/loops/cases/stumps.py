"""Arguments for the loops of native/stumps.hpp."""

import numpy as np

from suffice.loops.stumps import RUN, bounds_of_runs, count_runs
from suffice.loops.trees import ENTROPY, GINI, MISCLASSIFICATION


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    x, w = rng.beta(2.0, 2.0, N), np.where(rng.random(N) < 0.1, 0, rng.integers(1, 1 << 40, N))
    entry, label = w[:, None], (rng.random(N) < 0.3 + 0.4 * (x > 0.4)).astype(np.int64)
    classes = np.clip(((K + 1) * (x + 0.3 * rng.normal(size=N))).astype(np.int64), 0, K)
    missing = rng.random(N) < 0.2
    for B, dtype, group, n_classes in (
        (3 + K, np.uint8, classes, K + 1),
        (40, np.uint8, label, 2),
        (3000, np.uint16, label, 2),
        (300, np.uint32, classes, K + 1),
    ):
        for codes in (B * x).astype(dtype), np.where(missing, B, B * x).astype(dtype):
            count = np.zeros((B + 1, n_classes), np.int64)
            yield "count_classes", (codes, group, entry, count)
            np.add.at(count, (codes.astype(np.int64), group), w)
            for criterion in (GINI, ENTROPY, MISCLASSIFICATION):
                for categorical in (False, True) if B < 100 else (False,):
                    for sign, least in ((0, 1), (0, 1 << 41), (1, 1), (-1, 1 << 41)):
                        how = categorical, sign * (n_classes == 2), count.sum(axis=0), criterion, least
                        yield "best_stump", (count, *how)
        yield from of_runs(rng, codes, label, entry, B)
    answer = rng.integers(3, size=N)
    change, factor = rng.gamma(2.0, size=(3, K + 1)), rng.gamma(2.0, size=N)
    for weight in rng.integers(5, size=N).astype(float), rng.gamma(2.0, size=N):
        out = np.empty(N), np.empty((N, 1), np.int64)
        yield "reweigh", (answer, classes, change, factor, weight, 2.0**40, *out)


def of_runs(rng, codes, label, entry, B):
    count = np.zeros(((B >> RUN) + 1, 2), np.int64)
    yield "count_runs", (codes, label, entry, count)
    count_runs(codes, label, entry, count)
    total = count.sum(axis=0).tolist()
    for least in (0, 1, 1 << 42):
        bound = np.empty(len(count))
        yield "bounds_of_runs", (count, *total, least, bound)
        best = bounds_of_runs(count, *total, least, bound)
        some = rng.permutation(bound)
        for bounds, lowest in (
            (bound, best * (1.0 - 1e-12)),
            (some, float(np.median(some))),
            (bound, 0.0),
            (bound, np.inf),
        ):
            yield "best_in_runs", (codes, label, entry, count, bounds, lowest, *total, least)
    for bin_ in (-1, B // 2, B - 1):
        yield "next_bin", (codes, entry, bin_, B)
