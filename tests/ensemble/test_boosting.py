"""Gradient boosting: the same bits by every plan, and agreement with scikit-learn and with enumeration."""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import ensemble as peers
from sklearn.exceptions import NotFittedError

import suffice
import suffice.ensemble.boosting as boosting
from suffice.core import partitions
from suffice.core.blocks import Rows
from suffice.core.values import Value
from suffice.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    newton,
)
from suffice.ensemble.newton import Rules
from suffice.ensemble.stages import StageSums
from suffice.inputs import in_memory
from suffice.loops.boosting import (
    WEIGHT_IS_COLUMN,
    add_to_rows,
    find_newton_split,
    pack,
)
from suffice.loops.losses import add_stage
from suffice.losses import Huber, loss_of
from suffice.statistics.selection import group_quantiles, number_of_bits, ordered_bits
from suffice.tree.growth import Limits, Root

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4)).round(1)  # few distinct values
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2]
NOISY = SIGNAL + rng.normal(size=600)
TARGETS = {
    "squared_error": NOISY,
    "absolute_error": NOISY,
    "quantile": NOISY,
    "huber": NOISY,
    "poisson": rng.poisson(np.exp(SIGNAL / 3)).astype(np.float64),
    "gamma": np.exp(NOISY / 3),
    "log_loss": (NOISY > 0).astype(int),
    "multinomial": np.digitize(NOISY, [-1.0, 1.0]),
    "exponential": (NOISY > 0).astype(int),
}
HIST = ("squared_error", "absolute_error", "quantile", "poisson", "gamma", "log_loss", "multinomial")
EXACT = ("squared_error", "absolute_error", "quantile", "huber", "log_loss", "multinomial", "exponential")


def hist(loss, **more):
    if loss in ("log_loss", "multinomial"):
        return HistGradientBoostingClassifier(**{"max_iter": 4, "max_leaf_nodes": 6, **more})
    level = {"quantile": 0.7} if loss == "quantile" else {}
    return HistGradientBoostingRegressor(loss, **{"max_iter": 4, "max_leaf_nodes": 6, **level, **more})


def exact(loss, **more):
    more = {"n_estimators": 3, **more}
    if loss in ("log_loss", "multinomial", "exponential"):
        return GradientBoostingClassifier(loss="exponential" if loss == "exponential" else "log_loss", **more)
    return GradientBoostingRegressor(loss=loss, **more)


def bits(value):
    """The arrays of a model, in order."""
    if isinstance(value, np.ndarray):
        return [value.tobytes()]
    if isinstance(value, Value):
        return [b for v in value.fields().values() for b in bits(v)]
    if isinstance(value, tuple):
        return [b for v in value for b in bits(v)]
    return [value]


def same(a, b):
    assert bits(a.model_) == bits(b.model_)


EVERY = [pytest.param(hist, loss, id=f"hist-{loss}") for loss in HIST] + [
    pytest.param(exact, loss, id=f"exact-{loss}") for loss in EXACT
]


# --- the same bits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "loss"), EVERY)
def test_folded_or_gathered_in_any_order_and_weighted_or_repeated(make, loss, monkeypatch):
    y, order = TARGETS[loss], rng.permutation(len(X))
    count = rng.integers(0, 3, len(X))
    whole = make(loss).fit(X, y, sample_weight=count)
    again = np.repeat(np.arange(len(X)), count)
    same(whole, make(loss).fit(X[again], y[again]))
    plain = make(loss).fit(X, y)
    same(plain, make(loss).fit(X[order], y[order]))
    fractions = rng.random(len(X))
    weighted = make(loss).fit(X, y, sample_weight=fractions)
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1)
    same(plain, make(loss).fit(X[order], y[order]))
    same(weighted, make(loss).fit(X, y, sample_weight=fractions))
    same(whole, make(loss).fit(X, y, sample_weight=count))


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "multinomial"])
@pytest.mark.parametrize("more", [{}, {"max_features": 0.5, "max_depth": 3}, {"max_leaf_nodes": None}])
def test_lanes_and_threads_give_the_same_trees(loss, more, monkeypatch):
    Z = rng.normal(size=(4000, 5)).round(2)
    Z[rng.random(Z.shape) < 0.1] = np.nan
    y = np.where(np.isnan(Z[:, 0]), 0.5, Z[:, 0]) + rng.normal(size=len(Z))
    y = {"log_loss": (y > 0).astype(int), "multinomial": np.digitize(y, [-1, 1])}.get(loss, y)
    monkeypatch.setattr(boosting, "LEAST_PACKED", 1)
    monkeypatch.setattr(newton, "LEAST_SHARED", 100)
    monkeypatch.setattr(newton, "LEAST_PART", 100)

    def fitted():
        return hist(loss, max_iter=3, random_state=0, **({"max_leaf_nodes": 20} | more)).fit(Z, y)

    with suffice.threads(1):
        one = fitted()
    with suffice.threads(3):
        same(one, fitted())
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1)
    same(one, fitted())


