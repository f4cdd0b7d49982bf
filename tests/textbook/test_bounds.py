"""Bounds bound: exact tails and simulated risks lie below them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

from suffice.textbook import (
    finite_class_bound,
    finite_class_sample_size,
    hoeffding_bound,
    is_shattered,
    margin_bound,
    vc_bound,
    vc_confidence,
)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_hoeffding_is_above_exact_tails(n):
    for p in (0.1, 0.5, 0.8):
        for t in (0.02, 0.1, 0.3):
            above = binom.sf(np.ceil(n * (p + t) - 1e-9) - 1, n, p)
            assert above <= hoeffding_bound(t, n) + 1e-12
    assert hoeffding_bound(0.0, n, two_sided=True) == 1.0
    widths = np.linspace(0.5, 2.0, n)
    assert hoeffding_bound(0.1, n, ranges=widths) == pytest.approx(
        np.exp(-2 * (0.1 * n) ** 2 / (widths**2).sum())
    )
    np.testing.assert_allclose(
        hoeffding_bound([0.1, 0.2], n, ranges=2.0), np.exp(-np.array([0.01, 0.04]) * n / 2)
    )


def test_one_bound_is_the_inverse_of_the_other():
    for two in (False, True):
        epsilon = finite_class_bound(50, 400, delta=0.02, two_sided=two)
        assert hoeffding_bound(epsilon, 400, n_hypotheses=50, two_sided=two) == pytest.approx(0.02)
        n = finite_class_sample_size(50, epsilon, delta=0.02, two_sided=two)
        assert n in (400, 401)
    assert finite_class_bound(50, 400, empirical_risk=[0.1, 0.2])[1] == pytest.approx(
        0.2 + finite_class_bound(50, 400)
    )


def test_finite_class_bound_holds():
    """For all functions at once, as often as it says: a fair coin for each of forty."""
    rng = np.random.default_rng(0)
    risks = rng.binomial(100, 0.3, size=(2000, 40)) / 100
    bound = finite_class_bound(40, 100, delta=0.1, empirical_risk=risks)
    assert (bound < 0.3).any(axis=1).mean() <= 0.1


def test_vc():
    for V, n, delta in ((10, 1000, 0.05), (257, 10000, 0.01)):
        formula = np.sqrt((V * (np.log(2 * n / V) + 1) + np.log(4 / delta)) / n)
        assert vc_confidence(V, n, delta=delta) == pytest.approx(formula)
        assert vc_bound(0.1, V, n, delta=delta, constant=2.0) == pytest.approx(0.1 + 2 * formula)
    assert (np.diff(vc_confidence([2, 10, 50], 1000)) > 0).all()
    # There are 2^n labels of n rows: functions that can do all of them are no better than more.
    beyond = vc_bound(0.0, [100, 1000, 2000, 3000, 5436], 1000)
    assert (np.diff(beyond) >= 0).all()
    assert beyond[-1] == beyond[2] > 1.0
    assert vc_bound(0.1, 1000, 10) > 1.0
    assert margin_bound(0.0, 0.1, 10**8) < 0.003
    assert margin_bound(0.1, 0.5, 400, radius=2.0) == pytest.approx(
        0.1 + 2 * 2.0 / (0.5 * 20) + np.sqrt(np.log(20.0) / 800)
    )


def separable(X, y):
    Z = np.column_stack([X, np.ones(len(X))]) * (2 * y - 1)[:, None]
    return linprog(np.zeros(Z.shape[1]), -Z, -np.ones(len(Z)), bounds=(None, None)).success


@pytest.mark.parametrize("seed", range(6))
def test_shattered_is_separable_in_every_way(seed):
    """A linear program for each labelling says the same as the rank; far from the origin too."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(4, 3)).astype(float)
    ways = [separable(X, np.array(list(f"{n:04b}"), int)) for n in range(16)]
    assert is_shattered(X) == all(ways)
    assert is_shattered(X + 1e6) == all(ways)


def test_shattered_by_others():
    X = np.array([[0.0], [1.0], [2.0]])
    assert is_shattered(X, DecisionTreeClassifier())
    assert not is_shattered(X, DecisionTreeClassifier(max_depth=1))
    assert is_shattered([[1.0, 0.0], [0.0, 1.0]], fit_intercept=False)
    assert not is_shattered([[1.0, 0.0], [2.0, 0.0]], fit_intercept=False)
    with pytest.raises(ValueError, match="labellings"):
        is_shattered(np.zeros((17, 1)), DecisionTreeClassifier())
    with pytest.raises(ValueError, match="n_features"):
        is_shattered([1.0, 2.0])


def test_refused():
    for call in (
        lambda: hoeffding_bound(-0.1, 10),
        lambda: hoeffding_bound(0.1, 10, ranges=[1.0, 2.0]),
        lambda: finite_class_bound(0, 10),
        lambda: finite_class_bound(10, 10, delta=0.0),
        lambda: finite_class_sample_size(10, 0.0),
        lambda: vc_confidence(0, 10),
        lambda: margin_bound(0.0, 0.0, 10),
    ):
        with pytest.raises(ValueError, match=r"must|one for each"):
            call()
