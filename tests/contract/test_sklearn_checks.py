"""scikit-learn's own checks, for every estimator there is, with no expected failure."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.cluster import KMeans
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import MixedNB

from ..laws.registry import ESTIMATORS, VARIANTS, answers, fit

# Of checks with classes of very few rows: a covariance without regularisation is not defined there. These
# are the parameters with which scikit-learn checks its class of the same name.
PARAMETERS = {"QuadraticDiscriminantAnalysis": {"reg_param": 1.0}}

MORE = [
    KMeans(init="k-means||"),
    KMeans(init="random", n_init=2),
    *(GaussianMixture(2, covariance_type=kind) for kind in ("full", "tied", "diag", "spherical")),
    GaussianMixture(2, init_params="random"),
    LogisticRegression(solver="newton"),
    LogisticRegression(class_weight="balanced"),
    LinearRegression(positive=True),
    Ridge(positive=True),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.5),
    MixedNB(kinds="categorical"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # as scikit-learn runs them
@parametrize_with_checks([*(cls(**PARAMETERS.get(cls.__name__, {})) for cls in ESTIMATORS), *MORE])
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_answers_return_in_the_shape_that_came(variant):
    X, y = variant.data()
    model = fit(variant.make(), X, y)
    found = answers(model, X)
    assert found
    for name, answer in found.items():
        assert len(answer) == len(X), name
    one = answers(model, X[:1])
    for name, answer in found.items():
        assert one[name].shape == (1, *answer.shape[1:])
        if answer.dtype.kind == "f":
            np.testing.assert_allclose(one[name][0], answer[0], rtol=1e-9, atol=1e-12)
        else:
            assert one[name][0] == answer[0]


CLASSIFIERS = [v for v in VARIANTS if v.kind == "classifier"]


@pytest.mark.parametrize("variant", CLASSIFIERS, ids=lambda v: v.name)
def test_labels_return_as_they_came(variant):
    """Strings, whole numbers, flags, and what is neither in order nor starts at zero."""
    X, y = variant.data()
    names = np.unique(y)
    for labels in (["b", "a", "c"], [7, -1, 3], [2.0, 5.0, 1.0], np.array(["x", "yy", "zzz"], dtype=object)):
        labels = np.asarray(labels)
        given = labels[np.searchsorted(names, y)]
        model = fit(variant.make(priors=None), X, given)
        assert model.classes_.dtype == labels.dtype
        assert (model.classes_ == np.unique(labels)).all()
        found = model.predict(X)
        assert found.dtype == labels.dtype
        assert (found == given).mean() > 0.6
    flags = y == names[0]
    assert fit(variant.make(priors=None), X, flags).predict(X).dtype == bool


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_names_of_features_are_kept(cls):
    pd = pytest.importorskip("pandas")
    variant = next(v for v in VARIANTS if type(v.estimator) is cls)
    X, y = variant.data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = fit(variant.make(), frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    if hasattr(model, "predict"):
        assert (model.predict(frame) == fit(variant.make(), X, y).predict(X)).all()
    if hasattr(model, "get_feature_names_out"):
        assert len(model.get_feature_names_out()) == model.transform(frame).shape[1]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_every_estimator_takes_weights(cls):
    import inspect

    for name in ("fit", "score", "partial_fit"):
        method = getattr(cls, name, None)
        if method is not None:
            assert "sample_weight" in inspect.signature(method).parameters, name


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda c: c.__name__)
def test_no_workers_in_the_constructor(cls):
    """No `engine=`; and `n_jobs` only where scikit-learn has it, to be ignored."""
    from sklearn.utils import all_estimators

    theirs = {name: peer().get_params() for name, peer in all_estimators() if name == cls.__name__}
    ours = clone(cls()).get_params()
    assert "engine" not in ours
    assert "n_jobs" not in ours or "n_jobs" in theirs.get(cls.__name__, {})
    assert get_tags(cls()).estimator_type or hasattr(cls, "transform")
