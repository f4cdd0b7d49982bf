"""Logistic regression: all solvers, all penalties, one optimum."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.utils import get_tags

import suffice
from suffice.core.blocks import Rows
from suffice.fitting import sample
from suffice.fitting.standardize import column_sizes
from suffice.linear_model import LogisticRegression
from suffice.linear_model.logistic import LogLinear
from suffice.loops.log_linear import errors, svrg_epoch

from ..versions import l1_ratio

SOLVERS = ("lbfgs", "bfgs", "dfp", "newton", "gradient", "svrg")


def table(n=400, classes=3, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.5, 2.0, d) + 0.3
    scores = X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1), rng.integers(0, 4, size=n).astype(float)


def penalised(model, X, y, weight, C=1.0, ratio=0.0):
    """Mean loss plus penalty."""
    loss = -model.predict_log_proba(X)[np.arange(len(y)), y] @ weight
    coef = model.coef_
    return (loss + ((1 - ratio) / 2 * (coef**2).sum() + ratio * np.abs(coef).sum()) / C) / weight.sum()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_optimum(solver, classes):
    X, y, weight = table(classes=classes)
    best = Theirs(C=0.5, tol=1e-10, max_iter=10_000).fit(X, y, weight)
    model = LogisticRegression(C=0.5, solver=solver, tol=1e-6, max_iter=2000, random_state=0)
    model.fit(X, y, weight)
    value = penalised(model, X, y, weight, 0.5)
    assert model.converged_ and abs(value - penalised(best, X, y, weight, 0.5)) <= 1e-9
    np.testing.assert_allclose(model.trace_[-1], value, rtol=1e-12)
    assert (np.diff(model.trace_) <= 1e-12).all()


@pytest.mark.parametrize("solver", ["lbfgs", "newton"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ratio", [0.4, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_absolute_values_as_scikit_learn(solver, classes, ratio, intercept):
    X, y, weight = table(classes=classes)
    C, how = 0.02, {"fit_intercept": intercept}
    exact = {"solver": "saga", "tol": 1e-8, "max_iter": 50_000, "random_state": 0}
    best = Theirs(C=C, **l1_ratio(ratio), **exact, **how)
    best.fit(X, y, weight)
    model = LogisticRegression(C=C, l1_ratio=ratio, solver=solver, tol=1e-8, max_iter=1000, **how)
    model.fit(X, y, weight)
    assert model.converged_
    value = penalised(model, X, y, weight, C, ratio)
    assert value - penalised(best, X, y, weight, C, ratio) <= 1e-9
    np.testing.assert_allclose(model.trace_[-1], value, rtol=1e-12)
    assert ((model.coef_ == 0) == (best.coef_ == 0)).all() and (model.coef_ == 0).any()


def test_penalties_by_their_old_names():
    X, y, _ = table()
    how = {"C": 0.05, "tol": 1e-9, "max_iter": 1000}
    for name, now in (("l1", {"l1_ratio": 1.0}), ("l2", {}), ("elasticnet", {"l1_ratio": 0.3})):
        with pytest.warns(FutureWarning, match="'penalty' was deprecated"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("default", FutureWarning)
            old = LogisticRegression(penalty=name, l1_ratio=0.3, **how).fit(X, y)
        np.testing.assert_array_equal(old.coef_, LogisticRegression(**now, **how).fit(X, y).coef_)
    with pytest.warns(FutureWarning, match="'penalty' was deprecated"):
        free = LogisticRegression(penalty=None, l1_ratio=0.0, tol=1e-9, max_iter=1000).fit(X, y)
    newton = LogisticRegression(C=np.inf, solver="newton", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(free.coef_, newton.coef_, rtol=1e-5)


@pytest.mark.parametrize("solver", ["svrg", "lbfgs"])
def test_sparse_wide_rows(solver):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 2000), density=0.01, rng=rng, format="csr")
    y = (X @ rng.normal(size=2000) > 0).astype(int)
    best = LogisticRegression(solver="lbfgs", tol=1e-10, max_iter=1000).fit(X, y)
    model = LogisticRegression(solver=solver, tol=1e-6, max_iter=1000, random_state=1).fit(X, y)
    assert abs(model.trace_[-1] - best.trace_[-1]) <= 1e-6


def test_sgd_over_blocks(tmp_path):
    """Walks over many blocks, here and from Parquet: one optimum, the same bits for the same seed."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y, _ = table(n=3000)
    columns = {f"x{d}": X[:, d] for d in range(X.shape[1])}
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({**columns, "y": y}), path, row_group_size=500)
    scan = suffice.rows(suffice.scan_parquet(path), features=list(columns), target="y")
    best = LogisticRegression(tol=1e-10, max_iter=1000).fit(X, y)
    fits = [LogisticRegression(solver="svrg", tol=1e-7, max_iter=500, random_state=3).fit(scan) for _ in "ab"]
    assert fits[0].model_.theta.tobytes() == fits[1].model_.theta.tobytes()
    assert fits[0].trace_[-1] - best.trace_[-1] <= 1e-9


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("every", [1, 4])
def test_an_svrg_epoch_is_its_steps(classes, every):
    rng = np.random.default_rng(0)
    N, D, length = 20, 4, 0.05
    shrink = np.append(rng.random(D), 0.0)
    X = sp.random_array((N, D), density=0.6, rng=rng, format="csr")
    start, drift = rng.normal(size=(2, D + 1, classes))
    weight, order = rng.random(N), rng.permutation(N)

    def probabilities(W):
        scores = X.toarray() @ W[:-1] + W[-1]
        return expit(scores) if classes == 1 else softmax(scores, axis=1)

    W, before, since = start.copy(), probabilities(start), 0
    for t, n in enumerate(order):
        error = weight[n] * (probabilities(W)[n] - before[n])
        W -= length * np.outer(np.append(X.toarray()[n], 1.0), error)
        since += 1
        if since == every or t == N - 1:
            pull = shrink[:, None] * (W - start)
            W -= since * length * (drift + pull)
            since = 0
    args = (X.data, X.indices, X.indptr, order, weight, before, start, drift, shrink, length, every, True)
    np.testing.assert_allclose(svrg_epoch(*args), W, rtol=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.5])
