"""Hyperplanes beside rows: distances, margins, separability by two programs, the best bound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from suffice.linear_model import Perceptron
from suffice.textbook import (
    hyperplane_distance,
    hyperplane_projection,
    is_linearly_separable,
    margin,
    novikoff_bound,
)


def test_distance_is_that_of_the_nearest_point():
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(20, 4)), rng.normal(size=4), 0.7
    near = hyperplane_projection(X, w, b)
    np.testing.assert_allclose(near @ w + b, 0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(X - near, axis=1), hyperplane_distance(X, w, b))
    on_it = near + (rng.normal(size=(20, 4)) @ (np.eye(4) - np.outer(w, w) / (w @ w)))
    assert (np.linalg.norm(X - on_it, axis=1) >= hyperplane_distance(X, w, b)).all()
    signed = hyperplane_distance(X, w, b, signed=True)
    assert (np.sign(signed) == np.sign(X @ w + b)).all()
    np.testing.assert_allclose(hyperplane_distance(X, 3 * w, 3 * b, signed=True), signed)


def test_margins():
    X, y = np.array([[3.0, 3.0], [4.0, 3.0], [1.0, 1.0]]), np.array(["yes", "yes", "no"])
    functional = margin(X, y, [0.5, 0.5], -2.0, kind="functional")
    assert functional.tolist() == [1.0, 1.5, 1.0]
    geometric = margin(X, y, [0.5, 0.5], -2.0)
    np.testing.assert_allclose(geometric, functional * np.sqrt(2.0))
    np.testing.assert_allclose(margin(X, y, [5.0, 5.0], -20.0), geometric)
    assert (margin(X, y, [-1.0, 0.0], 0.0) < 0).tolist() == [True, True, False]


def hulls_meet(X, y):
    """Whether two point sets in the plane cannot be separated, by trying each line through two points.

    If some line separates them, then one does that goes through a point of each, or through two of one, moved
    a little: all lines through two points, turned and shifted by little, are tried.
    """
    for (a, b), turn, shift in itertools.product(
        itertools.combinations(X, 2), (-1e-4, 0.0, 1e-4), (-1e-4, 0.0, 1e-4)
    ):
        along = b - a
        w = np.array([-along[1], along[0]]) + turn * along
        if not w.any():
            continue
        for c in ((a + b) / 2, a, b):
            side = X @ w - c @ w + shift * np.linalg.norm(w)
            for sign in (1.0, -1.0):
                if (y * sign * side > 0).all():
                    return False
    return True


def test_separability_beside_all_lines():
    rng = np.random.default_rng(1)
    seen = {True: 0, False: 0}
    for _ in range(30):
        X, y = rng.normal(size=(7, 2)), rng.choice([-1, 1], size=7)
        if len(set(y)) == 1:
            continue
        separable, shown = is_linearly_separable(X, y, return_certificate=True)
        assert separable == (not hulls_meet(X, y)) == is_linearly_separable(X, y)
        seen[separable] += 1
        if separable:
            assert (margin(X, y, *shown) > 0).all()
        else:  # a point of both hulls: of no line are all rows of a class on one side of it alone
            for side in (1, -1):
                for w in rng.normal(size=(20, 2)):
                    assert (X[y == side] @ w).min() - 1e-9 <= shown @ w <= (X[y == side] @ w).max() + 1e-9
    assert min(seen.values()) > 3


def test_separability_of_edges():
    assert is_linearly_separable([[0.0], [1.0]], [0, 0])
    assert is_linearly_separable([[0.0], [1.0]], ["a", "a"])
    assert not is_linearly_separable([[0.0], [0.0]], [0, 1])
    assert not is_linearly_separable([[0.0], [1.0], [2.0]], [0, 1, 0])
    touching = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
    assert not is_linearly_separable(touching, [0, 1, 1, 0])
    far = np.array([[1e8, 1.0], [1e8 + 1, 1.0], [1e8 + 2, 1.0]])
    assert is_linearly_separable(far, [0, 0, 1])
    assert not is_linearly_separable(far, [0, 1, 0])
    tiny = np.array([[0.0], [1e-12], [1.0]])
    assert is_linearly_separable(1e-30 * tiny, [0, 0, 1])


def test_separability_is_what_the_perceptron_finds():
    rng = np.random.default_rng(2)
    for _ in range(6):
        X, y = rng.normal(size=(8, 3)), rng.choice([0, 1], size=8)
        if len(set(y)) == 2 and is_linearly_separable(X, y):
            model = Perceptron(tol=None, max_iter=10**6).fit(X, y)
            assert model.separated_.all()
            best = novikoff_bound(X, y)
            assert model.mistakes_[0] <= best.bound <= model.mistake_bound_[0] * (1 + 1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_best_bound_is_that_of_the_widest_margin(fit_intercept):
    """Beside a general solver of the program: the shortest w with y w (x, 1) >= 1."""
    rng = np.random.default_rng(3)
    for _ in range(6):
        X = rng.normal(size=(15, 3))
        y = np.where(X @ [1.0, -1.0, 2.0] + 0.2 * fit_intercept > 0, 1, -1)
        Z = y[:, None] * np.column_stack([X, np.full(15, float(fit_intercept))])
        found = novikoff_bound(X, y, fit_intercept=fit_intercept)
        ask = {"type": "ineq", "fun": lambda w, Z=Z: Z @ w - 1, "jac": lambda w, Z=Z: Z}
        start = np.append(found.coef, found.intercept) * 2 + 0.1
        best = minimize(lambda w: w @ w, start, jac=lambda w: 2 * w, constraints=[ask], method="SLSQP")
        assert best.success
        np.testing.assert_allclose(found.margin, 1 / np.sqrt(best.fun), rtol=1e-5)
        theta = np.append(found.coef, found.intercept)
        np.testing.assert_allclose((Z @ theta).min() / np.linalg.norm(theta), found.margin)
        np.testing.assert_allclose(found.bound, (found.radius / found.margin) ** 2)
        assert found.bound <= novikoff_bound(X, y, [1.0, -1.0, 2.0], 0.2, fit_intercept=fit_intercept).bound


def test_no_bound_where_nothing_separates():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    assert novikoff_bound(X, y).bound == np.inf
    assert novikoff_bound(X, y, [1.0, 0.0]).bound == np.inf


def test_what_is_refused():
    X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match="zero"):
        hyperplane_distance(X, [0.0, 0.0])
    with pytest.raises(ValueError, match="coef has 3 entries, expected 2"):
        hyperplane_distance(X, [0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="3 classes"):
        is_linearly_separable(X, [0, 1, 2])
    with pytest.raises(ValueError, match="'functional'"):
        margin(X, [0, 1, 1], [1.0, 1.0], kind="wide")
    with pytest.raises(ValueError, match="NaN"):
        is_linearly_separable([[np.nan], [1.0]], [0, 1])
