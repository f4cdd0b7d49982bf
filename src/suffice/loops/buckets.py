"""Merges of the buckets of quantile sketches: see `statistics.quantile_sketch`."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from .compiled import compiled

jit = compiled()

BITS = 64
FLIP = np.int64(0x7FFF_FFFF_FFFF_FFFF)
MANTISSA, EXPONENTS = 52, 4096  # bits of the one; signs with exponents


@jit
def _ordered(bits):
    """The bits of a number as an integer, in the order of the numbers."""
    return bits if bits >= 0 else bits ^ FLIP


@jit
def merge(low_a, key_a, high_a, count_a, low_b, key_b, high_b, count_b, dropped):
    """Merge two lists of buckets, each sorted by the smallest values, and join those whose values are equal
    without their last bits. Keys are the bits of the smallest values. Of equal ones, the first list is
    first."""
    N, M = len(low_a), len(low_b)
    low, high, count = np.empty(N + M), np.empty(N + M), np.empty(N + M)
    i, j, n, previous = 0, 0, -1, (min(_ordered(key_a[0]), _ordered(key_b[0])) >> dropped) - 1
    while i + j < N + M:  # all is chosen without branches, which could not be predicted
        a, b = min(i, N - 1), min(j, M - 1)
        key, other = _ordered(key_a[a]), _ordered(key_b[b])
        first = (j == M) | ((i < N) & (key <= other))
        key = (key if first else other) >> dropped
        new = key != previous
        n += new
        least, largest = low_a[a] if first else low_b[b], high_a[a] if first else high_b[b]
        weight = count_a[a] if first else count_b[b]
        low[n] = least if new else low[n]
        high[n] = largest if new else max(high[n], largest)
        count[n] = weight if new else count[n] + weight
        i, j, previous = i + first, j + 1 - first, key
    return low[: n + 1].copy(), high[: n + 1].copy(), count[: n + 1].copy()


@merge.small
def _(low_a, key_a, high_a, count_a, low_b, key_b, high_b, count_b, dropped):
    order = np.argsort(np.concatenate([low_a, low_b]), kind="stable")
    pairs = ((low_a, low_b), (key_a, key_b), (high_a, high_b), (count_a, count_b))
    low, key, high, count = (np.concatenate(pair)[order] for pair in pairs)
    return _joined(low, key, high, count, dropped)


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
    ordered = np.where(key < 0, key ^ FLIP, key)
    differ = ordered[1:] ^ ordered[:-1]

    def is_enough(dropped):
        return bool(np.count_nonzero(differ >> dropped) < capacity)

    dropped = bisect_left(range(BITS - 1), True, lo=dropped, key=is_enough)
    return dropped, *_joined(low, key, high, count, dropped)


def _joined(low, key, high, count, dropped):
    """Join sorted buckets whose values are equal without their last bits."""
    key = np.where(key < 0, key ^ FLIP, key) >> dropped
    first = np.flatnonzero(np.concatenate([[len(low) > 0], key[1:] != key[:-1]]))
    if len(first) == len(low):
        return low, high, count
    return low[first], np.maximum.reduceat(high, first), np.add.reduceat(count, first)


@jit
def _exponent(bits):
    """The sign and exponent of a number, in the order of the numbers."""
    return (_ordered(bits) >> MANTISSA) + EXPONENTS // 2


@jit
def bucket_table(key):
    """Where to look for a number among buckets: `start`, with a few entries for each bucket.

    `key` are the bits of the largest values of the buckets. Numbers of sign and exponent e have the entries
    from first[e] on, as many as their buckets need, at equal distances: `shift` is that of the mantissas."""
    B = len(key)
    first, shift = np.zeros(EXPONENTS + 1, np.int32), np.full(EXPONENTS, MANTISSA, np.int64)
    for j in range(B):
        first[_exponent(key[j]) + 1] += 1
    for e in range(EXPONENTS):
        size = 1
        while size < 2 * first[e + 1]:
            size *= 2
            shift[e] -= 1
        first[e + 1] = first[e] + size
    start, j = np.empty(first[EXPONENTS], np.int32), 0
    for e in range(EXPONENTS):
        for c in range(first[e + 1] - first[e]):
            least = (np.int64(e - EXPONENTS // 2) << MANTISSA) + (np.int64(c) << shift[e])
            while j < B - 1 and _ordered(key[j]) < least:
                j += 1
            start[first[e] + c] = j
    return start, first, shift


@bucket_table.small
def _(key):  # without a table, numbers are found by bisection
    return np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int64)


@jit
def find_buckets(x, bits, high, start, first, shift, out):
    """The first bucket whose largest value is not below x, for each x; the last one if there is none, and the
    number of buckets for NaN. `bits` are those of x."""
    B = len(high)
    for i in range(len(x)):
        if x[i] != x[i]:
            out[i] = B
            continue
        if len(start) > 1:
            e = _exponent(bits[i])
            j = np.int64(start[first[e] + ((_ordered(bits[i]) & (1 << MANTISSA) - 1) >> shift[e])])
        else:
            j = np.searchsorted(high, x[i])
        while j < B - 1 and high[j] < x[i]:
            j += 1
        out[i] = min(j, B - 1)


@find_buckets.small
def _(x, bits, high, start, first, shift, out):
    out[:] = np.where(np.isnan(x), len(high), np.minimum(np.searchsorted(high, x), len(high) - 1))
