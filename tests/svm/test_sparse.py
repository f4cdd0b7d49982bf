"""Kernel machines of sparse rows: support vectors and coefficients are sparse, the machine is the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import suffice
from suffice.core.storage import StorageError, load_value, save_value
from suffice.estimator.interchange import as_sklearn
from suffice.kernels import vectors
from suffice.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
X[np.abs(X) < 0.8] = 0.0
NUMBER = X @ [1.0, -1.0, 2.0, 0.0, 0.5]
LABEL = (NUMBER > 0).astype(int)
MACHINES = {
    "SVC": (SVC, {}, LABEL),
    "SVC, three classes": (SVC, {}, LABEL + (X[:, 0] > 1)),
    "NuSVC": (NuSVC, {"nu": 0.2}, LABEL),
    "SVR": (SVR, {}, NUMBER),
    "NuSVR": (NuSVR, {}, NUMBER),
    "OneClassSVM": (OneClassSVM, {}, None),
}


@pytest.fixture(autouse=True)
def rows_stay_sparse(request, monkeypatch):
    if "few" not in request.node.name:
        monkeypatch.setattr(vectors, "SMALL", 0)


def scores(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", MACHINES)
def test_sparse_rows_have_sparse_support_vectors(name, kernel, tmp_path):
    kind, params, y = MACHINES[name]
    dense = kind(kernel=kernel, tol=1e-8, **params).fit(X, y)
    sparse = kind(kernel=kernel, tol=1e-8, **params).fit(sp.csr_array(X), y)
    for rows in (X, sp.csr_array(X)):
        assert_allclose(scores(sparse, rows), scores(dense, rows), atol=1e-6)
    assert sp.issparse(sparse.support_vectors_) and sp.issparse(sparse.dual_coef_)
    assert_array_equal(sparse.support_vectors_.toarray(), X[sparse.support_])
    assert sparse.dual_coef_.shape == dense.dual_coef_.shape[:1] + sparse.support_.shape
    if kernel == "linear":
        assert sp.issparse(sparse.coef_)
        assert_allclose(sparse.coef_.toarray(), dense.coef_, atol=1e-6)
    sparse.save(tmp_path / "machine")
    loaded = suffice.load(tmp_path / "machine")
    assert_array_equal(scores(loaded, X), scores(sparse, X))
    assert type(loaded.support_vectors_) is type(sparse.support_vectors_)
    assert_allclose(scores(as_sklearn(sparse), sp.csr_matrix(X)), scores(sparse, X), atol=1e-10)


@pytest.mark.parametrize(
    "container", [sp.csr_matrix, sp.csc_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix]
)
def test_other_formats_are_converted(container):
    plain = SVC().fit(sp.csr_array(X), LABEL)
    other = SVC().fit(container(X), LABEL)
    assert_array_equal(other.support_vectors_.toarray(), plain.support_vectors_.toarray())
    assert_array_equal(other.predict(container(X)), plain.predict(X))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", lambda X, Z: X @ Z.T])
def test_few_sparse_rows_have_the_bits_of_dense_rows(kernel):
    dense, sparse = (SVC(kernel=kernel, gamma=1.0).fit(rows, LABEL) for rows in (X, sp.csr_array(X)))
    if isinstance(kernel, str):
        assert_array_equal(sparse.dual_coef_.toarray(), dense.dual_coef_)
    else:  # which computes the products itself, and returns a sparse matrix
        assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-2)
    assert_array_equal(sparse.predict(sp.csr_array(X)), dense.predict(X))


def test_conditions_of_an_optimum():
    report = SVC(tol=1e-8).fit(sp.csr_array(X), LABEL).kkt_report(sp.csr_array(X), LABEL)
    assert 0 <= report.gap < 1e-6


def test_many_features_take_no_memory():
    """Of a million features, dense support vectors would take a gigabyte."""
    rows = sp.csr_array((np.ones(300), (np.arange(300) // 2, np.arange(300) * 3000)), shape=(150, 10**6))
    model = SVC(kernel="linear").fit(rows, np.arange(150) % 2)
    assert model.support_vectors_.nnz <= 300 and model.coef_.shape == (1, 10**6)


@pytest.mark.parametrize("damage", ["indices", "indptr", "data"])
def test_damaged_files_are_refused(damage, tmp_path):
    rows = sp.csr_array(np.eye(3))
    save_value(rows, tmp_path / "rows")
    assert_array_equal(load_value(tmp_path / "rows").toarray(), np.eye(3))
    setattr(rows, damage, getattr(rows, damage)[:-1] if damage != "indices" else np.array([0, 1, 7]))
    save_value(rows, tmp_path / "rows")
    with pytest.raises(StorageError):
        load_value(tmp_path / "rows")