@pytest.mark.parametrize(("make", "loss"), [(hist, "multinomial"), (hist, "quantile"), (exact, "log_loss")])
def test_rows_for_validation_have_the_same_losses_by_either_plan(make, loss, monkeypatch):
    more = {"early_stopping": True} if make is hist else {"n_iter_no_change": 5}
    one = make(loss, random_state=0, validation_fraction=0.3, **more).fit(X, TARGETS[loss])
    assert np.isfinite(one.losses_[:, [0, 2]]).all()
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1)
    other = make(loss, random_state=0, validation_fraction=0.3, **more).fit(X, TARGETS[loss])
    same(one, other)
    np.testing.assert_array_equal(one.losses_, other.losses_)


def test_a_sample_is_that_of_the_rows_in_their_order(monkeypatch):
    model = exact("squared_error", subsample=0.5, random_state=3).fit(X, NOISY)
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1)
    same(model, exact("squared_error", subsample=0.5, random_state=3).fit(X, NOISY))
    weight = model.model_.forest[0].weight[0]
    assert 240 < weight < 360
    assert model.oob_improvement_.shape == (3,)
    assert model.oob_scores_[-1] == model.oob_score_
    with pytest.raises(AttributeError, match="subsample"):
        exact("squared_error").fit(X, NOISY).oob_score_  # noqa: B018


def test_passes_of_a_tree_are_one_for_each_level(monkeypatch):
    monkeypatch.setattr(partitions, "GATHERED_BYTES", 1)
    passes, of = [], newton.NewtonHistograms.of.__func__

    class Counted(newton.NewtonHistograms):
        @classmethod
        def of(cls, tree, nodes, block, onto=None):
            if onto is None:
                passes.append(len(nodes))
                siblings = np.isin(tree.children[tree.feature >= 0], nodes)
                assert not siblings.all(axis=1).any(), "the histogram of the other is a difference"
            return of(cls, tree, nodes, block, onto)

    monkeypatch.setattr(newton, "NewtonHistograms", Counted)
    Z = np.random.default_rng(0).normal(size=(3000, 3))
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=31).fit(Z, Z[:, 0] + Z[:, 1] ** 2)
    depth = model.model_.forest[0].depth.max()
    assert model.model_.forest[0].is_leaf.sum() == 31
    assert len(passes) <= depth + 1 < 31


# --- scikit-learn ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", HIST)
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_histogram_boosting_agrees_with_scikit_learn(loss, l2):
    n = 40 if loss in ("absolute_error", "quantile") else 20  # gradients of two values have many ties
    ours = hist(loss, l2_regularization=l2, min_samples_leaf=n).fit(X[:, :3], TARGETS[loss])
    name = "HistGradientBoosting" + ("Classifier" if loss in ("log_loss", "multinomial") else "Regressor")
    known = inspect.signature(getattr(peers, name)).parameters
    given = {k: v for k, v in ours.get_params().items() if k in known}
    theirs = getattr(peers, name)(**given).fit(X[:, :3], TARGETS[loss])
    tree, nodes = ours.model_.forest[0], theirs._predictors[0][0].nodes
    inner = nodes["is_leaf"] == 0
    np.testing.assert_array_equal(tree.feature >= 0, inner)
    np.testing.assert_array_equal(tree.feature[inner], nodes["feature_idx"][inner])
    np.testing.assert_allclose(tree.threshold[inner], nodes["num_threshold"][inner])
    if loss in ("absolute_error", "quantile"):
        return  # values of leaves are other quantiles where there is no one
    raw = ours.decision_function if hasattr(ours, "decision_function") else ours.predict
    peer = theirs.decision_function if hasattr(theirs, "decision_function") else theirs.predict
    np.testing.assert_allclose(raw(X[:, :3]), peer(X[:, :3]), atol=2e-6)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "exponential", "multinomial"])
