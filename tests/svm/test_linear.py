"""LinearSVC and LinearSVR: scikit-learn's optimum, duality gaps, weights, sparse rows, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import suffice
from suffice.core.blocks import Rows
from suffice.fitting import sample
from suffice.fitting.hinge_program import hinge_program
from suffice.svm import LinearSVC, LinearSVR
from suffice.svm import linear as module

rng = np.random.default_rng(0)
N, D = 300, 5
X = rng.normal(size=(N, D))
SCORE = X @ rng.normal(size=D) + rng.normal(size=N)
Y = np.where(SCORE > 0.5, "yes", "no")
KIND = np.digitize(SCORE, [-1.0, 1.0])
TARGET = SCORE + 3.0
WEIGHT = rng.integers(0, 4, size=N).astype(float)
EXACT = {"tol": 1e-9, "max_iter": 5_000_000}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 10.0])
@pytest.mark.parametrize("y", [Y, KIND], ids=["two", "three"])
def test_classes_as_scikit_learn(loss, C, y):
    params = {"loss": loss, "C": C, "intercept_scaling": 2.0}
    ours = LinearSVC(tol=1e-6, class_weight="balanced", **params).fit(X, y, sample_weight=WEIGHT)
    classes, code = np.unique(y, return_inverse=True)
    total = np.bincount(code, WEIGHT)  # before scikit-learn 1.7, "balanced" did not count the weights
    balanced = dict(zip(classes.tolist(), WEIGHT.sum() / (len(classes) * total), strict=True))
    peer = theirs.LinearSVC(class_weight=balanced, **EXACT, **params).fit(X, y, sample_weight=WEIGHT)
    assert ours.converged_
    assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-4)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)
    scores = np.sort(np.reshape(peer.decision_function(X), (N, -1)))
    clear = scores[:, -1] - scores[:, -2] > 1e-3 if len(scores.T) > 1 else np.abs(scores[:, 0]) > 1e-3
    assert_array_equal(ours.predict(X)[clear], peer.predict(X)[clear])


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_targets_as_scikit_learn(loss, epsilon):
    params = {"loss": loss, "epsilon": epsilon, "C": 0.5}
    ours = LinearSVR(tol=1e-7, **params).fit(X, TARGET, sample_weight=WEIGHT)
    peer = theirs.LinearSVR(**EXACT, **params).fit(X, TARGET, sample_weight=WEIGHT)
    assert_allclose(ours.predict(X), peer.predict(X), atol=1e-4)
    assert ours.coef_.shape == peer.coef_.shape
    assert ours.intercept_.shape == peer.intercept_.shape


def test_l1_penalty_as_scikit_learn():
    ours = LinearSVC("l1", C=0.006, tol=1e-9).fit(X, Y)
    peer = theirs.LinearSVC("l1", dual=False, C=0.006, **EXACT).fit(X, Y)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-6)
    assert (ours.coef_ == 0).any()


def test_without_penalty_of_the_intercept_as_svc():
    ours = LinearSVC(loss="hinge", penalize_intercept=False, tol=1e-8).fit(X, Y)
    peer = theirs.SVC(kernel="linear", tol=1e-9).fit(X, Y)
    assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-4)
    ours = LinearSVR(epsilon=0.3, penalize_intercept=False, tol=1e-8).fit(X, TARGET)
    peer = theirs.SVR(kernel="linear", epsilon=0.3, tol=1e-9).fit(X, TARGET)
    assert_allclose(ours.predict(X), peer.predict(X), atol=1e-4)


def objective(model, X, y):
    s = np.where(y == model.classes_[1], 1.0, -1.0)
    theta = np.append(model.coef_, model.intercept_)
    size = theta @ theta if model.penalize_intercept else theta[:-1] @ theta[:-1]
    return 0.5 * size + model.C * np.maximum(1.0 - s * model.decision_function(X), 0.0).sum()


@pytest.mark.parametrize("penalize_intercept", [True, False])
def test_smoothing_and_programs_reach_the_optimum(monkeypatch, penalize_intercept):
    """With programs of few rows; the gap bounds the distance from the objective of one program of all."""
    many = np.random.default_rng(1)
    Z = many.normal(size=(4000, 4))
    y = (Z @ [1.0, -1.0, 0.5, 0.0] + many.normal(size=4000) > 0).astype(int)
    params = {"loss": "hinge", "penalize_intercept": penalize_intercept}
    monkeypatch.setattr(module, "NEAREST", 10_000)
    exact = LinearSVC(tol=1e-10, **params).fit(Z, y)
    monkeypatch.setattr(module, "NEAREST", 200)
    for tol in (1e-2, 1e-6):
        model = LinearSVC(tol=tol, **params).fit(Z, y)
        assert model.converged_
        worse = objective(model, Z, y) - objective(exact, Z, y)
        assert -1e-7 <= worse <= model.dual_gap_ + 1e-7
        assert model.dual_gap_ <= tol * objective(model, Z, y)
    assert_allclose(model.decision_function(Z), exact.decision_function(Z), atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_hessian_changes_by_the_rows_that_cross_the_margin(weighted):
    data = suffice.partition(X, np.digitize(X[:, 0], [-0.5, 0.5]), rng.random(len(X)) if weighted else None)
    old, new = rng.normal(size=(2, 3, X.shape[1] + 1))
    at = module.HingeModel(new, np.arange(3), np.ones(3), True, 0.0, True, curvature=True)
    before, after = (data.fold(module.HingeModel.summarize, at.replace(theta=theta)) for theta in (old, new))
    change = data.fold(module.HingeModel.squared_sums, at, old)
    assert_allclose(before.hessian + change.hessian, after.hessian, rtol=1e-10, atol=1e-10)
    assert_array_equal(change.gradient, after.gradient)
    assert change.loss == after.loss


def test_a_row_that_leaves_takes_no_digits_with_it():
    """A row of length 1e9, within the margin at first."""
    far = np.vstack([X, np.full((1, X.shape[1]), 1e9)])
    y = np.append(X @ np.arange(1, X.shape[1] + 1) + rng.normal(size=len(X)) > 0, True)
    model = LinearSVC(tol=1e-10).fit(far, y)
    peer = LinearSVC(tol=1e-10).fit(X, y[:-1])
    assert model.converged_
    assert model.decision_function(far)[-1] > 1.0
    assert_allclose(model.coef_, peer.coef_, rtol=1e-8)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_many_rows_begin_at_the_optimum_of_a_few(penalty, monkeypatch):
    Z = rng.normal(size=(70_000, 3))
    y = np.array(["no", "yes"])[(Z @ [1.0, -2.0, 0.0] + rng.normal(size=len(Z)) > 0).astype(int)]
    order = np.lexsort((Z[:, 0], y))  # the rows of a class together
    monkeypatch.setattr(sample, "LEAST", 1 << 11)
    model = LinearSVC(penalty=penalty, tol=1e-8).fit(Z[order], y[order])
    peer = theirs.LinearSVC(penalty=penalty, dual=False, tol=1e-8).fit(Z, y)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-5, atol=1e-6)
    assert model.n_iter_ <= 3  # 6 from zero


def test_program_of_hinges():
    """Against a general minimizer, with a slope and a parameter without penalty."""
    A, level, most = rng.normal(size=(30, 3)), rng.normal(size=30), rng.uniform(0.5, 2.0, 30)
    ridge, slope = np.array([1.0, 2.0, 0.0]), np.array([0.3, -0.2, 0.1])

    def value(w):
        return 0.5 * ridge @ w**2 - slope @ w + most @ np.maximum(level - A @ w, 0.0)

    w, alpha = hinge_program(A, np.ones((1, 30)), level[None], most, ridge, slope)
    alpha = alpha[0]
    assert ((alpha >= 0) & (alpha <= most)).all()
    assert_allclose(ridge * w, slope + alpha @ A, atol=1e-9)
    found = minimize(
        value, w, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 10_000}
    )
    assert value(w) <= found.fun + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("width", [5, 60])
def test_small_data_are_one_program(width, epsilon):
    """Of fewer and of more parameters than rows; rows with two hinges share their kernel."""
    Z = sp.random_array((50, width), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = Z @ np.arange(width) + np.random.default_rng(1).normal(size=50)
    for rows in (Z, Z.toarray()):
        model = LinearSVR(epsilon=epsilon, tol=1e-9, C=2.0).fit(rows, y)
        assert model.n_iter_ == 1 and model.converged_  # 30 steps of smoothing before
        assert model.dual_gap_ <= 1e-9 * model.trace_[-1]
    peer = theirs.LinearSVR(epsilon=epsilon, tol=1e-10, C=2.0, max_iter=1_000_000).fit(Z, y)
    assert_allclose(model.coef_, peer.coef_, atol=1e-3)
    worse = peer.C * np.maximum(np.abs(y - peer.predict(Z)) - epsilon, 0.0).sum()
    worse += 0.5 * (peer.coef_ @ peer.coef_ + peer.intercept_ @ peer.intercept_)
    assert model.trace_[-1] <= worse + 1e-9


def test_hinges_of_more_features_than_second_derivatives_are_affordable_for():
    D = 200_000
    rng = np.random.default_rng(0)
    Z = sp.csr_array(
        (rng.random(600), rng.integers(0, D, 600, np.int32), np.arange(0, 601, 20, np.int32)), (30, D)
    )
    y = np.arange(30) % 2
    model = LinearSVC(loss="hinge").fit(Z, y)  # raised a MemoryError before
    peer = theirs.LinearSVC(loss="hinge", tol=1e-8, max_iter=100_000).fit(Z, y)
    assert_allclose(model.coef_, peer.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights_repeat_rows_and_sparse_rows_are_rows(loss):
    again = np.repeat(np.arange(N), WEIGHT.astype(int))
    weighted = LinearSVC(loss=loss, tol=1e-8).fit(X, KIND, sample_weight=WEIGHT)
    repeated = LinearSVC(loss=loss, tol=1e-8).fit(X[again], KIND[again])
    sparse = LinearSVC(loss=loss, tol=1e-8).fit(sp.csr_array(X), KIND, sample_weight=WEIGHT)
    for other in (repeated, sparse):
        assert_allclose(other.coef_, weighted.coef_, atol=1e-6)
        assert_allclose(other.intercept_, weighted.intercept_, atol=1e-6)


@pytest.mark.parametrize("penalize_intercept", [True, False])
def test_many_features_by_conjugate_gradients(penalize_intercept):
    """In few iterations: L-BFGS took a hundred."""
    Z = sp.random_array((200, 3000), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = (Z @ np.random.default_rng(1).normal(size=3000) > 0).astype(int)
    ours = LinearSVC(tol=1e-9, penalize_intercept=penalize_intercept).fit(Z, y)
    assert ours.converged_ and ours.n_iter_ < 20
    dense = LinearSVC(tol=1e-9, penalize_intercept=penalize_intercept).fit(Z.toarray(), y)
    assert_allclose(dense.coef_, ours.coef_, atol=1e-6)
    if penalize_intercept:
        peer = theirs.LinearSVC(**EXACT).fit(Z, y)
        assert_allclose(ours.decision_function(Z), peer.decision_function(Z), atol=1e-4)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_products_with_the_second_derivatives(fit_intercept):
    """Of three classes and of a target: those of the matrix that is summed."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 4))
    for y, classes in ((rng.integers(0, 3, 50), np.arange(3)), (rng.normal(size=50), None)):
        P, M = (1 if classes is None else 3), 4 + fit_intercept
        of_classes = None if classes is None else np.array([1.0, 2.0, 0.5])
        model = module.HingeModel(
            rng.normal(size=(P, M)), classes, of_classes, fit_intercept, 0.1, True, curvature=True
        )
        direction = rng.normal(size=(P, M))
        for X in (rows, sp.csr_array(rows)):
            block = Rows(X, y, rng.gamma(2.0, size=50))
            hessian = model.summarize(block).hessian
            along = model.product(np.ascontiguousarray(direction.T), model.curved(block))
            assert_allclose(along.T.ravel(), hessian @ direction.ravel(), rtol=1e-10, atol=1e-10)
            assert_allclose(model.curvature_diagonal(block).ravel(), np.diag(hessian), rtol=1e-10)


