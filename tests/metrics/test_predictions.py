"""Predictions of a model are scored in the pass that computes them."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from sklearn import metrics as theirs
from sklearn.pipeline import make_pipeline

import suffice
from suffice import metrics
from suffice.decomposition import PCA
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.metrics import predicted

from ._common import TABLE, P, X, binary, label, other


def test_arrays_are_left_to_scikit_learn():
    assert metrics.accuracy_score(label, other) == theirs.accuracy_score(label, other)
    assert metrics.roc_auc_score(label, P, multi_class="ovr") == theirs.roc_auc_score(
        label, P, multi_class="ovr"
    )
    with pytest.raises(TypeError, match=r"suffice.rows\(table"):
        metrics.accuracy_score(label)


def test_predicted_in_the_same_pass(tmp_path):
    pq.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=700)
    scan = suffice.scan_parquet(tmp_path)
    rows = suffice.rows(scan, features=["x0", "x1", "x2"], target="binary")
    for model in (LogisticRegression(), make_pipeline(PCA(2), LogisticRegression())):
        model.fit(rows)
        there = model.predict_proba(suffice.rows(scan, features=["x0", "x1", "x2"]))
        got = metrics.roc_auc_score(predicted(model, rows, "predict_proba"))
        assert got == pytest.approx(theirs.roc_auc_score(binary, there[:, 1]), rel=1e-12)
        loss = metrics.log_loss(predicted(model, rows, "predict_proba"))
        assert loss == pytest.approx(theirs.log_loss(binary, there), rel=1e-12)
        assert metrics.accuracy_score(predicted(model, rows)) == model.score(rows)
    numbers = suffice.rows(scan, features=["x0", "x1", "x2"], target="y")
    line = LinearRegression().fit(numbers)
    assert metrics.r2_score(predicted(line, numbers)) == pytest.approx(line.score(numbers), rel=1e-12)
    with pytest.raises(TypeError, match="with its target"):
        predicted(line, X)
