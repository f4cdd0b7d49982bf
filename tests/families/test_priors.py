"""The Dirichlet distribution: SciPy's numbers, and estimates from mean logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import dirichlet

from suffice.families import Dirichlet


def test_dirichlet_is_scipys():
    alpha, p = np.array([0.5, 2.0, 3.5]), np.array([0.2, 0.3, 0.5])
    ours, theirs = Dirichlet(alpha), dirichlet(alpha)
    np.testing.assert_allclose(ours.entropy, theirs.entropy())
    np.testing.assert_allclose(ours.log_density(p), theirs.logpdf(p))
    np.testing.assert_allclose(ours.log_density(np.stack([p, p])), theirs.logpdf(p))
    np.testing.assert_allclose(ours.mean, theirs.mean())
    np.testing.assert_allclose(ours.expected_log, digamma(alpha) - digamma(alpha.sum()))


@pytest.mark.parametrize(
    "alpha", [[0.02, 0.5, 30.0], [5.0, 5.0], [1e-3] * 4, [300.0, 0.1, 2.0, 7.0, 1e-2], [1e3, 2e3]]
)
@pytest.mark.parametrize("start", [1.0, 0.01, 100.0])
def test_dirichlet_is_estimated(alpha, start):
    alpha = np.array(alpha)
    mean_log = Dirichlet(alpha).expected_log
    found = Dirichlet(np.full(len(alpha), start)).estimate(mean_log)
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-6)


def test_dirichlet_is_estimated_from_draws():
    p = np.random.default_rng(0).dirichlet([0.5, 2.0, 3.5], size=20000)
    found = Dirichlet(np.ones(3)).estimate(np.log(p).mean(axis=0))
    np.testing.assert_allclose(found.alpha, [0.5, 2.0, 3.5], rtol=0.03)
    mean_log = Dirichlet(np.full(5, 0.3)).expected_log
    np.testing.assert_allclose(Dirichlet(np.ones(5)).estimate(mean_log, symmetric=True).alpha, 0.3, rtol=1e-8)
