"""What every fit does, whatever the estimator."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import make_pipeline

import suffice
from suffice.core.storage import digest_of
from suffice.decomposition import PCA, IncrementalPCA, KernelPCA
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.ensemble import (
    AdaBoostClassifier,
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from suffice.estimator import base
from suffice.linear_model import HuberRegressor, LinearRegression, Perceptron, RidgeCV
from suffice.model_selection import GridSearch
from suffice.naive_bayes import GaussianNB
from suffice.preprocessing import StandardScaler
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ..laws.registry import ESTIMATORS, VARIANTS, each_variant, fit, has_options

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)


class Centered(LinearRegression):
    """As a user may write it."""

    def fit(self, X, y=None, sample_weight=None):
        self.center_ = X.mean(axis=0)
        return super().fit(X - self.center_, y, sample_weight)

    def predict(self, X):
        return super().predict(X - self.center_)


def test_a_method_of_a_base_class_is_wrapped_once(monkeypatch):
    checked = []
    monkeypatch.setattr(base, "check_parameters", checked.append)
    entered = []
    monkeypatch.setattr(type(base.one_blas_thread), "__enter__", lambda self: entered.append(1))
    monkeypatch.setattr(type(base.one_blas_thread), "__exit__", lambda self, *error: None)
    plain = LinearRegression().fit(X, y)
    n_plain = len(entered)
    own = Centered().fit(X, y)
    assert checked == [plain, own] and len(entered) == 2 * n_plain


def test_a_fit_sets_float32_once_it_ends():
    class Doubled(PCA):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.seen_dtype_ = self.components_.dtype
            return self

    model = Doubled(2).fit(X.astype(np.float32))
    assert (model.seen_dtype_, model.components_.dtype) == (np.float64, np.float32)


def test_derived_attributes_follow_the_last_fit_in_a_subclass():
    model = Centered().fit(X, y)
    before = model.singular_.copy()
    model.fit(3.0 * X, y)
    np.testing.assert_allclose(model.singular_, 3.0 * before)


def test_derived_attributes_follow_partial_fit_in_a_subclass():
    class Own(LinearRegression):
        pass

    model = Own().partial_fit(X, y)
    before = model.singular_.copy()
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.singular_, np.sqrt(2.0) * before)


@pytest.mark.parametrize(
    ("model", "then", "gone"),
    [
        (
            KernelPCA(2, fit_inverse_transform=True),
            {"fit_inverse_transform": False},
            {"dual_coef_", "X_transformed_fit_"},
        ),
        (LinearDiscriminantAnalysis(store_covariance=True), {"store_covariance": False}, {"covariance_"}),
        (
            RandomForestClassifier(5, oob_score=True, random_state=0),
            {"oob_score": False},
            {"oob_score_", "oob_decision_function_"},
        ),
        (RidgeCV(store_cv_results=True), {"store_cv_results": False}, {"cv_results_"}),
        (
            Perceptron(),
            {"penalty": "l2"},
            {"mistakes_", "mistake_bound_", "separated_"},
        ),
    ],
    ids=lambda part: type(part).__name__,
)
def test_attributes_of_other_options_go(model, then, gone):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few trees
        model.fit(X, y)
        assert gone <= vars(model).keys()
        model.set_params(**then).fit(X, y)
    assert not gone & vars(model).keys()


def test_attributes_of_other_rows_go():
    model = HuberRegressor().fit(X, X[:, 0])
    assert hasattr(model, "outliers_")
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] + X[:, 1]})
    model.fit(suffice.rows(table, target="y"))
    assert not hasattr(model, "outliers_") and model.n_features_in_ == 2


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_an_estimator_that_is_not_fitted_has_parameters_alone(cls):
    assert vars(cls()).keys() == cls().get_params(deep=False).keys()


@pytest.mark.parametrize("model", [LinearRegression(), IncrementalPCA(2), StandardScaler()], ids=repr)
def test_a_fit_that_fails_leaves_the_fitted_attributes_as_they_were(model):
    def fitted():
        return {name: value for name, value in vars(model).items() if name.endswith("_")}

    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((5, 3), np.inf), np.ones(5))
    assert not fitted()
    model.fit(X, y)
    before = fitted()
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((5, 2), np.inf), np.ones(5))
    assert fitted().keys() == before.keys()
    assert all(fitted()[name] is before[name] for name in before)


def others(variant):
    """Variants of the same class with other options, for the same data."""

    def kind(v):
        return type(v.estimator), v.support, v.kind

    return [v for v in VARIANTS if kind(v) == kind(variant) and v.name != variant.name]


@each_variant(lambda v: others(v) and has_options(v))
def test_a_fit_after_one_with_other_options_has_the_attributes_of_a_first(variant):
    X, y = variant.data(60)
    first, then = (v.make(max_iter=3).get_params(deep=False) for v in (variant, others(variant)[0]))
    model = fit(variant.make(max_iter=3), X, y)
    for options in (then, first):
        again = fit(model.set_params(**options), X, y)
        assert vars(again).keys() == vars(fit(clone(model), X, y)).keys()


ROWS, LABEL = make_classification(300, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
NUMBER = ROWS @ [1.0, -2.0, 0.0, 0.5, 0.0] + LABEL
ALPHAS = [0.0, 0.003, 0.01, 0.05, 10.0]
GRIDS = {  # estimator, grid, fits per fold
    "tree": (DecisionTreeClassifier(), {"ccp_alpha": ALPHAS}, 1),
    "trees": (DecisionTreeClassifier(), {"ccp_alpha": ALPHAS, "max_depth": [2, None]}, 2),
    "two grids": (
        DecisionTreeClassifier(),
        [{"ccp_alpha": ALPHAS}, {"ccp_alpha": ALPHAS[:2], "criterion": ["entropy"]}],
        2,
    ),
    "regression tree": (DecisionTreeRegressor(), {"ccp_alpha": ALPHAS}, 1),
    "forest": (
        RandomForestClassifier(random_state=0, oob_score=True),
        {"n_estimators": [3, 1, 5], "ccp_alpha": [0.0, 0.01]},
        1,
    ),
    "pruned forest": (RandomForestRegressor(random_state=0, ccp_alpha=0.02), {"n_estimators": [2, 4]}, 1),
    "stumps": (AdaBoostClassifier(), {"n_estimators": [1, 4, 9]}, 1),
    "boosted classifiers": (AdaBoostClassifier(GaussianNB()), {"n_estimators": [1, 3]}, 1),
    "stagewise": (
        ForwardStagewiseRegressor(random_state=0),
        {"n_estimators": [1, 4], "loss": ["squared", "absolute"]},
        2,
    ),
    "labels": (ForwardStagewiseClassifier(random_state=0), {"n_estimators": [2, 3]}, 1),
}


def target(estimator):
    return NUMBER if hasattr(estimator, "criterion") and "Regress" in type(estimator).__name__ else LABEL


def scores(search):
    return np.stack([search.cv_results_[f"split{fold}_test_score"] for fold in range(search.cv)])


@pytest.fixture
def fits(monkeypatch):
    """Of which classes fits were made, one after the other."""
    made = []
    for cls in {type(estimator) for estimator, *_ in GRIDS.values()}:

        def fit(self, X, y=None, sample_weight=None, own=cls.fit):
            made.append(type(self).__name__)
            return own(self, X, y, sample_weight)

        monkeypatch.setattr(cls, "fit", fit)
    return made


@pytest.mark.parametrize("name", GRIDS)
def test_one_fit_has_the_scores_of_all_to_the_bit(name, fits, monkeypatch):
    estimator, grid, n_fits = GRIDS[name]
    cls, y = type(estimator), target(estimator)
    search = GridSearch(estimator, grid, cv=3, refit=False, random_state=0).fit(ROWS, y)
    assert fits.count(cls.__name__) == 3 * n_fits
    monkeypatch.setattr(cls, "one_fit", {})
    apart = GridSearch(estimator, grid, cv=3, refit=False, random_state=0).fit(ROWS, y)
    assert fits.count(cls.__name__) == 3 * (n_fits + len(apart.cv_results_["params"]))
    assert scores(search).tobytes() == scores(apart).tobytes()
    assert len(set(scores(search).mean(axis=0))) > 1  # the candidates differ
    assert search.n_passes_ == apart.n_passes_


@pytest.mark.parametrize("name", GRIDS)
def test_a_shortened_fit_is_the_fit_to_the_bit(name):
    estimator, grid, _ = GRIDS[name]
    y = target(estimator)
    for part in grid if isinstance(grid, list) else [grid]:
        values = {k: part.get(k, [getattr(estimator, k)]) for k in estimator.one_fit}
        whole = clone(estimator).set_params(**{k: estimator.one_fit[k](v) for k, v in values.items()})
        before = digest_of(whole.fit(ROWS, y).model_)
        for k, choices in values.items():
            for value in choices:
                here = {**{k: v[0] for k, v in values.items()}, k: value}
                got, alone = whole._with_values(here), clone(estimator).set_params(**here).fit(ROWS, y)
                assert digest_of(got.model_) == digest_of(alone.model_)
                assert {k: got.get_params()[k] for k in here} == here
                for attribute in ("n_iter_", "stopped_because_", "trace_", "train_score_"):
                    if hasattr(alone, attribute):
                        np.testing.assert_array_equal(getattr(got, attribute), getattr(alone, attribute))
                assert not hasattr(got, "oob_score_")
        assert digest_of(whole.model_) == before


def test_an_ensemble_that_ended_early_is_that_of_all_larger_numbers():
    x = np.arange(40.0)[:, None]
    y = (x[:, 0] > 7).astype(int)
    search = GridSearch(AdaBoostClassifier(), {"n_estimators": [5, 50]}, cv=3, random_state=0).fit(x, y)
    assert search.best_estimator_.n_iter_ == 1
    assert (scores(search)[:, 0] == scores(search)[:, 1]).all()


def test_the_last_step_of_a_pipeline(fits):
    table = pa.table({**{f"x{d}": ROWS[:, d] for d in range(5)}, "y": LABEL})
    data = suffice.rows(table, target="y")
    model = make_pipeline(StandardScaler(), RandomForestClassifier(random_state=0))
    grid = {"randomforestclassifier__n_estimators": [1, 3, 5]}
    search = GridSearch(model, grid, cv=3, random_state=0).fit(data)
    assert fits == ["RandomForestClassifier"] * 4  # with the refit
    for n, n_estimators in enumerate([1, 3, 5]):
        one = GridSearch(
            model, {"randomforestclassifier__n_estimators": [n_estimators]}, cv=3, random_state=0, refit=False
        ).fit(data)
        assert scores(one)[:, 0].tobytes() == scores(search)[:, n].tobytes()
    assert (
        len(search.best_estimator_[-1].model_) == search.best_params_["randomforestclassifier__n_estimators"]
    )


def test_a_value_that_is_refused_fails_alone(fits):
    grid = {"ccp_alpha": [0.0, -1.0, 0.01]}
    with pytest.warns(FitFailedWarning, match=r"3 of 9 fits failed.*'ccp_alpha': -1.0"):
        search = GridSearch(DecisionTreeClassifier(), grid, cv=3, random_state=0).fit(ROWS, LABEL)
    assert np.isnan(scores(search)).all(axis=0).tolist() == [False, True, False]
    assert len(fits) == 3 + 3 + 1  # the refused ones, and the refit


def test_a_fit_that_fails_is_a_failure_of_all_that_it_serves():
    grid = {"n_estimators": [2, 3], "max_samples": [0.5, 10_000]}
    with pytest.warns(FitFailedWarning, match="6 of 12 fits failed"):
        search = GridSearch(RandomForestClassifier(random_state=0), grid, cv=3, random_state=0).fit(
            ROWS, LABEL
        )
    failed = [params["max_samples"] == 10_000 for params in search.cv_results_["params"]]
    assert np.isnan(scores(search)).all(axis=0).tolist() == failed
