"""Smoothing splines: against the dense formula, SciPy, the laws, and poor data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_smoothing_spline
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import suffice
from suffice.additive import SmoothingSpline
from suffice.fitting.smoothing import Smoothing
from suffice.fitting.splines import NaturalSplines
from suffice.loops.splines import smooth, triangles
from suffice.statistics.quantiles import KEPT, sample

from ..laws import test_numerics, test_sums
from ..laws.registry import VARIANTS


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    x = rng.permutation(np.round(rng.random(120) * 8.0, 1))  # with ties
    return x[:, None], np.sin(x) + 0.3 * rng.normal(size=120), rng.integers(1, 4, size=120).astype(float)


def dense(x, y, w, alpha):
    """The smoother of different places, by matrices as in the textbook: values and trace."""
    h, m = np.diff(x), len(x) - 2
    Q, R = np.zeros((len(x), m)), np.zeros((m, m))
    for j in range(m):
        Q[j : j + 3, j] = 1 / h[j], -1 / h[j] - 1 / h[j + 1], 1 / h[j + 1]
        R[j, j] = (h[j] + h[j + 1]) / 3
        if j < m - 1:
            R[j, j + 1] = R[j + 1, j] = h[j + 1] / 6
    S = np.linalg.solve(np.diag(w) + alpha * Q @ np.linalg.solve(R, Q.T), np.diag(w))
    return S @ y, np.trace(S)


@pytest.mark.parametrize("alpha", [1e-4, 0.3, 50.0])
def test_exact_is_the_dense_formula(points, alpha):
    X, y, w = points
    places, at = np.unique(X[:, 0], return_inverse=True)
    total = np.bincount(at, w)
    mean = np.bincount(at, w * y) / total
    value, trace = dense(places, mean, total, alpha)
    model = SmoothingSpline(alpha).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.predict(places[:, None]), value, atol=1e-9)
    np.testing.assert_allclose(model.df_, trace, rtol=1e-9)
    assert model.alpha_ == pytest.approx(alpha)
    rest = w @ (y - model.predict(X)) ** 2
    np.testing.assert_allclose(model.gcv_, w.sum() * rest / (w.sum() - trace) ** 2, rtol=1e-8)


def test_as_scipy():
    rng = np.random.default_rng(1)
    x = np.sort(rng.random(200)) * 5.0
    y, w = np.cos(2.0 * x) + 0.2 * rng.normal(size=200), rng.uniform(0.5, 2.0, size=200)
    X = x[:, None]
    inner = np.linspace(x[0], x[-1], 500)
    for alpha in (1e-3, 0.1, 10.0):
        theirs = make_smoothing_spline(x, y, w, lam=alpha)
        ours = SmoothingSpline(alpha).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(ours.predict(inner[:, None]), theirs(inner), atol=1e-7)
        np.testing.assert_allclose(ours.derivative(inner[:, None]), theirs.derivative()(inner), atol=1e-5)
    best = SmoothingSpline().fit(X, y)  # SciPy looks for the minimum with a coarser tolerance
    np.testing.assert_allclose(best.predict(X), make_smoothing_spline(x, y)(x), atol=1e-4)
    around = [SmoothingSpline(best.alpha_ * f).fit(X, y).gcv_ for f in (0.99, 1.01)]
    assert best.gcv_ <= min(around)


def test_limits_and_lines_outside(points):
    X, y, _ = points
    places, at = np.unique(X[:, 0], return_inverse=True)
    mean = np.bincount(at, y) / np.bincount(at)
    through = SmoothingSpline(0.0).fit(X, y)
    np.testing.assert_allclose(through.predict(places[:, None]), mean, atol=1e-12)
    natural = CubicSpline(places, mean, bc_type="natural")
    between = (places[1:] + places[:-1]) / 2.0
    np.testing.assert_allclose(through.predict(between[:, None]), natural(between), atol=1e-9)
    straight = np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    for alpha in (np.inf, 1e12):
        for n_knots in (None, 15):
            model = SmoothingSpline(alpha, n_knots=n_knots).fit(X, y)
            np.testing.assert_allclose(model.predict(X), straight, atol=1e-8)
            assert model.df_ == pytest.approx(2.0)
    for model in (SmoothingSpline().fit(X, y), SmoothingSpline(n_knots=15).fit(X, y)):
        out = np.array([[-3.0], [-2.0], [-1.0], [9.0], [10.0], [11.0]])
        np.testing.assert_allclose(model.derivative(out, 2), 0.0)
        np.testing.assert_allclose(np.diff(model.predict(out), 2)[[0, 3]], 0.0, atol=1e-12)
        step = 1e-5
        for order in (1, 2):
            lower = model.predict if order == 1 else model.derivative
            slope = (lower(between[:, None] + step) - lower(between[:, None] - step)) / (2.0 * step)
            np.testing.assert_allclose(model.derivative(between[:, None], order), slope, atol=1e-4)


def test_knots_at_all_places_are_the_exact_spline(points):
    X, y, w = points
    for alpha in (0.01, 1.0, None):
        exact = SmoothingSpline(alpha).fit(X, y, sample_weight=w)
        ridge = SmoothingSpline(alpha, n_knots=1000).fit(X, y, sample_weight=w)
        tol = 1e-8 if alpha else 1e-5  # one minimum is found with and one without derivatives
        np.testing.assert_allclose(ridge.predict(X), exact.predict(X), atol=tol)
        np.testing.assert_allclose(ridge.df_, exact.df_, rtol=tol)
        np.testing.assert_allclose(ridge.gcv_, exact.gcv_, rtol=tol)


@pytest.mark.parametrize("n_knots", [None, 20])
def test_degrees_of_freedom(points, n_knots):
    X, y, _ = points
    for df in (2.5, 6.0, 15.0):
        assert SmoothingSpline(df=df, n_knots=n_knots).fit(X, y).df_ == pytest.approx(df)
    with pytest.raises(ValueError, match="out of reach"):
        SmoothingSpline(df=1.0, n_knots=n_knots).fit(X, y)
    with pytest.raises(ValueError, match="pass one of them"):
        SmoothingSpline(1.0, df=4.0).fit(X, y)


def test_clustered_and_many_places():
    """Where matrices of second differences lose digits: gaps of 1e-9 of the range, and 20,000 places."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.random(50), 0.5 + 1e-9 * rng.random(50)])
    y = np.sin(6.0 * x) + 0.1 * rng.normal(size=100)
    exact, ridge = (SmoothingSpline(1e-4, n_knots=n).fit(x[:, None], y) for n in (None, 60))
    np.testing.assert_allclose(exact.predict(x[:, None]), ridge.predict(x[:, None]), atol=0.02)
    x = rng.random(20_000)
    y = np.sin(6.0 * x) + 0.3 * rng.normal(size=len(x))
    exact, ridge = (SmoothingSpline(0.1, n_knots=n).fit(x[:, None], y) for n in (None, 80))
    np.testing.assert_allclose(exact.predict(x[:, None]), ridge.predict(x[:, None]), atol=1e-3)
    np.testing.assert_allclose(exact.df_, ridge.df_, rtol=1e-3)


