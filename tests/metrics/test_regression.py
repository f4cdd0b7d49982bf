"""Metrics of numbers in tables, by one pass, are those that scikit-learn has for arrays."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as theirs

import suffice
from suffice import metrics

from ._common import TABLE, X, weight, y


def test_numbers(rows):
    found = rows(["fit"], "y")
    squares = theirs.mean_squared_error(y, y + X[:, 1], sample_weight=weight)
    assert metrics.mean_squared_error(found) == pytest.approx(squares, rel=1e-12)
    expected = theirs.r2_score(y, y + X[:, 1], sample_weight=weight)
    assert metrics.r2_score(found) == pytest.approx(expected, rel=1e-9)
    two = suffice.rows(TABLE, features=["fit", "x0"], target=["y", "x1"])
    truth, guess = np.column_stack([y, X[:, 1]]), np.column_stack([y + X[:, 1], X[:, 0]])
    for how in ("raw_values", "uniform_average", "variance_weighted", [0.3, 0.7]):
        np.testing.assert_allclose(
            metrics.r2_score(two, multioutput=how), theirs.r2_score(truth, guess, multioutput=how), rtol=1e-9
        )
