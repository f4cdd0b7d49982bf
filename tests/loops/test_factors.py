"""The loop of coordinate descent for rows of factors ends at their least squares."""

import numpy as np
import pytest
from scipy.optimize import nnls

from suffice.loops.factors import coordinate_sweeps


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 37])
@pytest.mark.parametrize("K", [1, 4, 7])
def test_coordinate_sweeps_end_at_least_squares(rows, K):
    rng = np.random.default_rng([rows, K])
    H, X = rng.random((K, 12)), rng.normal(size=(rows, 12))
    F = rng.random((rows, K))
    coordinate_sweeps(F, H @ H.T, X @ H.T, rng.permutation(K), np.ones(rows), 1e-13, 20_000)
    expected = np.array([nnls(H.T, x)[0] for x in X]).reshape(rows, K)
    np.testing.assert_allclose(F, expected, atol=1e-8)