def test_many_rows_start_from_some(ratio, monkeypatch):
    """Nothing but the way changes: rows sorted by class, weights, and a start that is near."""
    X, y, weight = table(n=180_000, d=3)  # a quarter has no weight
    order = np.argsort(y, kind="stable")
    X, y, weight = X[order], y[order], weight[order]
    how = {"l1_ratio": ratio, "C": 1e-3, "tol": 1e-7, "max_iter": 500}
    quick = LogisticRegression(**how).fit(X, y, weight)
    monkeypatch.setattr(sample, "ROWS_EACH", len(y))
    plain = LogisticRegression(**how).fit(X, y, weight)
    assert abs(quick.trace_[-1] - plain.trace_[-1]) <= 1e-10
    assert quick.trace_[0] - plain.trace_[-1] < 1e-3 < plain.trace_[0] - plain.trace_[-1]
    assert quick.n_iter_ < plain.n_iter_ / 2


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
def test_features_may_have_any_units(as_rows, classes):
    """Steps are in units of the curvature where these differ: they lead as far."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(classes, size=400)
    units = 10.0 ** np.array([-3, 2, 0, -1, 4])
    plain, scaled = (
        LogisticRegression(C=np.inf, tol=1e-8, max_iter=60).fit(as_rows(X * u), y) for u in (1.0, units)
    )
    assert abs(scaled.trace_[-1] - plain.trace_[-1]) < 1e-10


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_units_are_the_diagonal_of_the_hessian(as_rows):
    rng = np.random.default_rng(0)
    X, y, weight = (
        rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.6) * [1.0, 100.0, 1.0, 0.01],
        rng.integers(3, size=60),
        rng.random(60),
    )
    model = LogLinear(np.zeros((3, 5)), np.arange(3), np.ones(3))
    block = Rows(as_rows(X), y, weight)
    sizes, s = column_sizes(block), model.replace(curvature=True).summarize(block)
    assert sizes.weight == s.weight
    squares = sizes.columns.variance + sizes.columns.mean**2
    ridge = 0.3 * np.tile([1.0, 1.0, 1.0, 1.0, 0.0], 3)
    units = model.units(squares, np.full(4, 0.3), model.even_curvature)
    np.testing.assert_allclose(1.0 / units, np.diag(s.hessian) / s.weight + ridge, rtol=1e-12)


def test_errors_are_probabilities_less_what_was_seen():
    rng = np.random.default_rng(0)
    scores, intercept, weight = rng.normal(size=(30, 4)) * 300, rng.normal(size=4), rng.random(30)
    codes = rng.integers(4, size=30)
    P = softmax(scores + intercept, axis=1)
    want = weight[:, None] * (P - np.eye(4)[codes])
    loss = weight @ -log_softmax(scores + intercept, axis=1)[np.arange(30), codes]
    np.testing.assert_allclose(errors(scores, intercept, codes, weight), loss, rtol=1e-13)
    np.testing.assert_allclose(scores, want, atol=1e-14)
    assert errors(scores[:0], intercept, codes[:0], weight[:0]) == 0.0


def test_what_does_not_go_together():
    X, y, _ = table(n=50)
    for options, message in (
        ({"solver": "bfgs", "l1_ratio": 0.5}, "use solver='lbfgs' or 'newton' or"),
        ({"l1_ratio": 1.5}, "'l1_ratio' parameter"),
        ({"penalty": "l0"}, "'penalty' parameter"),
        ({"solver": "adam"}, "'solver' parameter"),
        ({"C": -1.0}, "'C' parameter"),
    ):
        with pytest.raises(ValueError, match=message):
            LogisticRegression(**options).fit(X, y)
    wide = sp.csr_array((3, 10**6))
    with pytest.raises(MemoryError, match="lbfgs"):
        LogisticRegression(solver="dfp").fit(wide, [0, 1, 1])


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_liblinear_penalizes_the_intercept(ratio):
    X, y, _ = table()
    y = (y == y[0]).astype(int)
    how = {"solver": "liblinear", "C": 0.1, "intercept_scaling": 0.5, "tol": 1e-10}
    ours = LogisticRegression(l1_ratio=ratio, **how).fit(X + 3.0, y)
    theirs = Theirs(**l1_ratio(ratio), **how, max_iter=10**4, random_state=0).fit(X + 3.0, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    free = LogisticRegression(C=0.1, l1_ratio=ratio, tol=1e-10).fit(X + 3.0, y)
    assert abs(ours.intercept_ - free.intercept_) > 0.1
    np.testing.assert_allclose(ours.fit(sp.csr_array(X + 3.0), y).coef_, theirs.coef_, atol=1e-4)


def test_liblinear_refuses():
    X, y, _ = table(n=50)
    for options, message in (
        ({}, "does not support multiclass"),
        ({"l1_ratio": 0.5}, "Only 'saga' solver supports elasticnet"),
        ({"C": np.inf}, "not supported for the liblinear solver"),
    ):
        with pytest.raises(ValueError, match=message):
            LogisticRegression(solver="liblinear", **options).fit(X, y)
    with pytest.raises(ValueError, match="supports only dual=False"):
        LogisticRegression(dual=True).fit(X, y)
    assert not get_tags(LogisticRegression(solver="liblinear")).classifier_tags.multi_class


@pytest.mark.parametrize("n_features", [5, 300])  # Newton's method, and OWL-QN
def test_saga_with_l1_reaches_the_optimum(n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, n_features))
    y = (X[:, 0] - X[:, 1] + rng.normal(size=200) > 0).astype(int)
    how = {"C": 0.3, "l1_ratio": 0.7, "tol": 1e-8, "max_iter": 1000}
    saga, best = (LogisticRegression(solver=name, **how).fit(X, y) for name in ("saga", "lbfgs"))
    np.testing.assert_allclose(saga.coef_, best.coef_, atol=1e-5)
    assert (saga.coef_ == 0).any()


def test_float32_rows_have_float32_coefficients():
    X, y, _ = table()
    single = LogisticRegression(tol=1e-8).fit(X.astype(np.float32), y)
    double = LogisticRegression(tol=1e-8).fit(X.astype(np.float32).astype(np.float64), y)
    assert single.coef_.dtype == single.intercept_.dtype == np.float32
    assert single.predict_proba(X.astype(np.float32)).dtype == np.float32
    assert single.predict_proba(X).dtype == np.float64
    np.testing.assert_array_equal(single.coef_, double.coef_.astype(np.float32))
    np.testing.assert_array_equal(single.model_.theta, double.model_.theta)


def test_sparsify():
    X, y, _ = table()
    model = LogisticRegression(l1_ratio=1.0, C=0.01).fit(X, y)
    scores, coef = model.decision_function(X), model.coef_
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), scores)
    np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), scores)
    np.testing.assert_array_equal(model.densify().coef_, coef)


def test_the_warning_begins_as_in_scikit_learn():
    X, y, _ = table()
    with pytest.warns(ConvergenceWarning, match="lbfgs failed to converge"):
        LogisticRegression(max_iter=1, tol=1e-12).fit(X, y)