def test_exact_boosting_agrees_with_scikit_learn(loss):
    Z = rng.normal(size=(900, 3)).astype(np.float32).astype(np.float64)
    y = Z[:, 0] + Z[:, 1] * Z[:, 2] + rng.normal(size=900)
    y = {"squared_error": y, "multinomial": np.digitize(y, [-1, 1])}.get(loss, (y > 0).astype(int))
    ours = exact(loss, max_depth=2, min_samples_leaf=20).fit(Z, y)
    name = type(ours).__name__
    known = inspect.signature(getattr(peers, name)).parameters
    theirs = getattr(peers, name)(**{k: v for k, v in ours.get_params().items() if k in known}).fit(Z, y)
    raw = "decision_function" if hasattr(ours, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(ours, raw)(Z), getattr(theirs, raw)(Z), atol=1e-10)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    np.testing.assert_array_equal(ours.apply(Z).shape, theirs.apply(Z).shape)
    assert ours.estimators_.shape == theirs.estimators_.shape
    for a, b in zip(ours.estimators_[-1], theirs.estimators_[-1], strict=True):
        np.testing.assert_allclose(a.predict(Z), b.predict(Z), atol=1e-9)
    if loss == "squared_error":
        np.testing.assert_allclose(ours.init_.predict(Z[:2]), theirs.init_.predict(Z[:2]))
    else:
        np.testing.assert_allclose(ours.init_.predict_proba(Z[:2]), theirs.init_.predict_proba(Z[:2]))


def test_constraints_and_missing_values_agree_with_scikit_learn():
    Z = X.copy()
    Z[::7, 0] = np.nan
    for more in (
        {"monotonic_cst": [1, 0, -1, 0]},
        {"interaction_cst": [[0, 1], [1, 2]]},
        {"interaction_cst": "no_interactions"},
        {"interaction_cst": "pairwise", "l2_regularization": 2.0},
    ):
        ours = hist("squared_error", max_iter=6, **more).fit(Z, NOISY)
        theirs = peers.HistGradientBoostingRegressor(max_iter=6, max_leaf_nodes=6, **more).fit(Z, NOISY)
        np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z), atol=1e-6)
    rising = hist("squared_error", max_iter=30, monotonic_cst=[1, 0, 0, 0]).fit(X, NOISY)
    line = np.tile(X[0], (50, 1))
    line[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(rising.predict(line)) >= 0).all()


def test_categories_may_be_words():
    pandas = pytest.importorskip("pandas")
    words = np.array(["a", "b", "c", "d"])[rng.integers(0, 4, 400)]
    frame = pandas.DataFrame({"word": pandas.Categorical(words), "x": rng.normal(size=400)})
    y = np.isin(words, ["a", "c"]) * 2.0
    model = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=3).fit(frame, y)
    assert model.is_categorical_.tolist() == [True, False]
    np.testing.assert_allclose(model.predict(frame), y, atol=0.01)
    new = pandas.DataFrame({"word": ["z", None], "x": [0.0, 0.0]})
    assert np.ptp(model.predict(new)) == 0.0  # unknown is missing
    many = pandas.DataFrame({"word": pandas.Categorical(np.arange(400).astype(str))})
    with pytest.raises(ValueError, match="'word' is expected to have a cardinality <= 255"):
        HistGradientBoostingRegressor().fit(many, y)


