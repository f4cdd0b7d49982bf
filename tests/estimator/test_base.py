"""What every fit does, whatever the estimator."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import suffice
from suffice.decomposition import PCA, IncrementalPCA, KernelPCA
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.ensemble import RandomForestClassifier
from suffice.estimator import base
from suffice.linear_model import HuberRegressor, LinearRegression, Perceptron, RidgeCV
from suffice.preprocessing import StandardScaler

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
