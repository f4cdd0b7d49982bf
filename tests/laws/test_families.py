"""Families: densities sum to one, NaN is summed out, and what is estimated cannot be bettered."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import invgamma, invwishart, multivariate_normal

from suffice.core.blocks import Rows
from suffice.families import (
    GAUSSIANS,
    Categorical,
    FactorGaussian,
    FullGaussian,
    GaussianPrior,
    Mixture,
    Mixtures,
    Multinomial,
    ProductFamily,
)

from .registry import (
    FAMILIES,
    K,
    N,
    assert_close,
    bits,
    learnt,
    shares,
    starts,
    table,
    with_holes,
)

EVERY = [family for cls in FAMILIES for family in starts(cls).values()]
NAMES = [name for cls in FAMILIES for name in starts(cls)]
each_family = pytest.mark.parametrize("start", EVERY, ids=NAMES)
each_class = pytest.mark.parametrize("cls", FAMILIES, ids=lambda c: c.__name__)
GRID = np.linspace(-25.0, 25.0, 401)


def small(cls):
    """K densities on two columns, learnt from data."""
    family = next(iter(starts(cls, d=2).values()))
    return learnt(family, table(family.support, d=2)[0])


def values_of(family, column):
    """What one column can hold, and the volume of each value: a grid stands for the real line."""
    if family.support == "real":
        return GRID, np.full(len(GRID), GRID[1] - GRID[0])
    if isinstance(family, Categorical):
        values = family.values[column]
    else:
        values = np.arange(2.0) if family.support == "binary" else np.arange(60.0)
    return values, np.ones(len(values))


def mass(family, columns):
    """log of the sum of p(x given k) over all x."""
    axes = [values_of(*column) for column in columns]
    X = np.array(list(product(*(values for values, _ in axes))), dtype=float)
    volume = np.array(list(product(*(size for _, size in axes))), dtype=float).prod(axis=1)
    return logsumexp(family.log_density(X), axis=0, b=volume[:, None])


@each_class
def test_densities_sum_to_one(cls):
    family = small(cls)
    if isinstance(family, ProductFamily):
        for part, columns in zip(family.parts, family.columns, strict=True):
            np.testing.assert_allclose(mass(part, [(part, d) for d, _ in enumerate(columns)]), 0.0, atol=1e-9)
        return
    if family.support == "count" and isinstance(family, Multinomial):  # given how many there are
        for total in (0, 1, 5):
            X = np.array([x for x in product(range(total + 1), repeat=2) if sum(x) == total], dtype=float)
            np.testing.assert_allclose(logsumexp(family.log_density(X), axis=0), 0.0, atol=1e-9)
        return
    np.testing.assert_allclose(mass(family, [(family, 0), (family, 1)]), 0.0, atol=1e-9)


@each_class
def test_holes_are_summed_out(cls):
    """log p of a row with a hole is the log of the sum of p over all that could be there."""
    if cls is Multinomial:
        pytest.skip("a hidden count hides the total too, of which the density speaks")
    family = small(cls)
    X = table(family.support, 12, seed=4, d=2)[0]
    for column in range(X.shape[1]):
        part, where = family, column
        if isinstance(family, ProductFamily):
            part, where = family.parts[column], 0
        hidden = X.copy()
        hidden[:, column] = np.nan
        values, volume = values_of(part, where)
        each = np.repeat(X, len(values), axis=0)
        each[:, column] = np.tile(values, len(X))
        log_p = family.log_density(each).reshape(len(X), len(values), -1)
        summed = logsumexp(log_p, axis=1, b=volume[None, :, None])
        np.testing.assert_allclose(family.log_density(hidden), summed, atol=1e-8)
    nothing = np.full_like(X, np.nan)
    np.testing.assert_allclose(family.log_density(nothing), 0.0, atol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 40])
@pytest.mark.parametrize("kind", GAUSSIANS)
def test_gaussians_are_those_of_scipy(kind, d):
    X, _ = table("real", d=d)
    family = learnt(GAUSSIANS[kind].start(K, d, reg=1e-3), X)
    X = X[:20].copy()
    X[::3, 0] = np.nan
    for k, (mean, C) in enumerate(zip(family.mean, family.covariances, strict=True)):
        for x, log_p in zip(X, family.log_density(X)[:, k], strict=True):
            seen = ~np.isnan(x)
            peer = 0.0
            if seen.any():
                peer = multivariate_normal(mean[seen], C[np.ix_(seen, seen)]).logpdf(x[seen])
            np.testing.assert_allclose(log_p, peer, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_expected_moments_of_what_is_missing(kind):
    """Against a grid of all that could be in the hole, weighted by how probable it is."""
    X, _ = table("real", 40, d=2)
    family = learnt(GAUSSIANS[kind].start(K, 2), X)
    R = shares(40)
    holes = X.copy()
    holes[::3, 0] = np.nan
    holes[1::5, 1] = np.nan
    holes[7] = np.nan
    rows, weight = [], []
    for x, r in zip(holes, R, strict=True):
        grids = [GRID if np.isnan(value) else np.array([value]) for value in x]
        each = np.array(list(product(*grids)))
        log_p = family.log_density(each)
        rows.append(each)
        weight.append(r * np.exp(log_p - logsumexp(log_p, axis=0)))
    whole = family.summarize(np.concatenate(rows), np.concatenate(weight))
    assert_close(family.summarize(holes, R), whole, 1e-7)


@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("kind", GAUSSIANS)
def test_moments_by_hand(kind, d):
    """Weighted means and scatters as the textbook writes them, by one loop and by BLAS."""
    X, group = table("real", d=d)
    for R in (shares(N), np.eye(K)[group] * 1.5):
        s = GAUSSIANS[kind].start(K, d).summarize(X, R)
        mean = (R.T @ X) / R.sum(axis=0)[:, None]
        Y = X[:, None] - mean
        scatter = np.einsum("nk,nki,nkj->kij", R, Y, Y)
        np.testing.assert_allclose(s.mean, mean, rtol=1e-10)
        if s.pooled:
            scatter = scatter.sum(axis=0)
        elif s.diagonal:
            scatter = np.diagonal(scatter, axis1=1, axis2=2)
        np.testing.assert_allclose(s.scatter, scatter, rtol=1e-9, atol=1e-9)


@each_family
def test_estimate_is_the_best(start):
    """No density near the estimate has a larger likelihood (and prior, if there is one)."""
    if isinstance(start, Mixtures | FactorGaussian):
        pytest.skip("what is hidden in it is estimated step by step: tested below")
    X, _ = table(start.support)
    R = shares(N)
    best = start.estimate(start.summarize(X, R))

    def objective(family):
        return float((R * family.log_density(X)).sum()) + family.log_prior()

    rng = np.random.default_rng(0)
    highest = objective(best)
    for size in (0.3, 0.03, 0.003):
        for _ in range(15):
            # Nearby members of the family: estimates from weights a little off, and the same prior.
            other = start.estimate(start.summarize(X, R * np.exp(size * rng.normal(size=R.shape))))
            if start.support == "real":
                spread = np.exp(size * rng.normal())
                wide = np.sqrt(spread) * (X - X.mean(axis=0)) + X.mean(axis=0)
                other = start.estimate(start.summarize(wide, R))
            assert objective(other) <= highest + 1e-9 * abs(highest)


@pytest.mark.parametrize("kind", GAUSSIANS)
def test_prior_is_the_density_it_says(kind):
    """Differences of the log prior are those of SciPy's inverse Wishart and normal densities."""
    prior = GaussianPrior(np.array([0.5, -1.0, 0.0]), 0.3, np.diag([2.0, 1.0, 3.0]), 6.0)

    def by_hand(family):
        C, D = family.covariances, 3
        total = 0.0
        for k, mean in enumerate(family.mean):
            total += multivariate_normal(prior.mean, C[k] / prior.mean_precision).logpdf(mean)
            if kind == "full" or (kind == "tied" and k == 0):
                total += invwishart(prior.degrees_of_freedom, prior.scale).logpdf(C[k])
            if kind == "spherical":  # the degrees of freedom and the scales of all features
                shape = 0.5 * prior.degrees_of_freedom * D
                total += invgamma(shape, scale=0.5 * np.trace(prior.scale)).logpdf(C[k][0, 0])
            if kind == "diag":  # a density of each feature
                for d in range(D):
                    total += invwishart(prior.degrees_of_freedom, prior.scale[d, d]).logpdf(C[k][d, d])
        return total

    found = []
    for seed in range(3):
        X, _ = table("real", seed=seed)
        family = learnt(GAUSSIANS[kind].start(K, 3, prior=prior), X * (1.0 + seed))
        found.append((family.log_prior(), by_hand(family)))
    ours, theirs = np.diff(np.array(found), axis=0).T
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@each_family
@pytest.mark.parametrize(
    "concentration", [1.0, 25.0, np.array([3.0, 40.0, 1.0])], ids=["none", "one", "each"]
)
def test_weights_of_a_mixture_are_the_best(start, concentration):
    X, _ = table(start.support)
    R = shares(N)
    mixture = Mixture(np.full(K, 1 / K), start, concentration)
    best = mixture.estimate(mixture.summarize_as(R, Rows(X, None, np.ones(N))))

    def objective(model):
        return float((R * model.log_joint(X)).sum()) + model.log_prior()

    rng = np.random.default_rng(0)
    for size in (1.0, 0.1, 0.01):
        for _ in range(10):
            weight = best.weight * np.exp(size * rng.normal(size=K))
            assert objective(best.replace(weight=weight / weight.sum())) < objective(best)
    assert best.weight.sum() == pytest.approx(1.0)