# --- one tree, by enumeration ----------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_the_first_split_is_the_best_of_all(penalty):
    Z, y = X[:80], TARGETS["log_loss"][:80]
    model = hist("log_loss", max_iter=1, max_leaf_nodes=2, min_samples_leaf=5, l2_regularization=penalty)
    tree = model.fit(Z, y).model_.forest[0]
    p = y.mean()
    g, h = p - y, np.full(len(y), p * (1 - p))

    def worth(rows):
        return g[rows].sum() ** 2 / (h[rows].sum() + penalty)

    best = max(
        (worth(left) + worth(~left), d, t)
        for d in range(Z.shape[1])
        for t in (np.unique(Z[:, d])[:-1] + np.unique(Z[:, d])[1:]) / 2
        if 5 <= (left := Z[:, d] <= t).sum() <= 75
    )
    np.testing.assert_allclose((tree.feature[0], tree.threshold[0]), best[1:], atol=1e-12)
    left = Z[:, tree.feature[0]] <= tree.threshold[0]
    values = [-0.1 * g[rows].sum() / (h[rows].sum() + penalty) for rows in (left, ~left)]
    np.testing.assert_allclose(tree.value[1:, 0], values, rtol=1e-5)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_derivatives_of_losses(name):
    y = TARGETS[name][:50]
    if name in ("log_loss", "exponential", "multinomial"):
        loss = loss_of(name, class_weight=np.arange(1.0, 4.0 if name == "multinomial" else 3.0))
    else:
        loss = loss_of(name, 0.7)
    f, e = np.random.default_rng(9).normal(size=(50, loss.n_outputs)), 1e-5
    g, h = loss.derivatives(y, f)
    for k in range(loss.n_outputs):
        step = np.zeros(loss.n_outputs)
        step[k] = e
        up, at, down = (loss.value(y, f + s) for s in (step, 0.0 * step, -step))
        np.testing.assert_allclose(g[:, k], (up - down) / (2 * e), atol=1e-6)
        if h is not None:
            np.testing.assert_allclose(h[:, k], (up - 2 * at + down) / e**2, atol=1e-4)
    if loss.largest:
        assert np.abs(g).max() <= loss.largest[0]
        assert h is None or h.max() <= loss.largest[1]


def test_curvature_is_precise_near_zero_and_one():
    loss = loss_of("log_loss", class_weight=np.ones(2))
    f = np.array([[-700.0], [-40.0], [40.0], [700.0]])
    for y in (np.zeros(4, int), np.ones(4, int)):
        g, h = loss.derivatives(y, f)
        np.testing.assert_allclose(h[:, 0], np.exp(-np.abs(f[:, 0])), rtol=1e-15)
        right = slice(2) if y[0] == 0 else slice(2, 4)
        np.testing.assert_allclose(np.abs(g[right, 0]), np.exp(-np.abs(f[right, 0])), rtol=1e-15)


def test_quantiles_of_groups_are_exact():
    x, group = rng.normal(size=500) * 10.0 ** rng.integers(-200, 200, 500), rng.integers(0, 5, 500)
    count = rng.integers(1, 4, 500)
    blocks = [
        Rows(x[i : i + 90, None], group[i : i + 90], count[i : i + 90] * 1.0) for i in range(0, 500, 90)
    ]
    for n_rows in (10, 1 << 20):  # digits of 8 and of 16 bits
        for level in (0.5, 0.3):
            found = group_quantiles(in_memory(*blocks), 6, level, n_rows)
            for k in range(5):
                of_k = np.repeat(x[group == k], count[group == k])
                want = np.quantile(of_k, level, method="averaged_inverted_cdf")
                np.testing.assert_allclose(found[k], want, rtol=1e-15)
            assert found[5] == 0.0
    zeros = np.array([0.0, -0.0, 1.0, -1.0])
    np.testing.assert_array_equal(number_of_bits(ordered_bits(zeros)), zeros)


# --- stopping, stages ------------------------------------------------------------------------------------


