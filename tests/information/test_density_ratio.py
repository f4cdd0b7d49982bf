"""Density ratios: closed forms, quadrature, cross-validation by hand, sums wherever the rows are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.stats import norm

import suffice
from suffice.core import cost
from suffice.information import RelativeDensityRatio, relative_density_ratio, relative_pearson
from suffice.kernels import RBF

from ..laws.registry import cut_at, recorded_folds

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(size=(300, 2)), rng.normal([0.7, 0.0], 0.7, size=(200, 2))])
Y = np.repeat(["q", "r"], [300, 200])  # the numerator is the second
GRID = {"gamma": [0.1, 0.5, 2.0], "penalty": [1e-3, 0.1, 3.0]}


def by_hand(X, y, w, points, gamma, penalty, alpha):
    p, q = y == "r", y == "q"
    phi = RBF(gamma)(X, points)
    mean = [(phi[s] * w[s, None]).T @ phi[s] / w[s].sum() for s in (p, q)]
    H, h = alpha * mean[0] + (1 - alpha) * mean[1], w[p] @ phi[p] / w[p].sum()
    return np.linalg.solve(H + penalty * np.eye(len(H)), h), H, h


def test_closed_form():
    weight = rng.uniform(0.2, 2.0, size=500)
    for alpha in (0.0, 0.3):
        how = {"gamma": 0.5, "penalty": 0.1, "landmarks": 30, "random_state": 0}
        model = RelativeDensityRatio(alpha, **how).fit(X, Y, weight)
        theta, H, h = by_hand(X, Y, weight, model.X_fit_, 0.5, 0.1, alpha)
        np.testing.assert_allclose(model.dual_coef_, theta, rtol=1e-9)
        assert model.divergence_ == pytest.approx(2 * h @ theta - theta @ H @ theta - 1, rel=1e-9)
        g = RBF(0.5)(X, model.X_fit_) @ theta
        np.testing.assert_allclose(model.ratio(X), np.maximum(g, 0.0), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), np.where(g > 1.0, "r", "q"))
        rows = {tuple(row) for row in X[Y == "r"]}
        assert all(tuple(row) in rows for row in model.X_fit_)  # landmarks are of the numerator


def test_cross_validation_is_one_pass():
    with recorded_folds() as seen:
        model = RelativeDensityRatio(0.2, landmarks=20, n_folds=4, random_state=0, **GRID).fit(X, Y)
    assert len(seen) == 3  # labels, landmarks, sums
    block = seen[-1].rows
    fold = np.full(500, -1)
    for n in range(500):
        s = model.model_.summarize(block[np.array([n])])
        fold[n] = int(np.flatnonzero(s.weight.sum(axis=1))[0])
    assert set(fold) == {0, 1, 2, 3}
    errors, w = np.zeros((3, 3)), np.ones(500)
    for g, gamma in enumerate(GRID["gamma"]):
        for k, penalty in enumerate(GRID["penalty"]):
            for f in range(4):
                rest, out = fold != f, fold == f
                theta = by_hand(X[rest], Y[rest], w[rest], model.X_fit_, gamma, penalty, 0.2)[0]
                _, H, h = by_hand(X[out], Y[out], w[out], model.X_fit_, gamma, penalty, 0.2)
                errors[g, k] += (theta @ H @ theta - 2 * h @ theta) / 4
    np.testing.assert_allclose(model.cv_errors_, errors, rtol=1e-8)
    g, k = np.unravel_index(errors.argmin(), (3, 3))
    assert (model.gamma_, model.penalty_) == (GRID["gamma"][g], GRID["penalty"][k])


def test_a_known_ratio():
    """Of two Gaussian densities, near the truth and its divergence by quadrature."""
    x = np.append(rng.normal(size=4000), rng.normal(0.5, 1.0, size=4000))[:, None]
    model = RelativeDensityRatio(0.5, random_state=0).fit(x, np.repeat([1, 0], 4000))
    grid = np.linspace(-8.0, 8.0, 4001)
    p, q = norm.pdf(grid), norm.pdf(grid, 0.5)
    mixture = 0.5 * (p + q)
    expected = np.sum((p / mixture - 1) ** 2 * mixture) * (grid[1] - grid[0])
    assert model.divergence_ == pytest.approx(expected, abs=0.02)
    inner = np.abs(grid) < 2
    off = model.ratio(grid[inner, None]) - relative_density_ratio(p, q, 0.5)[inner]
    assert np.abs(off).max() < 0.15
    same = RelativeDensityRatio(0.5, random_state=0).fit(x[:4000], np.repeat([1, 0], 2000))
    assert abs(same.divergence_) < 0.01


def test_weights_sparse_rows_and_sources():
    times = rng.integers(0, 4, size=500)
    again = np.repeat(np.arange(500), times)
    how = {"landmarks": 20, "random_state": 0, **GRID}
    weighted = RelativeDensityRatio(**how).fit(X, Y, times.astype(float))
    repeated = RelativeDensityRatio(**how).fit(X[again], Y[again])
    np.testing.assert_allclose(weighted.ratio(X), repeated.ratio(X), rtol=1e-8)
    here = RelativeDensityRatio(**how).fit(X, Y)
    sparse = RelativeDensityRatio(**how).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.ratio(sp.csr_array(X)), here.ratio(X), rtol=1e-8)
    with cut_at(7, 50):
        parts = RelativeDensityRatio(**how).fit(X, Y)
    np.testing.assert_allclose(parts.ratio(X), here.ratio(X), rtol=1e-8)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "sample": Y})
    scan = suffice.rows(suffice.scan(lambda: table.to_batches(max_chunksize=90)), target="sample")
    there = RelativeDensityRatio(**how).fit(scan)
    np.testing.assert_allclose(there.decision_function(scan), here.decision_function(X), rtol=1e-8)


def test_far_from_the_origin():
    rows = np.round(X, 3)
    how = {"landmarks": 20, "random_state": 0, "gamma": 0.5, "penalty": 0.1}
    far = RelativeDensityRatio(**how).fit(rows + 2.0**20, Y)
    theta = by_hand(rows, Y, np.ones(500), far.X_fit_ - 2.0**20, 0.5, 0.1, 0.1)[0]
    np.testing.assert_allclose(far.dual_coef_, theta, rtol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.9])
def test_the_relative_pearson_divergence_is_the_integral(alpha):
    """Of two normal densities, by adaptive quadrature; the function has the probabilities of small bins."""
    p, q = norm(), norm(0.5, 1.3)

    def integrand(x):
        mixture = alpha * p.pdf(x) + (1 - alpha) * q.pdf(x)
        return (relative_density_ratio(p.pdf(x), q.pdf(x), alpha) - 1) ** 2 * mixture

    expected = quad(integrand, -12.0, 12.0, epsabs=1e-12)[0]
    edges = np.concatenate([[-np.inf], np.linspace(-12.0, 12.0, 10_001), [np.inf]])
    found = relative_pearson(np.diff(p.cdf(edges)), np.diff(q.cdf(edges)), alpha)
    assert found == pytest.approx(expected, rel=1e-5)


def test_functions():
    p, q = [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]
    np.testing.assert_array_equal(relative_density_ratio(p, q), [np.inf, 1.0, 0.0])
    assert relative_density_ratio(p, q, 0.2).max() == 1 / 0.2
    assert relative_pearson(p, q) == np.inf
    assert relative_pearson(p, q, 1.0) == 0.0
    assert np.isfinite(relative_pearson(p, q, 0.1))
    with pytest.raises(ValueError, match="same shape"):
        relative_density_ratio(p, [1.0])
    with pytest.raises(ValueError, match="sum 1"):
        relative_pearson([0.5, 0.2], [0.5, 0.5])
    with pytest.raises(ValueError, match="alpha must be from 0 to 1"):
        relative_pearson(p, q, 2.0)
    with pytest.raises(ValueError, match="non-negative"):
        relative_density_ratio([-1.0], [1.0])


def test_what_cannot_be_fitted(monkeypatch):
    with pytest.raises(ValueError, match="two samples"):
        RelativeDensityRatio().fit(X, np.arange(500) % 3)
    with pytest.raises(ValueError, match="No fold has rows of both samples"):
        RelativeDensityRatio(n_folds=1).fit(X, Y)
    with pytest.raises(ValueError, match="must have candidates"):
        RelativeDensityRatio(penalty=[]).fit(X, Y)
    monkeypatch.setattr(cost, "memory_limit", lambda: (1e6, "the limit is"))
    with pytest.raises(MemoryError, match="products of 100 kernels"):
        RelativeDensityRatio().fit(X, Y)
