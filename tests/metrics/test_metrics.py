"""Metrics of tables by one pass are those that scikit-learn computes of arrays."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics as theirs
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import suffice
from suffice import metrics
from suffice.core.statistics import tree_sum
from suffice.decomposition import PCA
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.metrics import predicted, ranking
from suffice.metrics.classification import Confusion
from suffice.metrics.ranking import ScoreCounts
from suffice.metrics.scorers import SCORERS
from suffice.mixture import GaussianMixture
from suffice.model_selection import cross_validate
from suffice.sequence import StructuredPerceptron

from ..laws.registry import recorded_folds
from ..laws.test_sums import assert_same, cut

rng = np.random.default_rng(0)
N = 5000
X = rng.normal(size=(N, 3))
label = rng.integers(0, 3, N)
other = np.where(rng.random(N) < 0.7, label, rng.integers(0, 3, N))
P = rng.dirichlet(np.ones(3), N)
binary = (X[:, 0] + rng.normal(size=N) > 0.5).astype(np.int64)
score = (X[:, 0] + X[:, 1]).round(2)  # with ties
y = X[:, 0] * 3.0 + 1e4
weight = rng.integers(0, 3, N).astype(np.float64)
NAMES = np.array(["ant", "bee", "cat"])
TABLE = pa.table(
    {
        **{f"x{d}": X[:, d] for d in range(3)},
        **{f"p{d}": P[:, d] for d in range(3)},
        **{"label": NAMES[label], "prediction": NAMES[other], "binary": binary, "score": score},
        **{"y": y, "fit": y + X[:, 1], "w": weight},
    }
)


@pytest.fixture(params=["table", "scan", "pandas"])
def rows(request, tmp_path):
    if request.param == "pandas":
        source = TABLE.to_pandas()
    elif request.param == "scan":
        pq.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=700)
        source = suffice.scan_parquet(tmp_path)
    else:
        source = TABLE

    def described(features, target, weight="w"):
        return suffice.rows(source, features=features, target=target, weight=weight)

    return described


def test_labels(rows):
    for weighted in (weight, None):
        found = rows(["prediction"], "label", None if weighted is None else "w")
        exact = {"sample_weight": weighted}
        right = theirs.accuracy_score(label, other, **exact)
        assert metrics.accuracy_score(found) == pytest.approx(right, rel=1e-14)
        np.testing.assert_array_equal(
            metrics.confusion_matrix(found), theirs.confusion_matrix(label, other, **exact)
        )
    for how in ("true", "pred", "all"):
        expected = theirs.confusion_matrix(NAMES[label], NAMES[other], labels=["cat", "ant"], normalize=how)
        got = metrics.confusion_matrix(
            rows(["prediction"], "label", None), labels=["cat", "ant"], normalize=how
        )
        np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_log_loss(rows):
    expected = theirs.log_loss(label, P, sample_weight=weight)
    assert metrics.log_loss(rows(["p0", "p1", "p2"], "label")) == pytest.approx(expected, rel=1e-13)
    with pytest.raises(ValueError, match=r"labels=\[...\]"):
        metrics.log_loss(rows(["p0", "p1"], "label"))
    with pytest.raises(ValueError, match="between 0 and 1"):
        metrics.log_loss(rows(["x0", "x1", "x2"], "label"))
    with pytest.raises(ValueError, match="predictions are labels"):
        metrics.log_loss(rows(["prediction"], "label"))


@pytest.mark.parametrize("name", ["roc_auc_score", "average_precision_score"])
def test_scores(rows, name):
    expected = getattr(theirs, name)(binary, score, sample_weight=weight)
    assert getattr(metrics, name)(rows(["score"], "binary")) == pytest.approx(expected, rel=1e-13)
    with pytest.raises(ValueError, match="pos_label"):
        getattr(metrics, name)(rows(["score"], "label"))
    of_bees = getattr(theirs, name)(label == 1, score)
    got = getattr(metrics, name)(rows(["score"], "label", None), pos_label="bee")
    assert got == pytest.approx(of_bees, rel=1e-13)
    with pytest.raises(ValueError, match="No row has the label"):
        getattr(metrics, name)(rows(["score"], "label", None), pos_label="dog")


def test_numbers(rows):
    found = rows(["fit"], "y")
    squares = theirs.mean_squared_error(y, y + X[:, 1], sample_weight=weight)
    assert metrics.mean_squared_error(found) == pytest.approx(squares, rel=1e-12)
    expected = theirs.r2_score(y, y + X[:, 1], sample_weight=weight)
    assert metrics.r2_score(found) == pytest.approx(expected, rel=1e-9)
    two = suffice.rows(TABLE, features=["fit", "x0"], target=["y", "x1"])
    truth, guess = np.column_stack([y, X[:, 1]]), np.column_stack([y + X[:, 1], X[:, 0]])
    for how in ("raw_values", "uniform_average", "variance_weighted", [0.3, 0.7]):
        np.testing.assert_allclose(
            metrics.r2_score(two, multioutput=how), theirs.r2_score(truth, guess, multioutput=how), rtol=1e-9
        )


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


@pytest.mark.parametrize("name", ["accuracy_score", "confusion_matrix"])
@pytest.mark.parametrize("strings", ["label", "prediction"])
def test_strings_and_numbers_are_not_compared(rows, name, strings):
    numbers = "binary"
    target, prediction = (strings, numbers) if strings == "label" else (numbers, strings)
    with pytest.raises(ValueError, match="Mix of label input types") as error:
        getattr(metrics, name)(rows([prediction], target))
    for kind in ("type str", "type (int64|float64)"):
        assert re.search(kind, str(error.value))
    with pytest.raises(ValueError, match=r"can't handle a mix .* continuous predictions, e.g. "):
        getattr(metrics, name)(rows(["p0"], "binary"))


def test_models_do_not_score_labels_of_another_type():
    text = binary.astype(str)
    for fitted_to, scored in ((binary, text), (text, binary), (text.astype(object), binary)):
        with pytest.raises(ValueError, match="Mix of label input types"):
            LogisticRegression().fit(X, fitted_to).score(X, scored)


def test_probabilities_that_do_not_sum_to_one():
    off = P.copy()
    off[weight > 0] *= 0.9
    with pytest.warns(UserWarning, match="do not sum to one"):
        expected = theirs.log_loss(label, off, sample_weight=weight)
    three = suffice.rows(
        pa.table({"a": off[:, 0], "b": off[:, 1], "c": off[:, 2], "label": label, "w": weight}),
        features=["a", "b", "c"],
        target="label",
        weight="w",
    )
    with pytest.warns(UserWarning, match="do not sum to one"):
        assert metrics.log_loss(three) == pytest.approx(expected, rel=1e-12)
    single = P.astype(np.float32)  # rows sum to one in single precision
    table = pa.table({**{f"p{k}": single[:, k] for k in range(3)}, "label": label})
    metrics.log_loss(suffice.rows(table, features=["p0", "p1", "p2"], target="label"))


@pytest.mark.parametrize("name", ["roc_auc_score", "average_precision_score"])
def test_one_class_has_no_rank(name):
    table = pa.table({"score": [0.1, 0.4], "label": [1, 1]})
    with pytest.raises(ValueError, match=rf"Only one class is present in y_true: \[1\]. {name} is not def"):
        getattr(metrics, name)(suffice.rows(table, features=["score"], target="label"))


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


def test_many_scores_are_rounded_within_the_bound_in_any_order(monkeypatch):
    monkeypatch.setattr(ranking, "MOST_SCORES", 100)
    fine = rng.normal(size=N) + binary
    parts = [
        ScoreCounts.of(1, suffice.partition(fine[a : a + 500, None], binary[a : a + 500]).blocks[0])
        for a in range(0, N, 500)
    ]
    first, *others = parts
    total = sum(others, first)
    backwards = first + (
        others[0] + sum(others[::-1][:-1], others[-1].replace(weight=0.0 * others[-1].weight))
    )
    assert total.level > 0 and len(total.score) <= 100
    for one, two in ((total.score, backwards.score), (total.weight, backwards.weight)):
        np.testing.assert_array_equal(one, two)
    assert total.level == backwards.level
    table = suffice.rows(pa.table({"s": fine, "b": binary}), features=["s"], target="b")
    error = abs(metrics.roc_auc_score(table) - theirs.roc_auc_score(binary, fine))
    assert 0 < error <= total.tied / 2


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
