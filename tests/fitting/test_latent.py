"""The Q function, bounds, mean field and Monte Carlo EM."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

import suffice
from suffice.families import Mixture, Poisson
from suffice.fitting import (
    BoundStatistics,
    em,
    evidence_lower_bound,
    monte_carlo_em,
    q_function,
    variational_em,
    variational_inference,
)
from suffice.mixture import GaussianMixture

rng = np.random.default_rng(0)
X = rng.poisson(np.where(rng.random((300, 1)) < 0.4, 2.0, 9.0), size=(300, 2)).astype(float)
MODEL = Mixture(np.array([0.5, 0.5]), Poisson(np.array([[1.0, 1.5], [6.0, 7.0]])))


def test_the_bound_is_the_likelihood_at_the_posterior():
    total = MODEL.log_density(X).sum()
    assert np.isclose(evidence_lower_bound(MODEL, X, MODEL), total)
    data, weight = suffice.partition(X), rng.integers(0, 3, size=300)
    assert np.isclose(evidence_lower_bound(MODEL, data, MODEL), total)
    q = rng.dirichlet(np.ones(2), size=300)
    assert evidence_lower_bound(MODEL, X, q) < total
    repeated = np.repeat(np.arange(300), weight)
    for function in (q_function, evidence_lower_bound):
        assert np.isclose(function(MODEL, X, q, weight), function(MODEL, X[repeated], q[repeated]))


def test_em_steps_raise_q():
    new = em(MODEL, suffice.partition(X), tol=0.0, max_iter=1).model
    assert q_function(new, X, MODEL) > q_function(MODEL, X, MODEL)


def test_mean_field_against_enumeration():
    table = rng.normal(size=(3, 2, 4))
    starts = [[rng.dirichlet(np.ones(n)) for n in table.shape] for _ in range(5)]
    for found in [variational_inference(table), *(variational_inference(table, s) for s in starts)]:
        assert found.converged
        assert (np.diff(found.trace) >= -1e-12).all()
        assert found.lower_bound <= logsumexp(table)
        q = np.einsum("i,j,k->ijk", *found.factors)
        assert np.isclose(found.lower_bound, (q * (table - np.log(q))).sum())
    independent = np.add.outer(np.log([0.2, 0.8]), np.log([0.5, 0.3, 0.2]))
    found = variational_inference(independent)
    assert np.isclose(found.lower_bound, 0.0)
    np.testing.assert_allclose(found.factors[0], [0.2, 0.8])
    with pytest.raises(ValueError, match="one factor"):
        variational_inference(table, [[1.0]])


def test_impossible_values_of_latent_variables():
    """Equal variables: no product of positive factors is possible, and either value is."""
    with np.errstate(divide="ignore"):
        equal = np.log(np.diag([0.3, 0.7]))
    with pytest.raises(ValueError, match="pass a start that is zero there"):
        variational_inference(equal)
    found = variational_inference(equal, [[0.0, 1.0], [0.0, 1.0]])
    assert np.isclose(found.lower_bound, np.log(0.7)) and found.factors[0].tolist() == [0.0, 1.0]
    for wrong in (np.nan * equal, 3.0, np.full((2, 2), -np.inf), np.full((2, 2), np.inf)):
        with pytest.raises(ValueError, match="an axis for each latent variable"):
            variational_inference(wrong)
    with pytest.raises(ValueError, match="start must be probabilities"):
        variational_inference(np.zeros((2, 2)), [[2.0, -1.0], [1.0, 1.0]])


def test_wrong_calls():
    q, data = np.full((300, 2), 0.5), suffice.partition(X)
    for wrong in (q[:5], q[:1], q[0], np.full((300, 3), 1 / 3), 2.0 * q, q + [1.0, -1.0]):
        with pytest.raises((ValueError, np.exceptions.AxisError), match="q must be probabilities"):
            q_function(MODEL, X, wrong)
    with pytest.raises(TypeError, match="need a model as q"):
        evidence_lower_bound(MODEL, data, q)
    with pytest.raises(TypeError, match="GaussianMixture has no log_joint"):
        q_function(GaussianMixture(2).fit(X), X, q)
    for loop in (
        lambda: em(MODEL, X, tol=0.0, max_iter=1),
        lambda: variational_em(MODEL, X, hard),
        lambda: monte_carlo_em(MODEL, X),
    ):
        with pytest.raises(TypeError, match=r"got ndarray: pass suffice.partition\(X\)"):
            loop()
    with pytest.raises(TypeError, match="needs first and propose of Mixture"):
        monte_carlo_em(MODEL, data, sampler="mcmc")
    with pytest.raises(ValueError, match="n_draws=0"):
        monte_carlo_em(MODEL, data, n_draws=0)


def hard(model, block):
    """The best q that is one component for each row."""
    log_joint = model.log_joint(block.X)
    statistics = model.complete(block, log_joint.argmax(axis=1))
    return BoundStatistics(block.weight @ log_joint.max(axis=1), block.weight.sum(), statistics)


def test_the_bound_of_a_restricted_q_rises():
    found = variational_em(MODEL, suffice.partition(X), hard)
    assert found.converged and (np.diff(found.trace) >= -1e-9).all()
    exact = em(MODEL, suffice.partition(X), tol=1e-9, max_iter=200)
    assert found.trace[-1] < exact.model.log_density(X).sum()
    assert found.trace[-1] <= found.model.log_density(X).sum()


def test_monte_carlo_em_is_near_em_and_depends_on_its_seed():
    data = suffice.partition(X)
    exact = em(MODEL, data, tol=1e-9, max_iter=200).model
    drawn = [monte_carlo_em(MODEL, data, n_draws=20, max_iter=30, seed=seed).model for seed in (0, 0, 1)]
    np.testing.assert_allclose(drawn[0].component.rate, exact.component.rate, rtol=0.1)
    assert (drawn[0].component.rate == drawn[1].component.rate).all()
    assert (drawn[0].component.rate != drawn[2].component.rate).any()
    with pytest.raises(ValueError, match="sampler"):
        monte_carlo_em(MODEL, data, sampler="none")
