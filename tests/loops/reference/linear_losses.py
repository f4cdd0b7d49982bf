"""The loops of native/linear_losses.hpp in NumPy."""

import numpy as np


def sums(X, weight, value, slope):
    error = weight * slope
    return weight @ value, np.append(error @ X, error.sum())


def binomial(X, theta, codes, weight):
    z = X @ theta[:-1] + theta[-1]
    e = np.exp(-np.abs(z))
    value = np.maximum(z, 0.0) - codes * z + np.log1p(e)
    return sums(X, weight, value, np.where(z >= 0.0, 1.0, e) / (1.0 + e) - codes)


def squared_hinge(X, theta, y, weight):
    z = X @ theta[:-1] + theta[-1]
    r = np.maximum(1.0 - y * z, 0.0)
    return *sums(X, weight, r**2, -2.0 * r * y), z


def squared_insensitive(X, theta, y, weight, epsilon):
    z = X @ theta[:-1] + theta[-1]
    r = np.maximum(np.abs(y - z) - epsilon, 0.0)
    return *sums(X, weight, r**2, -2.0 * r * np.sign(y - z)), z
