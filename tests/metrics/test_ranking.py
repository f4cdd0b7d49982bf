"""Metrics of scores in tables, by one pass, are those that scikit-learn has for arrays."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as theirs

import suffice
from suffice import metrics
from suffice.metrics import ranking
from suffice.metrics.ranking import ScoreCounts

from ._common import N, binary, label, score, weight


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


@pytest.mark.parametrize("name", ["roc_auc_score", "average_precision_score"])
def test_one_class_has_no_rank(name):
    table = pa.table({"score": [0.1, 0.4], "label": [1, 1]})
    with pytest.raises(ValueError, match=rf"Only one class is present in y_true: \[1\]. {name} is not def"):
        getattr(metrics, name)(suffice.rows(table, features=["score"], target="label"))


def test_many_scores_are_rounded_within_the_bound_in_any_order(monkeypatch):
    monkeypatch.setattr(ranking, "MOST_SCORES", 100)
    fine = np.random.default_rng(0).normal(size=N) + binary
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
