"""Support vector classification: its optimum, scikit-learn's, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peer
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import suffice
from suffice.estimator.interchange import as_sklearn
from suffice.kernels import RBF, Polynomial, Subsequences
from suffice.svm import SVC, NuSVC

X, y = make_classification(300, 8, flip_y=0.1, random_state=0)
weight = np.random.default_rng(0).integers(0, 3, len(y))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_scores_are_those_of_scikit_learn(kernel):
    rows, labels = load_iris(return_X_y=True)
    rows, first = np.unique(rows, axis=0, return_index=True)  # equal rows may share a coefficient
    rows, labels = (rows - rows.mean(axis=0)) / rows.std(axis=0), labels[first]
    for how in ({}, {"C": 10.0, "class_weight": "balanced", "decision_function_shape": "ovo"}):
        ours, theirs = (cls(kernel=kernel, tol=1e-6, **how).fit(rows, labels) for cls in (SVC, peer.SVC))
        np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-4)
        np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
        if not how and kernel != "sigmoid":  # which is not positive definite: there are several optima
            coefficients = np.zeros((2, 2, len(rows)))
            for dense, model in zip(coefficients, (ours, theirs), strict=True):
                dense[:, model.support_] = model.dual_coef_
            np.testing.assert_allclose(*coefficients, atol=1e-3)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)


def test_conditions_of_an_optimum():
    weights = weight + 0.5
    report = SVC(tol=1e-8).fit(X, y, weights).kkt_report(X, y, weights)
    assert 0.0 <= report.gap < 1e-5 * report.primal
    assert report.violation.max() < 1e-7
    assert (report.slack[report.position == "outside"] < 1e-7).all()
    np.testing.assert_allclose(report.margin[report.position == "on"], 1.0, atol=1e-7)
    assert (report.alpha <= weights).all() and set(report.position) == {"outside", "on", "inside"}
    early = pytest.warns(ConvergenceWarning, match="max_iter=5")
    with early:
        assert SVC(max_iter=5).fit(X, y).kkt_report(X, y).gap > 1.0


def test_weights_are_repetitions():
    again = np.repeat(np.arange(len(y)), weight)
    weighted, repeated = SVC(tol=1e-9).fit(X, y, weight), SVC(tol=1e-9).fit(X[again], y[again])
    assert weighted.model_.kernel.kernel.gamma == pytest.approx(
        repeated.model_.kernel.kernel.gamma, rel=1e-12
    )
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)


def test_hard_margin():
    model = SVC(C=np.inf, tol=1e-8).fit(X, y)
    theirs = peer.SVC(C=1e9, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-3)
    report = model.kkt_report(X, y)
    assert report.gap == pytest.approx(0.0, abs=1e-5 * report.primal) and report.slack.max() < 1e-6
    three = SVC(C=np.inf, kernel="linear").fit([[3.0, 3.0], [4.0, 3.0], [1.0, 1.0]], [1, 1, -1])
    np.testing.assert_allclose(three.coef_, [[0.5, 0.5]], atol=1e-4)  # Li, example 7.1
    np.testing.assert_allclose(three.intercept_, -2.0, atol=1e-3)
    with pytest.raises(ValueError, match="not separable with this kernel: set a finite C"):
        SVC(C=np.inf, kernel="linear").fit(X, y)
    both = np.concatenate([X, X[:1]]), np.append(y, 1 - y[0])
    with pytest.raises(ValueError, match="not separable"):
        SVC(C=np.inf).fit(*both)
    assert np.isfinite(SVC().fit(*both).dual_coef_).all()


def test_kernels_and_containers():
    model = SVC(kernel=RBF(0.1) + Polynomial(2), tol=1e-6).fit(X, y)
    gram = model.model_.kernel.kernel(X)
    same = SVC(kernel="precomputed", tol=1e-6).fit(gram, y)
    np.testing.assert_allclose(same.decision_function(gram), model.decision_function(X), atol=1e-5)
    rows = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    sparse, dense = (SVC(tol=1e-6).fit(part, y) for part in (rows, rows.toarray()))
    np.testing.assert_allclose(sparse.decision_function(rows), dense.decision_function(rows), atol=1e-5)
    far = SVC(gamma=0.1, tol=1e-6).fit(X + 1e6, y)
    near = SVC(gamma=0.1, tol=1e-6).fit(X, y).decision_function(X)
    np.testing.assert_allclose(far.decision_function(X + 1e6), near, atol=1e-4)


def test_strings():
    kernel = Subsequences(2, decay=0.5)
    words, kinds = np.array(["abab", "baba", "cdcd", "dcdc"]), [0, 0, 1, 1]
    assert SVC(kernel="precomputed").fit(kernel(words), kinds).predict(kernel(words)).tolist() == kinds


def test_what_is_refused():
    with pytest.raises(ValueError, match="at least 2 classes"):
        SVC().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="all samples with positive weights belong to the same class"):
        SVC(class_weight={0: 0.0}).fit(X, y)
    with pytest.raises(ValueError, match="square matrix"):
        SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported by SVC"):
        SVC(kernel="precomputed").fit(sp.csr_array(X @ X.T), y)
    with pytest.raises(ValueError, match="NaN or infinite"):
        SVC(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="pass its rows"):
        SVC().fit(X, y).kkt_report(X[:10], y[:10])
    with pytest.raises(ValueError, match="two classes only"):
        SVC().fit(X, np.arange(len(y)) % 3).kkt_report(X, np.arange(len(y)) % 3)


def test_solvers_reach_one_optimum():
    """An interior-point method, pairs, and the primal by folds."""
    from suffice.svm import LinearSVC

    rows, labels = X[:120], y[:120]
    for how in ({"kernel": "linear", "C": 0.5}, {"C": 5.0}, {"kernel": RBF(0.3), "C": np.inf}):
        qp = SVC(solver="qp", **how).fit(rows, labels, weight[:120] + 1)
        smo = SVC(tol=1e-8, **how).fit(rows, labels, weight[:120] + 1)
        np.testing.assert_allclose(qp.decision_function(rows), smo.decision_function(rows), atol=1e-6)
        report = qp.kkt_report(rows, labels, weight[:120] + 1)
        assert abs(report.gap) < 1e-8 * report.primal and report.violation.max() < 1e-8
    with pytest.raises(ValueError, match="not separable"):
        SVC(C=np.inf, kernel=Polynomial(2), solver="qp").fit(rows, labels)
    primal = LinearSVC(loss="hinge", C=0.5, penalize_intercept=False, tol=1e-10).fit(rows, labels)
    dual = SVC(kernel="linear", C=0.5, solver="qp").fit(rows, labels)
    np.testing.assert_allclose(primal.decision_function(rows), dual.decision_function(rows), atol=1e-6)
    with pytest.raises(ValueError, match="not positive definite, which solver='qp' needs"):
        SVC(kernel="sigmoid", gamma=5.0, coef0=-5.0, solver="qp", C=100.0).fit(rows, labels)


def test_slack_budget():
    for C in (0.1, 1.0):
        fixed = SVC(C=C, solver="qp").fit(X[:100], y[:100], weight[:100] + 1)
        budget = float((weight[:100] + 1) @ fixed.kkt_report(X[:100], y[:100], weight[:100] + 1).slack)
        model = SVC(slack_budget=budget, solver="qp").fit(X[:100], y[:100], weight[:100] + 1)
        assert float(model.C_[0]) == pytest.approx(C, rel=1e-5)
        np.testing.assert_allclose(model.decision_function(X), fixed.decision_function(X), atol=1e-5)
        report = model.kkt_report(X[:100], y[:100], weight[:100] + 1)  # with the C that was found
        assert abs(report.gap) < 1e-5 * report.primal and report.violation.max() < 1e-5
    hard = SVC(slack_budget=0.0).fit(X, y)
    assert np.isinf(hard.C_).all() and hard.n_support_.tolist() == SVC(C=np.inf).fit(X, y).n_support_.tolist()
    with pytest.raises(ValueError, match="allows any margin: the slacks of two classes are at most"):
        SVC(slack_budget=1e4).fit(X, y)
    both = np.tile(X[:20], (2, 1)), np.append(y[:20], 1 - y[:20])
    with pytest.raises(ValueError, match="is not reached with this kernel"):
        SVC(slack_budget=1.0).fit(*both)


@pytest.mark.parametrize(("cls", "theirs"), [(SVC, peer.SVC), (NuSVC, peer.NuSVC)])
def test_probabilities_as_in_scikit_learn(cls, theirs, tmp_path):
    """To what the folds change: they are drawn in another way."""
    X, y = load_iris(return_X_y=True)
    for target in (y, y > 0):
        how = {"probability": True, "random_state": 0, **({"nu": 0.3} if cls is NuSVC else {})}
        with pytest.warns(
            FutureWarning, match="`probability` parameter was deprecated.*CalibratedClassifierCV"
        ):
            ours, other = cls(**how).fit(X, target), theirs(**how).fit(X, target)
        p = ours.predict_proba(X)
        np.testing.assert_allclose(p, other.predict_proba(X), atol=0.04)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        with pytest.warns(FutureWarning, match="Attribute `prob[AB]_` was deprecated"):
            a, b = ours.probA_, ours.probB_
            assert a.shape == other.probA_.shape and (np.sign(a) == np.sign(other.probA_)).all()
        np.testing.assert_array_equal(np.column_stack([a, b]), ours.sigmoids_)
        np.testing.assert_allclose(ours.predict_log_proba(X), np.log(p))
        np.testing.assert_allclose(as_sklearn(ours).predict_proba(X), p, atol=5e-3)  # where LIBSVM stops
        with pytest.warns(FutureWarning):
            again = cls(**how).fit(X, target)
        assert (again.predict_proba(X) == p).all()
        ours.save(tmp_path / "machine")
        assert (suffice.load(tmp_path / "machine").predict_proba(X) == p).all()
        with pytest.warns(FutureWarning):
            gram = cls(**{**how, "kernel": "precomputed"}).fit(X @ X.T, target)
            linear = cls(**{**how, "kernel": "linear"}).fit(X, target)
        np.testing.assert_allclose(gram.predict_proba(X @ X.T), linear.predict_proba(X), atol=1e-3)


def test_probabilities_are_of_a_fit_that_has_them():
    X, y = load_iris(return_X_y=True)
    assert not hasattr(SVC(), "predict_proba")
    with pytest.warns(FutureWarning, match="`probability` parameter was deprecated"):
        model = SVC(probability=False).fit(X, y)
    assert not hasattr(model, "predict_proba") and not hasattr(model, "sigmoids_")
    with pytest.warns(FutureWarning, match="Attribute `probA_` was deprecated"):
        assert model.probA_.shape == (0,)
    assert not hasattr(SVC(), "probB_")
    with pytest.raises(NotFittedError, match="not available when fitted with probability=False"):
        model.set_params(probability=True).predict_proba(X)
