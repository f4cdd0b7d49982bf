"""A warm start continues the previous fit, or refuses data of another shape; it never mixes the two."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

from suffice.linear_model import Perceptron

from ..laws.registry import ESTIMATORS

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
LABELS, NUMBERS = rng.integers(0, 3, 60), X[:, 0] + rng.normal(size=60)


CLASSES = [cls for cls in ESTIMATORS if "warm_start" in inspect.signature(cls.__init__).parameters]
CLASSIFIERS = [cls for cls in CLASSES if is_classifier(cls())]


def test_the_classes_are_found():
    names = {cls.__name__ for cls in CLASSES}
    assert {"RandomForestClassifier", "SGDClassifier", "GaussianMixture", "LogisticRegression"} <= names


def short(cls, **more):
    """An estimator whose fit is short."""
    names = inspect.signature(cls.__init__).parameters
    options = {"n_estimators": 2, "max_iter": 5, "random_state": 0}
    return cls(**{k: v for k, v in options.items() if k in names}, warm_start=True, **more)


def target(model):
    if getattr(model, "target_domain", None) is not None:
        return np.exp(NUMBERS)
    return LABELS if is_classifier(model) else NUMBERS


def fitted_again(cls, X_now, y_now, **more):
    """A fit to other data after one to X: the error, or None if the fit is the same as without the first."""
    model, alone = short(cls, **more), short(cls, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, target(model))
        for name in ("n_estimators", "max_iter"):
            if name in model.get_params():
                model.set_params(**{name: 5})
                alone.set_params(**{name: 5})
        try:
            model.fit(X_now, y_now)
        except ValueError as error:
            assert model.n_features_in_ == X.shape[1]  # the previous fit stays
            model.predict(X)
            return error
        np.testing.assert_array_equal(model.predict(X_now), alone.fit(X_now, y_now).predict(X_now))
    return None


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("width", [2, 6])
def test_other_features(cls, width):
    error = fitted_again(cls, np.hstack([X, X])[:, :width], target(cls()))
    message = rf"same features .* Previously got 3, X has {width}. .*warm_start=False\)"
    assert error is None or pytest.raises(ValueError, match=message).matches(error)


OTHER_LABELS = {
    "fewer": np.minimum(LABELS, 1),
    "more": LABELS + (X[:, 0] > 0) * 2,
    "text": LABELS.astype(str),
}


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("labels", OTHER_LABELS)
def test_other_classes(cls, labels):
    y = OTHER_LABELS[labels]
    error = fitted_again(cls, X, y)
    if error is not None:
        assert "`y` has the same classes" in str(error)
        assert f"Previously got [0, 1, 2], `y` has {np.unique(y).tolist()}." in str(error)
        assert "set_params(warm_start=False)" in str(error)


def test_other_names():
    cls = next(c for c in CLASSES if c.__name__ == "RandomForestRegressor")
    model = short(cls).fit(pd.DataFrame(X, columns=list("abc")), NUMBERS)
    with pytest.raises(ValueError, match=r"Previously got \['a', 'b', 'c'\], X has \['a', 'b', 'd'\]"):
        model.set_params(n_estimators=3).fit(pd.DataFrame(X, columns=list("abd")), NUMBERS)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert len(model.set_params(n_estimators=3).fit(X, NUMBERS).estimators_) == 3  # an array has no names


def test_other_targets():
    cls = next(c for c in CLASSES if c.__name__ == "RandomForestRegressor")
    model = short(cls).fit(X, NUMBERS)
    with pytest.raises(ValueError, match=r"as many targets .* Previously got 1, `y` has 2"):
        model.fit(X, np.column_stack([NUMBERS, NUMBERS]))


def test_a_perceptron_with_a_penalty():
    for now in (np.hstack([X, X]), X[:, :2]):
        error = fitted_again(Perceptron, now, LABELS, penalty="l2")
        assert "same features" in str(error)
