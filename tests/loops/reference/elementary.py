"""The loops of native/elementary.hpp in NumPy."""

import numpy as np


def exp(x):
    return np.exp(x)


def log(x):
    return np.log(x)


def log1p(x):
    return np.log1p(x)
