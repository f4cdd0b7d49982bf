"""Projection pursuit: directions are found, limits are what they should be, steps go down."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.model_selection import cross_val_score

import suffice
from suffice.additive import ProjectionPursuitClassifier, ProjectionPursuitRegressor
from suffice.core.blocks import Rows
from suffice.linear_model import LinearRegression, LogisticRegression

W = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.6, -0.8]])


def rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 0.5, 1.0] + [0.0, 5.0, 0.0, -1.0]
    T = (X - [0.0, 5.0, 0.0, -1.0]) @ W.T
    return X, np.sin(1.5 * T[:, 0]) + T[:, 1] ** 2, rng


def test_directions_are_found():
    X, mean, rng = rows()
    y = mean + 0.1 * rng.normal(size=500)
    model = ProjectionPursuitRegressor(2).fit(X, y)
    assert model.converged_
    assert (np.abs(model.directions_ @ W.T).max(axis=0) > 0.995).all()
    assert np.var(y - model.predict(X)) < 0.02
    projected, terms = model.ridge_functions(X)
    np.testing.assert_allclose(projected.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(projected.var(axis=0), 1.0)
    np.testing.assert_allclose(model.intercept_ + terms.sum(axis=1), model.predict(X))
    np.testing.assert_allclose(np.linalg.norm(model.directions_, axis=1), 1.0)
    centred = (X - X.mean(axis=0)) @ model.directions_.T
    for m in range(2):  # projections are those on the directions, in their own units
        assert abs(np.corrcoef(centred[:, m], projected[:, m])[0, 1]) == pytest.approx(1.0)


def test_directions_of_classes_are_found():
    X, mean, rng = rows(2000)
    y = np.where(rng.random(2000) < expit(3.0 * mean - 2.0), "b", "a")
    model = ProjectionPursuitClassifier(2).fit(X, y)
    assert (np.abs(model.directions_ @ W.T).max(axis=0) > 0.97).all()
    plain = LogisticRegression().fit(X, y)
    assert model.score(X, y) > plain.score(X, y) + 0.1
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) > 0, "b", "a"))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    with pytest.raises(ValueError, match="Only binary"):
        ProjectionPursuitClassifier().fit(X, np.arange(2000) % 3)


@pytest.mark.parametrize("n_terms", [1, 2])
def test_lines_are_linear_models(n_terms):
    X, mean, rng = rows()
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=500)
    how = {"n_terms": n_terms, "alpha": 1e12, "tol": 1e-13}
    lines = ProjectionPursuitRegressor(**how).fit(X, y)
    np.testing.assert_allclose(lines.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-6)
    labels = mean > 1.0
    lines, peer = ProjectionPursuitClassifier(**how).fit(X, labels), LogisticRegression(C=np.inf, tol=1e-10)
    np.testing.assert_allclose(lines.predict_proba(X), peer.fit(X, labels).predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("cls", [ProjectionPursuitRegressor, ProjectionPursuitClassifier])
def test_gradient_is_zero_at_the_optimum(cls):
    """In functions and in turns of directions, by differences of the objective."""
    X, mean, rng = rows(300)
    y = mean + 0.3 * rng.normal(size=300)
    y = y if cls is ProjectionPursuitRegressor else y > 1.0
    model = cls(2, alpha=1.0, tol=1e-13, max_iter=1000).fit(X, y).model_
    block = Rows(X, y, np.ones(300))

    def objective(w, coef):
        w = w / np.linalg.norm(w, axis=1, keepdims=True)
        at = model.replace(w=w, coef=coef)
        return at.objective(at.summarize(block))

    base = objective(model.w, model.coef)
    for _ in range(8):
        dw, dc = rng.normal(size=model.w.shape), rng.normal(size=model.coef.shape)
        dc *= np.abs(model.coef).max()
        up, down = (objective(model.w + s * dw, model.coef + s * dc) for s in (1e-5, -1e-5))
        assert abs(up - down) / 2e-5 < 1e-4 * max(1.0, base)
        assert min(up, down) >= base - 1e-10


def test_more_terms_are_no_worse_and_starts_are_repeated():
    X, mean, rng = rows()
    y = mean + 0.3 * rng.normal(size=500)
    losses = []
    for n_terms in (1, 2, 3):
        model = ProjectionPursuitRegressor(n_terms, alpha=0.1, random_state=0).fit(X, y)
        losses.append(model.trace_[-1])
        assert (np.diff(model.trace_) <= 1e-12).all()
        again = ProjectionPursuitRegressor(n_terms, alpha=0.1, random_state=0).fit(X, y)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert losses[0] >= losses[1] >= losses[2]
    assert cross_val_score(ProjectionPursuitRegressor(2), X, y, cv=3).mean() > 0.8


def test_from_parquet_as_from_memory(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    X, mean, rng = rows(300)
    y = mean + 0.1 * rng.normal(size=300)
    names = list("abcd")
    pq.write_table(pa.table({**dict(zip(names, X.T, strict=True)), "y": y}), tmp_path / "a.parquet")
    scan = suffice.rows(suffice.scan_parquet(tmp_path), features=names, target="y")
    there, here = ProjectionPursuitRegressor(1).fit(scan), ProjectionPursuitRegressor(1).fit(X, y)
    np.testing.assert_allclose(there.directions_, here.directions_, atol=1e-6)
    here.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict(X), here.predict(X))


def test_poor_data():
    X, mean, _ = rows(100)
    flat = ProjectionPursuitRegressor().fit(np.ones((10, 3)), np.arange(10.0))
    np.testing.assert_allclose(flat.predict(np.ones((2, 3))), 4.5)
    assert flat.directions_.shape == (0, 3)
    twice = np.hstack([X, X, np.full((100, 1), 3.0)])
    model = ProjectionPursuitRegressor(1).fit(twice, mean)
    assert np.isfinite(model.predict(twice)).all()
    two, labels = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0), np.repeat([0, 1], 20)
    np.testing.assert_array_equal(ProjectionPursuitClassifier(1).fit(two, labels).predict(two), labels)
    one = ProjectionPursuitRegressor(1).fit(X[:1], mean[:1])
    np.testing.assert_allclose(one.predict(X), mean[0])
