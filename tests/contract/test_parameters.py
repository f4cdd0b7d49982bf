"""Every parameter has a constraint, as in scikit-learn, and a value that does not satisfy it is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import (
    InvalidParameterError,
    StrOptions,
    generate_valid_param,
    make_constraint,
)
from sklearn.utils.estimator_checks import check_param_validation

from suffice.cluster import KMeans
from suffice.decision import BayesDecision
from suffice.estimator.parameters import Numbers, check_parameters
from suffice.linear_model import LogisticRegression, Ridge
from suffice.model_selection import GridSearch
from suffice.naive_bayes import GaussianNB

from ..laws.registry import COMMON, ESTIMATORS

# What scikit-learn takes and we do not: the message of the fit says what to use instead.
NOT_OURS = {
    ("DecisionTreeClassifier", "criterion", None),  # an object of Cython
    ("DecisionTreeRegressor", "criterion", None),
    ("DecisionTreeRegressor", "criterion", "absolute_error"),
    ("RandomForestClassifier", "criterion", None),
    ("RandomForestRegressor", "criterion", None),
    ("RandomForestRegressor", "criterion", "absolute_error"),
    ("ElasticNet", "max_iter", None),
    ("Lasso", "max_iter", None),
    ("LogisticRegression", "solver", "liblinear"),
    *(
        (name, parameter, None)  # a metric of Cython; a search for nothing
        for name in ("KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors")
        for parameter in ("metric", "n_neighbors", "radius")
    ),
}


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_every_parameter_has_a_constraint_that_refuses_other_types_and_values(cls):
    check_param_validation(cls.__name__, cls())


@pytest.mark.parametrize(
    "search",
    [BayesDecision(GaussianNB()), GridSearch(Ridge(), {"alpha": [1.0]})],
    ids=lambda s: type(s).__name__,
)
def test_so_do_estimators_of_estimators(search):
    check_param_validation(type(search).__name__, search)


def test_documented_options_are_accepted():
    for variant in COMMON:
        check_parameters(variant.estimator)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_what_scikit_learn_takes_is_taken(cls):
    peer = dict(all_estimators()).get(cls.__name__)
    if peer is None:
        return
    for name, theirs in peer._parameter_constraints.items():
        if theirs == "no_validation":
            continue
        ours = cls._parameter_constraints[name]
        values = [v for c in map(make_constraint, theirs) for v in valid_values(c)]
        for value in values:
            if (cls.__name__, name, value if isinstance(value, str) else None) in NOT_OURS:
                continue
            assert any(make_constraint(c).is_satisfied_by(value) for c in ours), (name, value)


def valid_values(constraint):
    if isinstance(constraint, StrOptions):
        return constraint.options
    if "BaseLoss" in str(constraint) or "'type'" in str(constraint):  # a private class of scikit-learn
        return []
    if str(constraint) in ("an array-like", "an instance of 'collections.abc.Mapping'"):
        return [[1.0, 2.0]] if "array" in str(constraint) else [{"a": 0}]
    return [generate_valid_param(constraint)]


def test_arrays_of_numbers():
    numbers = Numbers(0)
    for good in ([1, 2], (0.5,), np.ones((2, 2)), [np.float32(1)], range(3), []):
        assert numbers.is_satisfied_by(good), good
    for bad in (
        1.0,
        "1",
        ["1"],
        [None],
        [np.nan],
        [np.inf],
        [-1],
        [[1], [1, 2]],
        {"a": 1},
        [1j],
        np.array(1.0),
    ):
        assert not numbers.is_satisfied_by(bad), bad
    assert str(Numbers(0)) == "an array-like of numbers in the range [0, 1.7976931348623157e+308]"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            KMeans(2.5),
            r"The 'n_clusters' parameter of KMeans must be an int in the range \[1, inf\)\. Got 2\.5",
        ),
        (Ridge(alpha="a"), r"The 'alpha' parameter of Ridge must be a float in the range .* Got 'a' instead"),
        (Ridge(alpha=[1.0, np.nan]), "an array-like of numbers in the range"),
        (LogisticRegression(solver="libsvm"), "The 'solver' parameter of LogisticRegression"),
    ],
)
def test_messages_are_those_of_scikit_learn(model, said):
    with pytest.raises(InvalidParameterError, match=said):
        model.fit(np.eye(4), [0, 1, 0, 1])


def test_parameters_are_checked_before_the_data():
    with pytest.raises(InvalidParameterError, match="n_clusters"):
        KMeans(0).fit("no rows")


def test_the_html_representation_links_to_the_reference():
    from suffice.feature_extraction.text import CountVectorizer

    page = "reference/generated/suffice.{}.html"
    for estimator, name in (
        (KMeans(), "cluster.KMeans"),
        (CountVectorizer(), "feature_extraction.CountVectorizer"),
        (GridSearch(KMeans(), {}), "model_selection.GridSearch"),
    ):
        assert page.format(name) in estimator._repr_html_()
