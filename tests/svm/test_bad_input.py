"""Margins, kernels and neighbours of poor data: one class, no weight, both labels, matrices, few rows."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.cluster import KernelKMeans
from suffice.decomposition import BilinearNMF, KernelPCA
from suffice.kernel_approximation import Nystroem
from suffice.kernel_ridge import KernelRidge
from suffice.kernels import Polynomial
from suffice.linear_model import KernelLogisticRegression
from suffice.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from suffice.svm import SVC, SVR, KernelMachine, LinearSVC, NuSVC, NuSVR, OneClassSVM

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
TARGET = X[:, 0]
LABEL = TARGET > 0
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
        MARGINS[name]().fit(X, np.zeros(30))
    with pytest.raises(ValueError, match=message):
        MARGINS[name]().fit(X, X[:, 1] > 0, sample_weight=(X[:, 1] > 0) * 1.0)


@pytest.mark.parametrize("name", [*MARGINS, "KNeighborsClassifier"])
def test_a_class_of_weight_zero_is_no_class(name):
    make = (MARGINS | {"KNeighborsClassifier": lambda: KNeighborsClassifier(3)})[name]
    weight = np.where(THREE == "elm", 0.0, 1.0)
    model, without = make().fit(X, THREE, sample_weight=weight), make().fit(X[weight > 0], THREE[weight > 0])
    assert model.classes_.tolist() == without.classes_.tolist() == ["ash", "oak"]
    np.testing.assert_array_equal(model.predict(X), without.predict(X))


def test_neighbours_may_be_of_one_class():
    assert (KNeighborsClassifier(3).fit(X, np.ones(30)).predict(X) == 1).all()


@pytest.mark.parametrize("name", [name for name in MARGINS if name != "NuSVC"])
def test_rows_of_both_labels_have_no_margin(name):
    """Each row has both labels: no function is better than zero. NuSVC says that nu is too small."""
    model = MARGINS[name]().fit(np.repeat(X, 2, axis=0), np.tile([0, 1], 30))
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-3)


@pytest.mark.parametrize("cls", PRECOMPUTED)
def test_a_kernel_matrix_is_square(cls):
    y = TARGET if cls in (SVR, NuSVR, KernelRidge) else LABEL
    how = {"loss": "hinge"} if cls is KernelMachine else {"n_components": 2} if cls is Nystroem else {}
    with pytest.raises(ValueError, match=r"precomputed kernel must be a square matrix; got shape \(30, 3\)"):
        cls(kernel="precomputed", **how).fit(X, y)
    model = cls(kernel="precomputed", **how).fit(X @ X.T, y)
    answer = getattr(model, "predict" if hasattr(model, "predict") else "transform")
    with pytest.raises(ValueError, match=f"X has 3 features, but {cls.__name__} is expecting 30 features"):
        answer(X)
    if hasattr(model, "score"):
        with pytest.raises(ValueError, match=f"X has 3 features, but {cls.__name__} is expecting 30"):
            model.score(X, y)
    with pytest.raises(ValueError, match="NaN"):  # which is told first, as by scikit-learn
        answer(np.where(np.arange(3) == 0, np.nan, X))


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
        model.fit(1e60 * np.abs(X), LABEL)


@pytest.mark.parametrize("model", [SVC(solver="qp"), KernelLogisticRegression(), KernelMachine("hinge")])
def test_indefinite_kernels_are_refused_by_what_needs_a_square_root(model):
    with pytest.raises(ValueError, match="not positive definite"):
        model.set_params(kernel=indefinite).fit(X, LABEL)


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.3), OneClassSVM()])
def test_indefinite_kernels_are_solved_by_smo(model):
    assert np.isfinite(model.set_params(kernel=indefinite).fit(X, LABEL).decision_function(X)).all()


@pytest.mark.parametrize("cls", [KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors])
def test_more_neighbours_than_rows(cls):
    with pytest.raises(ValueError, match=r"n_neighbors = 31, n_samples_fit = 30.*lower n_neighbors"):
        cls(n_neighbors=31).fit(X, TARGET if cls is KNeighborsRegressor else LABEL).kneighbors(X)


@pytest.mark.parametrize("cls", [KernelRidge, KernelLogisticRegression, KernelMachine, KernelPCA])
def test_more_landmarks_than_rows(cls):
    how = {"loss": "hinge"} if cls is KernelMachine else {}
    with pytest.warns(UserWarning, match=r"landmarks=31 > n_samples: there are 30 different rows"):
        cls(kernel="rbf", landmarks=31, **how).fit(X, TARGET if cls is KernelRidge else LABEL)
