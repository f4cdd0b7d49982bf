"""Small numerical tools of the examples."""

import warnings

import numpy as np
from scipy.differentiate import derivative
from sklearn.exceptions import ConvergenceWarning


def gradient(f, at):
    """The gradient of a function of an array, by differences of high order."""
    at = np.asarray(at, float)
    directions = np.eye(at.size).reshape(at.size, *at.shape)
    slopes = [derivative(np.vectorize(lambda t, d=d: f(at + t * d)), 0.0).df for d in directions]
    return np.reshape(slopes, at.shape)


def rows_with(mean, covariance):
    """2 D rows whose mean and maximum likelihood covariance are the ones given."""
    half = np.sqrt(len(mean)) * np.linalg.cholesky(np.atleast_2d(covariance)).T
    return np.asarray(mean) + np.vstack([half, -half])


def groups(labels):
    """The members of each cluster, numbered from 1, clusters by their first member."""
    labels = np.asarray(labels)
    return [list(np.flatnonzero(labels == k) + 1) for k in dict.fromkeys(labels.tolist())]


def column(values):
    return np.array(values, float)[:, None]


def stopped(estimator, *data, **options):
    """Fit an estimator that is meant to stop before it has converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(*data, **options)
