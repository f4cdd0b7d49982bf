"""The string kernel by dynamic programming.

Lodhi et al., "Text classification using string kernels", 2002. Matches of a symbol are taken from a list, and
what decays between them by powers, so that the innermost loop has no chain and is vectorized.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled

TINY = 1e-290  # taken as zero: subnormal numbers are slow

jit = compiled(fastmath={"contract"})


@jit
def _powers(decay, longest):
    power = np.empty(longest + 1)
    power[0] = 1.0
    for j in range(longest):
        power[j + 1] = decay * power[j] if decay * power[j] > TINY else 0.0
    return power


@jit
def _longest(offset):
    longest = 0
    for a in range(len(offset) - 1):
        longest = max(longest, offset[a + 1] - offset[a])
    return longest


@jit
def _common(s, t, n, decay, power, first, after, near):
    """K_n(s, t). near[l, j] is K'_l of what was read of s and the first j symbols of t: common subsequences
    of length l, weighted by their spans up to the ends of both. `first` has -1 for each symbol."""
    T, total, square = len(t), 0.0, decay * decay
    for j in range(T - 1, -1, -1):
        after[j] = first[t[j]]
        first[t[j]] = j
    near[0, :] = 1.0
    near[1:, : T + 1] = 0.0
    for i in range(len(s)):
        start = first[s[i]]
        match = start
        while match >= 0:
            total += near[n - 1, match]
            match = after[match]
        for level in range(n - 1, 0, -1):
            shorter, longer = near[level - 1], near[level]
            for j in range(start if start >= 0 else T):
                longer[j + 1] = decay * longer[j + 1] if longer[j + 1] > TINY else 0.0
            ends, last, match = 0.0, start, start
            while match >= 0:
                ends = power[match - last] * ends + square * shorter[match]
                stop = after[match] if after[match] >= 0 else T
                for j in range(stop - match):
                    value = decay * longer[match + j + 1] + power[j] * ends
                    longer[match + j + 1] = value if value > TINY else 0.0
                last, match = match, after[match]
    for j in range(T):
        first[t[j]] = -1
    return square * total


@jit
def subsequences(s, s_offset, t, t_offset, n_symbols, n, decay, same):
    """The Gram matrix of strings between offsets; symmetric if `same`."""
    N, M, longest = len(s_offset) - 1, len(t_offset) - 1, _longest(t_offset)
    out, near, power = np.zeros((N, M)), np.empty((n, longest + 1)), _powers(decay, longest)
    first, after = np.full(n_symbols, -1), np.empty(longest, np.int64)
    for a in range(N):
        x = s[s_offset[a] : s_offset[a + 1]]
        for b in range(a if same else 0, M):
            z = t[t_offset[b] : t_offset[b + 1]]
            if min(len(x), len(z)) >= n:
                out[a, b] = _common(x, z, n, decay, power, first, after, near)
                if same:
                    out[b, a] = out[a, b]
    return out


@jit
def own_subsequences(s, offset, n_symbols, n, decay):
    """K_n(s, s) of each string."""
    longest = _longest(offset)
    out, near, power = np.zeros(len(offset) - 1), np.empty((n, longest + 1)), _powers(decay, longest)
    first, after = np.full(n_symbols, -1), np.empty(longest, np.int64)
    for a in range(len(out)):
        x = s[offset[a] : offset[a + 1]]
        if len(x) >= n:
            out[a] = _common(x, x, n, decay, power, first, after, near)
    return out
