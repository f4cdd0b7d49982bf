"""The loops of native/strings.hpp in NumPy."""

import numpy as np


def common(s, t, n, decay):
    """K_n(s, t). near[l, i, j] is K'_l of the first i symbols of s and the first j of t."""
    near = np.zeros((n, len(s) + 1, len(t) + 1))
    near[0] = 1.0
    same = s[:, None] == t
    span = np.arange(len(t)) - np.arange(len(t))[:, None]
    decays = np.where(span >= 0, decay ** np.maximum(span, 0), 0.0)
    for i in range(len(s)):
        ends = decay * decay * (same[i] * near[:-1, i, :-1]) @ decays
        near[1:, i + 1, 1:] = decay * near[1:, i, 1:] + ends
    return decay * decay * (same * near[-1, :-1, :-1]).sum()


def parts(symbols, offset):
    return np.split(symbols, offset[1:-1])


def subsequences(s, s_offset, t, t_offset, n_symbols, n, decay, same):
    return np.array([[common(x, z, n, decay) for z in parts(t, t_offset)] for x in parts(s, s_offset)])


def own_subsequences(s, offset, n_symbols, n, decay):
    return np.array([common(x, x, n, decay) for x in parts(s, offset)])