@each_family
def test_em_with_holes_never_falls(start):
    """For one density a group, known: expected statistics, then estimate, then better."""
    if isinstance(start, Multinomial):
        pytest.skip("a hidden count hides the total too, of which the density speaks")
    X = with_holes(table(start.support)[0])
    R, family, trace = shares(N), learnt(start, table(start.support)[0], seed=9), []
    for _ in range(12):
        trace.append(float((R * family.log_density(X)).sum()) + family.log_prior())
        family = family.estimate(family.summarize(X, R))
    assert (np.diff(trace) >= -1e-9 * abs(trace[-1])).all(), trace


@each_family
def test_samples_come_from_the_density(start):
    """Estimates from a large sample are where it came from."""
    if isinstance(start, Multinomial):
        pytest.skip("one draw a row: tested below")
    family = learnt(start, table(start.support)[0])
    k = np.repeat(np.arange(K), 20_000)
    X = family.sample(k, np.random.default_rng(0))
    X = X.astype(float)
    assert X.shape == (len(k), table(start.support)[0].shape[1])
    if isinstance(start, Mixtures | FactorGaussian):  # which is at rest at its own sample, and only there
        before = float(family.log_density(X)[np.arange(len(k)), k].mean())
        after = family.estimate(family.summarize(X, np.eye(K)[k]))
        assert float(after.log_density(X)[np.arange(len(k)), k].mean()) - before < 1e-3
        return
    plain = next(iter(starts(type(start)).values()))
    again = plain.estimate(plain.summarize(X, np.eye(K)[k]))
    for f in dataclasses.fields(start)[:2]:
        if f.name in ("columns", "values", "parts", "alpha"):
            continue
        here, there = getattr(again, f.name), getattr(family, f.name)
        pairs = zip(here, there, strict=True) if isinstance(here, tuple) else [(here, there)]
        for a, b in pairs:
            np.testing.assert_allclose(a, b, atol=0.05 * max(1.0, np.abs(b).max()))


