"""The loops of quantile sketches, compiled and in NumPy, give the same buckets."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.loops.buckets import bucket_table, compress, find_buckets, merge


def buckets(rng, n):
    x = np.sort(rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n))
    return x, x + (rng.random(n) < 0.0), rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize("sizes", [(5, 1), (1, 1), (40, 300)])
@pytest.mark.parametrize("dropped", [0, 48, 52])
def test_merge(sizes, dropped):
    rng = np.random.default_rng(0)
    pair = [(x, x.view(np.int64), *more) for x, *more in (buckets(rng, n) for n in sizes)]
    ours, theirs = (form(*pair[0], *pair[1], dropped) for form in (merge.dispatcher, merge.numpy))
    for a, b in zip(ours, theirs, strict=True):
        assert np.array_equal(a, b)
    assert ours[2].sum() == pair[0][3].sum() + pair[1][3].sum()
    assert dropped or len(ours[0]) == sum(sizes)


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
    numbers, key = (x, x.view(np.int64), high), high.view(np.int64)
    find_buckets.numpy(*numbers, *bucket_table.numpy(key), theirs)
    for table in (bucket_table.dispatcher, bucket_table.numpy):
        find_buckets.dispatcher(*numbers, *table(key), ours)
        assert np.array_equal(ours, theirs)
