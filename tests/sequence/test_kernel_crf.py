"""Conditional random fields with a kernel: the linear one on features whose inner products are the kernel."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import suffice
from suffice.kernels import RBF, Centered, Precomputed, Subsequences
from suffice.sequence import ConditionalRandomField

OPTIONS = dict(C=5.0, kernel=RBF(1.0), tol=1e-9, max_iter=2000, random_state=0)


@pytest.fixture
def circle():
    """Sequences of points, and whether they are outside of a circle: no linear chain finds it."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(size, 2)) for size in (5, 1, 8, 3, 7, 6, 2, 9)]
    return X, [np.where(np.linalg.norm(x, axis=1) > 1.1, "out", "in") for x in X]


def flat(parts):
    return np.concatenate(parts)


def test_a_kernel_is_the_linear_field_of_its_features(circle):
    X, y = circle
    values, Q = np.linalg.eigh(RBF(1.0)(flat(X)))
    ends = np.cumsum([len(x) for x in X])[:-1]
    features = np.split(Q[:, values > 1e-13] * np.sqrt(values[values > 1e-13]), ends)
    linear = ConditionalRandomField(5.0, tol=1e-9, max_iter=2000).fit(features, y)
    crf = ConditionalRandomField(**OPTIONS).fit(X, y)
    assert_allclose(crf.trace_[-1], linear.trace_[-1], rtol=1e-12)
    assert_allclose(flat(crf.predict_proba(X)), flat(linear.predict_proba(features)), atol=1e-8)
    assert_allclose(crf.log_likelihood(X, y), linear.log_likelihood(features, y), atol=1e-7)
    assert_allclose(crf.transitions_, linear.transitions_, atol=1e-7)
    assert crf.score(X, y) > 0.95 > ConditionalRandomField().fit(X, y).score(X, y)


def test_landmarks_at_all_steps_are_exact(circle):
    X, y = circle
    exact = ConditionalRandomField(**OPTIONS).fit(X, y)
    every = ConditionalRandomField(**OPTIONS, landmarks=len(flat(X))).fit(X, y)
    assert_allclose(flat(every.predict_proba(X)), flat(exact.predict_proba(X)), atol=1e-8)
    few = ConditionalRandomField(**OPTIONS, landmarks=12).fit(X, y)
    assert few.coef_.shape == (2, 12) and few.trace_[-1] > exact.trace_[-1]


@pytest.mark.parametrize("landmarks", [None, 12])
@pytest.mark.parametrize("solver", ["gradient", pytest.param("sgd", marks=pytest.mark.slow)])
def test_solvers_reach_one_optimum(circle, solver, landmarks):
    best = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(*circle)
    how = {**OPTIONS, "solver": solver, "tol": 1e-6, "max_iter": 5000}
    assert_allclose(
        ConditionalRandomField(**how, landmarks=landmarks).fit(*circle).trace_[-1], best.trace_[-1]
    )


def test_the_model_has_the_gradient_of_its_weights(circle):
    """`model_` sums the loss by weights of the points; at the optimum of the penalized loss, the gradient is
    that of the norm, C times smaller."""
    X, y = circle
    crf = ConditionalRandomField(**OPTIONS).fit(X, y)
    block = suffice.core.blocks.Sequences(flat(X), np.cumsum([0, *map(len, X)]), flat(y))
    s = crf.model_.summarize(block)
    of_points, of_moves = crf.model_._parts(s.gradient)
    K = RBF(1.0)(flat(X))
    assert_allclose(of_points, -K @ crf.coef_.T / 5.0, atol=1e-6)
    assert_allclose(of_moves[0], -crf.transitions_ / 5.0, atol=1e-6)


@pytest.mark.parametrize("landmarks", [None, 12])
def test_weights_files_sparse_rows_and_scans(circle, landmarks, tmp_path):
    X, y = circle
    crf = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(X, y)
    weight = [2, 0, 1, 1, 3, 1, 1, 0]
    weighted = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(8), weight)
    repeated = ConditionalRandomField(**OPTIONS, landmarks=landmarks)
    repeated.fit([X[n] for n in again], [y[n] for n in again])
    assert_allclose(flat(weighted.predict_proba(X)), flat(repeated.predict_proba(X)), atol=1e-7)

    crf.save(tmp_path / "crf")
    assert_array_equal(flat(suffice.load(tmp_path / "crf").predict_proba(X)), flat(crf.predict_proba(X)))

    sparse = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit([sp.csr_array(x) for x in X], y)
    assert_allclose(flat(sparse.predict_proba(X)), flat(crf.predict_proba(X)), atol=1e-8)

    ids = np.repeat(np.arange(8), [len(x) for x in X])
    table = pa.table({"a": flat(X)[:, 0], "b": flat(X)[:, 1], "y": flat(y), "id": ids})
    scan = suffice.sequences(
        suffice.scan(lambda: table.to_batches(max_chunksize=11)), sequence="id", target="y"
    )
    streamed = ConditionalRandomField(**OPTIONS, landmarks=landmarks).fit(scan)
    assert_allclose(streamed.predict_proba(scan), flat(crf.predict_proba(X)), atol=1e-7)


def test_warm_start_projects_the_function(circle):
    """On other landmarks, it starts from the nearest function of their space."""
    crf = ConditionalRandomField(**{**OPTIONS, "tol": 1e-5}, warm_start=True).fit(*circle)
    cold = crf.n_iter_
    assert 2 * crf.fit(*circle).n_iter_ < cold
    fresh = ConditionalRandomField(**{**OPTIONS, "tol": 1e-5}, landmarks=15).fit(*circle)
    moved = crf.set_params(landmarks=15).fit(*circle)
    assert moved.n_iter_ < fresh.n_iter_
    assert_allclose(moved.trace_[-1], fresh.trace_[-1], rtol=1e-6)


def test_kernels_of_the_training_steps(circle):
    """A centered kernel has no constant function, and takes its center from the steps and their weights."""
    X, y = circle
    crf = ConditionalRandomField(5.0, kernel=Centered(RBF(1.0)), tol=1e-7, max_iter=500).fit(X, y)
    center = crf.model_.kernel(flat(X)).mean(axis=0)
    assert_allclose(center, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"kernel": "rbf", "l1_ratio": 0.5}, "l1_ratio=0.5 is of weights of features: use kernel='linear'"),
        ({"kernel": "rbf", "edge_features": [0]}, "edge_features=.0. is of weights of features"),
        ({"kernel": "rbf", "solver": "iis-s"}, "use solver='lbfgs'"),
        ({"landmarks": 5}, "landmarks=5 needs a kernel"),
        ({"kernel": Precomputed()}, "takes rows of numbers"),
        ({"kernel": Subsequences(2)}, "takes rows of numbers"),
        ({"kernel": "cubic"}, "kernel='cubic' is unknown"),
    ],
)
def test_wrong_calls(circle, params, text):
    with pytest.raises(ValueError, match=text):
        ConditionalRandomField(**params).fit(*circle)


def test_weights_of_features_are_not_there(circle):
    crf = ConditionalRandomField(**OPTIONS).fit(*circle)
    for ask in (crf.top_features, lambda: crf.explain(circle[0])):
        with pytest.raises(AttributeError, match="weights of steps, and none of features"):
            ask()
    assert len(crf.top_transitions(2)) == 2


def test_too_many_steps_are_refused(circle, monkeypatch):
    monkeypatch.setattr("suffice.core.cost.memory_limit", lambda: (4e4, "a test has"))
    with pytest.raises(MemoryError, match="landmarks="):
        ConditionalRandomField(kernel="rbf").fit(*circle)
