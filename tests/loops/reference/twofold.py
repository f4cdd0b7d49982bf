"""The loops of native/twofold.hpp in NumPy."""

import numpy as np
import scipy.sparse as sp

from suffice.loops.double_double import plus, times, total, twofold


def add_normal_residual(X, y, weight, theta, out, size):
    (N, D), columns = X.shape, np.vstack([X.T, np.ones(len(X))])
    r = twofold(y.T)
    for d in range(D + 1):
        r = plus(r, -times(theta[:, :, d, None], columns[d]))
    terms = times(times(r, weight)[:, :, None], columns)
    if N > 0:
        out += total(terms)
    size += np.abs(terms[0]).sum(axis=-1)


def add_sparse_normal_residual(data, indices, indptr, y, weight, theta, out, size):
    X = sp.csr_array((data, indices, indptr), (len(y), theta.shape[2] - 1)).toarray()
    add_normal_residual(X, y, weight, theta, out, size)
