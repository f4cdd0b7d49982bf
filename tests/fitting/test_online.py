"""Online learning, and multiplicative updates of non-negative quadratic programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from suffice.fitting import nonnegative_quadratic, online
from suffice.linear_model import LinearRegression, Perceptron, SGDRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))


def test_each_example_is_predicted_before_it_is_learnt():
    y = np.where(X @ [1.0, -2.0, 0.5] > 0, "yes", "no")
    model, found = Perceptron(shuffle=False), online(Perceptron(shuffle=False), X, y)
    model.partial_fit(X[:1], y[:1], classes=["no", "yes"])
    for n in range(1, 30):
        assert found.predictions[n - 1] == model.predict(X[n : n + 1])[0]
        model.partial_fit(X[n : n + 1], y[n : n + 1])
    np.testing.assert_array_equal(found.losses, found.predictions != y[1:])
    assert found.cumulative_loss[-1] == found.losses.sum()
    assert len(found.predictions) == 199


def test_batches_losses_and_fitted_estimators():
    y = X @ [1.0, -2.0, 0.5]
    model = LinearRegression()
    found = online(model, X, y, loss="squared", n_start=20, batch_size=30)
    assert found.losses.max() < 1e-12  # three coefficients are known after the start
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 0.5])
    own = online(model, X, y + 1.0, loss=lambda a, b: abs(a - b), n_start=0, batch_size=200)
    np.testing.assert_allclose(own.losses, 1.0)
    drift = online(SGDRegressor(eta0=0.05), X, y, loss="squared")
    assert drift.losses[:20].mean() > 10 * drift.losses[-50:].mean()


def test_refusals():
    with pytest.raises(ValueError, match="as many rows"):
        online(Perceptron(), X, np.ones(3))
    with pytest.raises(ValueError, match="batch_size >= 1"):
        online(Perceptron(), X, np.ones(200), batch_size=0)
    with pytest.raises(ValueError, match="loss must be"):
        online(Perceptron(), X, np.ones(200), loss="hinge")


@pytest.mark.parametrize("seed", range(3))
def test_multiplicative_updates_reach_the_minimum(seed):
    rng = np.random.default_rng(seed)
    R, t = rng.normal(size=(8, 4)), rng.normal(size=8)
    found = nonnegative_quadratic(R.T @ R, -R.T @ t, max_iter=200_000)
    assert (np.diff(found.trace) <= 1e-12).all()
    np.testing.assert_allclose(found.model, nnls(R, t)[0], atol=1e-5)


def test_a_coordinate_that_dies():
    found = nonnegative_quadratic([[2.0, -1.0], [-1.0, 2.0]], [-1.0, 2.0])
    np.testing.assert_allclose(found.model, [0.5, 0.0], atol=1e-9)
    assert found.converged
    stays = nonnegative_quadratic(np.eye(2), [-1.0, -1.0], [0.0, 1.0])
    np.testing.assert_allclose(stays.model, [0.0, 1.0])
    for bad in ({"A": np.ones((2, 3)), "b": [1.0, 1.0]}, {"A": [[1.0, 2.0], [0.0, 1.0]], "b": [1.0, 1.0]}):
        with pytest.raises(ValueError, match="symmetric"):
            nonnegative_quadratic(**bad)
    with pytest.raises(ValueError, match="no negative entry"):
        nonnegative_quadratic(np.eye(2), [1.0, 1.0], [-1.0, 1.0])