def test_duplicates_of_both_labels():
    """Rows of which each has both labels: no hyperplane is better than zero."""
    Z, y = np.repeat(X[:20], 2, axis=0), np.tile([0, 1], 20)
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss, tol=1e-8).fit(Z, y)
        assert model.converged_
        assert_allclose(model.decision_function(Z), 0.0, atol=1e-5)


def test_refusals():
    with pytest.raises(ValueError, match="at least 2 classes"):
        LinearSVC().fit(X, np.zeros(N))
    with pytest.raises(ValueError, match="same class"):
        LinearSVC(class_weight={"no": 0.0, "yes": 1.0}).fit(X, Y)
    with pytest.raises(ValueError, match=r"at least 2 classes|same class"):
        LinearSVC().fit(X, Y, sample_weight=(Y == "yes").astype(float))
    with pytest.raises(ValueError, match="'crammer_singer' is not available"):
        LinearSVC(multi_class="crammer_singer").fit(X, Y)
    with pytest.raises(ValueError, match="penalty='l1' is not supported with loss='hinge'"):
        LinearSVC("l1", "hinge").fit(X, Y)
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        LinearSVR().fit(X, TARGET, sample_weight=np.zeros(N))


def test_targets_within_the_tube():
    model = LinearSVR(epsilon=10.0).fit(X, TARGET)
    assert_array_equal(model.predict(X), 0.0)
    assert model.dual_gap_ == 0.0


def test_scans(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {f"x{d}": X[:, d] for d in range(D)} | {"y": Y}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    for loss in ("hinge", "squared_hinge"):
        here = LinearSVC(loss=loss).fit(X, Y)
        there = LinearSVC(loss=loss).fit(suffice.rows(suffice.scan_parquet(tmp_path), target="y"))
        assert_allclose(there.coef_, here.coef_, rtol=1e-9)
