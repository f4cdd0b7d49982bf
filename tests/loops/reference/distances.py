"""The loops of native/distances.hpp in NumPy."""

import numpy as np
import scipy.sparse as sp


def weighted_sum(X, weight):
    return weight @ X


def nearest(X, points):
    square = ((X[:, None] - points) ** 2).sum(axis=2)
    return square.argmin(axis=1), square.min(axis=1)


nearest_of_many = nearest


def sums_by_label(X, weight, labels, points):
    of = labels[:, None] == np.arange(len(points))
    return weight @ of, (weight[:, None] * of).T @ X - (weight @ of)[:, None] * points


def nearest_sums(X, weight, points, rows):
    labels, distance = nearest(X, points)
    return labels, weight @ distance, *sums_by_label(X, weight, labels, points)


def weighted_distances(X, points, scales):
    return np.nansum(scales[:, None] * (X - points[:, None]) ** 2, axis=2)


def squares_about(X, R, points):
    return np.nansum(R[:, :, None] * (X - points[:, None]) ** 2, axis=1)


def mahalanobis(X, points, U):
    return (((X - points[:, None]) @ np.triu(U)) ** 2).sum(axis=2)


def scatters_about(X, R, points):
    Y = X - points[:, None]
    return np.einsum("kn,knd,kne->kde", R, Y, Y)


def sparse_distances(data, indices, indptr, points, out):
    X = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(points))).toarray()
    out[:] = ((X[:, :, None] - points) ** 2).sum(axis=1)


def sparse_sums_by_label(data, indices, indptr, weight, labels, points):
    X = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, points.shape[1])).toarray()
    return sums_by_label(X, weight, labels, points)
