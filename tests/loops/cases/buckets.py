"""Arguments for the loops of native/buckets.hpp."""

import numpy as np


def buckets(rng, n):
    """Sorted numbers of both signs and many sizes, some equal to zero, with the end of their bucket."""
    x = np.sort(rng.normal(size=n).round(2) * 10.0 ** rng.integers(-3, 4, n)) + 0.0
    return x, np.append(x[1:], np.inf)[:n], rng.integers(1, 5, n).astype(float)


def cases(N, D, K):
    rng = np.random.default_rng((N, D, K))
    for dropped in (0, 40, 52):
        yield "merge", (*buckets(rng, N + 1), *buckets(rng, D), dropped)
        for capacity in (1, K, 1000):
            yield "compress", (*buckets(rng, N), dropped, capacity)
    high = np.unique(buckets(rng, N + 1)[0])
    some = np.array([np.nan, 0.0, -0.0, 1e300, -1e300, 5e-324, -5e-324, np.inf, -np.inf])
    x = np.concatenate([some, high, high * 1.001, -high])
    for dtype in (np.uint8, np.uint16, np.uint32, np.int64):
        for numbers in (x, np.tile(x, 1 + 5000 // len(x))):
            last = high[:255]
            yield "find_buckets", (numbers, last, np.empty(len(numbers), dtype))
