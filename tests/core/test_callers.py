"""Warnings are shown with the line of the user's call, however deep in the package they arise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from suffice.cluster import KMeans
from suffice.linear_model import Lasso, LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.model_selection import GridSearch
from suffice.preprocessing import StandardScaler

X = np.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
SHORT = LogisticRegression(max_iter=1)

CALLS = {
    "fit": lambda: SHORT.fit(X, y),  # here: fit
    "EM": lambda: GaussianMixture(3, max_iter=1, random_state=0).fit(X),  # here: EM
    "fit_predict": lambda: KMeans(3, max_iter=1, random_state=0).fit_predict(X),  # here: fit_predict
    "descent": lambda: Lasso(1e-6, max_iter=1, tol=1e-14).fit(X, y),  # here: descent
    "pipeline": lambda: make_pipeline(StandardScaler(), SHORT).fit(X, y),  # here: pipeline
    "search": lambda: GridSearchCV(SHORT, {"C": [1.0, 2.0]}, cv=2).fit(X, y),  # here: search
    "our search": lambda: GridSearch(SHORT, {"C": [1.0, 2.0]}, cv=2).fit(X, y),  # here: our search
    "folds": lambda: cross_val_score(SHORT, X, y, cv=2),  # here: folds
}


@pytest.mark.parametrize("name", CALLS)
def test_the_line_is_that_of_the_call(name):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        CALLS[name]()
    lines = {(w.filename, w.lineno) for w in seen if issubclass(w.category, ConvergenceWarning)}
    assert lines == {(__file__, line_of(name))}


def line_of(name: str) -> int:
    with open(__file__) as text:
        return next(n for n, line in enumerate(text, 1) if line.endswith(f"# here: {name}\n"))
