"""Margin losses: derivatives beside differences, bounds on mistakes, the best scores by search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import hinge_loss, log_loss

from suffice.statistics import best_score, margin_loss

KINDS = ("zero-one", "perceptron", "hinge", "smoothed-hinge", "logistic", "exponential")
m = np.linspace(-3.0, 3.0, 121) + 1e-3  # no kink among them


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind):
    for how in ({}, {"smoothing": 0.2, "base": 2.0}):
        _, slope = margin_loss(m, kind, derivative=True, **how)
        step = 1e-6
        difference = (margin_loss(m + step, kind, **how) - margin_loss(m - step, kind, **how)) / (2 * step)
        np.testing.assert_allclose(slope, difference, atol=1e-6)


def test_which_losses_bound_that_of_mistakes():
    wrong = margin_loss(m, "zero-one")
    for kind in ("hinge", "exponential", "smoothed-hinge"):
        assert (margin_loss(m, kind) >= wrong).all()
    assert (margin_loss(m, "logistic", base=2) >= wrong).all()
    assert not (margin_loss(m, "logistic") >= wrong).all()
    assert not (margin_loss(m, "perceptron") >= wrong).all()
    np.testing.assert_allclose(margin_loss(m, "hinge"), margin_loss(m - 1.0, "perceptron"))


def test_smoothing():
    for g in (1.0, 0.1, 1e-3):
        gap = margin_loss(m, "smoothed-hinge", smoothing=g) - margin_loss(m, "hinge")
        assert (gap >= -1e-15).all()
        assert gap.max() <= g * np.log(2.0) + 1e-15
    np.testing.assert_allclose(margin_loss(1.0, "smoothed-hinge", smoothing=0.3), 0.3 * np.log(2.0))


def test_no_overflow():
    far = np.array([-1e4, 1e4])
    np.testing.assert_allclose(margin_loss(far, "logistic"), [1e4, 0.0])
    np.testing.assert_allclose(margin_loss(far, "smoothed-hinge", smoothing=1e-6), [1e4 + 1, 0.0])


def test_beside_scikit_learn():
    rng = np.random.default_rng(0)
    y, f = rng.choice([-1, 1], size=50), rng.normal(size=50)
    np.testing.assert_allclose(margin_loss(y * f).mean(), hinge_loss(y, f))
    np.testing.assert_allclose(margin_loss(y * f, "logistic").mean(), log_loss(y, 1 / (1 + np.exp(-f))))


@pytest.mark.parametrize("kind", ["hinge", "logistic", "exponential", "perceptron"])
def test_best_scores(kind):
    for p in (0.1, 0.45, 0.6, 0.99):

        def mean(f, p=p):
            return p * margin_loss(f, kind) + (1 - p) * margin_loss(-f, kind)

        found = minimize_scalar(mean, bounds=(-12, 12), method="bounded", options={"xatol": 1e-9})
        np.testing.assert_allclose(best_score(p, kind), found.x, atol=1e-4)
        assert mean(best_score(p, kind)) <= found.fun + 1e-7
    assert best_score([0.2, 0.8], "zero-one").tolist() == [-1.0, 1.0]


def test_what_is_refused():
    with pytest.raises(ValueError, match="'smoothed-hinge'"):
        margin_loss(0.0, "square")
    with pytest.raises(ValueError, match="positive"):
        margin_loss(0.0, "smoothed-hinge", smoothing=0.0)
    with pytest.raises(ValueError, match="one of"):
        best_score(0.5, "smoothed-hinge")
    with pytest.raises(ValueError, match="from 0 to 1"):
        best_score(1.5)
