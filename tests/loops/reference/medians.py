"""The loops of native/medians.hpp in NumPy."""

import numpy as np


def median_errors(rank, weight, value):
    out = np.zeros(len(rank), np.int64)
    for n in range(1, len(rank) + 1):
        deviations = np.abs(value[rank[:n]] - value[:, None])
        out[n - 1] = (deviations * weight[:n]).sum(axis=1).min()
    return out
