"""Sums by label in one pass over the rows, and sums of table lookups of categories."""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled(fastmath={"contract"})


@jit
def add_by_label(X, weight, labels, out):
    """out[label of i] += weight[i] X[i]"""
    D = X.shape[1]
    for i in range(len(X)):
        k, w = labels[i], weight[i]
        for d in range(D):
            out[k, d] += w * X[i, d]


@add_by_label.small
def _(X, weight, labels, out):
    np.add.at(out, labels, weight[:, None] * X)


@jit
def add_above_by_label(X, threshold, weight, labels, out):
    """out[label of i, d] += weight[i] where X[i, d] is above the threshold; and how many entries are NaN"""
    D, holes = X.shape[1], 0
    for i in range(len(X)):
        k, w = labels[i], weight[i]
        for d in range(D):
            out[k, d] += w if X[i, d] > threshold else 0.0
            holes += X[i, d] != X[i, d]
    return holes


@add_above_by_label.small
def _(X, threshold, weight, labels, out):
    np.add.at(out, labels, weight[:, None] * (threshold < X))
    return np.count_nonzero(X != X)


@jit
def add_squares_by_label(X, weight, labels, points, out):
    """out[label of i] += weight[i] (X[i] - points[label of i])^2"""
    D = X.shape[1]
    for i in range(len(X)):
        k, w = labels[i], weight[i]
        for d in range(D):
            y = X[i, d] - points[k, d]
            out[k, d] += w * y * y


@add_squares_by_label.small
def _(X, weight, labels, points, out):
    np.add.at(out, labels, weight[:, None] * (X - points[labels]) ** 2)


@jit
def add_sparse_by_label(data, indices, indptr, weight, labels, order, out):
    """out[label of i] += weight[i] X[i], for CSR rows in this order; sorted by label, sums stay in cache"""
    for i in order:
        k, w = labels[i], weight[i]
        for p in range(indptr[i], indptr[i + 1]):
            out[k, indices[p]] += w * data[p]


@add_sparse_by_label.small
def _(data, indices, indptr, weight, labels, order, out):
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    np.add.at(out, (labels[row], indices), weight[row] * data)


@jit
def largest(X):
    """The largest entry of each column, -1 if all are NaN; and whether all are whole and not negative."""
    D = X.shape[1]
    out, strange = np.full(D, -1.0), 0
    for i in range(len(X)):
        for d in range(D):
            x = X[i, d]
            out[d] = x if x > out[d] else out[d]
            strange += (x == x) & ((x < 0.0) | (x != np.floor(x)))
    return out, strange == 0


@largest.small
def _(X):
    whole = (X != X) | ((X >= 0.0) & (np.floor(X) == X))
    return np.fmax.reduce(X, axis=0, initial=-1.0), bool(whole.all())


@jit
def add_categories_by_label(X, weight, labels, start, out):
    """out[label of i, start[d] + X[i, d]] += weight[i], for whole numbers; NaN counts nowhere"""
    D = X.shape[1]
    for i in range(len(X)):
        k, w = labels[i], weight[i]
        for d in range(D):
            x = X[i, d]
            if x == x:
                out[k, start[d] + np.int64(x)] += w


@add_categories_by_label.small
def _(X, weight, labels, start, out):
    n, d = np.nonzero(X == X)
    np.add.at(out, (labels[n], start[d] + X[n, d].astype(np.int64)), weight[n])


@jit
def look_up(X, start, table):
    """out[i] = the sum over d of table[start[d] + X[i, d]]; what is no whole number from 0 to
    start[d + 1] - start[d] - 1 adds nothing."""
    N, D = X.shape
    K = table.shape[1]
    out = np.zeros((N, K))
    for i in range(N):
        for d in range(D):
            x = X[i, d]
            if x >= 0.0 and x < start[d + 1] - start[d]:
                code = np.int64(x)
                if code == x:
                    for k in range(K):
                        out[i, k] += table[start[d] + code, k]
    return out


@look_up.small
def _(X, start, table):
    out = np.zeros((len(X), table.shape[1]))
    for x, first, end in zip(X.T, start[:-1], start[1:], strict=True):
        known = (x >= 0.0) & (x < end - first) & (x == np.floor(x))
        out[known] += table[first + x[known].astype(np.int64)]
    return out
