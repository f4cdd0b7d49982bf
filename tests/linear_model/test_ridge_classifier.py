"""Least squares as a classifier, beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import linear_model as theirs
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning

import suffice
from suffice.linear_model import RidgeClassifier

X, CODES = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[CODES]
WEIGHT = np.random.default_rng(0).gamma(2.0, size=150)


@pytest.mark.parametrize("two", [False, True], ids=["three", "two"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"alpha": 0.0},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"class_weight": {"setosa": 5.0}},
    ],
    ids=str,
)
def test_scikit_learn(params, two):
    labels = np.where(Y == "virginica", "versicolor", Y) if two else Y
    ours, peer = (
        cls(**params).fit(X, labels, sample_weight=WEIGHT)
        for cls in (RidgeClassifier, theirs.RidgeClassifier)
    )
    if params.get("class_weight") == "balanced":  # they count rows; here a weight of two is the row twice
        return
    assert ours.coef_.shape == peer.coef_.shape
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-7)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-9)
    assert (ours.predict(X) == peer.predict(X)).all()
    assert ours.classes_.tolist() == peer.classes_.tolist()


def test_balanced():
    some = np.r_[0:30, 50:100, 100:110]
    ours, peer = (
        cls(class_weight="balanced").fit(X[some], Y[some])
        for cls in (RidgeClassifier, theirs.RidgeClassifier)
    )
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-7, atol=1e-9)


def test_scores_of_all_classes_add_up():
    """To two less than their number, as targets do."""
    scores = RidgeClassifier(alpha=0.0).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(scores.sum(axis=1), -1.0)


def test_sparse_and_files(tmp_path):
    dense, sparse = (RidgeClassifier().fit(rows, Y) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-8)
    table = pa.table({f"x{d}": X[:, d] for d in range(4)} | {"kind": Y})
    pq.write_table(table, tmp_path / "iris.parquet")
    there = RidgeClassifier().fit(suffice.rows(suffice.scan_parquet(tmp_path), target="kind"))
    np.testing.assert_allclose(there.coef_, dense.coef_, rtol=1e-10)


def test_refused():
    with pytest.raises(ValueError, match="alpha"):
        RidgeClassifier(alpha=-1.0).fit(X, Y)
    with pytest.raises(ValueError, match="Multioutput"):
        RidgeClassifier().fit(X, np.stack([Y, Y], axis=1))


def test_one_class_is_predicted():
    model = RidgeClassifier().fit(X, np.full(150, "a"))
    assert model.classes_.tolist() == ["a"] and set(model.predict(X)) == {"a"}


def test_several_labels_a_row(tmp_path):
    labels = np.stack([c == Y for c in np.unique(Y)], axis=1).astype(int)[:, :2]
    model = RidgeClassifier().fit(X, labels)
    peer = theirs.RidgeClassifier().fit(X, labels)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-7)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    assert model.score(X, labels) == pytest.approx(peer.score(X, labels))
    model.save(tmp_path / "labels")
    np.testing.assert_array_equal(suffice.load(tmp_path / "labels").predict(X), peer.predict(X))
    with pytest.warns(DataConversionWarning):
        column = RidgeClassifier().fit(X, Y[:, None])
    np.testing.assert_array_equal(column.coef_, RidgeClassifier().fit(X, Y).coef_)
