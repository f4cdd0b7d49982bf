"""Descents by gradients and quasi-Newton methods, and what is fitted by them."""

from itertools import pairwise

import numpy as np

import suffice
from suffice.fitting import (
    Decreasing,
    coordinate_descent,
    gradient_descent,
    newton,
    quasi_newton,
    stochastic_descent,
)
from suffice.linear_model import LinearRegression, LogisticRegression, MaximumEntropy
from suffice.linear_model.logistic import LogLinear
from suffice.linear_model.proportional_odds import CumulativeLogits

from ._canon import example, given
from ._numeric import column, gradient

# Descents of functions -------------------------------------------------------------------------


def quadratic(given):
    Q, b, x0 = (np.array(given[name], float) for name in ("Q", "b", "x0"))
    return Q, lambda x: (x @ Q @ x / 2 - b @ x, Q @ x - b), x0


def iterates(minimize, fun, start, steps, **options):
    """Where the descent is after 1, 2, ... steps."""
    return [minimize(fun, start, max_iter=n, tol=0.0, **options) for n in range(1, steps + 1)]


@example("li-unsupervised/li-A.1")
def _(given):
    _, fun, x0 = quadratic(given)
    way = iterates(gradient_descent, fun, x0, 3, step="line-search")
    points = [x0] + [found.model for found in way]
    lengths = [np.linalg.norm(b - a) / np.linalg.norm(fun(a)[1]) for a, b in pairwise(points)]
    best = gradient_descent(fun, x0, step="line-search", tol=1e-12)
    return {
        "f0": fun(x0)[0],
        "g0": fun(x0)[1],
        "steps": lengths,
        **{f"x{n}": x for n, x in enumerate(points) if n},
        "f1": way[0].value,
        "minimiser": best.model,
        "f_min": best.value,
    }


@example("li-unsupervised/li-B.1")
def _(given):
    Q, fun, x0 = quadratic(given)

    def matrix(found):
        return np.linalg.inv(found.hessian) if found.inverse is None else found.inverse

    answer, residual = {}, 0.0
    for update in ("bfgs", "bfgs-inverse", "dfp", "broyden"):
        options = {"update": update, "alpha": given["broyden_alpha"], "accuracy": 1e-10}
        one, two = iterates(quasi_newton, fun, x0, 2, **options)
        direction = -matrix(one) @ one.gradient
        step, change = two.model - one.model, two.gradient - one.gradient
        residual = max(residual, np.abs(matrix(two) @ change - step).max())
        assert np.allclose(matrix(two), np.linalg.inv(Q))
        got = {"G1": matrix(one), "lambda2": step @ direction / (direction @ direction)}
        if update == "bfgs-inverse":  # BFGS of the Hessian, and of its inverse
            assert all(np.allclose(got[k], answer["bfgs"][k], rtol=1e-12) for k in got)
        else:
            answer[update] = got
    return {
        "newton_x1": newton(lambda x: (*fun(x), Q), x0, max_iter=1).model,
        "x1": one.model,
        "x2": two.model,
        **answer,
        "G2": matrix(two),
        "secant_residual": residual,
    }


@example("cs181/quadratic-optimum")
def _(_given):
    f = lambda x: -((x[0] - 2) ** 2) + 2  # noqa: E731
    found = gradient_descent(lambda x: (-f(x), 2 * (x - 2)), np.zeros(1), step="line-search")
    return {
        "stationary_x": found.model.item(),
        "value": -found.value,
        "derivative_there": gradient(f, found.model).item(),
    }


@example("cs181/gradient-descent-quadratic", "cs181/gradient-descent-overshoot")
def _(given):
    fun = lambda w: (((w - 2) ** 2).sum(), 2 * (w - 2))  # noqa: E731
    way = iterates(gradient_descent, fun, [given["w0"]], given["steps"], step=given["eta"])
    return [found.model.item() for found in way]


@example("stats601-and-slides/coordinate-ascent-quadratic")
def _(given):
    A = np.array([[2.0, -1.0], [-1.0, 2.0]])
    fun = lambda a: (a @ A @ a / 2 - a.sum(), A @ a - 1)  # noqa: E731
    one, two = iterates(coordinate_descent, fun, given["start"], 2)
    limit = coordinate_descent(fun, given["start"], tol=1e-10)
    return {"after_sweep_1": one.model, "after_sweep_2": two.model, "limit": limit.model}


# Sums over examples ----------------------------------------------------------------------------


def half_squares(block, w):
    residual = block.X @ w - block.y
    return np.append(residual @ residual / 2, residual @ block.X)


