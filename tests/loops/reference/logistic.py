"""The loops of native/logistic.hpp in NumPy."""

import numpy as np


def binomial(X, theta, codes, weight):
    z = X @ theta[:-1] + theta[-1]
    e = np.exp(-np.abs(z))
    loss = weight @ (np.maximum(z, 0.0) - codes * z + np.log1p(e))
    error = weight * (np.where(z >= 0.0, 1.0, e) / (1.0 + e) - codes)
    return loss, np.append(error @ X, error.sum())
