"""A grid over the number of members of an ensemble, or over the complexity of pruning, is one fit a fold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.pipeline import make_pipeline

import suffice
from suffice.core.storage import digest_of
from suffice.ensemble import (
    AdaBoostClassifier,
    ForwardStagewiseClassifier,
    ForwardStagewiseRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from suffice.model_selection import GridSearch
from suffice.naive_bayes import GaussianNB
from suffice.preprocessing import StandardScaler
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = make_classification(300, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
NUMBER = X @ [1.0, -2.0, 0.0, 0.5, 0.0] + Y
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
    return NUMBER if hasattr(estimator, "criterion") and "Regress" in type(estimator).__name__ else Y


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
    search = GridSearch(estimator, grid, cv=3, refit=False, random_state=0).fit(X, y)
    assert fits.count(cls.__name__) == 3 * n_fits
    monkeypatch.setattr(cls, "one_fit", {})
    apart = GridSearch(estimator, grid, cv=3, refit=False, random_state=0).fit(X, y)
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
        before = digest_of(whole.fit(X, y).model_)
        for k, choices in values.items():
            for value in choices:
                here = {**{k: v[0] for k, v in values.items()}, k: value}
                got, alone = whole._with_values(here), clone(estimator).set_params(**here).fit(X, y)
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
    table = pa.table({**{f"x{d}": X[:, d] for d in range(5)}, "y": Y})
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
        search = GridSearch(DecisionTreeClassifier(), grid, cv=3, random_state=0).fit(X, Y)
    assert np.isnan(scores(search)).all(axis=0).tolist() == [False, True, False]
    assert len(fits) == 3 + 3 + 1  # the refused ones, and the refit


def test_a_fit_that_fails_is_a_failure_of_all_that_it_serves():
    grid = {"n_estimators": [2, 3], "max_samples": [0.5, 10_000]}
    with pytest.warns(FitFailedWarning, match="6 of 12 fits failed"):
        search = GridSearch(RandomForestClassifier(random_state=0), grid, cv=3, random_state=0).fit(X, Y)
    failed = [params["max_samples"] == 10_000 for params in search.cv_results_["params"]]
    assert np.isnan(scores(search)).all(axis=0).tolist() == failed
