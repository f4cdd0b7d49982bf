"""Parameters of standardised columns, and the sizes that they follow from."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.core.blocks import Rows
from suffice.engines.local import LocalPartitions
from suffice.fitting import conjugate_gradient, gradient_descent, newton, quasi_newton
from suffice.fitting.standardize import ColumnSizes, Standardization, column_sizes
from suffice.linear_model.logistic import LogLinear
from suffice.linear_model.proportional_odds import CumulativeLogits


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_sizes_are_those_of_numpy(as_rows, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 100.0, 1.0] + [shift, 0.0, 0.0]
    X[:, 2] *= rng.random(60) < 0.2
    weight = rng.integers(0, 3, size=60).astype(float)
    parts = [column_sizes(Rows(as_rows(X[a:b]), None, weight[a:b])) for a, b in ((0, 7), (7, 7), (7, 60))]
    s = parts[0] + parts[1] + parts[2]
    wide = np.repeat(X.astype(np.longdouble), weight.astype(int), axis=0)
    assert s.weight == len(wide)
    np.testing.assert_allclose(s.columns.mean, wide.mean(axis=0).astype(float), rtol=1e-14)
    np.testing.assert_allclose(s.columns.variance, wide.var(axis=0).astype(float), rtol=1e-7)
    assert s.stored[2] == (len(wide) if as_rows is np.asarray else (wide[:, 2] != 0).sum())


def models():
    rng = np.random.default_rng(1)
    ordered = CumulativeLogits(np.append(rng.normal(size=3), [-1.0, 0.5]), np.arange(3), np.ones(3), True)
    of_two = LogLinear(rng.normal(size=(1, 4)), np.arange(2), np.ones(2), True, True)
    of_three = LogLinear(rng.normal(size=(3, 4)), np.arange(3), np.ones(3), True, True)
    return [(ordered, 2, -1.0), (of_two, 1, 1.0), (of_three, 1, 1.0)]


@pytest.mark.parametrize(("model", "n_constants", "sign"), models())
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_derivatives_are_those_of_standardised_rows(model, n_constants, sign, as_rows):
    """Whether rows are standardised, or the sums over rows as they came: the same loss and derivatives."""
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(50, 3)), rng.integers(len(model.classes), size=50)
    center, scale = np.array([300.0, 0.0, -7.0]), np.array([20.0, 1.0, 1e-3])
    standard = Standardization(center, scale, n_constants, sign)
    np.testing.assert_allclose(
        standard.to_standard(standard.from_standard(model.theta)), model.theta, rtol=1e-10
    )
    data = LocalPartitions((Rows(as_rows(Z * scale + center), y),))
    want = model.summarize(Rows(Z, y, np.ones(50)))
    for far in (False, True):
        s = standard.replace(far=far).fold(data, model)
        np.testing.assert_allclose(s.loss, want.loss, rtol=1e-10)
        np.testing.assert_allclose(s.gradient, want.gradient, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(s.hessian, want.hessian, rtol=1e-6, atol=1e-6)
    back = standard.gradient_from_standard(standard.gradient(want.gradient))
    np.testing.assert_allclose(back, want.gradient, rtol=1e-8, atol=1e-8)


def sizes(mean, deviation, stored=1.0):
    mean, deviation = np.atleast_1d(mean).astype(float), np.atleast_1d(deviation).astype(float)
    return ColumnSizes.of(100.0, mean, 100.0 * deviation**2, np.full(len(mean), 100.0 * stored))


def test_ordinary_columns_stay_as_they_came():
    assert Standardization.of(sizes([3.0, 0.0, 1.0], [1.0, 10.0, 0.0]), 0.0, n_constants=1).ordinary
    for strength in (0.0, 1e-6):
        assert Standardization.of(sizes(0.0, 0.0), strength, n_constants=1).ordinary  # a column of zeros
    # A penalty of which the curvature is ordinary, beside columns in a small unit.
    assert Standardization.of(sizes(0.0, 1e-6), 0.01, n_constants=1).ordinary
    found = Standardization.of(sizes([1e3, 1e5, 1e-6], [1.0, 1.0, 1e-6]), 0.0, n_constants=1)
    np.testing.assert_allclose(found.center, [1e3, 1e5, 0.0])
    np.testing.assert_allclose(found.scale, [1.0, 1.0, np.sqrt(2e-12)])
    assert found.far
    without = Standardization.of(sizes(1e3, 1.0), 0.0, n_constants=1, shift=False)
    assert without.ordinary  # the unit is that of the deviation, though nothing takes up the shift
    rare = Standardization.of(sizes(1e-4, 1e-2, stored=1e-4), 0.0, n_constants=1)
    assert rare.ordinary  # ones in one of ten thousand rows


@pytest.mark.parametrize("minimize", [newton, quasi_newton, conjugate_gradient, gradient_descent])
def test_a_value_that_falls_no_more_is_not_a_minimum(minimize):
    """A slope that the value does not show: of a large constant, nothing is left of it in the sum."""

    def lost(x):
        out = 1e8 + 1e-9 * float(x @ x), np.array([3.0e3, 0.0]) + 0.0 * x, np.eye(2)
        return out if minimize is newton else out[:2]

    found = minimize(lost, np.zeros(2), tol=1e-4, max_iter=20)
    assert not found.converged
