"""The loops of native/buckets.hpp in NumPy."""

import numpy as np

BITS = 64


def ordered(x):
    bits = x.view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(0x7FFF_FFFF_FFFF_FFFF), bits)


def merge(low_a, high_a, count_a, low_b, high_b, count_b, dropped):
    order = np.argsort(np.concatenate([low_a, low_b]), kind="stable")
    pairs = ((low_a, low_b), (high_a, high_b), (count_a, count_b))
    return joined(*(np.concatenate(pair)[order] for pair in pairs), dropped)


def compress(low, high, count, dropped, capacity):
    while len(joined(low, high, count, dropped)[0]) > capacity and dropped < BITS - 1:
        dropped += 1
    return dropped, *joined(low, high, count, dropped)


def joined(low, high, count, dropped):
    """Join sorted buckets whose values are equal without their last bits."""
    key = ordered(low) >> dropped
    first = np.flatnonzero(np.concatenate([[len(low) > 0], key[1:] != key[:-1]]))
    if not len(first):
        return low, high, count
    return low[first], np.maximum.reduceat(high, first), np.add.reduceat(count, first)


def find_buckets(x, high, out):
    out[:] = np.where(np.isnan(x), len(high), np.minimum(np.searchsorted(high, x), len(high) - 1))
