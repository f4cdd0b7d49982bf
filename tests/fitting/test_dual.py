"""Programs of a dual with bounds: the optimum, and the rounding of the cache."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import make_classification

from suffice.fitting.dual import Columns, Dual, minimize_dual
from suffice.kernels import RBF
from suffice.loops.dual import worst_pair

X, y = make_classification(300, 8, flip_y=0.1, random_state=0)


def test_the_dual_is_minimized():
    """Against a general solver, with groups and coefficients that share rows, as of a regression."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(12, 20))
    K, row = A @ A.T, np.tile(np.arange(12), 2)
    q, group = rng.normal(size=24), np.repeat([0, 1], 12)
    lower, upper = np.repeat([0.0, -0.5], 12), np.repeat([0.5, 0.0], 12)
    start = np.repeat([0.1, -0.2], 12)
    found = minimize_dual(
        Dual(q, lower, upper, row, group),
        Columns(lambda r, part: K[r, part], K.diagonal, 12, 1 << 20),
        start,
        1e-10,
        -1,
    )
    full = K[np.ix_(row, row)]
    sums = np.stack([group == 0, group == 1]).astype(float)
    best = minimize(
        lambda b: b @ full @ b / 2 + q @ b, start, jac=lambda b: full @ b + q, method="trust-constr",
        bounds=list(zip(lower, upper, strict=True)),
        constraints=LinearConstraint(sums, sums @ start, sums @ start),
        options={"gtol": 1e-10, "xtol": 1e-12, "maxiter": 3000},
    )  # fmt: skip
    assert found.violation <= 1e-10
    assert found.objective == pytest.approx(best.fun, abs=1e-6)
    assert found.objective <= best.fun + 1e-9
    np.testing.assert_allclose(sums @ found.beta, sums @ start, atol=1e-12)
    np.testing.assert_allclose(found.slope, full @ found.beta + q, atol=1e-12)


def test_rounding_of_the_cache_is_far_below_the_tolerance():
    """Columns in float32 are trusted for a large tolerance, and checked in float64 for a small one."""
    K, sign = RBF(0.1)(X), np.where(y == 1, 1.0, -1.0)
    lower, upper = np.minimum(sign, 0.0), np.maximum(sign, 0.0)
    none = np.zeros(len(y), np.int64)
    dual = Dual(-sign, lower, upper, np.arange(len(y)), none)
    error = {}
    for tol in (1e-2, 1e-7):
        columns = Columns(lambda rows, part: K[rows, part], K.diagonal, len(y), 1 << 20)
        found = minimize_dual(dual, columns, np.zeros(len(y)), tol, -1)
        slope = K @ found.beta + dual.q
        *_, violation = worst_pair(slope, found.beta, lower, upper, none, 1)
        assert violation <= 1.01 * tol
        error[tol] = np.abs(slope - found.slope).max()
    assert error[1e-7] < 1e-12 < error[1e-2] < 1e-4
