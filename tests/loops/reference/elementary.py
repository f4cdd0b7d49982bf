"""The loops of native/elementary.hpp in NumPy."""

import numpy as np
from scipy.special import gammaln, psi


def exp(x):
    return np.exp(x)


def log(x):
    return np.log(x)


def log1p(x):
    return np.log1p(x)


def digamma(x):
    return np.where(x < 0.0, np.nan, psi(x))


def log_gamma(x):
    return np.where(x < 0.0, np.nan, np.where(x < 1e-300, -np.log(x), gammaln(x)))
