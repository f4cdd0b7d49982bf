"""Bias and variance add up, and those of least squares and ridge are exact."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from suffice.linear_model import LinearRegression, Ridge
from suffice.model_selection import bias_variance_decomposition, replicate_predictions


def test_parts_add_up():
    rng = np.random.default_rng(0)
    P, weight, truth = rng.normal(size=(9, 4)), rng.gamma(2.0, size=9), rng.normal(size=4)
    found = bias_variance_decomposition(P, truth, noise=0.3, weight=weight)
    share = weight / weight.sum()
    np.testing.assert_allclose(found.mse, 0.3 + share @ (P - truth) ** 2)
    np.testing.assert_allclose(found.variance, share @ (P - share @ P) ** 2)
    assert found.mean()["mse"] == pytest.approx(found.mse.mean())
    far = bias_variance_decomposition(P + 1e8, truth + 1e8, weight=weight)
    np.testing.assert_allclose(far.variance, found.variance, rtol=1e-6)


def test_least_squares_has_the_variance_that_it_must_have():
    """Least squares is unbiased, with variance sigma^2 x' (X'X)^-1 x; ridge has a bias. Over errors of one
    size with all combinations of signs, the parts are exact."""
    x = np.column_stack([np.ones(6), np.linspace(-1.0, 1.0, 6)])
    truth = x @ [1.0, 2.0]
    for model, alpha in (
        (LinearRegression(fit_intercept=False), 0.0),
        (Ridge(5.0, fit_intercept=False), 5.0),
    ):
        errors = iter(product([-0.5, 0.5], repeat=6))
        hat = x @ np.linalg.solve(x.T @ x + alpha * np.eye(2), x.T)
        P = replicate_predictions(model, lambda rng, e=errors: (x, truth + next(e)), x, n_replicates=64)
        found = bias_variance_decomposition(P, truth, noise=0.25)
        np.testing.assert_allclose(found.variance, 0.25 * (hat**2).sum(axis=1), rtol=1e-10)
        np.testing.assert_allclose(found.bias, hat @ truth - truth, atol=1e-12)
        np.testing.assert_allclose(found.mse, 0.25 + found.bias**2 + found.variance)


def test_replicates_are_drawn_by_their_numbers():
    x = np.linspace(-1.0, 1.0, 15)[:, None]
    few, many = (
        replicate_predictions(LinearRegression(), lambda rng: (x, rng.normal(size=15)), x, n_replicates=n)
        for n in (3, 5)
    )
    assert (few == many[:3]).all() and (many[3] != many[4]).any()


def test_decomposition_refused():
    with pytest.raises(ValueError, match="n_replicates"):
        bias_variance_decomposition(np.zeros((2, 2, 2)), 0.0)
    with pytest.raises(ValueError, match="one per replicate"):
        bias_variance_decomposition([1.0, 2.0], 0.0, weight=[1.0])