def test_multinomial_samples():
    family = learnt(Multinomial.start(K, 3), table("count")[0])
    X = family.sample(np.repeat(np.arange(K), 5000), np.random.default_rng(0), 7)
    assert (X.sum(axis=1) == 7).all()
    np.testing.assert_allclose(X.reshape(K, 5000, 3).mean(axis=1) / 7, family.probability, atol=0.01)


@each_family
def test_one_density_is_that_density_of_several(start):
    """Densities do not look at each other, except where they share a covariance."""
    X, _ = table(start.support)
    family = learnt(start, X)
    log_p = family.log_density(X)
    assert log_p.shape == (N, K)
    order = np.array([2, 0, 1])
    R = shares(N)
    there = start.estimate(start.summarize(X, R[:, order]))
    np.testing.assert_allclose(
        there.log_density(X), start.estimate(start.summarize(X, R)).log_density(X)[:, order]
    )


@each_family
def test_a_density_that_nobody_claims_stays_and_is_finite(start):
    X, _ = table(start.support)
    family = learnt(start, X)
    R = shares(N)
    R[:, 1] = 0.0
    after = family.estimate(family.summarize(X, R))
    assert np.isfinite(after.log_density(X)).all()
    nobody = family.estimate(family.summarize(X[:0], R[:0]))
    assert np.isfinite(nobody.log_density(X)[:, 1]).all()


@each_family
def test_parameters_are_counted(start):
    X, _ = table(start.support)
    family = learnt(start, X)
    assert family.n_parameters > 0
    assert isinstance(int(family.n_parameters), int)


def test_number_of_parameters_by_hand():
    D = 4
    counts = {"full": 3 * 4 + 3 * 10, "tied": 3 * 4 + 10, "diag": 3 * 4 + 3 * 4, "spherical": 3 * 4 + 3}
    for kind, count in counts.items():
        assert GAUSSIANS[kind].start(3, D).n_parameters == count
    assert Multinomial.start(3, D).n_parameters == 9
    assert small(Categorical).n_parameters == 2 * 3 * 3


def test_a_singular_covariance_is_refused_with_advice():
    flat = FullGaussian(np.zeros((1, 2)), np.ones((1, 2, 2)))
    with pytest.raises(ValueError, match="reg_covar"):
        flat.log_density(np.zeros((1, 2)))


@each_family
def test_families_are_values(start):
    """Frozen, replaced and not changed; methods leave them as they were."""
    X, _ = table(start.support)
    family = learnt(start, X)
    before = bits(family)
    family.log_density(with_holes(X))
    family.estimate(family.summarize(with_holes(X), shares(N)))
    assert bits(family) == before
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(family, dataclasses.fields(family)[0].name, None)


def test_estimate_of_mixtures_rises_to_a_fixed_point():
    X, _ = table("real")
    R = shares(N)
    family, trace = Mixtures.start(K, X.shape[1]), []
    for _ in range(300):
        trace.append(float((R * family.log_density(X)).sum()))
        family = family.estimate(family.summarize(X, R))
    assert (np.diff(trace) >= -1e-9 * abs(trace[0])).all()
    assert abs(trace[-1] - trace[-2]) < 1e-4 * abs(trace[1] - trace[0])