def test_early_stopping_by_validation_and_staged_predictions():
    Z = rng.normal(size=(800, 3))
    y = rng.normal(size=800)  # nothing to learn
    model = HistGradientBoostingRegressor(early_stopping=True, n_iter_no_change=3, random_state=0).fit(Z, y)
    assert model.converged_
    assert model.stopped_because_ == "tolerance"
    assert 3 <= model.n_iter_ < 30
    assert model.validation_score_.shape == model.train_score_.shape == (model.n_iter_ + 1,)
    assert (np.diff(model.train_score_) > 0).all()
    *_, last = model.staged_predict(Z)
    np.testing.assert_allclose(last, model.predict(Z), rtol=1e-12)
    order = rng.permutation(len(Z))
    again = HistGradientBoostingRegressor(early_stopping=True, n_iter_no_change=3, random_state=0)
    same(model, again.fit(Z[order], y[order]))
    by_score = HistGradientBoostingRegressor(
        early_stopping=True, n_iter_no_change=3, scoring="neg_mean_squared_error", random_state=0
    )
    assert abs(by_score.fit(Z, y).n_iter_ - model.n_iter_) <= 3
    given = HistGradientBoostingRegressor(early_stopping=True, n_iter_no_change=3)
    given.fit(Z[:600], y[:600], X_val=Z[600:], y_val=y[600:])
    want = 0.5 * np.mean((y[600:] - given.predict(Z[600:])) ** 2)
    np.testing.assert_allclose(-given.validation_score_[-1], want)
    stopped = GradientBoostingRegressor(n_iter_no_change=2, random_state=0).fit(Z, y)
    assert stopped.n_estimators_ < 100
    plain = HistGradientBoostingRegressor(max_iter=2).fit(Z, y)
    assert plain.train_score_.shape == plain.validation_score_.shape == (0,)


def test_rows_for_validation_that_are_passed():
    Z, y = rng.normal(size=(200, 3)), rng.normal(size=200)  # nothing to learn
    model = HistGradientBoostingRegressor(n_iter_no_change=2, max_iter=50)
    assert model.fit(Z[:150], y[:150], X_val=Z[150:], y_val=y[150:]).do_early_stopping_
    assert model.n_iter_ < 50
    assert not model.fit(Z[:150], y[:150]).do_early_stopping_
    with pytest.raises(ValueError, match="X_val is provided, but y_val was not provided"):
        model.fit(Z, y, X_val=Z)
    with pytest.raises(ValueError, match="y_val is provided, but X_val was not provided"):
        model.fit(Z, y, y_val=y)
    table = suffice.rows(pd.DataFrame(Z).assign(y=y).rename(columns=str), target="y")
    assert model.fit(table, X_val=table).do_early_stopping_  # a column of the table is y_val
    with pytest.raises(ValueError, match="early_stopping should be set to either 'auto' or True"):
        model.set_params(early_stopping=False).fit(Z, y, X_val=Z, y_val=y)


def test_a_score_of_rows_with_names_warns_of_nothing():
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    model = HistGradientBoostingRegressor(scoring="neg_mean_absolute_error", early_stopping=True)
    model.set_params(max_iter=3, random_state=0).fit(table, table["a"])
    assert model.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([b"a"], "must be an array-like of bool, int or str, got: bytes8"),
        (np.array([b"a", 1.3], object), "must be an array-like of bool, int or str, got: bytes, float"),
        ([0.0], "must be an array-like of bool, int or str, got: float64"),
        ([0, -1], r"set as integer indices must be in \[0, n_features - 1\]"),
        ([True] * 3, r"set as a boolean mask must have shape \(n_features,\)"),
        (["c"], "has an item value 'c' which is not a valid feature name"),
        (["a"], "integers or as a boolean mask when the model is fitted on data without"),
    ],
)
def test_wrong_categorical_features(chosen, message):
    table = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    if "without" in message:
        table = table.to_numpy()
    with pytest.raises(ValueError, match=message):
        HistGradientBoostingRegressor(categorical_features=chosen).fit(table, [0.0, 1.0])


@pytest.mark.parametrize(("make", "loss"), [(hist, "multinomial"), (exact, "huber"), (exact, "log_loss")])
def test_a_warm_start_and_a_monitor(make, loss):
    name = "max_iter" if make is hist else "n_estimators"
    whole = make(loss, **{name: 4}).fit(X, TARGETS[loss])
    part = make(loss, **{name: 2, "warm_start": True}).fit(X, TARGETS[loss])
    same(whole, part.set_params(**{name: 4}).fit(X, TARGETS[loss]))
    with pytest.raises(ValueError, match="warm_start"):
        part.set_params(**{name: 1}).fit(X, TARGETS[loss])
    if make is exact:
        seen = []
        model = make(loss, n_estimators=9).fit(
            X, TARGETS[loss], monitor=lambda i, m, _: seen.append(i) or i == 1
        )
        assert seen == [0, 1]
        assert model.n_estimators_ == 2


