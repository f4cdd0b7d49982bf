"""Logistic regression with penalties chosen by cross-validation."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import config_context
from sklearn import linear_model as peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

import suffice
from suffice.core.storage import StorageError
from suffice.linear_model import LogisticRegression, LogisticRegressionCV

from ..versions import needs_callbacks, since

in_arrays = since("1.8", "introduced use_legacy_attributes, and attributes that are arrays")
HOW = {"Cs": [0.01, 1.0, 10.0], "l1_ratios": [0.0], "tol": 1e-8, "max_iter": 1000}
OLD = {"scoring": "accuracy", "use_legacy_attributes": True}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = (X @ rng.normal(size=(4, 3)) + rng.gumbel(size=(150, 3))).argmax(axis=1)
    return X, np.array(["a", "b", "c"])[y], rng.uniform(0.5, 2.0, size=150)


@pytest.mark.parametrize(
    ("classes", "scoring", "legacy"),
    [(2, "neg_log_loss", True), (2, "accuracy", False), (3, "f1_macro", True), (3, "neg_log_loss", False)],
)
@in_arrays
def test_as_in_scikit_learn(rows, classes, scoring, legacy):
    X, y, _ = rows
    y = y if classes == 3 else np.where(y == "a", "a", "b")
    ours, theirs = (
        cls(scoring=scoring, cv=KFold(3), use_legacy_attributes=legacy, **HOW).fit(X, y)
        for cls in (LogisticRegressionCV, peer.LogisticRegressionCV)
    )
    np.testing.assert_array_equal(ours.C_, theirs.C_)
    np.testing.assert_array_equal(ours.l1_ratio_, theirs.l1_ratio_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-3)
    for name in ("scores_", "coefs_paths_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        if not legacy:
            a, b = {"all": a}, {"all": b}
        assert list(a) == list(b)
        for key in a:
            np.testing.assert_allclose(a[key], b[key], atol=1e-3)


def test_shares_of_the_l1_penalty(rows):
    X, y, _ = rows
    model = LogisticRegressionCV(Cs=3, l1_ratios=[0.0, 1.0], cv=4, solver="newton", **OLD).fit(X, y)
    assert model.scores_["a"].shape == (4, 3, 2) and model.n_iter_.shape == (1, 4, 3, 2)
    best = LogisticRegression(C=model.C_[0], l1_ratio=model.l1_ratio_[0], solver="newton").fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-6)


@in_arrays
def test_average_of_the_folds(rows):
    X, y, _ = rows
    ours, theirs = (
        cls(
            refit=False,
            scoring="neg_log_loss",
            cv=ShuffleSplit(3, random_state=0),
            use_legacy_attributes=False,
            **HOW,
        ).fit(X, y)
        for cls in (LogisticRegressionCV, peer.LogisticRegressionCV)
    )
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert pytest.approx(theirs.C_) == ours.C_


@in_arrays
def test_weights_and_groups(rows):
    X, y, weight = rows
    groups = np.arange(150) % 3
    ours, theirs = (
        cls(
            cv=KFold(3), scoring="neg_log_loss", class_weight="balanced", use_legacy_attributes=False, **HOW
        ).fit(X, y, sample_weight=weight)
        for cls in (LogisticRegressionCV, peer.LogisticRegressionCV)
    )
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-4)
    with config_context(enable_metadata_routing=True):
        assert LogisticRegressionCV(cv=GroupKFold(3), **HOW, **OLD).fit(X, y, groups=groups).C_.shape == (3,)


class ConvertibleWeights:
    """Weights that NumPy can convert to an array, and that have none of an array's functions."""

    def __init__(self, weight):
        self.weight = weight

    def __array__(self, dtype=None, copy=None):
        return np.array(self.weight, dtype)

    def __array_function__(self, function, types, args, keywords):
        raise TypeError(f"{function.__name__} is not available.")


def test_weights_of_another_library(rows):
    X, y, weight = rows
    a, b = (
        LogisticRegressionCV(cv=KFold(3), scoring="neg_log_loss", use_legacy_attributes=False, **HOW).fit(
            X, y, sample_weight=values
        )
        for values in (weight, ConvertibleWeights(weight))
    )
    np.testing.assert_array_equal(a.scores_, b.scores_)


def priced_accuracy(y, prediction, price, sample_weight=None):
    return np.average(y == prediction, weights=price if sample_weight is None else price * sample_weight)


@pytest.mark.parametrize("weighted", [False, True])
@in_arrays
def test_metadata_of_the_scorer(rows, weighted):
    """Also in `score`. Rows of weight zero are left out, and so are their prices."""
    X, y, weight = rows
    weight, price = np.where(np.arange(150) % 7, weight, 0.0), np.linspace(1.0, 9.0, 150)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(priced_accuracy).set_score_request(price=True, sample_weight=weighted)
        ours, theirs = (
            cls(cv=KFold(3), scoring=scorer, use_legacy_attributes=False, **HOW)
            for cls in (LogisticRegressionCV, peer.LogisticRegressionCV)
        )
        ours.fit(X, y, sample_weight=weight, price=price)
        in_score = {"price": price, **({"sample_weight": weight} if weighted else {})}
        assert ours.score(X, y, **in_score) == priced_accuracy(y, ours.predict(X), **in_score)
        if not weighted:
            with pytest.raises(TypeError, match="sample_weight"):
                ours.score(X, y, sample_weight=weight, price=price)
            price = np.where(weight > 0, price, 0.0)  # theirs counts rows of weight zero
        theirs.fit(X, y, sample_weight=weight, price=price)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-8)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        ours.score(X, y, price=price)


