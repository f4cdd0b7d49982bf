"""The loops of native/sparse.hpp in NumPy."""

import scipy.sparse as sp


def times(data, indices, indptr, W):
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, len(W))) @ W


def add_transposed_times(data, indices, indptr, G, out):
    out += sp.csr_array((data, indices, indptr), (len(indptr) - 1, len(out))).T @ G
