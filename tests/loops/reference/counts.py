"""The loops of native/counts.hpp in NumPy."""

import numpy as np


def add_by_label(X, weight, labels, out):
    np.add.at(out, labels, weight[:, None] * X)


def add_above_by_label(X, threshold, weight, labels, out):
    np.add.at(out, labels, weight[:, None] * (threshold < X))
    return np.isnan(X).sum()


def add_squares_by_label(X, weight, labels, points, out):
    np.add.at(out, labels, weight[:, None] * (X - points[labels]) ** 2)


def add_sparse_by_label(data, indices, indptr, weight, labels, order, out):
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    np.add.at(out, (labels[row], indices), weight[row] * data)


def largest(X):
    whole = np.isnan(X) | ((X >= 0.0) & (np.floor(X) == X))
    return np.fmax.reduce(X, axis=0, initial=-1.0), whole.all()


def places(X, start):
    """The rows and the places of entries that have one."""
    n, d = np.nonzero((X >= 0.0) & (np.diff(start) > X))
    return n, start[d] + X[n, d].astype(np.int64)


def add_categories_by_label(X, weight, labels, start, out):
    n, place = places(X, start)
    np.add.at(out, (labels[n], place), weight[n])


def look_up(X, start, table):
    out = np.zeros((len(X), table.shape[1]))
    n, place = places(np.where(np.floor(X) == X, X, np.nan), start)
    np.add.at(out, n, table[place])
    return out
