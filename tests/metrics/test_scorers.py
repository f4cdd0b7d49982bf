"""All metrics and scores: what their sums obey, rows without weight, labels of other types."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics as theirs
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice import metrics
from suffice.core.statistics import tree_sum
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.metrics.classification import Confusion
from suffice.metrics.ranking import ScoreCounts
from suffice.metrics.scorers import SCORERS
from suffice.mixture import GaussianMixture
from suffice.model_selection import cross_validate
from suffice.sequence import StructuredPerceptron

from ..laws.registry import recorded_folds
from ..laws.test_sums import assert_same, cut
from ._common import TABLE, N, X, binary, weight

# The features that each metric takes from ROWS, and the column of its target.
TAKES = {
    "accuracy_score": (["prediction"], "label"),
    "average_precision_score": (["score"], "binary"),
    "confusion_matrix": (["prediction"], "label"),
    "log_loss": (["p0", "p1", "p2"], "label"),
    "mean_squared_error": (["fit"], "y"),
    "r2_score": (["fit"], "y"),
    "roc_auc_score": (["score"], "binary"),
}


def test_every_metric_is_tested():
    assert set(TAKES) == set(metrics.__all__) - {"predicted"}


@pytest.mark.parametrize("name", sorted(TAKES))
def test_rows_of_weight_zero_are_absent(name, tmp_path):
    features, target = TAKES[name]
    metric = getattr(metrics, name)
    present = TABLE.append_column("present", pa.array((weight > 0) * 1.0))
    value = metric(suffice.rows(present, features=features, target=target, weight="present"))
    expected = metric(suffice.rows(TABLE.filter(weight > 0), features=features, target=target))
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    none = TABLE.set_column(0, "zero", pa.array(np.zeros(N)))
    pq.write_table(none, tmp_path / "rows.parquet", row_group_size=700)
    for source in (none, none.to_pandas(), suffice.scan_parquet(tmp_path)):
        with pytest.raises(ValueError, match="sample_weight is zero for every row"):
            metric(suffice.rows(source, features=features, target=target, weight="zero"))


def test_models_do_not_score_rows_without_weight():
    table = TABLE.append_column("zero", pa.array(np.zeros(N)))
    for model, target in (
        (LogisticRegression(), "binary"),
        (LinearRegression(), "y"),
        (GaussianMixture(), None),
    ):
        rows = suffice.rows(table, features=["x0", "x1"], target=target)
        model.fit(rows)
        with pytest.raises(ValueError, match="sample_weight is zero for every row"):
            model.score(suffice.rows(table, features=["x0", "x1"], target=target, weight="zero"))


def test_models_do_not_score_labels_of_another_type():
    text = binary.astype(str)
    for fitted_to, scored in ((binary, text), (text, binary), (text.astype(object), binary)):
        with pytest.raises(ValueError, match="Mix of label input types"):
            LogisticRegression().fit(X, fitted_to).score(X, scored)


def test_what_metrics_sum_obeys_the_laws():
    described = suffice.rows(TABLE, features=["prediction"], target="label", weight="w")
    scored = suffice.rows(TABLE, features=["score"], target="binary", weight="w")
    with recorded_folds() as seen:
        metrics.confusion_matrix(described)
        metrics.roc_auc_score(scored)
        metrics.log_loss(suffice.rows(TABLE, features=["p0", "p1", "p2"], target="label", weight="w"))
    tried = {type(fold(fold.rows)) for fold in seen}
    assert {Confusion, ScoreCounts} <= tried
    for fold in seen:
        whole, zero = fold(fold.rows), fold(fold.rows.piece(0, 0, 0))
        parts = [fold(piece) for piece in cut(fold.rows, [0, 100, 100, 1234])]
        assert_same(tree_sum(parts), whole, 1e-12, fold.name)
        assert_same(zero + whole, whole, 1e-15, fold.name)
        assert_same(whole + zero, whole, 1e-15, fold.name)
        heavier = fold(fold.rows.replace(weight=fold.rows.weight * 3.0))
        assert_same(whole * 3.0, heavier, 1e-12, fold.name)


def test_scikit_learns_names_of_scores():
    table = suffice.rows(TABLE, features=["x0", "x1", "x2"], target="binary", weight=None)
    model, frame = LogisticRegression().fit(table), TABLE.to_pandas()
    for name in ("accuracy", "average_precision", "neg_log_loss", "roc_auc"):
        expected = theirs.get_scorer(name)(model, frame[["x0", "x1", "x2"]], binary)
        assert SCORERS[name](model, table) == pytest.approx(expected)
    table = suffice.rows(TABLE, features=["x1", "x2"], target="fit", weight=None)
    model = LinearRegression().fit(table)
    for name in ("r2", "neg_mean_squared_error", "neg_root_mean_squared_error"):
        expected = theirs.get_scorer(name)(model, frame[["x1", "x2"]], frame["fit"])
        assert SCORERS[name](model, table) == pytest.approx(expected)
    found = cross_validate(model, table, cv=3, scoring="neg_mean_squared_error", random_state=0)
    assert (found["test_score"] < 0.0).all()
    with pytest.raises(ValueError, match=r"scoring='f1' is unknown for a table: use one of \['accuracy'"):
        cross_validate(model, table, scoring="f1")


def test_sequences_do_not_score_labels_of_another_type():
    table = pa.table({"x": X[:60, 0], "id": np.repeat(np.arange(6), 10), "label": binary[:60]})
    text = table.append_column("text", pa.array(binary[:60].astype(str)))

    def described(target):
        return suffice.sequences(text, sequence="id", features=["x"], target=target)

    for target, other_type in (("label", "text"), ("text", "label")):
        model = StructuredPerceptron(max_iter=2)
        with pytest.warns(ConvergenceWarning):
            model.fit(described(target))
        assert 0.0 <= model.score(described(target)) <= 1.0
        with pytest.raises(ValueError, match="Mix of label input types"):
            model.score(described(other_type))
