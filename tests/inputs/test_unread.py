"""scikit-learn's searches, splits and scores of a table name their counterparts here."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn import model_selection as theirs
from sklearn.linear_model import LogisticRegression as OfSklearn
from sklearn.pipeline import make_pipeline

import suffice
from suffice.linear_model import LogisticRegression
from suffice.preprocessing import StandardScaler

TABLE = pa.table({"a": np.arange(40.0), "y": np.arange(40) % 2})
SCAN = suffice.scan(lambda: TABLE.to_batches())
KINDS = {
    "scan": SCAN,
    "described scan": suffice.rows(SCAN, target="y"),
    "described table": suffice.rows(TABLE, target="y"),
}
MODEL = LogisticRegression()
PIPELINE = make_pipeline(StandardScaler(), MODEL)
GRID = {"C": [1.0, 2.0]}
OURS = "suffice.model_selection."
CALLS = {
    "train_test_split": (theirs.train_test_split, OURS + "train_test_split in its place"),
    "cross_val_score": (lambda X: theirs.cross_val_score(MODEL, X), OURS + "cross_val_score in its place"),
    "cross_validate": (lambda X: theirs.cross_validate(PIPELINE, X), OURS + "cross_validate in its place"),
    "GridSearchCV": (theirs.GridSearchCV(MODEL, GRID).fit, OURS + "GridSearch in its place"),
    "RandomizedSearchCV": (
        theirs.RandomizedSearchCV(MODEL, GRID, n_iter=1).fit,
        OURS + "GridSearch in its place",
    ),
    "cross_val_predict": (
        lambda X: theirs.cross_val_predict(MODEL, X),
        OURS + "cross_validate or GridSearch",
    ),
    "learning_curve": (
        lambda X: theirs.learning_curve(MODEL, X, None),
        OURS + "cross_validate or GridSearch",
    ),
    "KFold": (lambda X: list(theirs.KFold(3).split(X)), f"pass cv=KFold(...) to {OURS}cross_validate"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_the_error_names_our_counterpart(name, kind):
    call, remedy = CALLS[name]
    with pytest.raises(TypeError) as caught:
        call(KINDS[kind])
    message = str(caught.value)
    assert message.startswith(f"{name} of scikit-learn takes arrays, and got a ")
    assert remedy in message


def test_estimators_of_scikit_learn_still_name_theirs():
    remedy = "use suffice.linear_model.LogisticRegression in its place"
    with pytest.raises(TypeError, match=f"^LogisticRegression of scikit-learn .* {remedy}"):
        OfSklearn().fit(SCAN, [0, 1])
    with pytest.raises(TypeError, match=r"^cross_val_score of scikit-learn .* suffice\.model_selection"):
        theirs.cross_val_score(OfSklearn(), SCAN)
