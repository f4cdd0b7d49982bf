"""Support vector machines: their optima, scikit-learn's, weights, kernels, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peer
from sklearn.exceptions import ConvergenceWarning

from suffice import svm
from suffice.kernels import RBF, Polynomial
from suffice.svm import SVC, SVR, NuSVC, OneClassSVM

from ._common import X, label, target, weight

MACHINES = {
    "SVR": {"epsilon": 0.2},
    "NuSVR": {"nu": 0.33},
    "NuSVC": {"nu": 0.615},
    "OneClassSVM": {"nu": 0.21},
}
each = pytest.mark.parametrize("name", MACHINES)


def targets(name):
    return {"NuSVC": label, "OneClassSVM": None}.get(name, target)


def scores(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


def fitted(name, rows=X, weights=None, module=svm, chosen=slice(None), **how):
    y = targets(name)
    model = getattr(module, name)(**MACHINES[name] | {"tol": 1e-6} | how)
    return model.fit(rows[chosen], None if y is None else y[chosen], sample_weight=weights)


@each
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_scores_are_those_of_scikit_learn(name, kernel):
    for weights in (None, weight + 0.5):
        how = {"kernel": kernel, "gamma": 0.05, "coef0": 1.0}
        rows = X + 1.0 if name == "OneClassSVM" else X
        ours, theirs = (fitted(name, rows, weights, module, **how) for module in (svm, peer))
        np.testing.assert_allclose(scores(ours, rows), scores(theirs, rows), atol=1e-4)
        assert abs(len(ours.support_) - len(theirs.support_)) <= 2
        assert ours.dual_coef_.shape == (1, len(ours.support_)) and ours.converged_
        if kernel == "linear":
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    wide = {"kernel": "rbf", "gamma": "scale"}
    ours, theirs = (fitted(name, module=module, **wide) for module in (svm, peer))
    np.testing.assert_allclose(scores(ours, X), scores(theirs, X), atol=1e-4)


@each
def test_weights_are_repetitions(name):
    again = np.repeat(np.arange(len(X)), weight)
    weighted, repeated = fitted(name, weights=weight, tol=1e-9), fitted(name, chosen=again, tol=1e-9)
    np.testing.assert_allclose(scores(weighted, X), scores(repeated, X), atol=1e-6)
    gram = RBF(0.05)(X)
    whole = fitted(name, gram, weight, kernel="precomputed", tol=1e-9)
    few = fitted(name, weights=weight, kernel=RBF(0.05), tol=1e-9)
    assert not weight[weight == 0].any() and (weight[whole.support_] > 0).all()
    np.testing.assert_allclose(scores(whole, gram), scores(few, X), atol=1e-6)


@each
def test_kernels_and_containers(name):
    model = fitted(name, kernel=RBF(0.1) + Polynomial(2))
    gram = model.model_.kernel.kernel(X)
    same = fitted(name, gram, kernel="precomputed")
    np.testing.assert_allclose(scores(same, gram), scores(model, X), atol=1e-4)
    rows = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    sparse, dense = (fitted(name, part) for part in (rows, rows.toarray()))
    np.testing.assert_allclose(scores(sparse, rows), scores(dense, rows), atol=1e-5)
    far, near = (fitted(name, X + shift, gamma=0.1) for shift in (1e6, 0.0))
    np.testing.assert_allclose(scores(far, X + 1e6), scores(near, X), atol=1e-4)


def test_nu_is_the_fraction_outside():
    inside = fitted("OneClassSVM", tol=1e-9)
    assert (inside.decision_function(X) < -1e-6).mean() <= 0.21 <= len(inside.support_) / len(X)
    np.testing.assert_allclose(
        inside.score_samples(X) - inside.offset_, inside.decision_function(X), rtol=1e-12
    )
    assert np.array_equal(inside.fit_predict(X), inside.predict(X))
    tube = fitted("NuSVR", tol=1e-9)
    assert (
        (np.abs(target - tube.predict(X)) > tube.epsilon_ + 1e-6).mean()
        <= 0.33
        <= len(tube.support_) / len(X)
    )
    fixed = SVR(epsilon=tube.epsilon_, tol=1e-9).fit(X, target)
    np.testing.assert_allclose(fixed.predict(X), tube.predict(X), atol=1e-5)
    band = fitted("NuSVC", tol=1e-9)
    C = np.abs(band.dual_coef_).max()
    np.testing.assert_allclose(
        SVC(C=C, tol=1e-9).fit(X, label).decision_function(X), band.decision_function(X), atol=1e-5
    )


def test_no_free_support_vector():
    """The intercept is the middle of what the conditions allow, as in LIBSVM."""
    x, y = np.array([[-3.0], [-1.0], [2.0], [0.5], [1.0], [3.0]]), [-1, -1, -1, 1, 1, 1]
    model = SVC(kernel="linear", tol=1e-9).fit(x, y)
    assert set(model.kkt_report(x, y).position) == {"outside", "inside"}
    np.testing.assert_allclose([model.coef_[0, 0], model.intercept_[0]], [0.5, 0.0], atol=1e-8)
    ours, theirs = (m.SVR(kernel="linear", C=1e-3).fit(x, [0.0, 0, 0, 1, 1, 1]) for m in (svm, peer))
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


def test_equal_rows_and_an_indefinite_kernel():
    """Rows of both labels, targets of one row that differ, and a kernel with negative eigenvalues."""
    rows = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0)
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="not separable with this kernel"):
        NuSVC(nu=0.4).fit(rows, y)
    tube = SVR(epsilon=0.0, tol=1e-6)
    # Every constant from 0 to 1 is an optimum of as many zeros as ones. The intercept is their middle.
    np.testing.assert_allclose(tube.fit(rows, y).predict(rows), 0.5, atol=1e-9)
    medians = np.repeat([1.0, 0.0], 10)
    mostly = np.arange(20) % 10 < np.repeat([7, 3], 10)  # seven ones of ten, and three of ten
    np.testing.assert_allclose(tube.fit(rows, mostly.astype(float)).predict(rows), medians, atol=1e-6)
    assert np.isfinite(OneClassSVM().fit(np.ones((20, 2))).decision_function(np.ones((1, 2)))).all()
    for model in (SVR(kernel="sigmoid", coef0=-1.0), OneClassSVM(kernel="sigmoid", coef0=-1.0)):
        assert np.isfinite(scores(model.fit(X, target), X)).all()
    assert np.isfinite(NuSVC(kernel="sigmoid", coef0=-1.0).fit(X, label).decision_function(X)).all()


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"specified nu is infeasible: nu=0\.9"):
        NuSVC(nu=0.9).fit(X, label)
    with pytest.raises(ValueError, match="too small for classes that are not separable with this kernel"):
        NuSVC(nu=0.05, kernel="linear").fit(np.tile(X, (2, 1)), np.append(label, 1 - label))
    with pytest.raises(ValueError, match="all samples with positive weights belong to the same class"):
        NuSVC(class_weight={0: 0.0}).fit(X, label)
    with pytest.raises(ValueError, match="at least 2 classes"):
        NuSVC().fit(X, np.zeros(len(X)))
    for name in MACHINES:
        with pytest.raises(ValueError, match="square matrix"):
            fitted(name, kernel="precomputed")
        with pytest.raises(ValueError, match="square matrix"):
            fitted(name, weights=weight, kernel="precomputed")
        with pytest.raises(ValueError, match="NaN or infinite"):
            fitted(name, kernel=lambda A, B: np.full((len(A), len(B)), np.nan))
        with pytest.warns(ConvergenceWarning, match="max_iter=3"):
            assert fitted(name, max_iter=3).fit_status_ == 1
