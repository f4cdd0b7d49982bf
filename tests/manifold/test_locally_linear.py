"""Locally linear embedding: as scikit-learn's, and what makes it another one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import sklearn.manifold
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.stats import spearmanr
from sklearn.datasets import make_swiss_roll

import suffice
from suffice.manifold import LocallyLinearEmbedding, reconstruction_weights
from suffice.manifold.factors import Neighborhoods, hessian_factors

X, _ = make_swiss_roll(400, random_state=0)
QUERIES = X[:30] + 0.05


def aligned(a, b):
    """a with the signs of the columns of b."""
    return a * np.sign((a * b).sum(axis=0))


@pytest.mark.parametrize("solver", ["arpack", "dense"])
def test_places_are_those_of_scikit_learn(solver):
    ours = LocallyLinearEmbedding(n_neighbors=12, eigen_solver=solver).fit(X)
    them = sklearn.manifold.LocallyLinearEmbedding(n_neighbors=12, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(aligned(them.embedding_, ours.embedding_), ours.embedding_, atol=1e-7)
    assert ours.reconstruction_error_ == pytest.approx(them.reconstruction_error_, rel=1e-4)
    placed = aligned(them.transform(QUERIES), ours.transform(QUERIES))
    np.testing.assert_allclose(ours.transform(QUERIES), placed, atol=1e-7)


OTHERS = [("hessian", 6), ("modified", 9), ("ltsa", 9)]  # scikit-learn's 'hessian' of more is its 'ltsa'


@pytest.mark.parametrize(("method", "n_neighbors"), OTHERS)
def test_places_of_other_methods_are_those_of_scikit_learn(method, n_neighbors):
    how = {"n_neighbors": n_neighbors, "method": method, "eigen_solver": "dense"}
    ours, them = (
        package.manifold.LocallyLinearEmbedding(**how).fit(X[:200]) for package in (suffice, sklearn)
    )
    np.testing.assert_allclose(aligned(them.embedding_, ours.embedding_), ours.embedding_, atol=1e-6)
    assert ours.reconstruction_error_ == pytest.approx(them.reconstruction_error_, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(("method", "n_neighbors"), OTHERS)
def test_other_methods_of_rows_with_more_features_than_neighbours(method, n_neighbors):
    rows = np.hstack([X[:200], 0.1 * np.random.default_rng(0).normal(size=(200, 12))])
    how = {"n_neighbors": n_neighbors, "method": method, "eigen_solver": "dense"}
    ours, them = (package.manifold.LocallyLinearEmbedding(**how).fit(rows) for package in (suffice, sklearn))
    np.testing.assert_allclose(aligned(them.embedding_, ours.embedding_), ours.embedding_, atol=1e-6)


def test_second_derivatives_of_more_neighbours():
    """Donoho and Grimes: linear functions cost nothing, and of a quadratic one the second derivatives do."""
    plane = np.random.default_rng(0).normal(size=(60, 2))
    index = LocallyLinearEmbedding(n_neighbors=12, method="hessian").fit(plane).nbrs_.kneighbors()[1]
    A, row = (rows := Neighborhoods(plane, index, 2)).assembled(hessian_factors(rows, 1e-4))
    assert A.shape == (180, 60)
    np.testing.assert_array_equal(row, np.repeat(np.arange(60), 3))
    np.testing.assert_allclose(A @ (plane @ [2.0, -1.0] + 3.0), 0.0, atol=1e-10)
    for n, near in enumerate(index):
        centred = plane[near] - plane[near].mean(axis=0)
        square = centred[:, 0] * centred[:, 1]
        linear = np.column_stack([np.ones(12), centred])
        residual = square - linear @ np.linalg.lstsq(linear, square)[0]
        f = np.zeros(60)
        f[near] = square
        np.testing.assert_allclose((A[3 * n : 3 * n + 3] @ f) ** 2 @ np.ones(3), residual @ residual)


def test_a_roll_is_unrolled():
    rows, along = make_swiss_roll(1000, random_state=0)
    place = LocallyLinearEmbedding(n_neighbors=12).fit_transform(rows)[:, 0]
    assert abs(spearmanr(place, along)[0]) > 0.99


def test_places_have_the_properties_of_the_definition():
    model = LocallyLinearEmbedding(n_neighbors=10, n_components=3).fit(X)
    Y = model.embedding_
    np.testing.assert_allclose(Y.sum(axis=0), 0.0, atol=1e-5)  # eigenvalues near zero are near each other
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-8)
    index = model.nbrs_.kneighbors(return_distance=False)
    error = Y - np.einsum("nk,nkc->nc", model.model_.weights(X, index), Y[index])
    assert (error**2).sum() == pytest.approx(model.reconstruction_error_, rel=1e-6)
    assert (Y.max(axis=0) >= -Y.min(axis=0)).all()


@pytest.mark.parametrize(
    ("n", "method"), [(80, "standard"), (300, "standard"), (80, "hessian"), (80, "modified"), (80, "ltsa")]
)
def test_a_row_of_weight_two_is_the_row_twice(n, method):
    times = np.random.default_rng(0).integers(0, 3, n)
    again = np.repeat(np.arange(n), times)
    weighted = LocallyLinearEmbedding(n_neighbors=12, method=method).fit(X[:n], sample_weight=times)
    repeated = LocallyLinearEmbedding(n_neighbors=12, method=method).fit(X[again])
    np.testing.assert_allclose(weighted.embedding_[again], repeated.embedding_, atol=1e-9)
    assert np.array_equal(weighted.embedding_[times == 0], weighted.transform(X[:n][times == 0]))
    assert np.array_equal(weighted.model_.points, repeated.model_.points)


def test_weights_do_not_depend_on_place_turn_or_scale():
    rng = np.random.default_rng(1)
    x, Z = rng.normal(size=(5, 4)), rng.normal(size=(5, 3, 4))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    w = reconstruction_weights(x, Z)
    np.testing.assert_allclose(w.sum(axis=1), 1.0)
    for other in ((x + 1e3, Z + 1e3), (x @ turn, Z @ turn), (7.0 * x, 7.0 * Z)):
        np.testing.assert_allclose(reconstruction_weights(*other), w, atol=1e-9)
    np.testing.assert_allclose(reconstruction_weights(x[0], Z[0]), w[0], atol=1e-14)


def test_weights_without_a_penalty_are_least_squares():
    """Also of more neighbours than features: they reach the point, and are the shortest that do."""
    rng = np.random.default_rng(2)
    x, Z = rng.normal(size=2), rng.normal(size=(6, 2))
    w = reconstruction_weights(x, Z, reg=0.0)
    np.testing.assert_allclose(w @ Z, x, atol=1e-9)
    shortest = np.linalg.pinv(np.vstack([Z.T, np.ones(6)])) @ [*x, 1.0]
    np.testing.assert_allclose(w, shortest, atol=1e-9)
    same = reconstruction_weights(np.ones(2), np.ones((3, 2)))
    np.testing.assert_allclose(same, 1.0 / 3.0)
    with pytest.raises(ValueError, match=r"neighbors has shape \(6, 2\)"):
        reconstruction_weights(np.ones((3, 2)), Z)


def test_groups_without_links_are_told():
    rows = np.concatenate([X[:60], X[:50] + 1e3, X[:40] - 1e3])
    with pytest.warns(UserWarning, match=r"3 groups without links, of up to 60 rows.*Raise n_neighbors"):
        LocallyLinearEmbedding(n_neighbors=12).fit(rows)


@pytest.mark.parametrize(
    ("rows", "how", "message"),
    [
        (X[:9], {"n_neighbors": 9}, "Expected n_neighbors < n_samples.*n_samples = 9"),
        (np.repeat(X[:4], 5, axis=0), {}, "n_samples = 4.*equal rows count once"),
        (X, {"n_components": 4}, "output dimension must be less"),
        (X, {"method": "hessian"}, "n_neighbors must be greater.*n_neighbors = 5, expected more than 5"),
        (X, {"method": "modified", "n_neighbors": 1}, "requires n_neighbors >= n_components"),
    ],
)
def test_what_cannot_be_embedded(rows, how, message):
    with pytest.raises(ValueError, match=message):
        LocallyLinearEmbedding(**how).fit(rows)


def test_arpack_may_not_converge(monkeypatch):
    def eigsh(*_, **__):
        raise ArpackNoConvergence("No convergence", np.zeros(1), np.zeros((400, 1)))

    monkeypatch.setattr("suffice.manifold.locally_linear.eigsh", eigsh)
    with pytest.raises(ValueError, match=r"found 1 of 3 eigenvectors in max_iter=100.*raise max_iter"):
        LocallyLinearEmbedding(n_neighbors=12).fit(X)


def test_rows_of_a_scan_are_gathered_and_new_rows_are_placed_where_they_are():
    table = pa.table(dict(zip("abc", X.T, strict=True)))
    scan = suffice.scan(lambda: table.to_batches(max_chunksize=90))
    here, there = (LocallyLinearEmbedding(n_neighbors=12).fit(rows) for rows in (table, scan))
    assert np.array_equal(there.embedding_, here.embedding_)
    placed = np.asarray(here.transform(suffice.rows(scan)))
    assert np.array_equal(placed, here.transform(table))
    np.testing.assert_allclose(placed, here.embedding_, atol=0.02)
