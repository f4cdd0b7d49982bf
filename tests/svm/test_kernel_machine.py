"""Machines with any loss in the space of a kernel: those of other classes, conditions of an optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import is_classifier, is_regressor

import suffice
from suffice.core.blocks import Rows
from suffice.core.statistics import tree_sum
from suffice.kernel_ridge import KernelRidge
from suffice.kernels import RBF
from suffice.linear_model import KernelLogisticRegression
from suffice.svm import SVC, SVR, KernelMachine
from suffice.svm.kernel_machine import ScoreLoss

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 2))
Y = np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=80)
TWO = np.where(Y > 0, "yes", "no")
THREE = np.digitize(Y, [-0.2, 0.3])
KERNEL = RBF(1.0)
TIGHT = {"tol": 1e-10, "max_iter": 500}


def close(a, b, tol=1e-6):
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol * np.abs(b).max())


def log_cosh(y, f):
    return np.logaddexp(f - y, y - f) - np.log(2.0), np.tanh(f - y), 1.0 - np.tanh(f - y) ** 2


def test_the_losses_of_other_classes():
    weight = rng.integers(0, 4, size=80).astype(float)
    squares = KernelMachine("squared", C=5.0, kernel=KERNEL, fit_intercept=False, **TIGHT).fit(X, Y, weight)
    close(squares.predict(X), KernelRidge(0.1, kernel=KERNEL).fit(X, Y, weight).predict(X))
    tube = KernelMachine("epsilon_insensitive", C=2.0, kernel=KERNEL, **TIGHT).fit(X, Y, weight)
    close(tube.predict(X), SVR(C=2.0, kernel=KERNEL, tol=1e-8).fit(X, Y, weight).predict(X), 1e-5)
    for labels in (TWO, THREE):
        logistic = KernelMachine("logistic", C=2.0, kernel=KERNEL, **TIGHT).fit(X, labels, weight)
        peer = KernelLogisticRegression(2.0, kernel=KERNEL, **TIGHT).fit(X, labels, weight)
        np.testing.assert_array_equal(logistic.decision_function(X), peer.decision_function(X))
    margin = KernelMachine("hinge", C=2.0, kernel=KERNEL, **TIGHT).fit(X, TWO, weight)
    peer = SVC(C=2.0, kernel=KERNEL, tol=1e-8).fit(X, TWO, weight)
    close(margin.decision_function(X), peer.decision_function(X), 1e-5)
    rest = KernelMachine("hinge", C=2.0, kernel=KERNEL, **TIGHT).fit(X, THREE)
    for k, score in enumerate(rest.decision_function(X).T):
        own = SVC(C=2.0, kernel=KERNEL, tol=1e-8).fit(X, k == THREE)
        close(score, own.decision_function(X), 1e-5)
    assert rest.score(X, THREE) > 0.8
    assert is_classifier(rest)
    assert is_regressor(tube)
    assert not hasattr(tube, "decision_function")
    with pytest.raises(ValueError, match="must return the losses and their first and second derivatives"):
        KernelMachine(lambda y, f: (y - f) ** 2).fit(X, Y)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "epsilon_insensitive", log_cosh])
def test_landmarks_at_all_rows_are_exact(loss):
    y = TWO if loss in ("hinge", "logistic") else Y
    exact = KernelMachine(loss, C=2.0, kernel=KERNEL, **TIGHT).fit(X, y)
    sums = KernelMachine(loss, C=2.0, kernel=KERNEL, landmarks=80, **TIGHT).fit(X, y)
    close(sums._scores(X + 0.1), exact._scores(X + 0.1), 1e-5)
    assert exact.dual_gap_ < 1e-6 * max(exact.trace_[-1], 1.0)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_coefficients_solve_the_dual(intercept):
    """Of convex conjugates: of log cosh u, it is ((1 + u) log(1 + u) + (1 - u) log(1 - u)) / 2 + u y."""
    C, K = 2.0, KERNEL(X)
    model = KernelMachine(log_cosh, C=C, kernel=KERNEL, fit_intercept=intercept, **TIGHT).fit(X, Y)
    f = model.predict(X)
    close(model.dual_coef_[0], -C * np.tanh(f - Y), 1e-5)

    def dual(a):
        u = np.clip(-a / C, -1 + 1e-12, 1 - 1e-12)
        conjugate = 0.5 * ((1 + u) * np.log1p(u) + (1 - u) * np.log1p(-u)) + u * Y
        slope = np.arctanh(u) + Y
        return C * conjugate.sum() + 0.5 * a @ K @ a, K @ a - slope

    how = {"constraints": {"type": "eq", "fun": np.sum}} if intercept else {}
    found = minimize(dual, np.zeros(80), jac=True, method="SLSQP", bounds=[(-C, C)] * 80, **how)
    primal = C * log_cosh(Y, f)[0].sum() + 0.5 * model.dual_coef_[0] @ K @ model.dual_coef_[0]
    assert -found.fun == pytest.approx(primal, rel=1e-6)
    close(model.dual_coef_[0], found.x, 1e-2)
    loose = KernelMachine(log_cosh, C=C, kernel=KERNEL, fit_intercept=False, max_iter=1)
    with pytest.warns(UserWarning, match="did not converge"):
        loose.fit(X, Y)
    at = C * log_cosh(Y, loose.predict(X))[0].sum() + 0.5 * loose.dual_coef_[0] @ K @ loose.dual_coef_[0]
    if not intercept:
        assert 0.0 < at - primal <= loose.dual_gap_


@pytest.mark.parametrize("loss", [None, log_cosh])
def test_sums_of_a_smooth_loss(loss):
    """The sum law, with weights and an empty block; and derivatives by differences."""
    model = ScoreLoss(rng.normal(size=(1, 3)), loss, curvature=True)
    block = Rows(X, Y, rng.uniform(0.1, 2.0, size=80))
    whole = model.summarize(block)
    parts = tree_sum(model.summarize(block[a:b]) for a, b in ((0, 30), (30, 30), (30, 80)))
    for name, value in whole.fields().items():
        close(getattr(parts, name), value, 1e-12)
    for n, step in enumerate(1e-6 * np.eye(3)):
        up, down = (model.at(model.theta.ravel() + sign * step).summarize(block) for sign in (1, -1))
        assert (up.loss - down.loss) / 2e-6 == pytest.approx(whole.gradient[n], rel=1e-6)
        close((up.gradient - down.gradient) / 2e-6, whole.hessian[n], 1e-6)


def test_stored_and_refused(tmp_path):
    for loss, y in (("hinge", THREE), ("squared", Y)):
        model = KernelMachine(loss, landmarks=20, random_state=0).fit(X, y)
        model.save(tmp_path / loss)
        np.testing.assert_array_equal(suffice.load(tmp_path / loss).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="only one class"):
        KernelMachine("hinge").fit(X, np.ones(80))
    with pytest.raises(ValueError, match="'loss' parameter"):
        KernelMachine("huber").fit(X, Y)
