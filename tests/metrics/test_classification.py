"""Metrics of labels and probabilities in tables, by one pass, are those that scikit-learn has for arrays."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as theirs

import suffice
from suffice import metrics

from ._common import NAMES, P, label, other, weight


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
