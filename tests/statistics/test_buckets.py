"""The loops of quantile sketches, compiled and in NumPy, give the same buckets."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.loops.buckets import bucket_table, compress, find_buckets, merge


def buckets(rng, n):
    x = np.sort(rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n))
    return x, x + (rng.random(n) < 0.0), rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize("sizes", [(0, 5), (1, 1), (40, 300)])
def test_merge(sizes):
    rng = np.random.default_rng(0)
    a, b = (buckets(rng, n) for n in sizes)
    for ours, theirs in zip(merge.dispatcher(*a, *b), merge.numpy(*a, *b), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("capacity", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("dropped", [0, 40])
def test_compress(capacity, dropped):
    rng = np.random.default_rng(1)
    for n in (0, 1, 50, 500):
        x = buckets(rng, n)
        ours, theirs = (
            form(x[0], x[0].view(np.int64), *x[1:], dropped, capacity)
            for form in (compress.dispatcher, compress.numpy)
        )
        for a, b in zip(ours, theirs, strict=True):
            assert np.array_equal(a, b)
        assert len(ours[1]) <= max(capacity, 2)  # the two signs never share a bucket


@pytest.mark.parametrize("n", [1, 2, 1000])
def test_find_buckets(n):
    rng = np.random.default_rng(2)
    high = np.unique(buckets(rng, n)[0] + 0.0)
    x = np.concatenate([high, high * 1.001, -high, [np.nan, 0.0, -0.0, 1e300, -1e300]])
    ours, theirs = np.empty(len(x), np.int64), np.empty(len(x), np.int64)
    x = x + 0.0
    numbers = x, x.view(np.int64), high, high.view(np.int64)
    find_buckets.numpy(*numbers, *bucket_table.numpy(numbers[-1]), theirs)
    for table in (bucket_table.dispatcher, bucket_table.numpy):
        find_buckets.dispatcher(*numbers, *table(numbers[-1]), ours)
        assert np.array_equal(ours, theirs)