def test_init_may_be_an_estimator():
    from sklearn.linear_model import LinearRegression as Theirs

    from suffice.linear_model import LinearRegression, LogisticRegression

    peer = peers.GradientBoostingRegressor(n_estimators=3, init=Theirs()).fit(X, NOISY)
    for init in (LinearRegression(), Theirs()):
        model = exact("squared_error", init=init).fit(X, NOISY)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-6)
    zero = exact("squared_error", init="zero").fit(X, NOISY)
    assert zero.model_.baseline == 0.0
    model = exact("multinomial", init=LogisticRegression()).fit(X, TARGETS["multinomial"])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("loss", ["squared_error", "huber", "quantile", "exponential", "multinomial"])
def test_copies_for_programs_that_know_scikit_learn(loss):
    from suffice.linear_model import LinearRegression, LogisticRegression

    rows = X.astype(np.float32).astype(np.float64)  # as scikit-learn's trees read them
    numbers = loss in ("squared_error", "huber", "quantile")
    for init in (None, "zero", LinearRegression() if numbers else LogisticRegression()):
        model = exact(loss, init=init).fit(rows, TARGETS[loss])
        copy = suffice.as_sklearn(model)
        assert type(copy).__module__.startswith("sklearn.")
        for name in ("predict",) if numbers else ("predict_proba", "decision_function"):
            ours, theirs = getattr(model, name)(rows), getattr(copy, name)(rows)
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(model.apply(rows), copy.apply(rows))


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "quantile", "log_loss", "multinomial"])
def test_copies_of_boosted_histograms(loss):
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    model = hist(loss).fit(holes, TARGETS[loss])
    copy = suffice.as_sklearn(model)
    assert type(copy).__module__.startswith("sklearn.")
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            np.testing.assert_allclose(getattr(model, name)(holes), getattr(copy, name)(holes), rtol=1e-12)
    with pytest.raises(TypeError, match=r"HistGradientBoosting.* with categorical features cannot be copied"):
        suffice.as_sklearn(hist(loss, categorical_features=[0]).fit(np.abs(np.round(X)), TARGETS[loss]))


def test_without_weights_init_and_scoring_need_no_sample_weight():
    from sklearn.neighbors import KNeighborsRegressor

    init = KNeighborsRegressor()  # whose `fit` takes no weights
    model = exact("squared_error", init=init).fit(X, NOISY)
    first = init.fit(X, NOISY).predict(X)
    np.testing.assert_array_equal(model.init_.predict(X), first)
    np.testing.assert_allclose(2.0 * model.losses_[0, 0], ((NOISY - first) ** 2).mean())
    with pytest.raises(ValueError, match="does not support sample weights"):
        model.fit(X, NOISY, np.full(len(X), 2.0))

    def scorer(model, X, y):
        return -np.abs(model.predict(X) - y).mean()

    assert hist("squared_error", early_stopping=True, scoring=scorer).fit(X, NOISY).n_iter_ > 0


# --- bad input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-150, 1e-5, 1e5, 1e149])
@pytest.mark.parametrize("make", [hist, exact])
def test_scales_of_targets(make, scale):
    scale = 2.0 ** np.round(np.log2(scale))
    if make is exact and scale > 1e100:
        scale = 2.0**400  # squares of residuals
    one, other = (make("squared_error").fit(X, NOISY * s).predict(X) / s for s in (1.0, scale))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("make", [hist, exact])
def test_bad_input_has_a_clear_outcome(make):
    y = NOISY[:60]
    Z = np.column_stack([np.ones(60), np.full(60, np.nan), X[:60, 0]])
    model = make("squared_error").fit(Z, y)
    assert set(np.unique(model.model_.forest.nodes.feature)) <= {-1, 2}
    assert np.isfinite(model.predict(Z[:, ::-1][:, ::-1])).all()
    with pytest.raises(ValueError, match="infinity"):
        make("squared_error").fit(np.where(Z == 1.0, np.inf, Z), y)
    one = make("squared_error").fit([[1.0]], [3.0])
    np.testing.assert_allclose(one.predict([[5.0]]), [3.0])
    with pytest.raises(ValueError, match="zero for every row"):
        make("squared_error").fit(Z, y, sample_weight=np.zeros(60))
    sparse = make("squared_error").fit(sp.csr_array(X), NOISY)
    same(sparse, make("squared_error").fit(X, NOISY))
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), sparse.predict(X))
    with pytest.raises(NotFittedError):
        make("squared_error").predict(X)


