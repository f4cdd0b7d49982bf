"""Conjugate posteriors: evidence by quadrature, draws, expectations and divergences by Monte Carlo, SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from suffice.families import (
    GAUSSIANS,
    Bernoulli,
    Categorical,
    Dirichlet,
    GaussianPrior,
    Multinomial,
    Poisson,
    ProductFamily,
    Sticks,
)

from ..laws.registry import K, table

PRIOR = GaussianPrior(np.array([0.5, -1.0]), 0.7, np.array([[2.0, 0.3], [0.3, 1.0]]), 5.0)


def families():
    """Families with proper priors, on two columns (a product has four)."""
    found = {kind: cls.start(K, 2, prior=PRIOR) for kind, cls in GAUSSIANS.items()}
    found |= {f"{kind}, known": f.replace(fixed="covariance") for kind, f in list(found.items())}
    found |= {cls.__name__: cls.start(K, 2, alpha=0.4) for cls in (Bernoulli, Poisson, Multinomial)}
    values = (np.arange(4.0),) * 2
    found["Categorical"] = Categorical(values, (np.full((K, 4), 0.25),) * 2, 0.4)
    parts = (
        GAUSSIANS["diag"].start(K, 1, prior=GaussianPrior(0.5, 0.7, 2.0, 5.0)),
        Categorical((np.arange(4.0),), (np.full((K, 4), 0.25),), 0.4),
        Bernoulli.start(K, 1, alpha=0.4),
        Poisson.start(K, 1, alpha=0.4),
    )
    found["ProductFamily"] = ProductFamily(tuple(np.array([j]) for j in range(4)), parts)
    return found


EVERY = families()
each_family = pytest.mark.parametrize("name", EVERY)


def setting(name, n=30):
    family = EVERY[name]
    X, group = table(family.support, n, d=2)
    R = np.eye(K)[group]
    prior = family.posterior(family.summarize(X[:0], R[:0]))
    return family, X, R, prior, family.posterior(family.summarize(X, R))


def log_likelihood(family, X, R):
    return float((R * family.log_density(X)).sum())


def mean_and_error(values):
    return np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(len(values))


@each_family
def test_mode_is_the_estimate(name):
    family, X, R, _, q = setting(name)
    np.testing.assert_array_equal(
        family.estimate(family.summarize(X, R)).log_density(X), q.mode.log_density(X)
    )


@each_family
def test_evidence_follows_from_any_parameters(name):
    """p(X) = p(X given theta) p(theta) / p(theta given X), and so for the divergence:
    log p(X) = E_q[log p(X given theta)] - KL(q, prior), since q is the posterior."""
    _, X, R, prior, q = setting(name)
    bound = float((R * q.expected_log_density(X)).sum()) - q.divergence(prior)
    rows = float((R * row_terms(EVERY[name], X)).sum())
    np.testing.assert_allclose(q.log_evidence(prior).sum() + rows, bound, rtol=1e-10)


def row_terms(family, X):
    """log p(x given k), less what the statistics know of it."""
    if isinstance(family, ProductFamily):
        return sum(row_terms(part, x) for part, x in family.each(X))
    if not isinstance(family, Poisson | Multinomial):
        return np.zeros((len(X), K))
    return family.log_density(X) - family.scores(X)


@each_family
def test_predictive_is_a_ratio_of_evidences(name):
    """log p(x given X) = log p(X and x) - log p(X), for each density."""
    family, X, R, prior, q = setting(name)
    x = table(family.support, 5, seed=3, d=2)[0]
    found = q.predictive(x)
    for n in range(5):
        for k in range(K):
            both = np.concatenate([X, x[[n]]])
            after = family.posterior(family.summarize(both, np.concatenate([R, np.eye(K)[[k]]])))
            ratio = after.log_evidence(prior).sum() - q.log_evidence(prior).sum()
            ratio += row_terms(family, x)[n, k]
            np.testing.assert_allclose(found[n, k], ratio, rtol=1e-8, atol=1e-9)


@each_family
def test_predictive_sums_out_what_is_missing(name):
    if name == "Multinomial":
        pytest.skip("a hidden count hides the total too, of which the density speaks")
    family, _, _, _, q = setting(name)
    x = table(family.support, 4, seed=3, d=2)[0]
    nothing = np.full_like(x, np.nan)
    np.testing.assert_allclose(q.predictive(nothing), 0.0, atol=1e-12)
    if family.support == "real":
        grid = np.linspace(-200.0, 200.0, 40_001)
        rows = np.stack([np.full_like(grid, x[0, 0]), grid], axis=1)
        holes = np.array([[x[0, 0], np.nan]])
        total = logsumexp(q.predictive(rows), axis=0) + np.log(grid[1] - grid[0])
        np.testing.assert_allclose(q.predictive(holes)[0], total, atol=1e-3)


@each_family
def test_draws_have_the_expected_log_density(name):
    _, X, _, _, q = setting(name)
    rng = np.random.default_rng(0)
    mean, error = mean_and_error([q.sample(rng).log_density(X[:6]) for _ in range(600)])
    assert (np.abs(mean - q.expected_log_density(X[:6])) < 5.0 * error + 1e-12).all()


@pytest.mark.slow
@each_family
def test_draws_have_the_predictive_density(name):
    _, X, _, _, q = setting(name)
    rng = np.random.default_rng(1)
    mean, error = mean_and_error([np.exp(q.sample(rng).log_density(X[:6])) for _ in range(3000)])
    assert (np.abs(mean - np.exp(q.predictive(X[:6]))) < 5.0 * error + 1e-12).all()


@each_family
def test_divergence_is_positive_and_zero_of_itself(name):
    _, _, _, prior, q = setting(name)
    assert q.divergence(prior) > 0
    assert prior.divergence(q) > 0
    assert abs(q.divergence(q)) < 1e-10


@pytest.mark.parametrize("kind", GAUSSIANS)
def test_missing_entries_are_integrated_under_expectations(kind):
    """exp E[log p] of a row with a hole: for axes, that of what is seen; else its integral over the hole."""
    _, X, _, _, q = setting(kind)
    holes = X[:3].copy()
    holes[:, 1] = np.nan
    found = q.expected_log_density(holes)
    if kind in ("diag", "spherical"):
        change = np.full_like(holes, np.nan)
        change[:, 1] = X[:3, 1]
        np.testing.assert_allclose(
            found, q.expected_log_density(X[:3]) - q.expected_log_density(change), atol=1e-9
        )
        return
    grid = np.linspace(-60.0, 60.0, 24_001)
    rows = np.stack([np.full_like(grid, holes[0, 0]), grid], axis=1)
    total = logsumexp(q.expected_log_density(rows), axis=0) + np.log(grid[1] - grid[0])
    np.testing.assert_allclose(found[0], total, atol=1e-9)


def test_imputed_entries_have_their_conditional_distribution():
    family = GAUSSIANS["full"].start(2, 3)
    C = np.array([[2.0, 0.8, 0.2], [0.8, 1.0, -0.3], [0.2, -0.3, 1.5]])
    family = family.replace(mean=np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), covariance=np.stack([C, C]))
    X = np.tile([1.5, np.nan, np.nan], (20_000, 1))
    filled = family.impute(X, np.zeros(20_000, int), np.random.default_rng(0))
    expected = np.array([2.0, 3.0]) + C[1:, 0] / C[0, 0] * 0.5
    spread = C[1:, 1:] - np.outer(C[1:, 0], C[0, 1:]) / C[0, 0]
    np.testing.assert_allclose(filled[:, 1:].mean(axis=0), expected, atol=0.05)
    np.testing.assert_allclose(np.cov(filled[:, 1:].T), spread, atol=0.05)
    assert (filled[:, 0] == 1.5).all() and np.isnan(X[:, 1:]).all()


def test_an_improper_prior_is_refused_with_advice():
    full, poisson = GAUSSIANS["full"].start(1, 2), Poisson.start(1, 1)
    q = full.posterior(full.summarize(np.eye(2), np.ones((2, 1))))
    with pytest.raises(ValueError, match="mean_precision > 0 and degrees_of_freedom"):
        q.sample(np.random.default_rng(0))
    q = poisson.posterior(poisson.summarize(np.empty((0, 1)), np.empty((0, 1))))
    with pytest.raises(ValueError, match="alpha > 0"):
        q.sample(np.random.default_rng(0))


# --- weights ---------------------------------------------------------------------------------------------

WEIGHTS = {
    "dirichlet": Dirichlet(np.full(4, 0.6)),
    "process": Sticks.process(0.8, 4),
    "truncated": Sticks.process(0.8, 4).truncated(),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_by_draws(name):
    prior = WEIGHTS[name]
    q = prior.posterior(np.array([5.0, 0.0, 2.0, 1.0]))
    rng = np.random.default_rng(0)
    draws = np.stack([q.sample(rng) for _ in range(5000)])
    mean, error = mean_and_error(draws)
    assert (np.abs(mean - q.mean) < 5.0 * error + 1e-12).all()
    mean, error = mean_and_error(np.log(draws))
    assert (np.abs(mean - q.expected_log) < 5.0 * error + 1e-12).all()
    assert q.divergence(prior) > 0
    assert abs(q.divergence(q)) < 1e-12
    if name != "process":
        np.testing.assert_allclose(draws.sum(axis=1), 1.0)
        np.testing.assert_allclose(q.mean.sum(), 1.0)


@pytest.mark.parametrize("name", WEIGHTS)
def test_evidence_of_labels_is_a_product_of_predictions(name):
    prior, counts, total = WEIGHTS[name], np.zeros(4), 0.0
    for label in (2, 0, 0, 3, 2, 1):
        total += np.log(prior.posterior(counts).mean[label])
        counts[label] += 1
    np.testing.assert_allclose(prior.log_evidence(counts), total)
