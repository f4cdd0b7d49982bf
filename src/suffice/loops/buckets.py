"""Merges of the buckets of quantile sketches: see `statistics.quantile_sketch`."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from .compiled import compiled

jit = compiled()

BITS = 64
FLIP = np.int64(0x7FFF_FFFF_FFFF_FFFF)


@jit
def merge(low_a, high_a, count_a, low_b, high_b, count_b):
    """Merge two lists of buckets, each sorted by the smallest values. Of equal ones, the first list is
    first."""
    N, M = len(low_a), len(low_b)
    low, high, count = np.empty(N + M), np.empty(N + M), np.empty(N + M)
    i, j = 0, 0
    for k in range(N + M):
        if j == M or (i < N and low_a[i] <= low_b[j]):
            low[k], high[k], count[k] = low_a[i], high_a[i], count_a[i]
            i += 1
        else:
            low[k], high[k], count[k] = low_b[j], high_b[j], count_b[j]
            j += 1
    return low, high, count


@merge.small
def _(low_a, high_a, count_a, low_b, high_b, count_b):
    order = np.argsort(np.concatenate([low_a, low_b]), kind="stable")
    pairs = ((low_a, low_b), (high_a, high_b), (count_a, count_b))
    return tuple(np.concatenate(pair)[order] for pair in pairs)


@jit
def _ordered(bits):
    """The bits of a number as an integer, in the order of the numbers."""
    return bits if bits >= 0 else bits ^ FLIP


@jit
def compress(low, key, high, count, dropped, capacity):
    """Join sorted buckets whose values are equal without their last bits; at least `dropped` of them, and as
    many as leave at most `capacity` buckets. `key` are the bits of `low`. Returns the number of bits too."""
    N = len(low)
    if N == 0:
        return dropped, low, high, count
    n_buckets = 1
    for i in range(1, N):
        n_buckets += _ordered(key[i]) >> dropped != _ordered(key[i - 1]) >> dropped
    if n_buckets > capacity:
        top = np.zeros(BITS, np.int64)  # the highest bit in which neighbors differ
        for i in range(1, N):
            differ = (_ordered(key[i]) ^ _ordered(key[i - 1])) >> dropped << dropped
            if differ < 0:  # of different signs
                top[BITS - 1] += 1
            elif differ > 0:
                bit = 0
                for step in (32, 16, 8, 4, 2, 1):
                    if differ >> step:
                        differ >>= step
                        bit += step
                top[bit] += 1
        while n_buckets > capacity and dropped < BITS - 1:
            n_buckets -= top[dropped]
            dropped += 1
    out_low, out_high, out_count = np.empty(n_buckets), np.empty(n_buckets), np.empty(n_buckets)
    m = -1
    previous = np.int64(0)
    for i in range(N):
        k = _ordered(key[i]) >> dropped
        if i == 0 or k != previous:
            m += 1
            out_low[m], out_high[m], out_count[m] = low[i], high[i], count[i]
        else:
            out_high[m] = max(out_high[m], high[i])
            out_count[m] += count[i]
        previous = k
    return dropped, out_low, out_high, out_count


@compress.small
def _(low, key, high, count, dropped, capacity):
    key = np.where(key < 0, key ^ FLIP, key)  # in the order of the values
    differ = key[1:] ^ key[:-1]

    def is_enough(dropped):
        return bool(np.count_nonzero(differ >> dropped) < capacity)

    dropped = bisect_left(range(BITS - 1), True, lo=dropped, key=is_enough)
    first = np.flatnonzero(np.concatenate([[len(low) > 0], (differ >> dropped) != 0]))
    if len(first) == len(low):
        return dropped, low, high, count
    return dropped, low[first], np.maximum.reduceat(high, first), np.add.reduceat(count, first)


@jit
def bucket_table(key):
    """A table in which `find_buckets` starts, with a few entries for each bucket, and a shift: the bits of a
    number, shifted, are its place in the table. So neighbors in it are at about the same ratio. `key` are the
    bits of the largest values of the buckets."""
    B = len(key)
    first, last, shift = _ordered(key[0]), _ordered(key[B - 1]), 2  # so that differences do not overflow
    while (last >> shift) - (first >> shift) >= 4 * B:
        shift += 1
    start = np.empty((last >> shift) - (first >> shift) + 1, np.int64)
    j = 0
    for s in range(len(start)):
        while _ordered(key[j]) >> shift < (first >> shift) + s:
            j += 1
        start[s] = j
    return start, shift


@bucket_table.small
def _(key):
    return np.zeros(1, np.int64), 0  # without a table, numbers are found by bisection


@jit
def find_buckets(x, bits, high, key, start, shift, out):
    """The first bucket whose largest value is not below x, for each x; the last one if there is none, and the
    number of buckets for NaN. `bits` are those of x, and `key` those of `high`."""
    B = len(high)
    first, last = _ordered(key[0]), _ordered(key[B - 1])
    for i in range(len(x)):
        if x[i] != x[i]:
            out[i] = B
            continue
        j = np.int64(0)
        if len(start) > 1:
            j = start[(min(max(_ordered(bits[i]), first), last) >> shift) - (first >> shift)]
        elif B > 1:
            j = np.searchsorted(high, x[i])
        while j < B - 1 and high[j] < x[i]:
            j += 1
        out[i] = min(j, B - 1)


@find_buckets.small
def _(x, bits, high, key, start, shift, out):
    out[:] = np.where(np.isnan(x), len(high), np.minimum(np.searchsorted(high, x), len(high) - 1))
