"""The buckets of quantile sketches."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.loops.buckets import compress, merge


def buckets(rng, n):
    x = np.sort(rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n))
    return x, x.copy(), rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize("sizes", [(5, 1), (1, 1), (40, 300)])
@pytest.mark.parametrize("dropped", [0, 48, 52])
def test_merge(sizes, dropped):
    rng = np.random.default_rng(0)
    a, b = (buckets(rng, n) for n in sizes)
    low, high, count = merge(*a, *b, dropped)
    assert (np.diff(low) > 0).all()
    assert (low <= high).all()
    assert count.sum() == a[2].sum() + b[2].sum()
    assert dropped or len(low) == sum(sizes)


@pytest.mark.parametrize("capacity", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("dropped", [0, 40])
def test_compress(capacity, dropped):
    rng = np.random.default_rng(1)
    for n in (0, 1, 50, 500):
        low, high, count = buckets(rng, n)
        bits, *joined = compress(low, high, count, dropped, capacity)
        assert bits >= dropped
        assert len(joined[0]) <= max(capacity, 2)  # the two signs never share a bucket
        assert joined[2].sum() == count.sum()
