"""Nyström features: scikit-learn's where landmarks agree, the kernel, any source."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn import kernel_approximation as theirs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

import suffice
from suffice.fitting.landmarks import inverse_factor, inverse_root
from suffice.kernel_approximation import Nystroem, RBFSampler
from suffice.kernels import RBF, KernelColumns, Polynomial
from suffice.linear_model import Ridge

from ..laws.registry import cut_at

rng = np.random.default_rng(0)

X = rng.normal(size=(300, 3))

Y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=300)


@pytest.mark.parametrize(
    ("kernel", "params"),
    [
        ("rbf", {"gamma": 0.7}),
        ("poly", {"degree": 2, "coef0": 0.5}),
        ("laplacian", {}),
        ("sigmoid", {"gamma": 0.3}),
        ("chi2", {}),
    ],
)
def test_features_of_scikit_learn_for_the_same_landmarks(kernel, params):
    rows = np.abs(X)
    ours = Nystroem(kernel, n_components=9, random_state=0, **params).fit(rows)
    np.testing.assert_array_equal(rows[ours.component_indices_], ours.components_)
    peer = theirs.Nystroem(kernel, n_components=9, random_state=0, **params).fit(ours.components_)
    order = peer.component_indices_  # it shuffles them
    np.testing.assert_allclose(ours.normalization_[np.ix_(order, order)], peer.normalization_, rtol=1e-6)
    np.testing.assert_allclose(ours.transform(rows)[:, order], peer.transform(rows), atol=1e-8)


def test_landmarks_at_all_rows_give_the_kernel():
    few = X[:60]
    phi = Nystroem(gamma=0.5, n_components=60, random_state=0).fit_transform(few)
    np.testing.assert_allclose(phi @ phi.T, rbf_kernel(few, gamma=0.5), atol=1e-10)
    errors = []
    for n in (5, 20, 80):
        phi = Nystroem(gamma=0.5, n_components=n, random_state=0).fit_transform(X)
        errors.append(np.abs(phi @ phi.T - rbf_kernel(X, gamma=0.5)).max())
    assert errors[2] < errors[1] < errors[0]


def test_roots_of_singular_and_indefinite_matrices():
    A = rng.normal(size=(8, 3))
    for scale in (1e-20, 1.0, 1e20):
        K = scale * A @ A.T
        F, R = inverse_factor(K), inverse_root(K)
        assert F.shape == (8, 3)
        for root in (F, R):
            np.testing.assert_allclose(K @ root @ root.T @ K, K, atol=1e-8 * scale)
    assert inverse_factor(np.zeros((3, 3))).shape == (3, 0)
    assert np.isfinite(inverse_root(np.zeros((3, 3)))).all()
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R = inverse_root(Q * [1.0, -4.0, 0.25] @ Q.T)
    np.testing.assert_allclose(R, Q * [1.0, -0.5, 2.0] @ Q.T, atol=1e-12)


def test_rows_are_sampled_in_proportion_to_their_weight():
    weight = np.where(np.arange(300) < 100, 4.0, 1.0)
    chosen = [
        Nystroem(n_components=10, random_state=seed).fit(X, sample_weight=weight).component_indices_
        for seed in range(60)
    ]
    # Of so few landmarks, by the first few dozen rows that race: 4 / 6 of them, give or take.
    assert 0.58 < (np.concatenate(chosen) < 100).mean() < 0.72
    assert len({tuple(np.sort(places)) for places in chosen}) == 60


def test_more_landmarks_than_rows():
    with pytest.warns(UserWarning, match="n_components > n_samples"):
        few = Nystroem(n_components=20).fit(np.repeat(X[:7], 2, axis=0))
    assert few.components_.shape == (7, 3)  # different rows
    assert few.transform(X).shape == (300, 7)
    assert len(few.get_feature_names_out()) == 7


def test_the_same_landmarks_from_any_source(tmp_path):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y})
    here = make_pipeline(Nystroem(n_components=30, random_state=0), Ridge(0.1)).fit(X, Y)
    batches = table.to_batches(max_chunksize=37)
    for source in (table, table.to_pandas(), suffice.scan(lambda: batches)):
        described = suffice.rows(source, target="y")
        there = make_pipeline(Nystroem(n_components=30, random_state=0), Ridge(0.1)).fit(described)
        np.testing.assert_array_equal(there[0].components_, here[0].components_)
        np.testing.assert_array_equal(there[0].normalization_, here[0].normalization_)
        np.testing.assert_allclose(there[-1].coef_, here[-1].coef_, rtol=1e-6)
        np.testing.assert_allclose(there.predict(described), here.predict(X), rtol=1e-8)
    assert there[0].component_indices_ is None
    here[0].save(tmp_path / "map")
    np.testing.assert_array_equal(suffice.load(tmp_path / "map").transform(X), here[0].transform(X))
    with cut_at(7, 50):
        parts = Nystroem(n_components=30, random_state=0).fit(X[::-1])
    np.testing.assert_array_equal(parts.components_, here[0].components_)


def test_sparse_rows():
    rows = sp.random_array((200, 40), density=0.1, rng=0, format="csr")
    for make in (Nystroem(n_components=20, random_state=0), RBFSampler(gamma="scale", random_state=0)):
        dense, sparse = make.fit(rows.toarray()).transform(rows.toarray()), make.fit(rows).transform(rows)
        np.testing.assert_allclose(sparse, dense, atol=1e-9)


def test_kernels_as_values_and_wrong_calls():
    kernel = RBF(0.5) + 0.1 * Polynomial(2)
    phi = Nystroem(kernel, n_components=60, random_state=0).fit_transform(X[:60])
    np.testing.assert_allclose(phi @ phi.T, kernel(X[:60]), atol=1e-8)
    with pytest.raises(ValueError, match="Don't pass gamma"):
        Nystroem(kernel, gamma=0.5).fit(X)
    with pytest.raises(MemoryError, match="use fewer landmarks"):
        Nystroem(n_components=10**7).fit(X)


def test_columns_of_a_gram_matrix_are_landmarks(tmp_path):
    kernel, rows = RBF(0.5), X[:60]
    K = kernel(rows)
    phi = Nystroem("precomputed", n_components=60, random_state=0).fit_transform(K)
    np.testing.assert_allclose(phi @ phi.T, K, atol=1e-8)
    few = Nystroem("precomputed", n_components=20, random_state=0).fit(K, sample_weight=np.arange(60) % 3)
    index = few.component_indices_
    assert (index % 3 > 0).all()  # no landmark has weight zero
    np.testing.assert_array_equal(few.components_, K[index])
    named = KernelColumns(kernel, rows[index])
    other = few.transform(kernel(X[60:70], rows))
    np.testing.assert_allclose(other, named(X[60:70]) @ few.normalization_, atol=1e-10)
    few.save(tmp_path / "map")
    np.testing.assert_array_equal(suffice.load(tmp_path / "map").transform(K), few.transform(K))
    with pytest.raises(ValueError, match=r"must be a square matrix; got shape \(5, 60\)"):
        Nystroem("precomputed").fit(K[:5])
    with pytest.raises(ValueError, match="Don't pass gamma"):
        Nystroem("precomputed", gamma=0.5).fit(K)
