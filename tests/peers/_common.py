"""Classes of scikit-learn beside ours of the same name, fitted to the same rows."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from importlib import import_module

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from ..laws.registry import ESTIMATORS

RTOL = 1e-8


def peer(cls):
    """The class of scikit-learn with the same name in the module of the same name, or None."""
    topic = cls.__module__.split(".")[1]
    with contextlib.suppress(ImportError):
        return getattr(import_module(f"sklearn.{topic}"), cls.__name__, None)
    return None


PAIRS = {cls.__name__: (cls, peer(cls)) for cls in ESTIMATORS if peer(cls)}


def fitted_pair(name, X, y=None, theirs=None, **params):
    """Ours and theirs, fitted to the same rows with the same parameters."""
    ours_cls, theirs_cls = PAIRS[name]
    known = inspect.signature(theirs_cls).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = ours_cls(**params).fit(X, y)
        given = {k: v for k, v in params.items() if k in known} | (theirs or {})
        warnings.simplefilter(
            "ignore", LinAlgWarning
        )  # their Newton solver, where ours takes the shortest step
        return ours, theirs_cls(**given).fit(X, y)


def assert_equal(ours, theirs, names, rtol=RTOL, signs=()):
    for name in names:
        a, b = getattr(ours, name), getattr(theirs, name)
        if isinstance(b, list):
            a, b = np.array(a), np.array(b)
        if name in signs:  # an axis has two directions: of each, the one that fits
            a = a * np.where((a * b).sum(axis=signs[name], keepdims=True) < 0, -1.0, 1.0)
        a, b = np.asarray(a), np.asarray(b)
        if b.dtype.kind == "f":
            size = np.abs(b).max(initial=0.0)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * size, err_msg=name)
        else:
            np.testing.assert_array_equal(a, b, err_msg=name)


def assert_same_answers(ours, theirs, X, names, rtol=RTOL):
    for name in names:
        a, b = getattr(ours, name)(X), getattr(theirs, name)(X)
        if np.asarray(b).dtype.kind == "f":
            atol = rtol * np.abs(np.asarray(b)[np.isfinite(b)]).max(initial=0.0)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(a, b, err_msg=name)


IRIS = load_iris(return_X_y=True)
WEIGHT = np.random.default_rng(0).gamma(2.0, size=150)