@pytest.mark.parametrize("n_knots", [None, 12])
def test_from_parquet_as_from_memory(points, n_knots, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, y, w = points
    pq.write_table(pa.table({"x": X[:, 0], "y": y, "w": w}), tmp_path / "a.parquet", row_group_size=25)
    scan = suffice.rows(suffice.scan_parquet(tmp_path), features=["x"], target="y", weight="w")
    there = SmoothingSpline(n_knots=n_knots).fit(scan)
    here = SmoothingSpline(n_knots=n_knots).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(there.model_.predict(X), here.predict(X), atol=1e-9)


def test_several_features_are_refused_and_searches_work(points):
    X, y, _ = points
    with pytest.raises(ValueError, match="one feature, and X has 2"):
        SmoothingSpline().fit(np.hstack([X, X]), y)
    search = GridSearchCV(SmoothingSpline(), {"df": [3.0, 8.0, 20.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"df": 8.0}
    assert search.score(X, y) > 0.7
    assert repr(clone(search.best_estimator_)) == "SmoothingSpline(df=8.0)"


@pytest.mark.parametrize("n_knots", [None, 12])
def test_few_rows(n_knots):
    spline = SmoothingSpline(n_knots=n_knots)
    np.testing.assert_allclose(spline.fit([[1.0]], [2.0]).predict([[5.0]]), 2.0)
    np.testing.assert_allclose(spline.fit([[1.0], [2.0]], [1.0, 3.0]).predict([[3.0]]), 5.0)
    np.testing.assert_allclose(spline.fit([[1.0], [1.0]], [1.0, 3.0]).predict([[3.0]]), 2.0)
    flat = spline.fit([[1.0], [2.0], [3.0], [4.0]], [7.0] * 4)
    np.testing.assert_allclose(flat.predict([[0.0], [2.5]]), 7.0)


# --- the laws, for curves ------------------------------------------------------------------------------

CURVES = [v for v in VARIANTS if v.takes == "curve"]
LAWS = [
    test_sums.test_sum_law,
    test_sums.test_empty_block_is_neutral,
    test_sums.test_weights_scale,
    test_sums.test_weight_is_repetition,
    test_sums.test_weight_is_repetition_through_fit,
    test_sums.test_aligned_runs_of_statistics_change_no_bit,
    test_numerics.test_far_from_the_origin,
    test_numerics.test_single_precision_agrees,
    test_numerics.test_rows_rounded_to_single_precision_agree_to_its_rounding,
    test_numerics.test_no_rows_are_refused,
    test_numerics.test_nan_is_refused_where_it_cannot_be_summed_out,
    test_numerics.test_weights_are_checked,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("variant", CURVES, ids=lambda v: v.name)
def test_laws(variant, law):
    law(variant)


@pytest.mark.parametrize("variant", CURVES, ids=lambda v: v.name)
def test_no_nan_at_any_scale(variant):
    for scale in test_numerics.SCALES:
        test_numerics.test_no_nan_leaves_fit_at_any_scale(variant, scale)


@pytest.mark.parametrize("variant", CURVES, ids=lambda v: v.name)
def test_saved_and_loaded(variant, tmp_path):
    X, y = variant.data()
    model = variant.make().fit(X, y)
    model.save(tmp_path / "spline")
    np.testing.assert_array_equal(suffice.load(tmp_path / "spline").predict(X), model.predict(X))


# --- parts ---------------------------------------------------------------------------------------------


def test_bases_bend_by_one():
    """The integrals of products of second derivatives are zero and one; slopes match differences."""
    knots = np.array([-2.0, -1.9, 0.3, 1.0, 4.0])
    basis = NaturalSplines.at([knots, np.array([0.0, 1.0])])
    assert len(basis) == 5
    assert basis.penalized.tolist() == [False, True, True, True, False]
    x = np.sort(np.concatenate([np.linspace(-2.0, 4.0, 60_001), knots]))
    grid = np.column_stack([x, x])
    bent = basis(grid, 2)[:, 1:4]
    middle = (bent[1:] + bent[:-1]) / 2.0
    np.testing.assert_allclose((middle.T * np.diff(x)) @ middle * 6.0**3, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(basis(grid)[:, 0] * 6.0, x + 2.0, atol=1e-12)
    before, after = (np.repeat(knots[:, None] + e, 2, axis=1) for e in (-1e-10, 1e-10))
    for derivative in (0, 1, 2):  # pieces meet smoothly, the lines outside too
        np.testing.assert_allclose(basis(before, derivative), basis(after, derivative), atol=1e-7)
    for row in (-5.0, 0.2, 7.0):
        at = np.full((1, 2), row)
        slope = (basis(at + 1e-6) - basis(at - 1e-6)) / 2e-6
        np.testing.assert_allclose(basis(at, 1), slope, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e160])
def test_rotations_of_equations_of_any_size(scale):
    A = np.random.default_rng(0).normal(size=(8, 5, 5))
    A[:, :2] = 0.0
    expected, found = A.copy(), scale * A
    triangles(expected)
    triangles(found)
    np.testing.assert_allclose(found / scale, expected, atol=1e-12)


def test_a_smoothing_spline_is_that_of_dense_equations():
    rng = np.random.default_rng(0)
    h, w, y = rng.random(7), rng.random(8), rng.normal(size=8)
    value, slope, leverage = smooth(h, w, y, 0.1)
    x = np.concatenate([[0.0], np.cumsum(h)])
    expected, trace = dense(x, y, w, 0.1)
    np.testing.assert_allclose(value, expected, atol=1e-12)
    np.testing.assert_allclose(leverage.sum(), trace)
    np.testing.assert_allclose(slope, CubicSpline(x, expected, bc_type="natural")(x, 1), atol=1e-10)


@pytest.mark.parametrize("known_scale", [False, True])
@pytest.mark.parametrize("criterion", ["_restricted", "_cross_validated"])
def test_derivatives_of_criteria(criterion, known_scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=150)
    basis = NaturalSplines.at([sample(X).knots(d, 7) for d in range(3)])
    Z = basis(X) - basis(X).mean(axis=0)
    y = y - y.mean()
    problem = Smoothing(Z.T @ Z, Z.T @ y, y @ y, 150.0, basis.feature, basis.penalized, known_scale)
    fun = getattr(problem, criterion)
    x, step = problem.balance - np.array([1.0, 5.0, 9.0]), 1e-5 * np.eye(3)
    _, gradient, hessian = fun(x)
    np.testing.assert_allclose(gradient, [(fun(x + e)[0] - fun(x - e)[0]) / 2e-5 for e in step], rtol=1e-6)
    curve = np.array([(fun(x + e)[1] - fun(x - e)[1]) / 2e-5 for e in step])
    np.testing.assert_allclose(hessian, curve, atol=1e-6 * np.abs(curve).max())
    best = problem.choose("reml" if criterion == "_restricted" else "gcv")
    low, high = (fun(np.log(best) + d)[0] for d in (-0.1, 0.1))
    assert fun(np.log(best))[0] <= min(low, high) + 1e-9


def test_samples_do_not_depend_on_order():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=20_000), rng.integers(5, size=20_000), np.zeros(20_000)])
    whole = sample(X)
    parts = sample(X[15_000:]) + sample(X[:7]) + sample(X[:0]) + sample(X[7:15_000])
    for a, b in zip(whole.values, parts.values, strict=True):
        np.testing.assert_array_equal(a, b)
    assert [len(v) for v in whole.values] == [KEPT, 5, 1]
    knots = whole.knots(0, 9)
    assert (knots[0], knots[-1]) == (X[:, 0].min(), X[:, 0].max())
    between = np.searchsorted(np.sort(X[:, 0]), knots) / 20_000
    np.testing.assert_allclose(between, np.linspace(0.0, 1.0, 9), atol=0.04)
    assert whole.knots(1, 9).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