def test_one_class_and_wrong_targets():
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, np.ones(len(X)))
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    with pytest.raises(ValueError, match="minimum of 2 classes"):
        GradientBoostingClassifier().fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="binary classification"):
        GradientBoostingClassifier(loss="exponential").fit(X, TARGETS["multinomial"])
    with pytest.raises(ValueError, match="non-negative y"):
        HistGradientBoostingRegressor("poisson").fit(X, NOISY)
    with pytest.raises(ValueError, match="positive y"):
        HistGradientBoostingRegressor("gamma").fit(X, TARGETS["poisson"])
    with pytest.raises(ValueError, match="requires quantile"):
        HistGradientBoostingRegressor("quantile").fit(X, NOISY)
    with pytest.raises(ValueError, match="multiclass"):
        HistGradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, TARGETS["multinomial"])
    with pytest.raises(ValueError, match="invalid indices"):
        HistGradientBoostingRegressor(interaction_cst=[[9]]).fit(X, NOISY)


def test_class_weights_multiply_the_loss():
    y = TARGETS["log_loss"]
    kinds = {0: 1.0, 1: 2.0}
    model = hist("log_loss", class_weight=kinds).fit(X, y)
    theirs = peers.HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=6, class_weight=kinds).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=2e-6)


# --- faults ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HistGradientBoostingRegressor", "GradientBoostingRegressor"])
def test_a_killed_fit_resumes_with_the_same_bits(name, tmp_path):
    stages = "max_iter" if name.startswith("Hist") else "n_estimators"
    code = textwrap.dedent(
        f"""
        import os, sys
        import numpy as np
        import suffice.ensemble.boosting as boosting
        from suffice.ensemble import {name}

        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 4)).round(1)
        y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=600)
        step, kill = boosting.StageLoop.step, len(sys.argv) > 1

        def killing(self, state):
            if kill and state.n_iter == 6:
                os.kill(os.getpid(), 9)
            return step(self, state)

        boosting.StageLoop.step = killing
        model = {name}({stages}=9, checkpoint={str(tmp_path / "fit")!r}).fit(X, y)
        print(model.model_.forest.nodes.value.tobytes().hex())
        print(model.losses_.tobytes().hex())
        """
    )

    def run(*more):
        return subprocess.run([sys.executable, "-c", code, *more], capture_output=True, text=True)

    want = run().stdout
    assert run("kill").returncode == -9
    assert (tmp_path / "fit").exists()
    assert run().stdout == want != ""


def test_sums_of_stages_add():
    a = StageSums(np.arange(3), np.arange(3), np.arange(2), np.array([[1.0, 2.0], [3.0, 0.0]]))
    total = a + a
    assert total.largest.tolist() == a.largest.tolist()
    assert total.loss.tolist() == [0, 2, 4]
    assert Huber(0.9, 2.0).largest == (2.0, 0.0)


def test_integers_are_packed_and_values_added():
    draw = np.random.default_rng(6)
    g, h = draw.normal(size=50), draw.random(50)
    rows = draw.permutation(50).astype(np.uint32)
    start, stop, value = np.array([0, 20, 20]), np.array([20, 20, 50]), np.array([0.5, 9.0, -0.25])
    for curvature, unit in ((h, 64.0), (h[:0], 1.0)):
        out = np.empty((50, 1), np.int64)
        pack(g, curvature, 100.0, unit, 32, out)
        assert np.array_equal(out[:, 0] >> 32, np.rint(g * 100))
        assert np.array_equal(out[:, 0] & 0xFFFFFFFF, np.rint(h * 64) if len(curvature) else np.ones(50))
    score = np.zeros((50, 2))
    add_to_rows(rows, start, stop, value, 1, score)
    assert not score[:, 0].any()
    assert np.array_equal(score[rows, 1], np.repeat([0.5, -0.25], [20, 30]))