def squared_loss(X, y):
    """Half the sum of squares with its gradient, as a fold."""
    data = suffice.partition(np.asarray(X, float), np.asarray(y, float))

    def fun(w):
        value, *slope = data.fold(lambda w, block: half_squares(block, w), w)
        return value, np.array(slope)

    return fun


@example("stats601-and-slides/batch-gradient-one-step")
def _(given):
    X = np.column_stack([np.ones(len(given["x"])), given["x"]])
    fun, how = squared_loss(X, given["y"]), {"step": given["alpha"]}
    limit = gradient_descent(fun, given["w_0"], tol=1e-10, **how)
    best = LinearRegression().fit(column(given["x"]), given["y"])
    assert np.allclose(limit.model, [best.intercept_, *best.coef_])
    return {"w_1": gradient_descent(fun, given["w_0"], max_iter=1, **how).model, "limit": limit.model}


@example("cs181/sgd-unbiased")
def _(_given):
    X, y = (np.array(given("cs181/ols-four-points")[name], float) for name in ("X", "y"))
    N, fun = len(X), squared_loss(X, y)
    of_example = lambda w, i: N * (X[i] @ w - y[i]) * X[i]  # noqa: E731
    mean = np.mean([of_example(np.zeros(2), i) for i in range(N)], axis=0)
    assert np.allclose(mean, fun(np.zeros(2))[1])
    found = stochastic_descent(fun, of_example, np.zeros(2), n=N, length=0.01, tol=1e-8, max_iter=2000)
    assert np.allclose(found.model, LinearRegression(fit_intercept=False).fit(X, y).coef_)
    return {"X,y of ols-four-points at w=(0,0)": fun(np.zeros(2))[1]}


# Logistic regression by each solver, and of classes with an order ------------------------------


def negative_log_likelihood(x, y):
    """Of intercept and slope, with its gradient, as a fold."""
    data = suffice.partition(column(x), np.array(y))
    model = LogLinear(np.zeros((1, 2)), np.array([0, 1]), np.ones(2))

    def fun(w):
        s = data.fold(LogLinear.summarize, model.replace(theta=np.array([[w[1], w[0]]])))
        return s.loss, s.gradient[::-1]

    return fun


@example("stats601-and-slides/logistic-gradient-one-step")
def _(given):
    fun = negative_log_likelihood(given["x"], given["y"])
    one = gradient_descent(fun, given["theta_0"], step=given["rho"], max_iter=1)
    limit = gradient_descent(fun, given["theta_0"], step=0.05, tol=1e-9, max_iter=20_000).model
    best = LogisticRegression(C=np.inf, solver="gradient", tol=1e-10, max_iter=5000)
    best.fit(column(given["x"]), given["y"])
    assert np.allclose(limit, [*best.intercept_, *best.coef_[0]], atol=1e-6)
    return {"theta_1": one.model}


@example("stats601-and-slides/robbins-monro-steps")
def _(_given):
    powers = {"1/(t+1)": 1.0, "(t+1)^-0.75": 0.75, "(t+1)^-0.5": 0.5, "constant": 0.0}
    return {name: Decreasing(power=power).satisfies_robbins_monro for name, power in powers.items()}


@example("stats601-and-slides/proportional-odds-threshold")
def _(given):
    theta, X = np.array([given["theta_x"], *given["a"]]), np.ones((1, 1))
    model = CumulativeLogits(theta, np.arange(3), np.ones(3))
    return {"P(Y<=k)": model.cumulative(X)[0], "class_probabilities": np.exp(model.log_proba(X)[0])}


@example("li-supervised/li-6-logistic")
def _(given):
    x, y = column(given["x"]), np.array(given["y"])
    how = {"C": np.inf, "tol": 1e-9, "max_iter": 10_000, "random_state": 0}
    model, *others = (
        LogisticRegression(solver=solver, **how).fit(x, y)
        for solver in ("bfgs", "dfp", "newton", "gradient", "svrg")
    )
    for other in others:
        assert np.allclose(other.predict_proba(x), model.predict_proba(x), atol=1e-7)
    features = [lambda row, c: row[0] * (c == 1), lambda row, c: c == 1]
    entropy = MaximumEntropy(features, C=np.inf, tol=1e-9).fit(x, y)
    assert np.allclose(entropy.coef_, [model.coef_.item(), model.intercept_.item()], atol=1e-6)
    p = model.predict_proba(x)[:, 1]
    return {
        "w": model.coef_.item(),
        "b": model.intercept_.item(),
        "log_likelihood": float(np.log(np.where(y == 1, p, 1 - p)).sum()),
        "P1": p,
    }
