"""The loops of native/vectors.hpp in NumPy."""

import numpy as np


def dot(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


def add_scaled(out, factor, a):
    out += factor * a.astype(np.float64)