@pytest.mark.parametrize("name", ["squared_error", "log_loss"])
def test_losses_at_once_have_the_bits_of_the_loss_and_its_derivatives(name):
    y, f = TARGETS[name][:200], np.random.default_rng(7).normal(size=(200, 1)) * 30.0
    loss = loss_of(name, class_weight=np.array([1.0, 2.5]) if name == "log_loss" else None)
    value, g, h = np.empty(200), np.empty((200, 1)), np.empty((200, 0 if loss.constant else 1))
    loss.evaluate(y, f, value, g, h)
    assert np.array_equal(value, loss.value(y, f))
    for found, expected in zip((g, h), loss.derivatives(y, f), strict=True):
        assert expected is None or np.array_equal(found, expected)


@pytest.mark.parametrize("groups", [False, True])
def test_sums_of_a_stage(groups):
    draw, unit = np.random.default_rng(8), float(1 << 20)
    value, g, h = draw.normal(size=90), draw.normal(size=(90, 2)), draw.random((90, 2))
    value[3], value[4] = np.nan, np.inf
    weight = draw.random(90) * 3 if groups else np.ones(90)
    group = draw.integers(0, 3, 90) if groups else np.zeros(90, int)
    losses_, weights, curvature, largest = (
        np.zeros(3, int),
        np.zeros(3, int),
        np.zeros(2, int),
        np.zeros((2, 2)),
    )
    given = (weight, group) if groups else (np.empty(0), np.empty(0, int))
    for _ in range(2):
        add_stage(value, g, h, *given, unit, 5.0 * unit, unit, unit, losses_, weights, curvature, largest)
    bounded = np.where(np.isfinite(value), value, 5.0)
    for k in range(3):
        np.testing.assert_allclose(losses_[k] / unit, 2 * (weight * bounded)[group == k].sum(), atol=1e-3)
        np.testing.assert_allclose(weights[k] / unit, 2 * weight[group == k].sum(), atol=1e-3)
    seen = group < 2
    np.testing.assert_allclose(curvature / unit, 2 * weight[seen] @ h[seen], atol=1e-3)
    assert np.array_equal(largest[:, 0], np.abs(g[seen]).max(axis=0))
    assert np.array_equal(largest[:, 1], h[seen].max(axis=0))
    g[7, 1] = np.nan
    group[7] = 0
    add_stage(value, g, h, *given, unit, 5.0 * unit, unit, unit, losses_, weights, curvature, largest)
    assert np.isnan(largest[1, 0])
    assert np.isfinite(largest[0]).all()


@pytest.mark.parametrize("penalty", [0.0, 5.0])
def test_newton_splits_are_the_best_of_all(penalty):
    """Numbers with missing values, and weights in a column of the histogram."""
    draw, n_bins = np.random.default_rng(5), np.array([6, 4])
    for _ in range(30):
        hist = np.zeros((2, 256, 3), np.int64)
        for d, n in enumerate(n_bins):
            hist[d, : n + 1] = draw.integers(1, 9, (n + 1, 3))
            hist[d, : n + 1, 1] -= 5
        hist[1, n_bins[1]] += hist[0].sum(axis=0) - hist[1].sum(axis=0)  # the rows are the same
        total = hist[0].sum(axis=0)
        if hist[1, n_bins[1], 0] <= 0 or hist[1, n_bins[1], 2] <= 0:
            continue

        def of_node(s):
            return s[1] ** 2 / (s[0] + penalty)

        best = 0.0
        for d, n in enumerate(n_bins):
            for missing_left in (False, True):
                for j in range(n if not missing_left else n - 1):
                    left = hist[d, : j + 1].sum(axis=0) + missing_left * hist[d, n]
                    if min(left[2], total[2] - left[2]) >= 3 and min(left[0], total[0] - left[0]) >= 1:
                        best = max(best, of_node(left) + of_node(total - left) - of_node(total))
        free = np.ones(2, bool)
        found, *_ = find_newton_split(
            hist, total, (n_bins, ~free), free, Rules(WEIGHT_IS_COLUMN, 1, 0, 1.0, penalty),
            Limits(0, 0, 3, 0.0, 2, 0, False, 0, np.zeros(2, np.int8)), Root(0),
            np.empty((0, 2), np.uint8), np.empty(0, np.uint32),
        )  # fmt: skip
        assert found == pytest.approx(best, rel=1e-9, abs=1e-9)
