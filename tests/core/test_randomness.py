"""Splits, folds and rows for validation that are drawn with one random_state are independent."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.pipeline import make_pipeline

import suffice
from suffice.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from suffice.linear_model import LogisticRegression, Ridge, SGDClassifier
from suffice.model_selection import GridSearch, cross_val_score, cross_validate, train_test_split
from suffice.preprocessing import StandardScaler, TargetEncoder

ROWS = 1200


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 3))
    y = (X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=ROWS) > 0).astype(np.int64)
    return X, y


@pytest.fixture
def scan(tmp_path):
    X, y = data()
    c = np.array(list("uvwz"))[np.random.default_rng(1).integers(4, size=ROWS)]
    table = pa.table({**dict(zip("abd", X.T, strict=True)), "c": c, "y": y})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=170)
    return suffice.scan_parquet(tmp_path / "t.parquet")


STOPPING = {
    "sgd": (SGDClassifier(early_stopping=True, random_state=0, max_iter=20, tol=1e-2), "alpha", [1e3, 1e-4]),
    "histograms": (
        HistGradientBoostingClassifier(early_stopping=True, random_state=0, max_iter=8, n_iter_no_change=3),
        "learning_rate",
        [1e-6, 0.3],
    ),
    "boosting": (
        GradientBoostingClassifier(n_iter_no_change=3, random_state=0, n_estimators=8),
        "learning_rate",
        [1e-6, 0.3],
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", STOPPING)
def test_search_over_an_estimator_with_early_stopping(name):
    """A tenth of the rows are for validation: with ten folds they were the first fold."""
    estimator, parameter, values = STOPPING[name]
    X, y = data()
    search = GridSearch(estimator, {parameter: values}, cv=10, random_state=0).fit(X, y)
    scores = np.stack([search.cv_results_[f"split{fold}_test_score"] for fold in range(10)])
    assert np.isfinite(scores).all()
    assert search.best_params_ == {parameter: values[1]}
    assert search.best_score_ > 0.8


def test_cross_validation_of_a_training_part(scan):
    table = suffice.rows(scan, features=list("abd"), target="y")
    train, test = train_test_split(table, test_size=0.25, random_state=0)
    scores = cross_val_score(LogisticRegression(), train, cv=5, random_state=0)
    assert scores.shape == (5,)
    assert (scores > 0.8).all()
    search = GridSearch(LogisticRegression(), {"C": [1e-6, 1.0]}, cv=5, random_state=0).fit(train)
    assert search.best_params_ == {"C": 1.0}
    assert search.score(test) > 0.8


def test_target_encoding_within_cross_validation(scan):
    """The folds of the encoder are drawn with seed zero, and so may be those of a search."""
    from suffice.compose import ColumnTransformer

    table = suffice.rows(scan, target="y")
    pipeline = make_pipeline(
        ColumnTransformer([("c", TargetEncoder(), ["c"]), ("x", StandardScaler(), list("abd"))]),
        LogisticRegression(),
    )
    scores = cross_validate(pipeline, table, cv=5, random_state=0)["test_score"]
    assert (scores > 0.8).all()


def test_folds_of_folds(scan):
    """Nested cross-validation with one seed: the inner folds are not the outer ones."""
    table = suffice.rows(scan, features=list("abd"), target="y")
    pipeline = make_pipeline(StandardScaler(), Ridge())
    inner = GridSearch(pipeline, {"ridge__alpha": [1e6, 1.0]}, cv=4, random_state=0)
    result = cross_validate(inner, table, cv=4, random_state=0, return_estimator=True)
    assert (result["test_score"] > 0.3).all()
    assert all(search.best_params_ == {"ridge__alpha": 1.0} for search in result["estimator"])
