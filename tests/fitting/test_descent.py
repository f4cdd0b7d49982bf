"""Descents by themselves: they reach minima, keep what their textbooks promise, and say why they stop."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from suffice.fitting import (
    Decreasing,
    coordinate_descent,
    gradient_descent,
    quasi_newton,
    stochastic_descent,
)
from suffice.fitting.descent import Descent, minimum_along

MATRICES = ("bfgs", "bfgs-inverse", "dfp", "broyden")
MINIMISERS = {
    **{update: partial(quasi_newton, update=update) for update in MATRICES},
    "barzilai-borwein": gradient_descent,
    "line-search": partial(gradient_descent, step="line-search"),
    "constant": partial(gradient_descent, step=0.1),
    "coordinates": coordinate_descent,
}
each_minimiser = pytest.mark.parametrize("minimize", MINIMISERS.values(), ids=MINIMISERS.keys())
each_matrix = pytest.mark.parametrize("update", MATRICES)


def quadratic(n=6, condition=10.0, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A, b = Q * np.geomspace(1.0, condition, n) @ Q.T, rng.normal(size=n)
    return (lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b)), np.linalg.solve(A, b), A


def soft(x):
    return float((np.exp(x - 1.0) - x).sum()), np.exp(x - 1.0) - 1.0


@each_minimiser
def test_minimum(minimize):
    fun, best, _ = quadratic()
    found = minimize(fun, np.zeros(6), tol=1e-9, max_iter=2000)
    assert found.converged and found.trace[-1] == found.value == fun(found.model)[0]
    np.testing.assert_allclose(found.model, best, atol=1e-8)
    found = minimize(soft, np.full(3, -2.0), tol=1e-9, max_iter=2000)
    np.testing.assert_allclose(found.model, 1.0, atol=1e-8)


@each_matrix
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_narrow_valleys_in_any_unit(update, scale):
    fun, best, _ = quadratic(condition=1e6)
    scaled = lambda x: (scale * fun(x)[0], scale * fun(x)[1])  # noqa: E731
    found = quasi_newton(scaled, np.zeros(6), update=update, tol=1e-9 * scale, max_iter=200)
    assert found.converged
    np.testing.assert_allclose(found.model, best, rtol=1e-6)


@each_matrix
def test_curved_valley_as_scipy(update):
    start = np.array([-1.2, 1.0, 0.5])
    found = quasi_newton(lambda x: (rosen(x), rosen_der(x)), start, update=update, tol=1e-8, max_iter=200)
    np.testing.assert_allclose(found.model, minimize(rosen, start, jac=rosen_der, tol=1e-9).x, atol=1e-6)


@each_matrix
def test_exact_searches_end_on_a_quadratic_with_its_hessian(update):
    fun, best, A = quadratic(5)
    found = quasi_newton(fun, np.zeros(5), update=update, accuracy=1e-10, tol=1e-8)
    assert found.n_iter <= 5
    np.testing.assert_allclose(found.model, best, atol=1e-7)
    got = found.hessian if update == "bfgs" else np.linalg.inv(found.inverse)
    np.testing.assert_allclose(got, A, atol=1e-5)


def test_broyden_lies_between():
    rosenbrock = lambda x: (rosen(x), rosen_der(x))  # noqa: E731
    start = np.array([-1.2, 1.0])
    for alpha, update in ((0.0, "bfgs-inverse"), (1.0, "dfp")):
        mixed = quasi_newton(rosenbrock, start, update="broyden", alpha=alpha, max_iter=7)
        pure = quasi_newton(rosenbrock, start, update=update, max_iter=7)
        np.testing.assert_array_equal(mixed.inverse, pure.inverse)
    bfgs = quasi_newton(rosenbrock, start, update="bfgs", max_iter=7)
    inverse = quasi_newton(rosenbrock, start, update="bfgs-inverse", max_iter=7)
    np.testing.assert_allclose(bfgs.hessian @ inverse.inverse, np.eye(2), atol=1e-6)


def test_line_searches_turn_at_right_angles():
    fun, _, _ = quadratic(condition=50.0)
    one = gradient_descent(fun, np.ones(6), step="line-search", max_iter=1)
    assert abs(one.gradient @ fun(np.ones(6))[1]) <= 1e-9 * np.linalg.norm(fun(np.ones(6))[1]) ** 2


@pytest.mark.parametrize("accuracy", [0.9, 0.1, 1e-10])
@pytest.mark.parametrize("length", [1e-8, 1.0, 1e8])
def test_search_along_a_line(accuracy, length):
    fun = lambda x: (float(np.cosh(x[0] - 3.0)), np.sinh(x - 3.0))  # noqa: E731
    with np.errstate(over="ignore"):
        here = Descent(np.zeros(1), value=fun(np.zeros(1))[0], gradient=fun(np.zeros(1))[1])
        _, value, gradient = minimum_along(fun, here, np.ones(1), length=length, accuracy=accuracy)
    assert value < here.value and abs(gradient[0]) <= accuracy * abs(here.gradient[0])


@each_minimiser
def test_says_why_it_stops(minimize):
    square = lambda x: (float(x @ x), 2.0 * x)  # noqa: E731
    assert minimize(square, np.ones(3)).stopped_because == "tolerance"
    assert minimize(square, np.zeros(3)).stopped_because == "tolerance"
    found = minimize(lambda x: (rosen(x), rosen_der(x) / 100), np.full(3, 0.5), max_iter=1, tol=0.0)
    assert not found.converged
    with np.errstate(all="ignore"):
        broken = minimize(lambda x: (np.nan, np.full(3, np.nan)), np.ones(3), max_iter=5)
    assert not broken.converged


@pytest.mark.parametrize(
    "minimize", [v for k, v in MINIMISERS.items() if k not in ("constant", "coordinates")]
)
def test_a_wrong_gradient_is_told(minimize):
    found = minimize(lambda x: (float(x @ x), -2.0 * x), np.ones(3), max_iter=5)
    assert found.stopped_because == "line search"


def test_too_long_steps_diverge():
    found = gradient_descent(lambda x: (float(x @ x), 2.0 * x), np.ones(1), step=1.1, max_iter=50)
    assert not found.converged and (np.diff(found.trace) > 0).all()


def test_decreasing_steps_of_examples():
    rng = np.random.default_rng(0)
    target = rng.normal(size=50) + 3.0
    fun = lambda x: (0.5 * float(((x - target) ** 2).mean()), x - target.mean())  # noqa: E731
    found = stochastic_descent(
        fun, lambda x, i: x - target[i], np.zeros(1), n=50, length=Decreasing(), tol=1e-9, max_iter=20
    )
    np.testing.assert_allclose(found.model, target.mean(), atol=1e-9)  # 1 / (t + 1) is the running mean
    assert (
        Decreasing(power=0.75).satisfies_robbins_monro and not Decreasing(power=0.0).satisfies_robbins_monro
    )
    assert not Decreasing(power=1.5).satisfies_robbins_monro


def test_unknown_words():
    with pytest.raises(ValueError, match="update='newton' is unknown"):
        quasi_newton(soft, np.zeros(1), update="newton")
    with pytest.raises(ValueError, match="does not support l1=1"):
        quasi_newton(soft, np.zeros(1), update="dfp", l1=1.0)
    with pytest.raises(ValueError, match="step='long' is unknown"):
        gradient_descent(soft, np.zeros(1), step="long")
    with pytest.raises(MemoryError, match="use update='lbfgs'"):
        quasi_newton(soft, np.zeros(1_000_000), update="bfgs")