def test_files_and_storage(tmp_path, rows):
    X, y, weight = rows
    table = pa.table({**{f"x{d}": X[:, d] for d in range(4)}, "y": y, "w": weight})
    for k in range(3):
        pq.write_table(table.slice(50 * k, 50), tmp_path / f"{k}.parquet")
    scan = suffice.rows(
        suffice.scan_parquet(tmp_path), features=[f"x{d}" for d in range(4)], target="y", weight="w"
    )
    ours = LogisticRegressionCV(cv=3, **HOW, **OLD).fit(scan)
    inside = LogisticRegressionCV(cv=KFold(3), **HOW, **OLD).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, inside.coef_, atol=1e-6)
    assert ours.n_passes_ < inside.n_passes_ / 2  # the fits share passes
    ours.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(again.coef_, ours.coef_)
    np.testing.assert_array_equal(again.scores_["a"], ours.scores_["a"])


class StopAt:
    """A callback that stops the fit, or fails, after some penalties."""

    def __init__(self, penalty, error=None):
        self.penalty, self.error, self.models = penalty, error, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **kwargs):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **kwargs):
        if context.task_name == "iteration":
            self.models.append(fitted_estimator)
            if self.error is not None and len(self.models) == self.penalty:
                raise self.error
        return len(self.models) == self.penalty


FIVE = {
    **OLD,
    "l1_ratios": (0.0,),
    "Cs": [1.0, 0.01, 10.0, 0.1, 100.0],
    "cv": KFold(3),
    "use_legacy_attributes": False,
}


@needs_callbacks
def test_an_interrupted_fit_goes_on_with_the_next_penalty(rows, tmp_path):
    X, y, _ = rows
    path = tmp_path / "progress"
    watched = LogisticRegressionCV(**FIVE, checkpoint=path)
    with pytest.raises(KeyError):
        watched.set_callbacks(StopAt(3, KeyError())).fit(X, y)
    for other in {"cv": KFold(4)}, {"max_iter": 50}:
        with pytest.raises(StorageError, match="of another fit"):
            LogisticRegressionCV(**{**FIVE, **other}, checkpoint=path).fit(X, y)
    count = StopAt(9)
    again = LogisticRegressionCV(**FIVE, checkpoint=path).set_callbacks(count).fit(X, y)
    whole = LogisticRegressionCV(**FIVE).fit(X, y)
    assert len(count.models) == 3  # the third was not saved yet
    assert not path.exists()
    for name in ("coef_", "scores_", "coefs_paths_", "n_iter_", "C_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))


@needs_callbacks
def test_a_callback_stops_after_some_penalties(rows):
    X, y, _ = rows
    stop = StopAt(2)
    ours = LogisticRegressionCV(**FIVE).set_callbacks(stop).fit(X, y)
    assert ours.stopped_because_ == "callback" and not ours.converged_
    np.testing.assert_array_equal(ours.Cs_, [0.01, 0.1])
    whole = LogisticRegressionCV(**FIVE).fit(X, y)
    np.testing.assert_array_equal(ours.scores_, whole.scores_[:, :, [1, 3]])
    assert stop.models[0].predict(X).shape == y.shape


def test_refused(rows):
    X, y, _ = rows
    for options, message in (
        ({"l1_ratios": [2.0], "solver": "saga"}, "l1_ratios must be an array-like of numbers between"),
        ({"Cs": [0.0]}, r"Cs\[0\] == 0.0, must be > 0"),
        ({"solver": "liblinear"}, "does not support multiclass"),
    ):
        with pytest.raises(ValueError, match=message):
            LogisticRegressionCV(**{"l1_ratios": (0.0,)} | options, **OLD).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"l1_ratios": "warn"}, "The default value for l1_ratios will change"),
        ({"l1_ratios": None}, "'l1_ratios=None' was deprecated"),
        ({"penalty": "l2"}, "'penalty' was deprecated"),
        ({"scoring": "warn"}, "The default value of the parameter 'scoring' will change"),
        ({"use_legacy_attributes": "warn"}, "The default value of use_legacy_attributes will change"),
    ],
)
def test_defaults_that_will_change(rows, options, message):
    X, y, _ = rows
    with pytest.warns(FutureWarning, match=message) as seen:
        LogisticRegressionCV(**{"Cs": [1.0], "cv": 3, "l1_ratios": (0.0,)} | OLD | options).fit(X, y)
    assert len(seen) == 1


@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", "accuracy"])
@in_arrays
def test_folds_that_lack_a_class(rows, scoring):
    """The coefficients and scores of a fold are of all classes."""
    X, y, _ = rows
    X, y = np.concatenate([X, X[:2]]), np.append(y, ["d", "d"])  # in the last fold alone
    options = {**HOW, "cv": KFold(3), "scoring": scoring, "use_legacy_attributes": False, "max_iter": 50}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an intercept falls without end
        ours, theirs = (cls(**options).fit(X, y) for cls in (LogisticRegressionCV, peer.LogisticRegressionCV))
    assert ours.coefs_paths_.shape == theirs.coefs_paths_.shape
    np.testing.assert_allclose(ours.scores_[:2], theirs.scores_[:2], rtol=1e-3)
    if scoring != "neg_log_loss":  # of a probability next to zero
        np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-2)
