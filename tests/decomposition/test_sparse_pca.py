"""SparsePCA from moments: scikit-learn's components, optimality of each criterion, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.exceptions import ConvergenceWarning

from suffice.decomposition import PCA, SparsePCA

CRITERIA = ["dictionary", "elastic-net", "scotlass"]


def rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2)) * [3.0, 2.0]
    return Z @ np.kron(np.eye(2), np.ones(3)) + 0.5 * rng.normal(size=(n, 6)) + 4.0


def scatter(X):
    Y = X - X.mean(axis=0)
    return Y.T @ Y


@pytest.mark.parametrize(("K", "alpha"), [(3, 0.1), (3, 3.0), (2, 12.0)])
def test_components_are_those_of_scikit_learn(K, alpha):
    X = rows()
    ours = SparsePCA(K, alpha=alpha).fit(X)
    theirs = sklearn.decomposition.SparsePCA(K, alpha=alpha, random_state=0).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-9)
    np.testing.assert_allclose(ours.error_, theirs.error_, rtol=1e-10)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)
    scores = theirs.transform(X)
    np.testing.assert_allclose(ours.inverse_transform(scores), theirs.inverse_transform(scores))
    assert ours.n_iter_ == theirs.n_iter_


def test_dictionary_is_stationary():
    """V is a lasso given U, and no column of U is longer than 1."""
    X, alpha = rows(), 5.0
    model = SparsePCA(2, alpha=alpha, tol=1e-14).fit(X).model_
    Y = X - X.mean(axis=0)
    U, V = Y @ model.projection.T, model.V
    np.testing.assert_allclose(np.linalg.norm(U, axis=0), 1.0)
    slope = U.T @ (Y - U @ V)
    np.testing.assert_allclose(slope[V != 0], alpha * np.sign(V[V != 0]), atol=1e-4)
    assert (V == 0).any()
    assert (np.abs(slope[V == 0]) <= alpha + 1e-4).all()


def test_elastic_net_is_stationary():
    X, alpha, ridge = rows(), 40.0, 2.0
    model = SparsePCA(2, alpha=alpha, ridge_alpha=ridge, criterion="elastic-net", tol=1e-14).fit(X)
    assert (np.diff(model.error_) <= 1e-9 * model.error_[0]).all()
    G, V, T = scatter(X), model.model_.V, model.model_.reconstruction
    np.testing.assert_allclose(T @ T.T, np.eye(2), atol=1e-12)
    slope = T @ G - V @ G - ridge * V
    np.testing.assert_allclose(slope[V != 0], alpha * np.sign(V[V != 0]), atol=1e-3)
    assert (V == 0).any()
    assert (np.abs(slope[V == 0]) <= alpha + 1e-3).all()
    np.testing.assert_allclose(V @ G @ T.T, (V @ G @ T.T).T, atol=1e-5 * np.trace(G))  # T is a polar factor


@pytest.mark.parametrize("bound", [1.3, 1.6, 2.0])
def test_scotlass_within_its_bounds(bound):
    X = rows()
    model = SparsePCA(3, criterion="scotlass", max_l1_norm=bound).fit(X)
    V, G = model.components_, scatter(X)
    assert model.feasible_.all()
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-6)
    assert (np.abs(V).sum(axis=1) <= bound + 1e-6).all()
    rng = np.random.default_rng(0)
    draws = V[0] + 0.3 * rng.normal(size=(20_000, 6))
    draws /= np.linalg.norm(draws, axis=1, keepdims=True)
    draws = draws[np.abs(draws).sum(axis=1) <= bound]
    assert len(draws) > 10
    assert (np.einsum("nd,de,ne->n", draws, G, draws) <= V[0] @ G @ V[0] * (1 + 1e-9)).all()


def test_without_constraints_it_is_pca():
    X = rows()
    pca = PCA(3).fit(X)
    free = {
        "dictionary": {"alpha": 0.0},
        "elastic-net": {"alpha": 0.0},
        "scotlass": {"max_l1_norm": np.sqrt(6)},
    }
    for criterion, how in free.items():
        model = SparsePCA(3, criterion=criterion, tol=1e-14, **how).fit(X)
        np.testing.assert_allclose(model.components_, pca.components_, atol=1e-6)
        np.testing.assert_allclose(model.explained_variance_, pca.explained_variance_, rtol=1e-6)
        np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-6)


def test_variance_is_adjusted_for_correlated_scores():
    model = SparsePCA(2, alpha=30.0).fit(rows())
    X = rows()
    _, R = np.linalg.qr((X - X.mean(axis=0)) @ model.components_.T)
    np.testing.assert_allclose(model.explained_variance_, np.diag(R) ** 2 / (len(X) - 1))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_shifts_and_more_rows(criterion):
    X, weight = rows(120), np.random.default_rng(0).integers(0, 4, size=120)
    how = {"n_components": 2, "criterion": criterion, "alpha": 5.0}
    weighted = SparsePCA(**how).fit(X, sample_weight=weight)
    repeated = SparsePCA(**how).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-8)
    far = SparsePCA(**how).fit(X + 1e8)
    np.testing.assert_allclose(far.components_, SparsePCA(**how).fit(X).components_, atol=1e-5)
    parts = SparsePCA(**how).partial_fit(X[:50]).partial_fit(X[50:])
    np.testing.assert_allclose(parts.components_, SparsePCA(**how).fit(X).components_, atol=1e-8)


def test_initial_loadings():
    X = rows()
    for criterion in CRITERIA:
        how = {"n_components": 2, "criterion": criterion, "alpha": 5.0, "max_l1_norm": 1.6}
        first = SparsePCA(**how).fit(X)
        again = SparsePCA(**how, V_init=first.model_.V).fit(X)
        assert again.error_[-1] <= first.error_[-1] * (1 + np.sign(first.error_[-1]) * 1e-6)
    with pytest.raises(ValueError, match=r"V_init has shape \(1, 6\), expected \(2, 6\)"):
        SparsePCA(2, V_init=np.ones((1, 6))).fit(X)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_constant_and_duplicate_features(criterion):
    X = np.column_stack([rows(), rows()[:, 1], np.full(200, 3.0)])
    model = SparsePCA(2, criterion=criterion, alpha=5.0).fit(X)
    assert np.isfinite(model.components_).all()
    assert (np.abs(model.components_[:, 7]) < 1e-12).all()
    none = SparsePCA(2, criterion=criterion).fit(np.ones((10, 3)))
    assert not none.explained_variance_.any()
    assert (none.transform(np.ones((2, 3))) == 0.0).all()
    with pytest.raises(ValueError, match="NaN"):
        SparsePCA().fit(np.where(X > 4.0, np.nan, X))


def test_a_large_penalty_leaves_nothing():
    model = SparsePCA(2, alpha=1e6, criterion="elastic-net").fit(rows())
    assert not model.components_.any()
    assert not model.transform(rows()).any()
    assert not model.explained_variance_.any()


def test_what_is_not_feasible_is_reported():
    G = np.array([[2.0, 1.0], [1.0, 1.0]])
    with pytest.warns(UserWarning, match="was found for component 1"):
        model = SparsePCA.from_covariance(G, n_components=2, criterion="scotlass", max_l1_norm=[1.2, 1.0])
    assert model.feasible_.tolist() == [True, False]
    for bad in (0.5, [1.0, 1.0, 1.0]):
        with pytest.raises(ValueError, match="max_l1_norm must be a number of at least 1, or 2"):
            SparsePCA(2, criterion="scotlass", max_l1_norm=bad).fit(rows())
    with pytest.raises(ValueError, match="n_components=9 must be at most n_features=6"):
        SparsePCA(9, criterion="scotlass").fit(rows())
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        SparsePCA(2, alpha=0.1, max_iter=1).fit(rows())
    with pytest.raises(ValueError, match="at least 2 rows"):
        SparsePCA(1).fit(rows()[:1])
