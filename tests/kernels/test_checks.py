"""Whether a kernel is positive definite, and perceptrons whose kernel is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.kernels import (
    RBF,
    Linear,
    Precomputed,
    Sigmoid,
    is_positive_definite,
)
from suffice.kernels.vectors import Function
from suffice.linear_model import KernelPerceptron

from ._common import NESTED


def test_definiteness(X):
    assert is_positive_definite(NESTED, X)
    assert is_positive_definite("rbf", X)
    assert is_positive_definite(np.zeros((3, 3)))
    assert is_positive_definite(Linear(), np.repeat(X, 3, axis=0))  # singular
    found = is_positive_definite(-1.0 * RBF(), X)
    assert found.symmetric
    assert not found
    assert_allclose(found.least_eigenvalue, np.linalg.eigvalsh(-RBF()(X))[0])
    skew = is_positive_definite(lambda A, B: A[:, :1] - B[:, 0] + 9.0 * (A @ B.T), X)
    assert not skew.symmetric
    assert not skew.positive_definite
    assert is_positive_definite([[1.0, 0.0], [0.0, -1e-9]], tol=1e-8)
    assert not is_positive_definite([[1.0, 0.0], [0.0, -1e-9]])


def test_no_gram_matrix_is_refused(X):
    with pytest.raises(ValueError, match="square matrix"):
        is_positive_definite(X)
    with pytest.raises(ValueError, match="X is missing"):
        is_positive_definite("rbf")
    with pytest.raises(ValueError, match="NaN or infinite entries"):
        is_positive_definite([[np.nan]])
    with pytest.raises(ValueError, match="expected \\(9, 9\\)"):
        Function(lambda A, B: A)(X)
    with pytest.raises(ZeroDivisionError):  # the function's own error
        Function(lambda A, B: 1 / 0)(X)
    with pytest.raises(ValueError, match="square matrix"):
        Precomputed()(X)
    with pytest.raises(ValueError, match="numbers of columns"):
        Precomputed()(X, X)


def test_indefinite_kernels_run_in_a_perceptron(rng):
    """Its steps need no definite kernel; that the norm of its weights is then negative is said of it."""
    X = rng.normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    model = KernelPerceptron(kernel=Sigmoid(coef0=-1.0), max_iter=50, tol=None).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert not is_positive_definite(model.kernel, X)
