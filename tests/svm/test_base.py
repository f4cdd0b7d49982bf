"""Support vector machines: their optima, scikit-learn's, weights, kernels, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm as peer
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice import svm
from suffice.cluster import KernelKMeans
from suffice.decomposition import BilinearNMF, KernelPCA
from suffice.estimator.interchange import as_sklearn
from suffice.kernel_approximation import Nystroem
from suffice.kernel_ridge import KernelRidge
from suffice.kernels import RBF, Polynomial, vectors
from suffice.linear_model import KernelLogisticRegression
from suffice.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from suffice.svm import SVC, SVR, KernelMachine, LinearSVC, NuSVC, NuSVR, OneClassSVM

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


RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 3))
NUMBER = ROWS[:, 0]
LABEL = NUMBER > 0
THREE = np.array(["ash", "elm", "oak"])[np.arange(30) % 3]
MARGINS = {
    "LinearSVC": lambda: LinearSVC(),
    "LinearSVC, hinge": lambda: LinearSVC(loss="hinge"),
    "SVC": lambda: SVC(),
    "SVC, qp": lambda: SVC(solver="qp"),
    "NuSVC": lambda: NuSVC(nu=0.3),
    "KernelLogisticRegression": lambda: KernelLogisticRegression(),
    "KernelLogisticRegression, landmarks": lambda: KernelLogisticRegression(landmarks=10, random_state=0),
    "KernelMachine": lambda: KernelMachine("hinge"),
}
PRECOMPUTED = (
    *(SVC, SVR, NuSVC, NuSVR, OneClassSVM),
    *(KernelRidge, KernelLogisticRegression, KernelMachine, KernelPCA, Nystroem),
)


def indefinite(A, B):
    return np.tanh(2.0 * A @ B.T - 1.0)


@pytest.mark.parametrize("name", MARGINS)
def test_one_class_is_refused(name):
    message = "needs samples of at least 2 classes in the data, but the data contains only one class"
    with pytest.raises(ValueError, match=message):
        MARGINS[name]().fit(ROWS, np.zeros(30))
    with pytest.raises(ValueError, match=message):
        MARGINS[name]().fit(ROWS, ROWS[:, 1] > 0, sample_weight=(ROWS[:, 1] > 0) * 1.0)


@pytest.mark.parametrize("name", [*MARGINS, "KNeighborsClassifier"])
def test_a_class_of_weight_zero_is_no_class(name):
    make = (MARGINS | {"KNeighborsClassifier": lambda: KNeighborsClassifier(3)})[name]
    weight = np.where(THREE == "elm", 0.0, 1.0)
    model, without = (
        make().fit(ROWS, THREE, sample_weight=weight),
        make().fit(ROWS[weight > 0], THREE[weight > 0]),
    )
    assert model.classes_.tolist() == without.classes_.tolist() == ["ash", "oak"]
    np.testing.assert_array_equal(model.predict(ROWS), without.predict(ROWS))


def test_neighbours_may_be_of_one_class():
    assert (KNeighborsClassifier(3).fit(ROWS, np.ones(30)).predict(ROWS) == 1).all()


@pytest.mark.parametrize("name", [name for name in MARGINS if name != "NuSVC"])
def test_rows_of_both_labels_have_no_margin(name):
    """Each row has both labels: no function is better than zero. NuSVC says that nu is too small."""
    model = MARGINS[name]().fit(np.repeat(ROWS, 2, axis=0), np.tile([0, 1], 30))
    np.testing.assert_allclose(model.decision_function(ROWS), 0.0, atol=1e-3)


@pytest.mark.parametrize("cls", PRECOMPUTED)
def test_a_kernel_matrix_is_square(cls):
    y = NUMBER if cls in (SVR, NuSVR, KernelRidge) else LABEL
    how = {"loss": "hinge"} if cls is KernelMachine else {"n_components": 2} if cls is Nystroem else {}
    with pytest.raises(ValueError, match=r"precomputed kernel must be a square matrix; got shape \(30, 3\)"):
        cls(kernel="precomputed", **how).fit(ROWS, y)
    model = cls(kernel="precomputed", **how).fit(ROWS @ ROWS.T, y)
    answer = getattr(model, "predict" if hasattr(model, "predict") else "transform")
    with pytest.raises(ValueError, match=f"X has 3 features, but {cls.__name__} is expecting 30 features"):
        answer(ROWS)
    if hasattr(model, "score"):
        with pytest.raises(ValueError, match=f"X has 3 features, but {cls.__name__} is expecting 30"):
            model.score(ROWS, y)
    with pytest.raises(ValueError, match="NaN"):  # which is told first, as by scikit-learn
        answer(np.where(np.arange(3) == 0, np.nan, ROWS))


@pytest.mark.parametrize(
    "model",
    [
        *(cls() for cls in (*PRECOMPUTED, BilinearNMF, KernelKMeans)),
        *(cls(landmarks=10) for cls in (KernelRidge, KernelLogisticRegression, KernelMachine, KernelPCA)),
        SVC(solver="qp"),
    ],
    ids=repr,
)
def test_kernels_that_overflow_are_refused(model):
    model.set_params(kernel=Polynomial(9, gamma=1.0))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="has NaN or infinite entries"):
        model.fit(1e60 * np.abs(ROWS), LABEL)


@pytest.mark.parametrize("model", [SVC(solver="qp"), KernelLogisticRegression(), KernelMachine("hinge")])
def test_indefinite_kernels_are_refused_by_what_needs_a_square_root(model):
    with pytest.raises(ValueError, match="not positive definite"):
        model.set_params(kernel=indefinite).fit(ROWS, LABEL)


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.3), OneClassSVM()])
def test_indefinite_kernels_are_solved_by_smo(model):
    assert np.isfinite(model.set_params(kernel=indefinite).fit(ROWS, LABEL).decision_function(ROWS)).all()


@pytest.mark.parametrize("cls", [KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors])
def test_more_neighbours_than_rows(cls):
    with pytest.raises(ValueError, match=r"n_neighbors = 31, n_samples_fit = 30.*lower n_neighbors"):
        cls(n_neighbors=31).fit(ROWS, NUMBER if cls is KNeighborsRegressor else LABEL).kneighbors(ROWS)


@pytest.mark.parametrize("cls", [KernelRidge, KernelLogisticRegression, KernelMachine, KernelPCA])
def test_more_landmarks_than_rows(cls):
    how = {"loss": "hinge"} if cls is KernelMachine else {}
    with pytest.warns(UserWarning, match=r"landmarks=31 > n_samples: there are 30 different rows"):
        cls(kernel="rbf", landmarks=31, **how).fit(ROWS, NUMBER if cls is KernelRidge else LABEL)


HOLLOW = np.random.default_rng(0).normal(size=(120, 5))  # many entries become zero
HOLLOW[np.abs(HOLLOW) < 0.8] = 0.0
TARGET = HOLLOW @ [1.0, -1.0, 2.0, 0.0, 0.5]
ABOVE = (TARGET > 0).astype(int)
SPARSE_MACHINES = {
    "SVC": (SVC, {}, ABOVE),
    "SVC, three classes": (SVC, {}, ABOVE + (HOLLOW[:, 0] > 1)),
    "NuSVC": (NuSVC, {"nu": 0.2}, ABOVE),
    "SVR": (SVR, {}, TARGET),
    "NuSVR": (NuSVR, {}, TARGET),
    "OneClassSVM": (OneClassSVM, {}, None),
}


@pytest.fixture
def rows_stay_sparse(monkeypatch):
    monkeypatch.setattr(vectors, "SMALL", 0)


@pytest.mark.usefixtures("rows_stay_sparse")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", SPARSE_MACHINES)
def test_sparse_rows_have_sparse_support_vectors(name, kernel, tmp_path):
    kind, params, y = SPARSE_MACHINES[name]
    dense = kind(kernel=kernel, tol=1e-8, **params).fit(HOLLOW, y)
    sparse = kind(kernel=kernel, tol=1e-8, **params).fit(sp.csr_array(HOLLOW), y)
    for rows in (HOLLOW, sp.csr_array(HOLLOW)):
        assert_allclose(scores(sparse, rows), scores(dense, rows), atol=1e-6)
    assert sp.issparse(sparse.support_vectors_) and sp.issparse(sparse.dual_coef_)
    assert_array_equal(sparse.support_vectors_.toarray(), HOLLOW[sparse.support_])
    assert sparse.dual_coef_.shape == dense.dual_coef_.shape[:1] + sparse.support_.shape
    if kernel == "linear":
        assert sp.issparse(sparse.coef_)
        assert_allclose(sparse.coef_.toarray(), dense.coef_, atol=1e-6)
    sparse.save(tmp_path / "machine")
    loaded = suffice.load(tmp_path / "machine")
    assert_array_equal(scores(loaded, HOLLOW), scores(sparse, HOLLOW))
    assert type(loaded.support_vectors_) is type(sparse.support_vectors_)
    assert_allclose(scores(as_sklearn(sparse), sp.csr_matrix(HOLLOW)), scores(sparse, HOLLOW), atol=1e-10)


@pytest.mark.usefixtures("rows_stay_sparse")
@pytest.mark.parametrize(
    "container", [sp.csr_matrix, sp.csc_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix]
)
def test_other_formats_are_converted(container):
    plain = SVC().fit(sp.csr_array(HOLLOW), ABOVE)
    other = SVC().fit(container(HOLLOW), ABOVE)
    assert_array_equal(other.support_vectors_.toarray(), plain.support_vectors_.toarray())
    assert_array_equal(other.predict(container(HOLLOW)), plain.predict(HOLLOW))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", lambda X, Z: X @ Z.T])
def test_few_sparse_rows_have_the_bits_of_dense_rows(kernel):
    dense, sparse = (
        SVC(kernel=kernel, gamma=1.0).fit(rows, ABOVE) for rows in (HOLLOW, sp.csr_array(HOLLOW))
    )
    if isinstance(kernel, str):
        assert_array_equal(sparse.dual_coef_.toarray(), dense.dual_coef_)
    else:  # which computes the products itself, and returns a sparse matrix
        assert_allclose(sparse.decision_function(HOLLOW), dense.decision_function(HOLLOW), atol=1e-2)
    assert_array_equal(sparse.predict(sp.csr_array(HOLLOW)), dense.predict(HOLLOW))


@pytest.mark.usefixtures("rows_stay_sparse")
def test_conditions_of_an_optimum():
    report = SVC(tol=1e-8).fit(sp.csr_array(HOLLOW), ABOVE).kkt_report(sp.csr_array(HOLLOW), ABOVE)
    assert 0 <= report.gap < 1e-6


@pytest.mark.usefixtures("rows_stay_sparse")
def test_many_features_take_no_memory():
    """Of a million features, dense support vectors would take a gigabyte."""
    rows = sp.csr_array((np.ones(300), (np.arange(300) // 2, np.arange(300) * 3000)), shape=(150, 10**6))
    model = SVC(kernel="linear").fit(rows, np.arange(150) % 2)
    assert model.support_vectors_.nnz <= 300 and model.coef_.shape == (1, 10**6)
