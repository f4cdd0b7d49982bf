"""Entropies and divergences against SciPy, quadrature and draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from suffice.families import GAUSSIANS, Bernoulli, Categorical, Multinomial, Poisson, ProductFamily
from suffice.information import entropy, f_divergence, kl_divergence, relative_pearson
from suffice.information.entropies import F_DIVERGENCES

from ..laws.registry import K, learnt, starts, table

P, Q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.6, 0.3, 0.0])


def test_tables():
    assert np.isclose(entropy(P), stats.entropy(P))
    assert np.isclose(entropy(np.outer(P, Q)), entropy(P) + entropy(Q))
    assert np.isclose(kl_divergence(P, Q), stats.entropy(P[:3], Q[:3]))
    assert kl_divergence([0.5, 0.5], [1.0, 0.0]) == np.inf


CLOSED = [Bernoulli, Categorical, Multinomial, Poisson, ProductFamily, *GAUSSIANS.values()]


@pytest.mark.parametrize("cls", CLOSED, ids=lambda cls: cls.__name__)
def test_divergence_of_families_is_that_of_draws(cls):
    p, q = (learnt(next(iter(starts(cls).values())), table(cls.support)[0], seed) for seed in (0, 1))
    rng, k = np.random.default_rng(0), np.repeat(np.arange(K), 20_000)
    X = p.sample(k, rng).astype(float)
    at = np.arange(len(k)), k
    ratio = (p.log_density(X)[at] - q.log_density(X)[at]).reshape(K, -1)
    error = ratio.std(axis=1) / np.sqrt(20_000)
    assert (np.abs(kl_divergence(p, q) - ratio.mean(axis=1)) < 5 * error + 1e-12).all()
    np.testing.assert_allclose(kl_divergence(p, p), 0.0, atol=1e-12)
    if cls in (Poisson, Multinomial) or cls is ProductFamily:
        with pytest.raises(TypeError, match="closed form"):
            entropy(p)
        return
    minus = -p.log_density(X)[at].reshape(K, -1)
    assert (np.abs(entropy(p) - minus.mean(axis=1)) < 5 * minus.std(axis=1) / np.sqrt(20_000)).all()


def test_f_divergences_of_known_functions():
    functions = {
        "kl": lambda t: t * np.log(np.maximum(t, 1e-300)),
        "reverse-kl": lambda t: -np.log(t),
        "pearson": lambda t: (t - 1.0) ** 2,
        "neyman": lambda t: (t - 1.0) ** 2 / t,
        "hellinger": lambda t: (np.sqrt(t) - 1.0) ** 2,
        "total-variation": lambda t: 0.5 * np.abs(t - 1.0),
        "jensen-shannon": lambda t: 0.5 * (t * np.log(2 * t / (1 + t)) + np.log(2 / (1 + t))),
    }
    assert set(functions) == set(F_DIVERGENCES)
    for kind, f in functions.items():
        assert np.isclose(f_divergence(P[:3], Q[:3], kind), f_divergence(P[:3], Q[:3], f)), kind
        assert abs(f_divergence(P, P, kind)) < 1e-15
    assert np.isclose(f_divergence(P, Q, "pearson"), relative_pearson(P, Q))
    outside = [0.0, 0.5, 0.5], [0.5, 0.5, 0.0]
    assert np.isclose(f_divergence(*outside, "total-variation"), 0.5)
    assert np.isclose(f_divergence(*outside, functions["total-variation"]), 0.5)
    assert f_divergence(*outside, "pearson") == f_divergence(*outside, functions["pearson"]) == np.inf


def test_wrong_calls():
    with pytest.raises(ValueError, match="sum"):
        kl_divergence([0.5, 0.6], [0.5, 0.5])
    with pytest.raises(ValueError, match="got min inf, sum 0"):
        entropy([])
    with pytest.raises(ValueError, match="same shape"):
        kl_divergence([0.5, 0.5], [0.5, 0.25, 0.25])
    with pytest.raises(TypeError, match="same kind"):
        kl_divergence(Bernoulli.start(1, 1), Poisson.start(1, 1))
    with pytest.raises(ValueError, match="categories"):
        a, b = np.arange(2.0), np.arange(1.0, 3.0)
        half = (np.full((1, 2), 0.5),)
        kl_divergence(Categorical((a,), half), Categorical((b,), half))
    with pytest.raises(ValueError, match="one of"):
        f_divergence(P, Q, "none")
